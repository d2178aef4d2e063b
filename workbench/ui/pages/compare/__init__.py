"""The Compare page."""

from workbench.ui.pages.compare.page import ComparePage

__all__ = ["ComparePage"]
