"""Names of classes on the map: each at or near its points, not over another name or a small cluster."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF, Qt, QTimer
from PySide6.QtGui import QColor, QFont, QFontMetrics, QFontMetricsF, QPainter, QPen, QTransform
from PySide6.QtWidgets import QStyleOptionGraphicsItem, QWidget

from workbench.ui.pages.map.drawing.cover import Cover, evenly
from workbench.ui.pages.map.model.groups import Groups
from workbench.ui.pages.map.model.map_data import MapData
from workbench.ui.pages.map.model.point_classes import centres_of
from workbench.ui.pages.map.points.stamps import on_screen, values_of
from workbench.ui.style import theme
from workbench.ui.widgets.labels import shortened

TALL, PADDED, WIDEST = 22.0, 8.0, 180.0  # px: height of a name, padding at its sides, largest width at 100% text
AT_ONCE = 150_000  # points up to which names are placed together with them; of more, in the turn after their picture
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
SIDEWAYS = np.sign(ACROSS.round(6))
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
        self._known: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray] | None = None  # see `_centres_of`
        self._placed: tuple[float, ...] | None = None  # view, size and text size for which `drawn` was placed
        self._view: tuple[float, ...] | None = None  # for which `drawn` was placed
        self._many = False  # whether the map has more than AT_ONCE points
        self._turn = QTimer(self, singleShot=True, interval=0)
        self._turn.timeout.connect(self._place_next)
        self._due = False  # whether the next paint places the names of such a map
        self._clear = QRectF()  # px on the widget: names stay out of it
        self._bounds = QRectF(0, 0, 1, 1)
        self.setZValue(11)  # above the proxies, so that no star covers the text of a name

    def show(self, data: MapData | None, groups: Groups | None, hidden: frozenset[int], bounds: QRectF) -> None:
        """Show the names of the groups that are not hidden, if the groups are classes."""
        self.prepareGeometryChange()
        self._bounds = bounds
        self._centres, self._texts, self._colours = np.empty((0, 2)), [], []
        self._placed = None
        self._many = data is not None and len(data.points) > AT_ONCE
        if data is not None and groups is not None and groups.labels is not None and self.wanted:
            centres, counts = self._centres_of(data, groups)
            order = np.argsort(-counts, kind="stable")
            seen = np.ones(len(groups.names), bool)
            seen[list(hidden)] = False
            shown = order[(counts[order] > 0) & seen[order] & (order < len(groups.labels))][:MOST]
            self._centres = centres[shown]
            self._texts = [groups.names[group] for group in shown.tolist()]
            self._colours = groups.colours[shown].tolist()
            some = evenly(np.flatnonzero(seen[groups.of]) if hidden else np.arange(len(groups.of)))
            self._points, self._group = data.points[some], groups.of[some]
        self.update()

    def _centres_of(self, data: MapData, groups: Groups) -> tuple[np.ndarray, np.ndarray]:
        """Centres [g, 2] and sizes [g] of the groups; they are kept while only other groups are hidden."""
        means, known = data.class_means(groups.of), self._known
        if means is not None:
            return means.centres, means.counts
        if known is None or known[0] is not data.points or known[1] is not groups.of:
            known = self._known = (data.points, groups.of, *centres_of(data.points, groups.of, len(groups.names)))
        return known[2:]

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
        clear = self._clear if isinstance(device, QWidget) else QRectF()
        self._place(painter.worldTransform(), area, font, clear, later=self._many and isinstance(device, QWidget))
        painter.save()
        painter.resetTransform()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(font)
        for name in self.drawn:
            self._draw(painter, name)
        painter.restore()

    def _place(self, transform: QTransform, area: QRectF, font: QFont, clear: QRectF, *, later: bool) -> None:
        """Fill `drawn`; it is kept until the points, the view or the text size change.

        `later`: the next paint fills it, in a turn of its own, and until then names that are at their places stay.
        """
        kept = (clear.left(), clear.top(), clear.right(), clear.bottom())
        placed = (*values_of(transform), area.width(), area.height(), font.pixelSize(), *kept)
        if placed == self._placed:
            return
        if later and not self._due:
            same = self._view == values_of(transform)
            self.drawn = [name for name in self.drawn if same and name.text in self._texts]
            self._turn.start()
            return
        self._placed, self._view, self._due, self.drawn = placed, values_of(transform), False, []
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

    def _place_next(self) -> None:
        self._due = True
        self.update()

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


def free_boxes(
    centres: np.ndarray, widths: Sequence[float], area: QRectF, cover: Cover | None = None, clear: QRectF = QRectF()
) -> list[QRectF | None]:
    """A box for each name, at or near its centre, in `area` and not over an earlier box; None if no place is free.

    Of the free places it is the nearest that hides almost nothing, else the one that hides the least.

    Args:
        centres: [g, 2] px. widths: [g] px. cover: what a box would hide; None: nothing. clear: where no box may be.
    """
    boxes: list[QRectF | None] = []
    taken, count = np.empty((len(widths) + 1, 4)), 1  # left, top, right and bottom of each box with its distance
    taken[0] = clear.left(), clear.top(), clear.right(), clear.bottom()
    wide = np.array(widths, float)[:, None]
    left, top, possible = _positions(centres, wide)
    possible &= (left >= area.left()) & (left + wide <= area.right())
    possible &= (top >= area.top()) & (top + TALL <= area.bottom())
    hides = np.zeros(left.shape) if cover is None else cover.hidden(left, top, wide, TALL)
    for number, (x, y) in enumerate(centres.tolist()):
        box = None
        if area.contains(x, y):
            width, others = widths[number], taken[:count, :, None]
            over = (left[number] < others[:, 2]) & (left[number] + width > others[:, 0])
            over &= (top[number] < others[:, 3]) & (top[number] + TALL > others[:, 1])
            places = np.flatnonzero(possible[number] & ~over.any(0))
            if len(places):
                hidden = hides[number, places]
                tolerated = hidden <= TOLERATED
                best = tolerated.argmax() if tolerated.any() else (hidden + FARTHER * REACHED[places]).argmin()
                box = QRectF(left[number, places[best]], top[number, places[best]], width, TALL)
        if box is not None:
            grown = box.adjusted(-APART, -APART, APART, APART)
            taken[count] = grown.left(), grown.top(), grown.right(), grown.bottom()
            count += 1
        boxes.append(box)
    return boxes


def _positions(centres: np.ndarray, wide: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Left and top [g, p] of the possible boxes of names of width [g, 1], from their centres [g, 2] outwards.

    Returns:
        Left, top, and whether the box is allowed: a long name has none at the centre itself, where it would hide its
        points.
    """
    x, y = centres[:, :1], centres[:, 1:]
    left = x + ACROSS - wide / 2 + SIDEWAYS * wide / 4
    top = y + DOWN - TALL / 2
    return left, top, (REACHED > 0) | (wide <= 2 * TALL)
