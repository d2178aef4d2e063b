"""A card that stays in sight beside a taller one while that scrolls."""

from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QScrollArea, QWidget


class KeptInSight(QObject):
    """Moves the card down with the scroll bar, at most to the lower end of the other one, if all of it has room.

    Args:
        area: scrolls both.
        card: whose layout puts it beside `other`, at the same height.
    """

    def __init__(self, area: QScrollArea, card: QWidget, other: QWidget) -> None:
        super().__init__(area)
        self._area, self._card, self._other = area, card, other
        self.on = False  # only while the two are beside each other
        area.verticalScrollBar().valueChanged.connect(self.keep)
        for watched in (card, other):
            watched.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Move the card again where its layout has moved or resized one of the two."""
        if event.type() in (QEvent.Type.Move, QEvent.Type.Resize):
            self.keep()
        return False

    def keep(self) -> None:
        """Put the card where it can be seen; one that is higher than the area scrolls with the other."""
        if not self.on:
            return
        top, card = self._other.y(), self._card
        if card.height() <= self._area.viewport().height():
            lowest = self._other.geometry().bottom() + 1 - card.height()
            top = max(top, min(self._area.verticalScrollBar().value(), lowest))
        if card.y() != top:
            card.move(card.x(), top)
