"""A band between two curves, as one polygon: without an outline and without smooth edges, which would cost the most."""

from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPolygonF


class Band(pg.GraphicsObject):
    """Fills from `low` [n] to `high` [n] at `x` [n]; all finite, x rising."""

    def __init__(self, x: np.ndarray, low: np.ndarray, high: np.ndarray, colour: QColor) -> None:
        super().__init__()
        self._colour = colour
        self._numbers = x, low, high
        self.setLogMode(False, False)

    def setLogMode(self, _x: bool, y: bool) -> None:
        """Take the plot's axes. A limit at or below zero has no logarithm: it is drawn at the lowest positive one."""
        x, low, high = self._numbers
        if y:
            above = np.concatenate((low, high))
            least = above[above > 0].min(initial=np.inf)
            kept = high > 0
            x, low, high = x[kept], np.log10(np.maximum(low[kept], least)), np.log10(high[kept])
        self.prepareGeometryChange()
        corners = [*zip(x.tolist(), high.tolist(), strict=True)]
        corners += reversed([*zip(x.tolist(), low.tolist(), strict=True)])
        self._polygon = QPolygonF([QPointF(*corner) for corner in corners])
        self._bounds = self._polygon.boundingRect()

    def boundingRect(self) -> QRectF:
        return self._bounds

    def paint(self, painter: QPainter, *_: Any) -> None:
        """Fill the band without an outline."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._colour)
        painter.drawPolygon(self._polygon)
