"""The warning that groups on the map are none in the embedding; each of its sentences leads to the place."""

from functools import partial
from typing import Any

import numpy as np
from PySide6.QtCore import QRectF
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QPushButton, QWidget

from workbench.ui.icons import icon
from workbench.ui.pages.map.drawing.canvas import MapCanvas
from workbench.ui.pages.map.map_data import MapData

AROUND = 0.25  # of the box of some points, kept free on each side
TIP = "Groups of points on the map that the embedding does not know, with a dashed outline. Choose one to look at it."


class DoubtsButton(QPushButton):
    """Says how many groups of the map are doubted; not there when none is."""

    def __init__(self, canvas: MapCanvas, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._canvas = canvas
        self.setProperty("kind", "quiet")
        self.setIcon(icon("warning", "warning"))
        self.setToolTip(TIP)
        self.setMenu(QMenu(self))
        self.hide()

    def show_map(self, data: MapData | None) -> None:
        """The doubts of another map, or of none."""
        doubts = () if data is None or data.made is None else data.made.doubts
        menu = self.menu()
        menu.clear()
        for doubt in doubts:
            action = QAction(sentence(doubt), menu)
            action.triggered.connect(partial(self._look_at, doubt))
            menu.addAction(action)
        self.setText("1 group is doubtful" if len(doubts) == 1 else f"{len(doubts):,} groups are doubtful")
        self.setVisible(bool(doubts))

    def _look_at(self, doubt: dict[str, Any], _: bool = False) -> None:
        zoom_to(self._canvas, np.asarray(doubt["outline"], float).reshape(-1, 2))


def sentence(doubt: dict[str, Any]) -> str:
    """Why a group of the map is doubted."""
    count, stay, pieces = doubt["count"], doubt["stay"], doubt["pieces"]
    if pieces > 1:
        return f"{count:,} points look like one group, but are {pieces:,} without a true neighbour in each other"
    return f"{count:,} points look like a group, but {100 - 100 * stay:.0f} % of their true neighbours lie elsewhere"


def zoom_to(canvas: MapCanvas, points: np.ndarray) -> None:
    """Bring points [n, 2] into the middle of the map with room around them."""
    good = points[np.isfinite(points).all(1)]
    if len(good):
        (left, bottom), (right, top) = good.min(0).tolist(), good.max(0).tolist()
        room = AROUND * max(right - left, top - bottom, 1e-6)
        box = QRectF(left - room, bottom - room, right - left + 2 * room, top - bottom + 2 * room)
        canvas.box.setRange(box, padding=0)
