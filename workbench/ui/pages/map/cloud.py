"""Points drawn from arrays: one picture for all of them, whatever their number and the number of their colours."""

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QColor, QImage, QPainter, QPen, QPolygonF, QTransform
from PySide6.QtWidgets import QStyleOptionGraphicsItem, QWidget

from workbench.ui import theme
from workbench.ui.pages.map.map_data import Groups, MapData

SMOOTH_UP_TO = 8_000  # points in view; beyond that edges are hard, which takes a quarter of the time
DIMMED = 46  # of 255
LEAST = 1e-6  # height and width of a map whose points all lie in one place


class Cloud(pg.GraphicsObject):
    """All points of a map. Hidden groups are not drawn; unselected points are dimmed while there is a selection.

    Points lie over one another in the order of the data, not of their classes; selected ones lie on top.
    """

    def __init__(self) -> None:
        super().__init__()
        self.tokens = theme.current()
        self.vector = False  # draw shapes instead of a picture, for exports
        self._data: MapData | None = None
        self._groups: Groups | None = None
        self._hidden: frozenset[int] = frozenset()
        self._selected: np.ndarray | None = None  # bool [n]
        self._bounds = QRectF(0, 0, 1, 1)
        self._shown = np.empty(0, bool)
        self._rows = np.empty(0, np.int64)  # drawn, from bottom to top
        self._colours = np.empty(0, np.uint32)  # of `_rows`, premultiplied ARGB
        self._crosses = np.empty(0, bool)
        self._picture: tuple[object, QImage] | None = None  # with what it was drawn for

    def show(self, data: MapData, groups: Groups, hidden: frozenset[int] = frozenset()) -> None:
        """Show other points or another colouring."""
        self._data, self._groups, self._hidden = data, groups, hidden
        self.prepareGeometryChange()
        self._bounds = bounds(data)
        self._arrange()

    def clear(self) -> None:
        """Show nothing."""
        self._data = self._groups = self._selected = None
        self._arrange()

    def set_hidden(self, groups: frozenset[int]) -> None:
        """Leave these groups out."""
        self._hidden = groups
        self._arrange()

    def set_selected(self, selected: np.ndarray | None) -> None:
        """Bool [n], or None for no selection."""
        self._selected = selected
        self._arrange()

    @property
    def selected(self) -> np.ndarray | None:
        """Bool [n], or None while there is no selection."""
        return self._selected

    def visible_rows(self) -> np.ndarray:
        """Bool [n]: points that are drawn."""
        return self._shown

    def boundingRect(self) -> QRectF:
        return self._bounds

    def dataBounds(self, axis: int, frac: float = 1.0, orthoRange: object = None) -> tuple[float, float]:  # noqa: N803
        box = self._bounds
        return (box.left(), box.right()) if axis == 0 else (box.top(), box.bottom())

    def pixelPadding(self) -> float:
        return 8.0

    def paint(self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None) -> None:
        if not len(self._rows):
            return
        if self.vector:
            self._paint_shapes(painter)
            return
        transform, device = painter.worldTransform(), painter.device()
        ratio = device.devicePixelRatioF()
        logical = 1.0 if isinstance(device, QWidget) else ratio  # a picture tells its size in its own pixels
        size = (round(device.width() / logical), round(device.height() / logical))
        key = (values_of(transform), size, ratio)
        if self._picture is None or self._picture[0] != key:
            self._picture = (key, self._drawn(transform, size, ratio))
        painter.save()
        painter.resetTransform()
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        painter.drawImage(QRect(0, 0, *size), self._picture[1])
        painter.restore()

    def _arrange(self) -> None:
        """Decide which points are drawn, in which order and colour."""
        self._picture = None
        data, groups = self._data, self._groups
        if data is None or groups is None:
            self._shown, self._rows = np.empty(0, bool), np.empty(0, np.int64)
            self.update()
            return
        shown = np.isfinite(data.points).all(1)
        if self._hidden:
            keep = np.ones(len(groups.names), bool)
            keep[list(self._hidden)] = False
            shown &= keep[groups.of]
        self._shown = shown
        self._rows = np.flatnonzero(shown)
        self._colours = groups.colours[groups.of[self._rows]]
        crossed = np.zeros(len(groups.names), bool)
        crossed[list(groups.crosses)] = True
        self._crosses = crossed[groups.of[self._rows]]
        if self._selected is not None:
            bright = self._selected[self._rows]
            self._colours = np.where(bright, self._colours, faded(self.tokens.muted))
            order = np.argsort(bright, kind="stable")
            self._rows, self._colours, self._crosses = self._rows[order], self._colours[order], self._crosses[order]
        self.update()

    def _drawn(self, transform: QTransform, size: tuple[int, int], ratio: float) -> QImage:
        """The points in view as a picture of `size` times `ratio` pixels, or twice as fine where they are few."""
        assert self._data is not None
        places = on_screen(transform, self._data.points[self._rows]) * ratio
        width, height = round(size[0] * ratio), round(size[1] * ratio)
        margin = 2 * diameter(len(self._shown)) * ratio
        near = ((places > -margin) & (places < (width + margin, height + margin))).all(1)
        fine = 2 if int(near.sum()) <= SMOOTH_UP_TO else 1
        stamp = diameter(len(self._shown)) * ratio * fine
        return splat(
            places[near] * fine, self._colours[near], self._crosses[near], (width * fine, height * fine), stamp
        )

    def _paint_shapes(self, painter: QPainter) -> None:
        """Discs by colour, then crosses: for drawings, which have no pixels."""
        assert self._data is not None
        points, wide = self._data.points[self._rows], diameter(len(self._shown))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for colour in dict.fromkeys(self._colours.tolist()):
            mine = self._colours == colour
            pen = QPen(QColor.fromRgba(unmultiplied(colour)), wide)
            pen.setCosmetic(True)
            pen.setCapStyle(Qt.PenCapStyle.RoundCap)
            painter.setPen(pen)
            painter.drawPoints(polygon_of(points[mine & ~self._crosses]))
            self._paint_crosses(painter, pen, points[mine & self._crosses], wide)

    def _paint_crosses(self, painter: QPainter, pen: QPen, points: np.ndarray, wide: float) -> None:
        places = on_screen(painter.worldTransform(), points)
        painter.save()
        painter.resetTransform()
        pen.setWidthF(1.5)
        painter.setPen(pen)
        for x, y in places.tolist():
            painter.drawLine(QPointF(x - wide / 2, y - wide / 2), QPointF(x + wide / 2, y + wide / 2))
            painter.drawLine(QPointF(x - wide / 2, y + wide / 2), QPointF(x + wide / 2, y - wide / 2))
        painter.restore()


