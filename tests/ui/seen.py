"""What a person sees, for tests."""

import numpy as np
from PySide6.QtCore import QEvent, QObject
from PySide6.QtGui import QColor, QImage
from PySide6.QtWidgets import QWidget

from workbench.ui.pages.map.drawing.canvas import MapCanvas
from workbench.ui.style import theme
from workbench.ui.widgets.images.neighbour_card import NeighbourCard

EVERYWHERE = (-1e9, -1e9, 1e9, 1e9)  # a box of a map


def drawn(canvas: MapCanvas) -> np.ndarray:
    """Bool [n]: the points of a map that are drawn."""
    mask = np.zeros(len(canvas.data.points), bool)
    mask[canvas.cloud.rows_in(EVERYWHERE)] = True
    return mask


def pictured(card: NeighbourCard) -> bool:
    """Whether a card shows a picture: words alone would leave most of its square empty."""
    square = card.grab(card.square).toImage().convertToFormat(QImage.Format.Format_RGB32)
    empty = QColor(theme.current().surface).rgb()
    every = [square.pixel(x, y) for x in range(0, square.width(), 4) for y in range(0, square.height(), 4)]
    return sum(pixel != empty for pixel in every) > len(every) / 2


class Counted(QObject):
    """Counts the events of one kind that a widget gets: layouts that it is asked for, or paintings."""

    def __init__(self, watched: QWidget, kind: QEvent.Type) -> None:
        super().__init__(watched)
        self.count, self._kind = 0, kind
        watched.installEventFilter(self)

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:  # noqa: N802
        self.count += event.type() == self._kind
        return False
