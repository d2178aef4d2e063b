"""The nearest neighbours of the chosen query in the baseline and in the other group, side by side."""

from dataclasses import dataclass

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QPixmap, QResizeEvent
from PySide6.QtWidgets import QFrame, QLabel, QWidget

from workbench.comparing.queries.overlap import PairOfRuns
from workbench.jobs.newest import Newest
from workbench.problem import Problem
from workbench.progress import Progress
from workbench.ui.state.session import Session
from workbench.ui.widgets.boxes import in_column, in_row
from workbench.ui.widgets.images.image_menu import offer_image_menu
from workbench.ui.widgets.images.neighbour_card import NeighbourCard
from workbench.ui.widgets.images.pictures import PictureLoader
from workbench.ui.widgets.labels import ElidedLabel, label, plain_tip
from workbench.ui.widgets.one_stop import OneStop
from workbench.workspace import Workspace
from workbench.workspace.rows import Neighbour, Query

QUERY_PX, NEAR_PX, GAP = 64, 54, 6  # px: pictures of the query and of a neighbour, between two of these
MOST, WORDS_PX = 12, 130  # neighbours of a group; px of the words beside the query
PLACE = "compared query"
SIDES = ("Baseline", "Other")
SHARES = (1, 5)  # of the width: the query, and both groups
ON_RETRIEVAL = "Click to show it as the query on Retrieval, in this run."
NOT_KEPT = "The neighbours of this query are not stored in both runs."


@dataclass(frozen=True, slots=True, eq=False)
class NearInRun:
    """A query in one run with its stored neighbours, best first."""

    query: Query
    near: list[Neighbour]


@dataclass(frozen=True, slots=True)
class AskedQuery:
    """A query of two runs, and what their sides are called."""

    sample_id: int
    pair: PairOfRuns
    seed: str  # "seed 0", of both runs
    groups: tuple[str, str]  # titles


def read_near(workspace: Workspace, asked: AskedQuery, progress: Progress) -> tuple[NearInRun, NearInRun]:
    """The neighbours in both runs; not on the window's thread. Raises Problem: a run lacks the query, or is damaged."""
    first, second = (
        NearInRun(workspace.query(evaluation, asked.sample_id), workspace.neighbours(run, asked.sample_id, evaluation))
        for run, evaluation in ((asked.pair.first_run, asked.pair.first), (asked.pair.second_run, asked.pair.second))
    )
    return first, second