def bounds(data: MapData) -> QRectF:
    """The smallest box around all points and proxies."""
    good = data.points[np.isfinite(data.points).all(1)]
    if data.proxies is not None:
        good = np.concatenate([good, data.proxies[np.isfinite(data.proxies).all(1)]])
    low, high = (good.min(0), good.max(0)) if len(good) else (np.zeros(2), np.ones(2))
    wide, tall = np.maximum(high - low, LEAST).tolist()
    return QRectF(QPointF(*low.tolist()), QPointF(low[0] + wide, low[1] + tall))


def diameter(count: int) -> float:
    """Px of a point on a map of so many."""
    return float(np.clip(10 - 1.7 * np.log10(max(10, count)), 2, 7))


def splat(places: np.ndarray, colours: np.ndarray, crosses: np.ndarray, size: tuple[int, int], wide: float) -> QImage:
    """Stamp a disc, or a cross, of `wide` pixels at each place [n, 2] (x right, y down) in its colour.

    One assignment for each pixel of the stamp writes all points at once; later points lie on top.
    """
    margin = 2 * int(wide) + 4
    row = size[0] + 2 * margin
    buffer = np.zeros((size[1] + 2 * margin) * row, np.uint32)
    at = np.floor(places).astype(np.int64) + margin
    inner = ((at >= margin // 2) & (at < (size[0] + margin + margin // 2, size[1] + margin + margin // 2))).all(1)
    index = at[inner, 1] * row + at[inner, 0]
    ink, crossed = colours[inner], crosses[inner]
    for offsets, mine in ((disc(wide), ~crossed), (cross(wide), crossed)):
        if mine.any():
            centre, colour = index[mine], ink[mine]
            for dx, dy in offsets:
                buffer[centre + (dy * row + dx)] = colour
    whole = np.ascontiguousarray(buffer.reshape(-1, row)[margin:-margin, margin:-margin])
    return QImage(whole.tobytes(), *size, 4 * size[0], QImage.Format.Format_ARGB32_Premultiplied)


def disc(wide: float) -> list[tuple[int, int]]:
    """Pixels of a disc around (0, 0)."""
    reach = int(wide / 2)
    grid = range(-reach, reach + 1)
    return [(x, y) for y in grid for x in grid if x * x + y * y <= wide * wide / 4 + 0.25]


def cross(wide: float) -> list[tuple[int, int]]:
    """Pixels of a diagonal cross around (0, 0), at least 5 px wide so that it can be told from a disc."""
    reach = max(2, round(wide * 0.6))
    thick = int(wide / 7)
    grid = range(-reach, reach + 1)
    return [(x, y) for y in grid for x in grid if abs(abs(x) - abs(y)) <= thick]


def on_screen(transform: QTransform, points: np.ndarray) -> np.ndarray:
    """Points [n, 2] through an affine transform, float64 [n, 2]."""
    x, y = points[:, 0].astype(float), points[:, 1].astype(float)
    return np.stack(
        [
            transform.m11() * x + transform.m21() * y + transform.dx(),
            transform.m12() * x + transform.m22() * y + transform.dy(),
        ],
        1,
    )


def values_of(transform: QTransform) -> tuple[float, ...]:
    """What tells two affine transforms apart."""
    return (transform.m11(), transform.m12(), transform.m21(), transform.m22(), transform.dx(), transform.dy())


def faded(colour: str) -> np.uint32:
    """ "#RRGGBB" nearly transparent, premultiplied."""
    channels = [int(colour[at : at + 2], 16) * DIMMED // 255 for at in (1, 3, 5)]
    return np.uint32(DIMMED << 24 | channels[0] << 16 | channels[1] << 8 | channels[2])


def unmultiplied(colour: int) -> int:
    """A premultiplied ARGB number as plain ARGB."""
    alpha = colour >> 24
    channels = [min(255, (colour >> shift & 255) * 255 // max(1, alpha)) for shift in (16, 8, 0)]
    return alpha << 24 | channels[0] << 16 | channels[1] << 8 | channels[2]


def polygon_of(points: np.ndarray) -> QPolygonF:
    """[n, 2] as Qt's own array, without a loop."""
    polygon = pg.functions.create_qpolygonf(len(points))
    if len(points):
        pg.functions.ndarray_from_qpolygonf(polygon)[:] = points
    return polygon
