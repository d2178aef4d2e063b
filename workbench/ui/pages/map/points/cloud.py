"""The points of the map, drawn from arrays as one picture, for any number of points and colours.

Up to CROWD points in view are drawn one by one; of more, the density is drawn. While such a view is moved or zoomed,
the last picture is stretched; it is drawn again when the view rests.
"""

from dataclasses import replace

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QRect, QRectF, QTimer
from PySide6.QtGui import QImage, QPainter, QRegion, QTransform
from PySide6.QtWidgets import QStyleOptionGraphicsItem, QWidget

from workbench.ui.pages.map.model.groups import Groups
from workbench.ui.pages.map.model.map_data import MapData
from workbench.ui.pages.map.model.spatial import Box, PointIndex
from workbench.ui.pages.map.points.extent import bounds, box_of, diameter
from workbench.ui.pages.map.points.shapes import paint_shapes
from workbench.ui.pages.map.points.stamps import (
    Ink,
    density,
    faded,
    painted,
    pixels_of,
    placed,
    splat,
    thinned,
    values_of,
)
from workbench.ui.pages.map.points.view_picture import Picture
from workbench.ui.style import theme

SMOOTH_UP_TO = 8_000  # up to this many points in view are antialiased, each drawn separately
OPACITY = 0.7  # of points, unless the user sets another
CROWD = 150_000  # points in view; beyond that their density is drawn
SHAPES_UP_TO = 100_000  # up to this many points in view are shapes in an exported SVG or PDF; more are a picture
EXACT_UP_TO = 100_000  # up to this many points in view are placed in double precision, which only close views need
REST = 80  # ms without a movement after which a dense view is drawn again
LAYERS = 8  # of a map of three dimensions, drawn from its back to its front
SMALLEST, LARGEST = 0.6, 1.3  # factors of a point's width, at the back and at the front
FAINTEST = 0.35  # factor of the opacity at the back
WHOLE = 1024  # px: longer side of the picture of all points that is drawn under a stretched one


