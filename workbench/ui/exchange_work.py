"""The process of one export or import; the work is a ProcessWork that ends it."""

from functools import partial

from workbench.jobs import AnalysisProcess
from workbench.ui.analysis import AnalysisClient
from workbench.ui.session import Session


def exchange_process(session: Session) -> AnalysisClient:
    """A new process for one export or import; it ends with the session at the latest."""
    return AnalysisClient(session, partial(AnalysisProcess, module="workbench.exchange.server"))
