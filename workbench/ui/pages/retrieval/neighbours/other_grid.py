"""The same query in another evaluation, of this run or of another: its neighbours beside those of the shown one."""

from PySide6.QtWidgets import QWidget

from workbench.numerals import percentage
from workbench.ui.pages.retrieval.neighbours.card_grid import CardArea
from workbench.ui.pages.retrieval.neighbours.card_row import CardRow
from workbench.ui.widgets.images.pictures import PictureLoader
from workbench.workspace.rows import Neighbour, Query

PLACE = "neighbours elsewhere"
SHOWN = 24  # neighbours; the first comparison makes all their cards


class OtherGrid(CardArea):
    """The neighbours in the other evaluation; hidden until an evaluation is compared."""

    def __init__(self, loader: PictureLoader, parent: QWidget | None = None) -> None:
        super().__init__("Nearest neighbours in the evaluation compared with, best first", parent)
        self.row = CardRow(loader, PLACE, 1)  # with its own position in the order of Tab
        self.row.stop.reached.connect(self.ensureWidgetVisible)
        self.row.column.addStretch(1)
        self.row.title.setProperty("role", "")
        self.setWidget(self.row)
        self.row.show()  # only now that it has a parent: without one it would be a window
        self.hide()

    def show_query(self, word: str, query: Query, near: list[Neighbour], beside: list[Neighbour]) -> None:
        """Show the query in another evaluation, which is called `word`.

        Args:
            near: its stored neighbours there, best first. beside: those that the shown evaluation displays.
        """
        self.show()
        shown = near[:SHOWN]
        self.row.show_cards(f"{_begun(word)}: {_facts(query)}{_shared(shown, beside)}", shown)
        self.verticalScrollBar().setValue(0)

    def say(self, sentence: str) -> None:
        """Show a sentence in place of neighbours."""
        self.show()
        self.row.show_cards(sentence, [])


def first_hit(query: Query) -> str:
    """ "first hit at rank 1,234"."""
    return f"first hit at rank {query.first_hit:,}"


def _begun(word: str) -> str:
    return word[:1].upper() + word[1:]


def _facts(query: Query) -> str:
    if not query.r:
        return "no other image of its class"
    return f"{first_hit(query)}, AP {percentage(query.ap)}"


def _shared(shown: list[Neighbour], beside: list[Neighbour]) -> str:
    """How many of the first neighbours are the same on both sides, of the same number of each."""
    count = min(len(shown), len(beside))
    ids = {near.sample_id for near in shown[:count]} & {near.sample_id for near in beside[:count]}
    return f"; {len(ids):,} of the first {count:,} are in both" if count else ""
