"""The numbers of a query: its AP, its first hit, how many shown neighbours are right, and the size of its class."""

from PySide6.QtWidgets import QWidget

from workbench.numerals import percentage
from workbench.ui.style.words import NO_VALUE
from workbench.ui.widgets.card import Fact
from workbench.ui.widgets.flow import FlowLayout
from workbench.workspace.rows import Neighbour, Query

TIPS = {
    "AP": "Average precision at R, the mean over all queries of which is MAP@R; higher is better",
    "First hit": "Rank of the first neighbour of its class; lower is better",
    "Right": "How many of the shown neighbours are of its class",
    "Of its class": "R: other images of its class in the test set, which a perfect ranking has first",
}


class QueryFacts(QWidget):
    """Four numbers, each below what it is; side by side where they have room."""

    def __init__(self) -> None:
        super().__init__()
        self.ap, self.first_hit, self.right, self.r = (Fact(name, whole=True) for name in TIPS)
        flow = FlowLayout(self, spacing=20)
        for fact, tip in zip((self.ap, self.first_hit, self.right, self.r), TIPS.values(), strict=True):
            fact.setToolTip(tip)
            flow.addWidget(fact)

    def show_query(self, query: Query, neighbours: list[Neighbour]) -> None:
        """Show the numbers of a query with the neighbours on screen."""
        self.ap.set_value(percentage(query.ap) if query.r else NO_VALUE)
        self.first_hit.set_value(f"rank {query.first_hit:,}" if query.first_hit else NO_VALUE)
        self.right.caption.setText(f"Right of {len(neighbours):,}")
        self.right.set_value(f"{sum(neighbour.right for neighbour in neighbours):,}")
        self.r.set_value(f"{query.r:,}")

    def text(self) -> str:
        """All four as one sentence, for screen readers and tests."""
        facts = (self.ap, self.first_hit, self.right, self.r)
        return ", ".join(f"{fact.caption.text()} {fact.value.text()}" for fact in facts)
