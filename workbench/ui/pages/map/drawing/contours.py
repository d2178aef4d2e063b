"""Contours of the density of the points: computed on a thread, drawn over the points as thin lines."""

from collections.abc import Sequence

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QObject, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPen, QPolygonF
from PySide6.QtWidgets import QStyleOptionGraphicsItem, QWidget

from workbench.jobs.newest import Newest
from workbench.progress import Progress
from workbench.projection.density import Contour, contours
from workbench.ui.state.session import Session
from workbench.ui.style import theme

OUTERMOST, INNERMOST = 90, 230  # opacity of 255


class Contours(pg.GraphicsObject):
    """A layer above the points and below the names."""

    def __init__(self) -> None:
        super().__init__()
        self.tokens = theme.current()
        self.shown: Sequence[Contour] = ()
        self._paths: list[QPainterPath] = []
        self._bounds = QRectF()
        self.setZValue(6)

    def show(self, shown: Sequence[Contour]) -> None:
        """Show these, outermost first; none for an empty sequence."""
        self.prepareGeometryChange()
        self.shown = shown
        self._paths = [_path(contour) for contour in shown]
        self._bounds = QRectF()
        for path in self._paths:
            self._bounds = self._bounds.united(path.boundingRect())
        self.update()

    def boundingRect(self) -> QRectF:
        return self._bounds

    def dataBounds(self, axis: int, frac: float = 1.0, orthoRange: object = None) -> None:  # noqa: N803
        return None

    def paint(self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None) -> None:
        """Draw the lines one pixel wide, the inner ones more strongly."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for path, opacity in zip(self._paths, np.linspace(OUTERMOST, INNERMOST, len(self._paths)), strict=True):
            colour = QColor(self.tokens.text)
            colour.setAlpha(round(opacity))
            pen = QPen(colour, 1.0)
            pen.setCosmetic(True)
            painter.setPen(pen)
            painter.drawPath(path)


class ContourMaker(QObject):
    """Computes the contours of one canvas; of several requests only the newest is answered."""

    def __init__(self, session: Session, layer: Contours, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._layer, self._newest = layer, Newest(session)
        self._points: np.ndarray | None = None

    def make(self, points: np.ndarray | None) -> None:
        """Show the contours of points [k, 2] once they are ready; None shows none."""
        before, self._points = self._points, points
        if points is None or before is None:
            self._newest.cancel()
            self._layer.show(())
        if points is None or (before is not None and np.array_equal(before, points)):
            return

        def work(progress: Progress) -> tuple[Contour, ...]:
            return contours(points)

        self._newest.ask("Density of the map", work, self._layer.show, quiet=True)


def _path(contour: Contour) -> QPainterPath:
    path = QPainterPath()
    for line in contour.lines:
        path.addPolygon(QPolygonF([QPointF(x, y) for x, y in line.tolist()]))
    return path
