"""Pictures instead of points, once the view is zoomed in so far that there is room for them."""

from typing import Protocol

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF, Qt, SignalInstance
from PySide6.QtGui import QColor, QPainter, QPen, QPixmap, QTransform
from PySide6.QtWidgets import QStyleOptionGraphicsItem, QWidget

from workbench.ui.pages.map.model.groups import Groups
from workbench.ui.pages.map.model.map_data import MapData
from workbench.ui.pages.map.points.cloud import Cloud
from workbench.ui.pages.map.points.extent import box_of
from workbench.ui.pages.map.points.stamps import on_screen, values_of

SIDE = 40  # px of the longer side, as in the Inspector, so that the two share loaded pictures
APART = SIDE + 6.0  # px between the centres of two pictures, along at least one axis, so that frames do not touch
UP_TO = 400  # points in view; with more, only dots are drawn
ROOM = 0.2  # share of the points in view whose pictures must have room; otherwise only dots are drawn
FAINT = 0.25  # opacity of unselected pictures
PLACE = "map"


class Loader(Protocol):
    """The part of the window's picture loader that this layer uses."""

    ready: SignalInstance

    def pixmap(self, sample_id: int, size: int) -> QPixmap | None:
        """The thumbnail of a sample, at most `size` px wide and high; None while it is not loaded."""

    def request(self, asker: str, sample_ids: list[int], size: int) -> None:
        """Load thumbnails, the first ones first; a new request of the same `asker` replaces the one before."""


class Thumbnails(pg.GraphicsObject):
    """A layer over the points. A point stays a dot if its picture has no room, does not exist or is not loaded yet."""

    def __init__(self, cloud: Cloud) -> None:
        super().__init__()
        self.loader: Loader | None = None
        self.wanted = True
        self.rows = np.empty(0, np.int64)  # [t] rows with room for a picture
        self.places = np.empty((0, 2))  # [t] px on the scene
        self._cloud = cloud
        self._data: MapData | None = None
        self._groups: Groups | None = None
        self._laid: object = None  # key of the layout in `rows`
        self.setZValue(5)

    def use(self, loader: Loader | None) -> None:
        """Take pictures from this loader, or show none for None."""
        self.loader = loader
        if loader is not None:
            loader.ready.connect(self._arrived)
        self.changed()

    def show(self, data: MapData | None, groups: Groups | None) -> None:
        """Show other points, another colouring, or nothing."""
        if data is not self._data:  # pictures may arrive before it is painted
            self.rows, self.places = np.empty(0, np.int64), np.empty((0, 2))
        self._data, self._groups = data, groups
        self.changed()

    def changed(self) -> None:
        """Lay out again, because hidden groups, the selection or the look have changed."""
        self._laid = None
        self.prepareGeometryChange()
        self.update()

    def lay_out(self, transform: QTransform, size: tuple[int, int]) -> None:
        """Place the pictures of the points in a view of `size` px; their order does not depend on the view."""
        key = (values_of(transform), size)
        if key == self._laid:
            return
        self._laid = key
        self.rows, self.places = np.empty(0, np.int64), np.empty((0, 2))
        if self._data is None or self.loader is None or not self.wanted:
            return
        box = box_of(transform, size)
        if self._cloud.index.all_in(box) and self._cloud.drawn > UP_TO:  # known without a look at a million points
            return
        rows = self._cloud.rows_in(box)
        if not 0 < len(rows) <= UP_TO:
            return
        if self._cloud.selected is not None:  # selected ones first
            rows = rows[np.argsort(~self._cloud.selected[rows], kind="stable")]
        places = on_screen(transform, self._data.points[rows])
        kept = with_room(places)
        if len(kept) >= ROOM * len(rows):
            self.rows, self.places = rows[kept], places[kept]

    def ask(self) -> None:
        """Request the pictures that are laid out."""
        if self.loader is not None and self._data is not None:
            self.loader.request(PLACE, self._data.ids[self.rows].tolist(), SIDE)

    @property
    def drawn(self) -> int:
        """The number of pictures that are drawn."""
        return sum(self._picture(row) is not None for row in self.rows.tolist())

    def row_at(self, scene: QPointF) -> int | None:
        """The point whose picture covers a position of the scene."""
        if len(self.rows):
            away = np.abs(self.places - (scene.x(), scene.y())).max(1)
            nearest = int(np.argmin(away))
            if away[nearest] <= SIDE / 2 and self._picture(int(self.rows[nearest])) is not None:
                return int(self.rows[nearest])
        return None

    def boundingRect(self) -> QRectF:
        return self._cloud.boundingRect()

    def dataBounds(self, axis: int, frac: float = 1.0, orthoRange: object = None) -> None:  # noqa: N803
        return None

    def pixelPadding(self) -> float:
        return SIDE

    def paint(self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None) -> None:
        """Draw the pictures that are loaded and placed; request the others."""
        if self._groups is None:
            return
        transform, device = painter.worldTransform(), painter.device()
        logical = 1.0 if isinstance(device, QWidget) else device.devicePixelRatioF()
        self.lay_out(transform, (round(device.width() / logical), round(device.height() / logical)))
        selected = self._cloud.selected
        painter.save()
        painter.resetTransform()
        for row, (x, y) in zip(self.rows.tolist(), self.places.tolist(), strict=True):
            picture = self._picture(row)
            if picture is not None:
                painter.setOpacity(1.0 if selected is None or selected[row] else FAINT)
                self._draw(painter, picture, row, x, y)
        painter.restore()

    def _draw(self, painter: QPainter, picture: QPixmap, row: int, x: float, y: float) -> None:
        assert self._groups is not None
        group = int(self._groups.of[row])
        size = picture.deviceIndependentSize()
        frame = QRectF(round(x - size.width() / 2), round(y - size.height() / 2), size.width(), size.height())
        painter.drawPixmap(frame.topLeft(), picture)
        line = Qt.PenStyle.DashLine if group in self._groups.crosses else Qt.PenStyle.SolidLine
        painter.setPen(QPen(QColor.fromRgba(int(self._groups.colours[group])), 2, line))
        painter.drawRect(frame.adjusted(-1, -1, 1, 1))

    def _picture(self, row: int) -> QPixmap | None:
        assert self._data is not None
        assert self.loader is not None
        return self.loader.pixmap(int(self._data.ids[row]), SIDE)

    def _arrived(self, samples: set[int]) -> None:
        if self._data is not None and not samples.isdisjoint(self._data.ids[self.rows].tolist()):
            self.update()


def with_room(places: np.ndarray) -> np.ndarray:
    """Indices [t] of the positions [k, 2] (px) at least APART from all positions taken before them, in order."""
    taken: dict[tuple[int, int], list[tuple[float, float]]] = {}
    kept = []
    for number, (x, y) in enumerate(places.tolist()):
        column, row = int(x // APART), int(y // APART)
        near = (taken.get((column + across, row + down), ()) for across in (-1, 0, 1) for down in (-1, 0, 1))
        if all(abs(x - left) >= APART or abs(y - top) >= APART for cell in near for left, top in cell):
            taken.setdefault((column, row), []).append((x, y))
            kept.append(number)
    return np.array(kept, np.int64)
