"""The cards of places below each other: scrolled, and as wide as there is room for."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QWidget

from workbench.ui.places.card import PlaceCard
from workbench.ui.widgets.boxes import in_column
from workbench.ui.widgets.labels import label
from workbench.ui.widgets.scrolled import Scrolled

NONE_YET = "No places yet: runs train on this machine."
BESIDE = 4  # px between the cards and the scroll bar


class CardList(Scrolled):
    """Cards in the order in which they were added; a sentence where there are none.

    Attributes:
        cards: that are shown.
        inside: the parent for new cards: one that became a child later would be styled again, with all in it.
        none: the sentence; the dialog hides it while cards are still to come.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        inside = QWidget()
        super().__init__(inside, parent)
        self.inside = inside
        self.cards: list[PlaceCard] = []
        self.none = label(NONE_YET, "muted")
        self._column = in_column(self.none, 1, on=inside, margins=(0, 0, BESIDE, 0), spacing=12)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)

    def add(self, card: PlaceCard) -> None:
        """Show a card below the others."""
        self.cards.append(card)
        card.fit(self._room())
        self._column.insertWidget(len(self.cards), card)
        self.none.hide()

    def remove(self, card: PlaceCard) -> None:
        """Show a card no more; it is gone after this turn of the event loop."""
        self.cards.remove(card)
        self._column.removeWidget(card)
        card.hide()
        card.deleteLater()
        self.none.setVisible(not self.cards)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        for card in self.cards:
            card.fit(self._room())

    def _room(self) -> int:
        return self.viewport().width() - BESIDE
