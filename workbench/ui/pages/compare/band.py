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
        corners = [*zip(x.tolist(), high.tolist(), strict=True)]
        corners += reversed([*zip(x.tolist(), low.tolist(), strict=True)])
        self._polygon = QPolygonF([QPointF(*each) for each in corners])
        self._bounds = self._polygon.boundingRect()

    def boundingRect(self) -> QRectF:
        return self._bounds

    def paint(self, painter: QPainter, *_: Any) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._colour)
        painter.drawPolygon(self._polygon)
