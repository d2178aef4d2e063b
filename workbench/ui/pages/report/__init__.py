"""The Report page."""

from workbench.ui.pages.report.page import ReportPage

__all__ = ["ReportPage"]
