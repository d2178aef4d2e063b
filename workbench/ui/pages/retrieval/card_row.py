"""Cards of neighbours under a title, used again for every query."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from workbench.ui.pages.retrieval.neighbour_card import SIDE, NeighbourCard
from workbench.ui.widgets.flow import FlowLayout
from workbench.ui.widgets.labels import label
from workbench.ui.widgets.one_stop import OneStop, in_line
from workbench.ui.widgets.pictures import PictureLoader
from workbench.workspace.rows import Neighbour


class CardRow(QWidget):
    """Cards as in the grid of neighbours; a click makes one the query.

    Args:
        loader: of the pictures.
        place: what asks for them; unlike that of any other row.
        ahead: cards made with the page, so that its first sight does not stop the window.
    """

    chosen = Signal(object)  # sample id

    def __init__(self, loader: PictureLoader, place: str, ahead: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._loader, self._place = loader, place
        self._pool: list[NeighbourCard] = []
        self._used = 0
        self.stop = OneStop(self)
        self.title = label("", "section", wrap=True)
        cards = QWidget()
        self.grid = FlowLayout(cards, spacing=8)
        self.column = QVBoxLayout(self)
        self.column.setContentsMargins(0, 0, 0, 0)
        self.column.setSpacing(12)
        self.column.addWidget(self.title)
        self.column.addWidget(cards)
        self._make_cards(ahead)
        loader.ready.connect(self._pictures_came)
        self.hide()

    @property
    def cards(self) -> list[NeighbourCard]:
        """Cards on screen, nearest first."""
        return self._pool[: self._used]

    def show_cards(self, title: str, near: list[Neighbour]) -> None:
        """Show other neighbours, judged by the class of the query."""
        self.title.setText(title)
        self.grid.setEnabled(False)  # else every card that is shown lays out all of them
        self._make_cards(len(near))
        self._used = len(near)
        for place, card in enumerate(self._pool):
            card.setVisible(place < self._used)
            if place < self._used:
                card.show_neighbour(near[place], judged=True)
        self.grid.setEnabled(True)
        self.grid.invalidate()
        self.stop.show(self.cards)
        self._loader.request(self._place, [each.sample_id for each in near], SIDE)
        self._pictures_came(set())

    def _make_cards(self, count: int) -> None:
        while len(self._pool) < count:
            card = NeighbourCard()
            card.clicked.connect(self._choose)
            card.hide()
            self.grid.addWidget(card)
            in_line(self._pool, card)
            self._pool.append(card)

    def _choose(self) -> None:
        card = self.sender()
        if isinstance(card, NeighbourCard) and card.neighbour is not None:
            self.chosen.emit(card.neighbour.sample_id)

    def _pictures_came(self, _: set[int]) -> None:
        for card in self.cards:
            assert card.neighbour is not None
            sample_id = card.neighbour.sample_id
            card.set_picture(self._loader.pixmap(sample_id, SIDE), self._loader.absent(sample_id))
