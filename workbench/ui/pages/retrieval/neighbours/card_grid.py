"""A grid of neighbours as cards, which are used again for every query; a click makes one the query."""

from collections.abc import Mapping
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QScrollArea, QWidget

from workbench.ui.widgets.flow import FilledFlow
from workbench.ui.widgets.images.image_menu import offer_image_menu
from workbench.ui.widgets.images.neighbour_card import SIDE, NeighbourCard
from workbench.ui.widgets.images.pictures import PictureLoader
from workbench.ui.widgets.one_stop import OneStop, in_line
from workbench.workspace.rows import Neighbour

BESIDE = "Show beside the query"


class CardArea(QScrollArea):
    """Scrolls cards up and down. They leave room for the scroll bar also while there is none.

    Otherwise they would be larger without it, and might need it then.
    """

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setAccessibleName(name)

    def resizeEvent(self, event: QResizeEvent) -> None:
        if (cards := self.widget()) is not None:
            cards.setMaximumWidth(max(1, self.width() - self.verticalScrollBar().sizeHint().width()))
        super().resizeEvent(event)


class CardGrid(QWidget):
    """Cards in lines, one stop for the Tab key.

    Args:
        loader: of the pictures.
        asker: what asks for them; unlike that of any other grid.
        ahead: cards made with the page, so that its first sight does not stop the window.
        paired: whether the menu of a card offers to show it beside the query.
    """

    chosen = Signal(object)  # sample id
    pair_asked = Signal(object)  # sample id: the query is to be shown beside it

    def __init__(self, loader: PictureLoader, asker: str, ahead: int, *, paired: bool = True) -> None:
        super().__init__()
        self._loader, self._asker, self._paired = loader, asker, paired
        self._pool: list[NeighbourCard] = []
        self._used = 0
        self._flow = FilledFlow(self, spacing=8)
        self.stop = OneStop(self)
        self._make_cards(ahead)
        loader.ready.connect(self._pictures_came)

    @property
    def cards(self) -> list[NeighbourCard]:
        """Cards on screen, nearest first."""
        return self._pool[: self._used]

    def show_neighbours(self, near: list[Neighbour], *, judged: bool) -> None:
        """Show other neighbours; `judged` is False if nobody knows the class of the query."""
        self._flow.setEnabled(False)  # otherwise every card that is shown lays out all of them
        self._make_cards(len(near))
        self._used = len(near)
        for number, card in enumerate(self._pool):
            card.setVisible(number < self._used)
            if number < self._used:
                card.show_neighbour(near[number], judged)
        self._flow.setEnabled(True)
        self._flow.invalidate()
        self.stop.show(self.cards)
        self._loader.request(self._asker, [neighbour.sample_id for neighbour in near], SIDE)
        self._pictures_came(set())

    def mark(self, elsewhere: Mapping[int, str]) -> None:
        """Write beside the ranks of the cards what is said of their samples, by sample id."""
        for card in self.cards:
            card.mark(elsewhere.get(card.sample() or 0, ""))

    def _make_cards(self, count: int) -> None:
        while len(self._pool) < count:
            card = NeighbourCard()
            card.clicked.connect(self._choose)
            more = [(BESIDE, partial(self._ask_pair, card))] if self._paired else []
            offer_image_menu(card, self._loader, card.sample, more)
            card.hide()
            self._flow.addWidget(card)
            in_line(self._pool, card)
            self._pool.append(card)

    def _choose(self) -> None:
        card = self.sender()
        if isinstance(card, NeighbourCard) and card.neighbour is not None:
            self.chosen.emit(card.neighbour.sample_id)

    def _ask_pair(self, card: NeighbourCard) -> None:
        self.pair_asked.emit(card.sample())

    def _pictures_came(self, _: set[int]) -> None:
        for card in self.cards:
            assert card.neighbour is not None
            sample_id = card.neighbour.sample_id
            card.set_picture(self._loader.pixmap(sample_id, SIDE), self._loader.absent(sample_id))
