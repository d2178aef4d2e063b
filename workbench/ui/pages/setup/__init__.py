"""The Set up page: a form from the catalog on the left, what it would do on the right."""

from workbench.ui.pages.setup.page import SetupPage

__all__ = ["SetupPage"]