class NearRow(QWidget):
    """A title, and as many cards in a line as have room. `chosen` (sample id): a card was pressed.

    Args:
        asker: what asks the loader for the pictures; unlike that of any other row.
    """

    chosen = Signal(object)

    def __init__(self, loader: PictureLoader, asker: str) -> None:
        super().__init__()
        self._loader, self._asker = loader, asker
        self._near: list[Neighbour] = []
        self.title = ElidedLabel("", "strong")
        self._pool = [NeighbourCard(self, NEAR_PX, ON_RETRIEVAL) for _ in range(MOST)]
        self._stop = OneStop(self)
        for card in self._pool:
            card.clicked.connect(self._choose)
            offer_image_menu(card, loader, card.sample)
            card.hide()
        self._line = QWidget()
        line = in_row(*self._pool, 1, on=self._line, spacing=GAP)
        line.setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
        in_column(self.title, self._line, on=self, spacing=4)
        self._keep_height()
        loader.ready.connect(self._pictures_came)

    @property
    def cards(self) -> list[NeighbourCard]:
        """The cards that are shown, nearest first."""
        return [card for card in self._pool if not card.isHidden()]

    def show_near(self, title: str, group: str, near: list[Neighbour]) -> None:
        """Show the first of the neighbours; `group` is the whole name of the title's side."""
        self.title.setText(title)
        self.title.setToolTip(plain_tip(f"{group}\n{title}"))
        self._near = near[:MOST]
        for card, neighbour in zip(self._pool, self._near, strict=False):
            card.show_neighbour(neighbour, judged=True)
        self._loader.request(self._asker, [neighbour.sample_id for neighbour in self._near], NEAR_PX)
        self._fit()
        self._pictures_came(set())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def changeEvent(self, event: QEvent) -> None:
        """Another size of text makes the words below the pictures higher."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._keep_height()

    def _keep_height(self) -> None:
        """The line needs the height of a card and hardly a width: what has no room is left out."""
        self._line.setFixedHeight(self._pool[0].sizeHint().height())
        self._line.setMinimumWidth(self._pool[0].sizeHint().width())

    def _fit(self) -> None:
        wide = self._pool[0].sizeHint().width()
        room = max(1, (self.width() + GAP) // (wide + GAP))
        for number, card in enumerate(self._pool):
            card.setVisible(number < min(room, len(self._near)))
        self._stop.show(self.cards)

    def _choose(self) -> None:
        card = self.sender()
        if isinstance(card, NeighbourCard) and card.neighbour is not None:
            self.chosen.emit(card.neighbour.sample_id)

    def _pictures_came(self, _: set[int]) -> None:
        for card, neighbour in zip(self._pool, self._near, strict=False):
            sample_id = neighbour.sample_id
            card.set_picture(self._loader.pixmap(sample_id, NEAR_PX), self._loader.absent(sample_id))


class QueryNeighbours(QFrame):
    """Reads the chosen query on a thread; hidden while none is chosen. `opened` (run, sample id) asks to show one."""

    opened = Signal(int, object)

    def __init__(self, session: Session, loader: PictureLoader) -> None:
        super().__init__()
        self.setProperty("card", "true")
        self._session, self._loader = session, loader
        self._reading = Newest(session, one_at_a_time=True)
        self._asked: AskedQuery | None = None
        self.picture = QLabel()
        self.picture.setFixedSize(QUERY_PX, QUERY_PX)
        self.picture.setAlignment(Qt.AlignmentFlag.AlignCenter)
        offer_image_menu(self.picture, loader, lambda: None if self._asked is None else self._asked.sample_id)
        self.name, self.path = ElidedLabel("", "strong"), ElidedLabel("", "caption", lines=2)
        self.said = label("", "muted", wrap=True)
        self.rows = [NearRow(loader, f"{PLACE}, {side}") for side in SIDES]
        words = QWidget()
        words.setMinimumWidth(WORDS_PX)
        in_column(self.name, self.path, 1, on=words, spacing=2)
        top = Qt.AlignmentFlag.AlignTop
        query = in_row((self.picture, top), (words, 1), spacing=8)
        first, second = self.rows
        both = in_row((first, 1), (second, 1), (self.said, 1), spacing=16)
        in_row((query, SHARES[0]), (both, SHARES[1]), on=self, margins=(12, 8, 12, 8), spacing=16)
        for side, row in enumerate(self.rows):
            row.chosen.connect(self._open_first if side == 0 else self._open_second)
        loader.ready.connect(self._pictures_came)
        self.hide()

    def show_query(self, asked: AskedQuery | None, named: tuple[str, str] = ("", ""), why: str = "") -> None:
        """Show another query; `named` are its class and path. Without one, `why` there is none; empty hides all."""
        self._asked = asked
        self._reading.cancel()
        self.setVisible(asked is not None or bool(why))
        if asked is None:
            self._say(why)
            return
        self.name.setText(named[0])
        self.path.setText(named[1])
        self.picture.setAccessibleName(f"The query {named[1]}, of class {named[0]}")
        self.picture.setPixmap(QPixmap())
        self._loader.request(PLACE, [asked.sample_id], QUERY_PX)
        self._pictures_came(set())
        workspace = self._session.workspace
        self._reading.ask(
            "Neighbours of a query", lambda progress: read_near(workspace, asked, progress), self._show, self._fail,
            quiet=True,
        )  # fmt: skip

    def _show(self, both: tuple[NearInRun, NearInRun]) -> None:
        if self._asked is None:
            return
        self._say("")
        for side, row, group, run in zip(SIDES, self.rows, self._asked.groups, both, strict=True):
            row.show_near(f"{side}, {self._asked.seed}: {_first_hit(run.query)}", group, run.near)

    def _fail(self, problem: Problem) -> None:
        self._say(str(problem))

    def _say(self, sentence: str) -> None:
        """Show a sentence in place of the neighbours; an empty one shows these."""
        self.said.setText(sentence)
        self.said.setVisible(bool(sentence))
        for row in self.rows:
            row.setVisible(not sentence)

    def _pictures_came(self, _: set[int]) -> None:
        if self._asked is None:
            return
        picture = self._loader.pixmap(self._asked.sample_id, QUERY_PX)
        if picture is not None:
            self.picture.setPixmap(picture)
        self.picture.setToolTip(plain_tip(self._loader.absent(self._asked.sample_id) or self.path.text()))

    def _open_first(self, sample_id: int) -> None:
        if self._asked is not None:
            self.opened.emit(self._asked.pair.first_run, sample_id)

    def _open_second(self, sample_id: int) -> None:
        if self._asked is not None:
            self.opened.emit(self._asked.pair.second_run, sample_id)


def _first_hit(query: Query) -> str:
    return f"first hit at rank {query.first_hit:,}" if query.first_hit else "no other image of its class"
