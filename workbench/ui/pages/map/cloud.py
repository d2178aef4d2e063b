"""Points and stars drawn from arrays: one call per colour, however many points."""

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QPainter, QPainterPath, QPen, QPolygonF
from PySide6.QtWidgets import QStyleOptionGraphicsItem, QWidget

from workbench.ui import theme
from workbench.ui.pages.map.map_data import Groups, MapData

ROUND_UP_TO = 20_000  # points; beyond that squares, which Qt draws much faster
STAR = 14  # px
DIMMED = 40  # of 255


class Cloud(pg.GraphicsObject):
    """All points of a map. Hidden groups are not drawn; unselected points are dimmed while there is a selection."""

    def __init__(self) -> None:
        super().__init__()
        self._data: MapData | None = None
        self._groups: Groups | None = None
        self._hidden: set[int] = set()
        self._selected: np.ndarray | None = None  # bool [n]
        self._bounds = QRectF()
        self._layers: list[tuple[QColor, QPolygonF]] = []
        self._size = 5.0
        self.hovered: int | None = None

    def show(self, data: MapData, groups: Groups) -> None:
        """Show other points or another colouring."""
        self._data, self._groups = data, groups
        good = data.points[np.isfinite(data.points).all(1)]
        if data.proxies is not None:
            good = np.concatenate([good, data.proxies[np.isfinite(data.proxies).all(1)]])
        low, high = (good.min(0), good.max(0)) if len(good) else (np.zeros(2), np.ones(2))
        self.prepareGeometryChange()
        self._bounds = QRectF(QPointF(*low.tolist()), QPointF(*np.maximum(high, low + 1e-6).tolist()))
        self._size = float(np.clip(9 - 1.6 * np.log10(max(10, len(data.points))), 2, 7))
        self._arrange()

    def set_hidden(self, groups: set[int]) -> None:
        """Leave these groups out."""
        self._hidden = groups
        self._arrange()

    def set_selected(self, selected: np.ndarray | None) -> None:
        """Bool [n], or None for no selection."""
        self._selected = selected
        self._arrange()

    def visible_rows(self) -> np.ndarray:
        """Bool [n]: points that are drawn."""
        assert self._data is not None
        assert self._groups is not None
        shown = np.isfinite(self._data.points).all(1)
        if self._hidden:
            shown &= ~np.isin(self._groups.of, list(self._hidden))
        return shown

    def boundingRect(self) -> QRectF:
        return self._bounds

    def dataBounds(self, axis: int, frac: float = 1.0, orthoRange: object = None) -> tuple[float, float]:  # noqa: N803
        box = self._bounds
        return (box.left(), box.right()) if axis == 0 else (box.top(), box.bottom())

    def pixelPadding(self) -> float:
        return float(STAR)

    def paint(self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None) -> None:
        if self._data is None:
            return
        few = len(self._data.points) <= ROUND_UP_TO
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, few)
        cap = Qt.PenCapStyle.RoundCap if few else Qt.PenCapStyle.SquareCap
        for colour, polygon in self._layers:
            pen = QPen(colour, self._size)
            pen.setCosmetic(True)
            pen.setCapStyle(cap)
            painter.setPen(pen)
            painter.drawPoints(polygon)
        self._paint_marks(painter)

    def _arrange(self) -> None:
        """Sort the points into layers: dimmed ones below, then the others by colour."""
        if self._data is None or self._groups is None:
            return
        shown, layers = self.visible_rows(), list[tuple[QColor, QPolygonF]]()
        bright = shown if self._selected is None else shown & self._selected
        if self._selected is not None:
            faint = QColor(theme.current().muted)
            faint.setAlpha(DIMMED)
            layers.append((faint, polygon_of(self._data.points[shown & ~bright])))
        order = np.argsort(self._groups.of, kind="stable")
        order = order[bright[order]]
        starts = np.flatnonzero(np.diff(self._groups.of[order], prepend=-1))
        for rows in np.split(order, starts[1:]):
            if len(rows):
                layers.append((self._groups.colours[self._groups.of[rows[0]]], polygon_of(self._data.points[rows])))
        self._layers = layers
        self.update()

    def _paint_marks(self, painter: QPainter) -> None:
        assert self._data is not None
        transform = painter.transform()
        painter.save()
        painter.resetTransform()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        tokens = theme.current()
        if self._data.proxies is not None:
            painter.setPen(QPen(QColor(tokens.plot_background), 1.5))
            painter.setBrush(QBrush(QColor(tokens.text)))
            for x, y in self._data.proxies[np.isfinite(self._data.proxies).all(1)].tolist():
                painter.drawPath(star(transform.map(QPointF(x, y)), STAR / 2))
        if self.hovered is not None and self.hovered < len(self._data.points):
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(QColor(tokens.accent), 2))
            at = transform.map(QPointF(*self._data.points[self.hovered].tolist()))
            painter.drawEllipse(at, 7, 7)
        painter.restore()


def polygon_of(points: np.ndarray) -> QPolygonF:
    """[n, 2] as Qt's own array, without a loop."""
    polygon = pg.functions.create_qpolygonf(len(points))
    if len(points):
        pg.functions.ndarray_from_qpolygonf(polygon)[:] = points
    return polygon


def star(centre: QPointF, radius: float) -> QPainterPath:
    """A five-pointed star, in pixels."""
    path = QPainterPath()
    for corner in range(10):
        length = radius if corner % 2 == 0 else radius * 0.42
        angle = np.pi * (corner / 5 - 0.5)
        point = centre + QPointF(length * np.cos(angle), length * np.sin(angle))
        if corner:
            path.lineTo(point)
        else:
            path.moveTo(point)
    path.closeSubpath()
    return path
