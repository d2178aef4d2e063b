"""The same query in another evaluation, of this run or of another: its neighbours beside those of the shown one."""

from workbench.numerals import minus, percentage, signed
from workbench.results.search_methods import Answered
from workbench.ui.pages.retrieval.neighbours.card_grid import CardArea
from workbench.ui.pages.retrieval.neighbours.card_row import CardRow
from workbench.ui.widgets.images.pictures import PictureLoader
from workbench.workspace.rows import Neighbour, Query

PLACE = "neighbours elsewhere"
LONELY = "no other image of its class"
SHOWN = 24  # neighbours; the first comparison makes all their cards


class OtherGrid(CardArea):
    """The neighbours in the other evaluation; hidden until an evaluation is compared."""

    def __init__(self, loader: PictureLoader) -> None:
        super().__init__("Nearest neighbours in the evaluation compared with, best first")
        self.row = CardRow(loader, PLACE, 1, paired=False)  # with its own position in the order of Tab
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

    def show_method(
        self, title: str, answered: Answered, r: int, near: list[Neighbour], beside: list[Neighbour]
    ) -> None:
        """Show the query by a method of search: its neighbours, each with its rank among the plain nearest ones.

        Args:
            title: of the method. r: other images of the query's class. near: its neighbours by the method, best first.
            beside: the plain nearest neighbours on screen.
        """
        self.show()
        shown = near[:SHOWN]
        hit = f"first hit at rank {answered.first_hit:,}" if answered.first_hit else f"no hit in {len(near)}"
        points = minus(signed(100 * answered.gain, ".1f"))
        facts = f"AP {percentage(answered.ap)} ({points} points), {hit}" if r else LONELY
        self.row.show_cards(f"By {title}: {facts}{_shared(shown, beside)}", shown)
        self.row.grid.mark(ranks_before(shown, answered.before.tolist()))
        self.verticalScrollBar().setValue(0)

    def say(self, sentence: str) -> None:
        """Show a sentence in place of neighbours."""
        self.show()
        self.row.show_cards(sentence, [])


def ranks_before(near: list[Neighbour], before: list[int]) -> dict[int, str]:
    """For the neighbours by a method that changed their rank: "← 57", or "← new" where they were far behind."""
    pairs = zip(near, before, strict=False)
    return {one.sample_id: f"← {rank:,}" if rank else "← new" for one, rank in pairs if rank != one.rank}


def ranks_after(plain: list[Neighbour], near: list[Neighbour]) -> dict[int, str]:
    """For plain neighbours whose rank a method changes: "→ 5", or "→ 49+" where they leave its list of 48."""
    ranks = {one.sample_id: one.rank for one in near}
    moved = {one.sample_id: ranks.get(one.sample_id, 0) for one in plain if ranks.get(one.sample_id) != one.rank}
    return {sample_id: f"→ {rank:,}" if rank else f"→ {len(near) + 1:,}+" for sample_id, rank in moved.items()}


def first_hit(query: Query) -> str:
    """ "first hit at rank 1,234"."""
    return f"first hit at rank {query.first_hit:,}"


def _begun(word: str) -> str:
    return word[:1].upper() + word[1:]


def _facts(query: Query) -> str:
    if not query.r:
        return LONELY
    return f"{first_hit(query)}, AP {percentage(query.ap)}"


def _shared(shown: list[Neighbour], beside: list[Neighbour]) -> str:
    """How many of the first neighbours are the same on both sides, of the same number of each."""
    count = min(len(shown), len(beside))
    ids = {near.sample_id for near in shown[:count]} & {near.sample_id for near in beside[:count]}
    return f"; {len(ids):,} of the first {count:,} are in both" if count else ""