class Cloud(pg.GraphicsObject):
    """All points of a map. Hidden groups are not drawn; unselected points are dimmed while there is a selection.

    Points overlap in a random order, not by class; selected points are on top.
    """

    def __init__(self) -> None:
        super().__init__()
        self.tokens = theme.current()
        self.opacity = OPACITY  # of points, unless their density is drawn
        self.size = 1.0  # factor of the usual width for their number
        self.vector = False  # draw shapes instead of a picture, for exports
        self.index = PointIndex(np.empty((0, 2)))
        self._data: MapData | None = None
        self._hidden: frozenset[int] = frozenset()
        self._selected: np.ndarray | None = None  # bool [n]
        self._bounds = QRectF(0, 0, 1, 1)
        self._of = np.empty(0, np.int64)  # [slots] group
        self._colours = np.empty(0, np.uint32)  # [slots] ARGB
        self._crosses = np.empty(0, bool)  # [slots]
        self._group_count = 0
        self._depth: np.ndarray | None = None  # [slots] 0..1; None for a map of two dimensions
        self._shown: np.ndarray | None = None  # bool [slots]; None for all
        self._bright: np.ndarray | None = None  # bool [slots]; None without a selection
        self._picture: Picture | None = None
        self._spots: tuple[object, np.ndarray | None] | None = None  # see `_spots_of`
        self._whole: QImage | None = None  # of all points, drawn where a stretched picture does not reach
        self._moving: object = None  # the view for which a picture was last stretched
        self._rest = QTimer(self, singleShot=True, interval=REST)
        self._rest.timeout.connect(self.settle)

    def show(self, data: MapData, groups: Groups, hidden: frozenset[int] = frozenset()) -> None:
        """Show other points or another colouring."""
        if data is not self._data:
            self.index, self._spots = data.index or PointIndex(data.points), None
            self.prepareGeometryChange()
            self._bounds = bounds(data, self.index)
            if self._data is None or data.ids is not self._data.ids:  # else the same points have moved
                self._selected = None
            self._bright = None if self._selected is None else self._selected[self.index.order]
        self._data = data
        self._depth = None if data.depth is None else data.depth[self.index.order]
        counted = data.counted
        known = None  # the groups of the slots, where a thread has put them in order
        if counted is not None and counted.of is groups.of and counted.order is self.index.order:
            known = counted.in_order
        self._of = groups.of[self.index.order] if known is None else known
        self._colours = groups.colours[self._of]
        crossed = np.zeros(len(groups.names), bool)
        crossed[list(groups.crosses)] = True
        self._crosses = crossed[self._of] if groups.crosses else np.zeros(len(self._of), bool)
        self._group_count = len(groups.names)
        self.set_hidden(hidden)

    def clear(self) -> None:
        """Show nothing."""
        self._data = self._selected = self._bright = self._shown = None
        self.index, self._spots = PointIndex(np.empty((0, 2))), None
        self._of = np.empty(0, np.int64)
        self._forget()

    def set_hidden(self, groups: frozenset[int]) -> None:
        """Hide these groups."""
        self._hidden = groups
        self._shown = None
        if groups:
            keep = np.ones(self._group_count, bool)
            keep[list(groups)] = False
            self._shown = keep[self._of]
        self._forget()

    def set_look(self, size: float, opacity: float) -> None:
        """Draw points at `size` times the usual width for their number, with an opacity in 0..1."""
        self.size, self.opacity = size, opacity
        self._forget()

    def set_selected(self, selected: np.ndarray | None) -> None:
        """Bool [n], or None for no selection."""
        self._selected = selected
        self._bright = None if selected is None or self._data is None else selected[self.index.order]
        self._forget()

    @property
    def selected(self) -> np.ndarray | None:
        """Bool [n], or None while there is no selection."""
        return self._selected

    def foremost(self, rows: np.ndarray) -> int | None:
        """The one of these rows that is nearest to the viewer; None for maps of two dimensions."""
        if self._data is None or self._data.depth is None or not len(rows):
            return None
        return int(rows[np.argmax(self._data.depth[rows])])

    @property
    def placed(self) -> int:
        """Number of points with finite coordinates."""
        return len(self.index.order)

    @property
    def away(self) -> int:
        """Number of selected points without finite coordinates."""
        if self._selected is None or self._bright is None:
            return 0
        return int(np.count_nonzero(self._selected)) - int(np.count_nonzero(self._bright))

    @property
    def drawn(self) -> int:
        """Number of points with finite coordinates that are not hidden."""
        return len(self.index.order) if self._shown is None else int(np.count_nonzero(self._shown))

    def rows_in(self, box: Box) -> np.ndarray:
        """Rows [k] of the drawn points in a box of the map, in their order from bottom to top."""
        slots = self._slots_in(box)
        x, y = self.index.x[slots], self.index.y[slots]
        rows: np.ndarray = self.index.order[slots][(x >= box[0]) & (x <= box[2]) & (y >= box[1]) & (y <= box[3])]
        return rows

    def count_in(self, box: Box) -> int:
        """The number of the drawn points in a box of the map."""
        return self.drawn if self.index.all_in(box) else len(self.rows_in(box))

    def rows_inside(self, outline: np.ndarray) -> np.ndarray:
        """Rows [k] of the drawn points in a closed polygon [m, 2] of the map, ascending."""
        slots = self.index.slots_inside(outline)
        mask = np.zeros(self.index.count, bool)
        mask[self.index.order[slots if self._shown is None else slots[self._shown[slots]]]] = True
        return np.flatnonzero(mask)

    def boundingRect(self) -> QRectF:
        return self._bounds

    def dataBounds(self, axis: int, frac: float = 1.0, orthoRange: object = None) -> tuple[float, float]:  # noqa: N803
        box = self._bounds
        return (box.left(), box.right()) if axis == 0 else (box.top(), box.bottom())

    def pixelPadding(self) -> float:
        return 8.0

    def paint(self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None) -> None:
        """Draw all points that are in view, at the size of the device."""
        if not len(self.index.order):
            return
        transform, device = painter.worldTransform(), painter.device()
        ratio = device.devicePixelRatioF()
        logical = 1.0 if isinstance(device, QWidget) else ratio  # a picture's size is in its own pixels
        size = (round(device.width() / logical), round(device.height() / logical))
        slots = self._slots_in(box_of(transform, size))
        if self.vector and len(self.rows_in(box_of(transform, size, margin=0))) <= SHAPES_UP_TO:
            self._paint_shapes(painter, slots, self.width_of(transform, size))
            return
        key = (values_of(transform), size, ratio)
        last = self._picture
        if last is None or last.key != key:
            if len(slots) > CROWD and last is not None and last.key[1:] == key[1:] and self._moving != "rested":
                self._paint_stretched(painter, transform, last)
                if self._moving != key:
                    self._moving = key
                    self._rest.start()
                return
            self._moving = None
            last = self._picture = Picture(
                self._drawn(transform, size, ratio, slots), QTransform(transform), size, ratio
            )
        painter.save()
        painter.resetTransform()
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        painter.drawImage(QRect(0, 0, *size), last.image)
        painter.restore()

    @property
    def stretched(self) -> bool:
        """Whether the view of many points is moving, so that their last picture is stretched."""
        return self._rest.isActive()

    def settle(self) -> None:
        """Redraw a dense view; happens automatically when the view rests."""
        self._moving = "rested"
        self.update()

    def _forget(self) -> None:
        self._picture = self._whole = None
        self.update()

    def _slots_in(self, box: Box) -> np.ndarray:
        """Slots of the drawn points in and near a box, from bottom to top except for selected ones."""
        if self.index.all_in(box):
            return np.arange(len(self._of)) if self._shown is None else np.flatnonzero(self._shown)
        slots = self.index.slots_in(box)
        return slots if self._shown is None else slots[self._shown[slots]]

    def width_of(self, transform: QTransform, size: tuple[int, int]) -> float:
        """The width of a point in px; it grows with the zoom, as on a map of fewer points."""
        scale = abs(transform.m11())
        times = min(size[0] / (scale * self._bounds.width()), size[1] / (scale * self._bounds.height()), 1.0)
        return self.size * diameter(self.index.count * times * times)

    def _drawn(self, transform: QTransform, size: tuple[int, int], ratio: float, slots: np.ndarray) -> QImage:
        """These points as a picture of `size` times `ratio` pixels."""
        pixels = (round(size[0] * ratio), round(size[1] * ratio))
        scaled = transform * QTransform.fromScale(ratio, ratio)
        if len(slots) > CROWD:
            return self._density(scaled, slots, pixels)
        make, wide = painted if len(slots) <= SMOOTH_UP_TO else splat, self.width_of(transform, size) * ratio
        picture = None
        for layer, larger, clear in self._layers(slots):
            ink = self._faded(self._ink(scaled, layer), layer, clear)
            picture = make(ink, pixels, wide * larger, picture)
        assert picture is not None
        return picture

    def _layers(self, slots: np.ndarray) -> list[tuple[np.ndarray, float, float]]:
        """Slots from the back to the front, with factors of their width and opacity; one layer without a depth."""
        slots = self._bright_last(slots)
        if self._depth is None or not len(slots):
            return [(slots, 1.0, 1.0)]
        of = np.minimum((self._depth[slots] * LAYERS).astype(np.int64), LAYERS - 1)
        nearness = np.arange(LAYERS) / (LAYERS - 1)
        widths = SMALLEST + (LARGEST - SMALLEST) * nearness
        clears = FAINTEST + (1 - FAINTEST) * nearness
        layers = zip((slots[of == layer] for layer in range(LAYERS)), widths.tolist(), clears.tolist(), strict=True)
        return [layer for layer in layers if len(layer[0])]

    def _density(self, transform: QTransform, slots: np.ndarray, pixels: tuple[int, int]) -> QImage:
        every: slice | np.ndarray = slice(None) if len(slots) == len(self._of) else slots
        colours, bright = self._colours[every], None if self._bright is None else self._bright[every]
        spots = self._spots_of(transform, pixels)
        if spots is None:
            index, seen = pixels_of(self._ink(transform, slots), pixels)
            colours, bright = colours[seen], None if bright is None else bright[seen]
        else:
            index = spots[every]
        return density(index, colours, pixels, bright, faded(self.tokens.muted))

    def _spots_of(self, transform: QTransform, pixels: tuple[int, int]) -> np.ndarray | None:
        """Where all points [slots] are on a picture; None if some are not on it.

        They are kept for the last view, in which groups are hidden and points are selected.
        """
        key = (values_of(transform), pixels)
        if self._spots is None or self._spots[0] != key:
            seen = self.index.all_in(box_of(transform, pixels, margin=0))
            index, kept = pixels_of(self._ink(transform, np.arange(len(self._of))), pixels) if seen else (None, None)
            self._spots = (key, index if isinstance(kept, slice) else None)
        return self._spots[1]

    def _faded(self, ink: Ink, slots: np.ndarray, clear: float = 1.0) -> Ink:
        """Points with their opacity multiplied by `clear`; unselected ones are faint if there is a selection."""
        colours = thinned(ink.colours, np.full(len(slots), round(256 * self.opacity * clear), np.uint32))
        if self._bright is not None:
            colours[~self._bright[slots]] = faded(self.tokens.muted)
        return replace(ink, colours=colours)

    def _bright_last(self, slots: np.ndarray) -> np.ndarray:
        if self._bright is None:
            return slots
        bright = self._bright[slots]
        return np.concatenate([slots[~bright], slots[bright]])

    def _ink(self, transform: QTransform, slots: np.ndarray) -> Ink:
        """The points of these slots on a picture, in the colours of their groups and in the order of the slots."""
        every: slice | np.ndarray = slice(None) if len(slots) == len(self._of) > CROWD else slots
        x, y = self.index.x[every], self.index.y[every]
        if len(slots) <= EXACT_UP_TO:
            x, y = x.astype(float), y.astype(float)
        return Ink(*placed(transform, x, y), self._colours[every], self._crosses[every])

    def _paint_stretched(self, painter: QPainter, transform: QTransform, last: Picture) -> None:
        """Draw the last picture, moved to the current view, and the picture of all points around it."""
        painter.save()
        painter.resetTransform()
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        moved = (last.transform.inverted()[0] * transform).mapRect(QRectF(0, 0, *last.size))
        view = QRectF(0, 0, *last.size)
        there = transform.mapRect(self._bounds)
        if not moved.contains(view & there):
            painter.setClipRegion(QRegion(view.toRect()) - QRegion(moved.toRect()))
            painter.drawImage(there, self._of_all())
            painter.setClipping(False)
        painter.drawImage(moved, last.image)
        painter.restore()

    def _of_all(self) -> QImage:
        """The map's bounds as a picture, upside down as the map's coordinates are."""
        if self._whole is None:
            box = self._bounds
            scale = WHOLE / max(box.width(), box.height())
            size = (max(1, round(box.width() * scale)), max(1, round(box.height() * scale)))
            to_picture = QTransform(scale, 0, 0, -scale, -box.left() * scale, box.bottom() * scale)
            slots = np.arange(len(self._of)) if self._shown is None else np.flatnonzero(self._shown)
            self._whole = self._density(to_picture, slots, size)
        return self._whole

    def _paint_shapes(self, painter: QPainter, slots: np.ndarray, wide: float) -> None:
        """Draw points as vector shapes, for exports without pixels."""
        for layer, larger, clear in self._layers(slots):
            paint_shapes(painter, self._faded(self._ink(QTransform(), layer), layer, clear), wide * larger)
