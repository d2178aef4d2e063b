"""The layer over the points: class vectors as stars, the ring of the hovered point and the mark of the query."""

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QPainter, QPainterPath, QPen
from PySide6.QtWidgets import QStyleOptionGraphicsItem, QWidget

from workbench.ui.pages.map.drawing.lines import Lines
from workbench.ui.pages.map.model.groups import Groups
from workbench.ui.pages.map.model.map_data import MapData
from workbench.ui.pages.map.points.stamps import on_screen
from workbench.ui.style import theme

STAR, RING, QUERY = 14, 7, 10  # px: across, radius, half a side


class Marks(pg.GraphicsObject):
    """A separate layer, so that moving the ring does not redraw the points."""

    def __init__(self) -> None:
        super().__init__()
        self.tokens = theme.current()
        self.hovered: int | None = None  # row
        self.query: int | None = None  # row
        self.proxies_shown = True
        self._data: MapData | None = None
        self._stars = np.empty((0, 2))
        self._inks = np.empty(0, np.uint32)
        self._groups: Groups | None = None
        self._links = np.empty(0, np.int64)  # rows that lines join to the hovered point
        self._trail_rows = np.empty(0, np.int64)
        self._trails = np.empty((0, 0, 2))  # the positions of those rows at each time
        self._bounds = QRectF(0, 0, 1, 1)
        self.setZValue(10)

    def show(self, data: MapData | None, groups: Groups | None, hidden: frozenset[int], box: QRectF) -> None:
        """Show other points, another colouring or other hidden groups."""
        self._data, self._groups = data, groups
        self.prepareGeometryChange()
        self._bounds = box
        self._place_stars(groups, hidden)
        self.update()

    def hover(self, row: int | None) -> None:
        """Draw a ring around this point, or none for None."""
        if row != self.hovered:
            self.hovered = row
            self.update()

    def show_links(self, rows: np.ndarray | None) -> None:
        """Draw lines from the hovered point to these rows, or none for None."""
        now = np.empty(0, np.int64) if rows is None else rows
        if len(now) or len(self._links):
            self._links = now
            self.update()

    def show_trails(self, rows: np.ndarray, trails: np.ndarray) -> None:
        """Show the trails [s, m, 2] of the points of rows [s]."""
        if len(rows) or len(self._trail_rows):
            self._trail_rows, self._trails = rows, trails
            self.update()

    def take_trails(self, other: "Marks") -> None:
        """Draw the same trails as another layer over the same points."""
        self.show_trails(other._trail_rows, other._trails)

    @property
    def links(self) -> np.ndarray:
        """Rows that lines join to the hovered point."""
        return self._links

    @property
    def trails(self) -> np.ndarray:
        """The trails [s, m, 2] that are drawn."""
        return self._trails

    def boundingRect(self) -> QRectF:
        return self._bounds

    def dataBounds(self, axis: int, frac: float = 1.0, orthoRange: object = None) -> None:  # noqa: N803
        return None

    def pixelPadding(self) -> float:
        return float(STAR)

    @property
    def stars(self) -> np.ndarray:
        """Positions [s, 2] of the stars that are drawn."""
        return self._stars if self.proxies_shown else np.empty((0, 2))

    def paint(self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None) -> None:
        """Draw stars, rings and lines over the points, in pixels of the screen."""
        transform = painter.worldTransform()
        painter.save()
        painter.resetTransform()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        lines = Lines(painter, transform, self.tokens)
        if self._data is not None and self._data.made is not None:
            lines.doubts(self._data.made.doubts)
        if self._groups is not None and len(self._trails):
            of = self._groups.of[self._trail_rows]
            lines.trails(self._trails, self._groups.colours[of])
        if self._data is not None and self.hovered is not None and len(self._links):
            lines.links(self._data, self.hovered, self._links)
        painter.setPen(QPen(QColor(self.tokens.text), 1.2))
        shape = star(STAR / 2)
        for (x, y), ink in zip(on_screen(transform, self.stars).tolist(), self._inks.tolist(), strict=False):
            painter.setBrush(QBrush(QColor.fromRgba(ink)))
            painter.drawPath(shape.translated(x, y))
        if self._data is not None:
            painter.setBrush(Qt.BrushStyle.NoBrush)
            for row, draw in ((self.query, self._square), (self.hovered, self._ring)):
                if row is not None and row < len(self._data.points) and np.isfinite(self._data.points[row]).all():
                    x, y = on_screen(transform, self._data.points[row : row + 1])[0].tolist()
                    draw(painter, QPointF(x, y))
        painter.restore()

    def _square(self, painter: QPainter, at: QPointF) -> None:
        box = QRectF(at.x() - QUERY, at.y() - QUERY, 2 * QUERY, 2 * QUERY)
        for colour, width in ((self.tokens.plot_background, 4.0), (self.tokens.text, 1.6)):
            painter.setPen(QPen(QColor(colour), width))
            painter.drawRoundedRect(box, 4, 4)

    def _ring(self, painter: QPainter, at: QPointF) -> None:
        for colour, width in ((self.tokens.plot_background, 4.5), (self.tokens.accent, 2.0)):
            painter.setPen(QPen(QColor(colour), width))
            painter.drawEllipse(at, RING, RING)

    def _place_stars(self, groups: Groups | None, hidden: frozenset[int]) -> None:
        """Give proxies the colour of their class and hide them with it; proxies of classes not on the map are plain."""
        data = self._data
        if data is None or data.proxies is None:
            self._stars, self._inks = np.empty((0, 2)), np.empty(0, np.uint32)
            return
        inks = np.full(len(data.proxies), QColor(self.tokens.plot_background).rgba(), np.uint32)
        shown = np.isfinite(data.proxies).all(1)
        if groups is not None and groups.labels is not None and len(groups.labels):
            group = np.minimum(np.searchsorted(groups.labels, data.proxy_labels), len(groups.labels) - 1)
            known = groups.labels[group] == data.proxy_labels
            inks[known] = groups.colours[group[known]]
            shown &= ~(known & np.isin(group, list(hidden)))
        self._stars, self._inks = data.proxies[shown], inks[shown]


def star(radius: float) -> QPainterPath:
    """A five-pointed star around (0, 0), in pixels."""
    path = QPainterPath()
    for corner in range(10):
        length = radius if corner % 2 == 0 else radius * 0.45
        angle = np.pi * (corner / 5 - 0.5)
        point = QPointF(length * np.cos(angle), length * np.sin(angle))
        if corner:
            path.lineTo(point)
        else:
            path.moveTo(point)
    path.closeSubpath()
    return path
