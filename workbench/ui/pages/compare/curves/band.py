"""What stands behind the mean of a group: its runs as a faint line, and the band over seeds."""

from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPolygonF

from workbench.ui.plots.curve import drawable
from workbench.ui.plots.items import Behind
from workbench.ui.plots.value_scale import LINEAR, ValueScale


class FaintLine(Behind, pg.PlotDataItem):
    """A thin line through `values` [n] at `x` [n], with gaps where they are NaN."""

    def __init__(self, x: np.ndarray, values: np.ndarray, colour: QColor) -> None:
        super().__init__(pen=pg.mkPen(colour, width=1), connect="finite")
        self._numbers, self._scale = (x, values), LINEAR
        self.setData(*drawable(x, values))

    def values(self) -> np.ndarray:
        """What the axis must show, [n]."""
        return self._numbers[1]

    def take_scale(self, scale: ValueScale) -> None:
        """Draw on this scale from now on."""
        if scale != self._scale:
            self._scale = scale
            self.setData(*drawable(*self._numbers, scale))


class Band(Behind, pg.GraphicsObject):
    """Fills from `low` [n] to `high` [n] at `x` [n]; all finite, x rising.

    One polygon without an outline and without smooth edges, which would cost the most.
    """

    def __init__(self, x: np.ndarray, low: np.ndarray, high: np.ndarray, colour: QColor) -> None:
        super().__init__()
        self.colour = colour  # with its opacity
        self._numbers = x, low, high
        self._scale: ValueScale | None = None
        self.take_scale(LINEAR)

    def values(self) -> np.ndarray:
        """What the axis must show, [2 n]."""
        return np.concatenate(self._numbers[1:])

    def take_scale(self, scale: ValueScale) -> None:
        """Draw on this scale from now on."""
        if scale == self._scale:
            return
        self._scale = scale
        x, low, high = self._numbers[0], *(scale.heights(limit) for limit in self._numbers[1:])
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
        painter.setBrush(self.colour)
        painter.drawPolygon(self._polygon)
