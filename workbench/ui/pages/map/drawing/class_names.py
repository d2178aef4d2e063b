"""Names of classes on the map: each at or near its points, not over another name or a small cluster."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QFontMetricsF, QPainter, QPen, QTransform
from PySide6.QtWidgets import QStyleOptionGraphicsItem, QWidget

from workbench.projection.coordinates import has_coordinates
from workbench.ui import theme
from workbench.ui.pages.map.colours.groups import Groups
from workbench.ui.pages.map.drawing.cover import Cover, evenly
from workbench.ui.pages.map.drawing.stamps import on_screen, values_of
from workbench.ui.pages.map.map_data import MapData
from workbench.ui.widgets.labels import shortened

TALL, PADDED, WIDEST = 22.0, 8.0, 180.0  # px: height of a name, padding at its sides, largest width at 100% text
MOST = 200  # most names that are placed: those of the largest classes
REACHES = (0.0, 21.0, 33.0, 48.0, 64.0, 84.0, 108.0)  # px from the centre at which a free position is searched
DIRECTIONS = 12
TOLERATED = 0.15  # share of a cluster that a name near its centre may hide
FARTHER = 0.02  # share of a cluster by which a name must hide less to be placed one reach farther away
LEADER = 13.0  # px from the centre beyond which a line leads to it
BACKGROUND = 224  # of 255, opacity of the box behind a name
APART = 2.0  # px between two names
ANGLES = np.arange(DIRECTIONS) * (2 * np.pi / DIRECTIONS) - np.pi / 2
ACROSS, DOWN = np.concatenate(
    [np.zeros((2, 1)), np.hstack([reach * np.stack([np.cos(ANGLES), np.sin(ANGLES)]) for reach in REACHES[1:]])], 1
)
REACHED = np.repeat(np.arange(len(REACHES)), [1] + [DIRECTIONS] * (len(REACHES) - 1))  # REACHES index of each


@dataclass(frozen=True, slots=True)
class Name:
    """A name on the screen: the centre of its class, and the box around its text."""

    text: str
    centre: tuple[float, float]
    box: QRectF
    colour: int  # ARGB


class ClassNames(pg.GraphicsObject):
    """A layer over the points, for maps that are coloured by class."""

    def __init__(self) -> None:
        super().__init__()
        self.tokens = theme.current()
        self.wanted = True
        self.drawn: list[Name] = []  # at the last paint
        self._centres = np.empty((0, 2))
        self._points = np.empty((0, 2))  # an even sample of the points that names should not hide
        self._group = np.empty(0, np.int64)
        self._texts: list[str] = []
        self._colours: list[int] = []
        self._placed: tuple[float, ...] | None = None  # view, size and text size for which `drawn` was placed
        self._clear = QRectF()  # px on the widget: names stay out of it
        self._bounds = QRectF(0, 0, 1, 1)
        self.setZValue(11)  # above the proxies, so that no star covers the text of a name

    def show(self, data: MapData | None, groups: Groups | None, hidden: frozenset[int], bounds: QRectF) -> None:
        """Show the names of the groups that are not hidden, if the groups are classes."""
        self.prepareGeometryChange()
        self._bounds = bounds
        self._centres, self._texts, self._colours = np.empty((0, 2)), [], []
        self._placed = None
        if data is not None and groups is not None and groups.labels is not None and self.wanted:
            centres, counts = centres_of(data.points, groups.of, len(groups.names))
            order = [group for group in np.argsort(-counts, kind="stable").tolist() if counts[group]]
            shown = [group for group in order if group not in hidden and group < len(groups.labels)][:MOST]
            self._centres = centres[shown]
            self._texts = [groups.names[group] for group in shown]
            self._colours = groups.colours[shown].tolist()
            seen = ~np.isin(groups.of, list(hidden))
            some = evenly(np.flatnonzero(seen))
            self._points, self._group = data.points[some], groups.of[some]
        self.update()

    def keep_clear(self, area: QRectF) -> None:
        """Place no name over this rectangle (px on the widget); a picture for a file has nothing there."""
        if area != self._clear:
            self._clear, self._placed = area, None
            self.update()

    def boundingRect(self) -> QRectF:
        return self._bounds

    def dataBounds(self, axis: int, frac: float = 1.0, orthoRange: object = None) -> None:  # noqa: N803
        return None

    def pixelPadding(self) -> float:
        return WIDEST * theme.text_scale()

    def paint(self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None) -> None:
        """Draw the names for which there is room, in pixels of the screen."""
        if not self._texts:
            self.drawn = []
            return
        device = painter.device()
        ratio = 1.0 if isinstance(device, QWidget) else device.devicePixelRatioF()
        area = QRectF(0, 0, device.width() / ratio, device.height() / ratio)
        font = theme.caption_font(QFont())
        font.setBold(True)
        self._place(painter.worldTransform(), area, font, self._clear if isinstance(device, QWidget) else QRectF())
        painter.save()
        painter.resetTransform()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(font)
        for name in self.drawn:
            self._draw(painter, name)
        painter.restore()

    def _place(self, transform: QTransform, area: QRectF, font: QFont, clear: QRectF) -> None:
        """Fill `drawn`; it is kept until the points, the view or the text size change."""
        kept = (clear.left(), clear.top(), clear.right(), clear.bottom())
        placed = (*values_of(transform), area.width(), area.height(), font.pixelSize(), *kept)
        if placed == self._placed:
            return
        self._placed, self.drawn = placed, []
        metrics = QFontMetricsF(font)
        widest = WIDEST * theme.text_scale()
        texts = [shortened(text, self._texts, QFontMetrics(font), round(widest)) for text in self._texts]
        widths = [max(TALL, metrics.horizontalAdvance(text) + 2 * PADDED) for text in texts]
        cover = Cover(on_screen(transform, self._points), self._group, (area.width(), area.height()))
        centres = on_screen(transform, self._centres)
        boxes = free_boxes(centres, widths, area, cover, clear)
        for text, centre, box, colour in zip(texts, centres.tolist(), boxes, self._colours, strict=True):
            if box is not None:
                self.drawn.append(Name(text, (centre[0], centre[1]), box, colour))

    def _draw(self, painter: QPainter, name: Name) -> None:
        edge, background = QColor.fromRgba(name.colour), QColor(self.tokens.surface)
        background.setAlpha(BACKGROUND)
        centre, middle = QPointF(*name.centre), name.box.center()
        painter.setPen(QPen(edge, 1.2))
        if abs(middle.x() - centre.x()) + abs(middle.y() - centre.y()) > LEADER and not name.box.contains(centre):
            painter.drawLine(centre, middle)
        painter.setBrush(background)
        painter.drawRoundedRect(name.box, 4, 4)
        painter.setPen(QColor(self.tokens.text))
        painter.drawText(name.box, int(Qt.AlignmentFlag.AlignCenter), name.text)


def centres_of(points: np.ndarray, group: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """The mean [g, 2] of the points [n, 2] of each group that have finite coordinates, and their number [g]."""
    placed = has_coordinates(points)
    group, points = group[placed], points[placed].astype(float)
    counts = np.bincount(group, minlength=count)
    sums = np.stack([np.bincount(group, points[:, axis], count) for axis in (0, 1)], 1)
    return sums / np.maximum(counts, 1)[:, None], counts


def free_boxes(
    centres: np.ndarray, widths: Sequence[float], area: QRectF, cover: Cover | None = None, clear: QRectF = QRectF()
) -> list[QRectF | None]:
    """A box for each name, at or near its centre, in `area` and not over an earlier box; None if no place is free.

    Of the free places it is the nearest that hides almost nothing, else the one that hides the least.

    Args:
        centres: [g, 2] px. widths: [g] px. cover: what a box would hide; None: nothing. clear: where no box may be.
    """
    boxes: list[QRectF | None] = []
    taken, count = (
        np.empty((len(widths) + 1, 4)),
        1,
    )  # left, top, right and bottom of each box with its distance to others
    taken[0] = clear.left(), clear.top(), clear.right(), clear.bottom()
    for (x, y), width in zip(centres.tolist(), widths, strict=True):
        box = None
        if area.contains(x, y):
            reach, left, top = _positions(x, y, width)
            free = (left >= area.left()) & (left + width <= area.right())
            free &= (top >= area.top()) & (top + TALL <= area.bottom())
            others = taken[:count, :, None]
            over = (left < others[:, 2]) & (left + width > others[:, 0])
            over &= (top < others[:, 3]) & (top + TALL > others[:, 1])
            places = np.flatnonzero(free & ~over.any(0))
            if len(places):
                hidden = np.zeros(len(places))
                if cover is not None:
                    hidden = cover.hidden(left[places], top[places], width, TALL)
                tolerated = hidden <= TOLERATED
                best = tolerated.argmax() if tolerated.any() else (hidden + FARTHER * reach[places]).argmin()
                box = QRectF(left[places[best]], top[places[best]], width, TALL)
        if box is not None:
            grown = box.adjusted(-APART, -APART, APART, APART)
            taken[count] = grown.left(), grown.top(), grown.right(), grown.bottom()
            count += 1
        boxes.append(box)
    return boxes


def _positions(x: float, y: float, width: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The reach (index), left and top [p] of a name's possible boxes, from its centre outwards.

    A long name has none at the centre itself, where it would hide its points.
    """
    start = int(width > 2 * TALL)
    across, down = ACROSS[start:], DOWN[start:]
    return REACHED[start:], x + across - width / 2 + np.sign(across.round(6)) * width / 4, y + down - TALL / 2
