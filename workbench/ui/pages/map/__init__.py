"""The Map page and the Inspector's panel."""

from workbench.ui.pages.map.page import MapPage

__all__ = ["MapPage"]
