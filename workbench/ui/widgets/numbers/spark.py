"""A small curve beside a number, which shows how the number changed."""

import numpy as np
from PySide6.QtCore import QPointF
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QWidget

from workbench.ui.style import theme

SPARK, SPARK_POINTS = (56, 22), 40  # size in px; most points drawn
Ends = tuple[float, float]


class Spark(QWidget):
    """A curve without axes.

    Args:
        size: px.
        ends: values at the bottom and at the top; None: the lowest and the highest shown value.
    """

    def __init__(
        self, colour: str, parent: QWidget | None = None, size: tuple[int, int] = SPARK, ends: Ends | None = None
    ) -> None:
        super().__init__(parent)
        self._colour, self._values, self._ends = colour, np.empty(0), ends
        self.setFixedSize(*size)

    def show_values(self, values: np.ndarray) -> None:
        """Draw values [n]; those that are not finite are left out."""
        values = values[np.isfinite(values)]
        self._values = values[np.linspace(0, len(values) - 1, min(len(values), SPARK_POINTS)).astype(int)]
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        if len(self._values) < 2:
            return
        low, high = self._ends or (float(self._values.min()), float(self._values.max()))
        across = np.linspace(1, self.width() - 1, len(self._values))
        up = (self._values - low) / ((high - low) or 1.0)
        points = QPolygonF([QPointF(x, 2 + (1 - y) * (self.height() - 4)) for x, y in zip(across, up, strict=True)])
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(QColor(theme.drawn(self._colour)), 1.6))
        painter.drawPolyline(points)
        painter.end()
