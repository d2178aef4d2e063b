"""Runs that another page or panel offers for a report."""

from collections.abc import Sequence
from dataclasses import dataclass

from workbench.comparing.measures import At
from workbench.ui.state.session import Session

TEMPLATE = "comparison"


@dataclass(frozen=True, slots=True)
class ReportOffer:
    """What the Report page is asked to show."""

    runs: tuple[int, ...]
    metric: str
    at: At
    template: str = TEMPLATE


def offer_report(session: Session, runs: Sequence[int], metric: str, at: At) -> None:
    """Bring the Report page to the front with a comparison of these runs, by that metric at that evaluation."""
    if session.run() is None and runs:
        session.show_run(runs[0])  # the page has nothing to say without a shown run
    session.show_page("report")  # first: pages are made when they are first shown
    session.report_offered.emit(ReportOffer(tuple(runs), metric, at))
