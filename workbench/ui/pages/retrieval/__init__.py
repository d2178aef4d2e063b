"""The Retrieval page."""

from workbench.ui.pages.retrieval.page import RetrievalPage

__all__ = ["RetrievalPage"]
