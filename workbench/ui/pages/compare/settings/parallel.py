"""Parallel coordinates: an axis for each setting and metric, a line for each run; a drag on an axis is a brush."""

from collections.abc import Iterator, Sequence

import numpy as np
from PySide6.QtCore import QEvent, QObject, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QFontMetrics, QMouseEvent, QPainter, QPen, QPolygonF
from PySide6.QtWidgets import QToolTip

from workbench.comparing.settings_space import Axis, Lines
from workbench.numerals import as_read
from workbench.ui.pages.compare.style.group_styles import GroupStyle
from workbench.ui.plots.export import small
from workbench.ui.plots.painted_plot import PaintedPlot, Rows
from workbench.ui.style.theme import Tokens
from workbench.ui.widgets.buttons import button
from workbench.ui.widgets.labels import plain_tip
from workbench.ui.widgets.numbers.heat import mixed

SIDE_PX, TOP_PX, BOTTOM_PX = 56, 30, 16
WORDS_PX, WORDS_PART = 200, 0.2  # px, and part of the width, that words at the left of the first axis may take
TICK_PX, NARROW_PX = 6, 34.0  # from an axis to words at its left; minimum between two axes where there is room
AFTER_PX, SPARE_PX = 8, 4  # of the room of an axis that its words leave free; reserved, as a painter may need more
REACH, NEAR = 14, 6  # px: distance from an axis, and from a line, within which the pointer acts on it
LEAST = 4  # px, shortest brush: a shorter drag is a click, which removes the axis's brush
FAINT = 0.18  # share of the axis colour in lines outside a brush
PALE = 0.45  # share of its group's colour in the dotted line of a run that did not train to its end
FEW = 60  # up to this many runs, lines are antialiased and dashed: with more that would block the window
BRUSH_PX, BRUSH_ALPHA = 12, 70
Where = tuple[float, Sequence[float]]  # px before the first axis; x of each axis


class ParallelPlot(PaintedPlot):
    """Lines in the colours of their groups, faint outside a brush and pale where a run is not done.

    `brushed` carries the runs inside all brushes.
    """

    brushed = Signal(list)  # run ids

    def __init__(self) -> None:
        super().__init__("Parallel coordinates")
        self.lines = Lines((), (), (), ())  # as shown
        self._looks: list[GroupStyle] = []
        self._brushes: dict[str, tuple[float, float]] = {}  # title of the axis -> low and high, 0..1
        self._drag: tuple[int, float] | None = None  # axis, and where the drag began, 0..1
        self.clear = button("Clear brushes", kind="quiet")
        self.clear.setToolTip("Show every run in full again")
        self.clear.clicked.connect(self.clear_brushes)
        self.head.insertWidget(1, self.clear)
        self.picture.installEventFilter(self)
        self.picture.setToolTip("Drag along an axis to highlight the runs that pass there; click to remove the brush")
        self._tell()

    def show_lines(self, lines: Lines, shown_as: Sequence[GroupStyle]) -> None:
        """Show other runs; `shown_as` are the styles of the groups. Brushes stay on axes that are still there."""
        self.lines, self._looks = lines, list(shown_as)
        titles = {axis.title for axis in lines.axes}
        self._brushes = {title: brush for title, brush in self._brushes.items() if title in titles}
        self._tell()

    def brush(self, axis: int, low: float, high: float) -> None:
        """Keep the runs that cross an axis between two places: 0 is its lower end, 1 its upper end."""
        self._brushes[self.lines.axes[axis].title] = (min(low, high), max(low, high))
        self._tell()

    def clear_brushes(self) -> None:
        """Remove the brushes of all axes."""
        self._brushes.clear()
        self._tell()

    def inside(self) -> np.ndarray:
        """Bool [n]: which runs pass every brush."""
        kept = np.ones(len(self.lines.runs), bool)
        for axis in self.lines.axes:
            if axis.title in self._brushes:
                low, high = self._brushes[axis.title]
                kept &= [low <= position <= high for position in axis.places]
        return kept

    def rows(self) -> Rows:
        """A table with a head and one row per run: run, value on each axis, and whether it passes every brush."""
        shown = self.lines
        head: Rows = [["run", *(axis.title for axis in shown.axes), "inside", "unfinished"]]
        kept = self.inside()
        return head + [
            [run, *(axis.words[at] for axis in shown.axes), "yes" if kept[at] else "no", shown.unfinished[at]]
            for at, run in enumerate(shown.runs)
        ]

    def describe(self) -> str:
        """The title, the names of the axes, and how many runs pass the brushes."""
        axes = ", ".join(axis.title for axis in self.lines.axes)
        kept = int(self.inside().sum())
        return f"{self.title}. Axes: {axes or 'none'}. {kept:,} of {len(self.lines.runs):,} runs pass the brushes."

    def _tell(self) -> None:
        kept = self.inside()
        passing = f": {kept.sum():,} of {len(kept):,} runs pass" if self._brushes else f", {len(kept):,} runs"
        unfinished = sum(map(bool, self.lines.unfinished))
        pale = f" ({unfinished:,} not finished, dotted and pale)" if unfinished else ""
        self.retitle(f"Parallel coordinates{passing}{pale}")
        self.clear.setEnabled(bool(self._brushes))
        self.refresh()
        self.brushed.emit([run for run, in_it in zip(self.lines.runs, kept, strict=True) if in_it])

    # Where things are

    def spots(self, area: QRectF) -> np.ndarray:
        """x of each axis in px, [axes]; after an axis with long words there is more room than after others."""
        left = self._left(area)
        wanted = self._wanted() or [0.0]
        if left > SIDE_PX:  # the words of the first axis stand before it
            wanted[0] = NARROW_PX
        return area.left() + left + np.cumsum([0.0, *shared_out(area.width() - left - SIDE_PX, wanted)])

    def _left(self, area: QRectF) -> float:
        """Px before the first axis: its words stand there if they are long, where no line runs through them."""
        longest = float(self._longest(self.lines.axes[:1]) + 2 * TICK_PX)
        free = shared_out(area.width() - SIDE_PX, [longest, NARROW_PX, *self._wanted()[1:]])[0]
        return max(SIDE_PX, min(longest, WORDS_PX, WORDS_PART * area.width(), free))

    def _wanted(self) -> list[float]:
        """Px that each axis but the last needs at its right for its words; those of the last may stand before it."""
        needed = [self._longest([axis]) + TICK_PX + AFTER_PX + SPARE_PX for axis in self.lines.axes]
        wanted = [max(NARROW_PX, float(px)) for px in needed[:-1]]
        if wanted and needed[-1] > SIDE_PX:
            wanted[-1] += needed[-1]
        return wanted

    def _longest(self, axes: Sequence[Axis]) -> int:
        """Px of the longest words at some axes."""
        words = [as_read(words) for axis in axes for _, words in axis.ticks]
        return max(map(QFontMetrics(small(self.font())).horizontalAdvance, words), default=0)

    @staticmethod
    def _height(area: QRectF, value: float) -> float:
        return area.bottom() - BOTTOM_PX - value * (area.height() - TOP_PX - BOTTOM_PX)

    def _value(self, y: float) -> float:
        area = self.picture.area
        return float(np.clip((area.bottom() - BOTTOM_PX - y) / (area.height() - TOP_PX - BOTTOM_PX), 0, 1))

    def _axis_at(self, x: float) -> int | None:
        if not self.lines.axes:
            return None
        away = np.abs(self.spots(self.picture.area)[: len(self.lines.axes)] - x)
        return int(away.argmin()) if away.min() <= REACH else None

    def _line_at(self, point: QPointF) -> int | None:
        """The line nearest to a point, or None if none is within `NEAR`."""
        area, axes = self.picture.area, self.lines.axes
        spots = self.spots(area)[: len(axes)]
        right = int(np.searchsorted(spots, point.x()))
        if not 0 < right < len(axes):
            return None
        part = (point.x() - spots[right - 1]) / (spots[right] - spots[right - 1])
        ends = [np.array(axes[at].places) for at in (right - 1, right)]
        heights = (1 - part) * ends[0] + part * ends[1]
        away = np.abs(self._height(area, 0.0) - heights * (area.height() - TOP_PX - BOTTOM_PX) - point.y())
        away[~self.inside()] = np.nan
        if not np.isfinite(away).any():
            return None
        nearest = int(np.nanargmin(away))
        return nearest if away[nearest] <= NEAR else None

    # The pointer

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Dragging, clicks and hovering over the picture."""
        if watched is not self.picture or not isinstance(event, QMouseEvent):
            return super().eventFilter(watched, event)
        point = self.picture.at(event.position())
        match event.type():
            case QEvent.Type.MouseButtonPress if event.button() == Qt.MouseButton.LeftButton:
                axis = self._axis_at(point.x())
                self._drag = None if axis is None else (axis, point.y())
            case QEvent.Type.MouseMove if self._drag is not None:
                axis, start = self._drag
                if abs(point.y() - start) >= LEAST:
                    self.brush(axis, self._value(start), self._value(point.y()))
            case QEvent.Type.MouseMove:
                self._hover(event)
            case QEvent.Type.MouseButtonRelease if self._drag is not None:
                axis, start = self._drag
                self._drag = None
                title = self.lines.axes[axis].title
                if abs(point.y() - start) < LEAST and title in self._brushes:
                    del self._brushes[title]
                    self._tell()
        return False

    def _hover(self, event: QMouseEvent) -> None:
        point = self.picture.at(event.position())
        over = self._axis_at(point.x()) is not None
        self.picture.setCursor(Qt.CursorShape.SizeVerCursor if over else Qt.CursorShape.ArrowCursor)
        if whole := self.words_at(point):
            QToolTip.showText(event.globalPosition().toPoint(), plain_tip(whole), self.picture)
            return
        line = None if over else self._line_at(point)
        if line is None:
            return
        facts = [f"{axis.title}: {as_read(axis.words[line])}" for axis in self.lines.axes]
        ended = [self.lines.unfinished[line].capitalize()] if self.lines.unfinished[line] else []
        text = "\n".join([self.lines.titles[line], *ended, *facts])
        safe = text.replace("&", "&amp;").replace("<", "&lt;").replace("\n", "<br>")
        QToolTip.showText(event.globalPosition().toPoint(), f"<qt>{safe}</qt>", self.picture)

    # The picture

    def paint(self, painter: QPainter, area: QRectF, tokens: Tokens) -> None:
        """Draw lines and axes into `area`, in the colours of `tokens`; runs outside a brush are faint."""
        axes, kept = self.lines.axes, self.inside()
        spots = self.spots(area)[: len(axes)].tolist()
        few = len(kept) <= FEW
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, few)
        faint = mixed(tokens.plot_background, tokens.plot_axis, FAINT)
        for wanted in (False, True):
            for line in np.flatnonzero(kept == wanted).tolist():
                style = self._looks[self.lines.group_of[line]]
                colour, dashes = QColor(style.colour), style.pen
                if self.lines.unfinished[line]:
                    colour, dashes = mixed(tokens.plot_background, style.colour, PALE), Qt.PenStyle.DotLine
                pen = QPen(colour, 1.6, dashes) if few else QPen(colour, 1)
                painter.setPen(pen if wanted else QPen(faint, 1))
                painter.drawPolyline(self._line(line, area, spots))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        left = self._left(area)
        for at in range(len(axes)):
            self._paint_axis(painter, area, tokens, at, (left, spots))

    def _line(self, line: int, area: QRectF, spots: Sequence[float]) -> QPolygonF:
        pairs = zip(self.lines.axes, spots, strict=True)
        return QPolygonF([QPointF(x, self._height(area, axis.places[line])) for axis, x in pairs])

    def _paint_axis(self, painter: QPainter, area: QRectF, tokens: Tokens, at: int, where: Where) -> None:
        axis, x = self.lines.axes[at], where[1][at]
        top, bottom = self._height(area, 1.0), self._height(area, 0.0)
        if axis.title in self._brushes:
            low, high = (self._height(area, limit) for limit in self._brushes[axis.title])
            colour = QColor(tokens.accent)
            colour.setAlpha(BRUSH_ALPHA)
            painter.fillRect(QRectF(x - BRUSH_PX / 2, high, BRUSH_PX, low - high), colour)
            painter.setPen(QPen(QColor(tokens.accent), 1))
            painter.drawRect(QRectF(x - BRUSH_PX / 2, high, BRUSH_PX, low - high))
        painter.setPen(QPen(QColor(tokens.plot_axis), 1))
        painter.drawLine(QPointF(x, top), QPointF(x, bottom))
        metrics, room = painter.fontMetrics(), min(*beside(at, where[1], area), 2.0 * SIDE_PX + 40)
        head = QRectF(x - room / 2, area.top() + 2, room, TOP_PX - 12)
        words_of = axis.title if metrics.horizontalAdvance(axis.title) <= room else _short(axis.title)
        title = metrics.elidedText(words_of, Qt.TextElideMode.ElideRight, int(room))
        painter.drawText(head, int(Qt.AlignmentFlag.AlignCenter), title)
        painter.setPen(QColor(tokens.text))
        for value, _ in axis.ticks:
            y = self._height(area, value)
            painter.drawLine(QPointF(x - 3, y), QPointF(x + 3, y))
        back = QColor(tokens.plot_background)
        back.setAlpha(200)
        for _, text, box in self._written(at, area, metrics, where):
            painter.fillRect(box, back)
            painter.drawText(box, int(Qt.AlignmentFlag.AlignCenter), text)

    def _written(self, at: int, area: QRectF, metrics: QFontMetrics, where: Where) -> Iterator[tuple[str, str, QRectF]]:
        """The words beside an axis: all of them, what of them has room, and where that is drawn."""
        axis, (left, spots) = self.lines.axes[at], where
        x = spots[at]
        before = left > SIDE_PX and at == 0
        longest = int(left - 2 * TICK_PX if before else beside(at, spots, area)[1] - TICK_PX - AFTER_PX)
        free = legible([self._height(area, value) for value, _ in axis.ticks], metrics.height())
        for (value, words), has_room in zip(axis.ticks, free, strict=True):
            if not has_room:
                continue
            whole = as_read(words)
            text = metrics.elidedText(whole, Qt.TextElideMode.ElideMiddle, longest)
            box = QRectF(metrics.boundingRect(text)).adjusted(-2, 0, 4, 0)
            box.moveCenter(QPointF(x + 7 + box.width() / 2, self._height(area, value)))
            if before or box.right() > area.right():
                box.moveRight(x - 5)
            yield whole, text, box

    def words_at(self, point: QPointF) -> str:
        """The whole words where those beside an axis are cut, at a point (px at 100% text); else empty."""
        area, metrics = self.picture.area, QFontMetrics(small(self.font()))
        where = (self._left(area), self.spots(area)[: len(self.lines.axes)].tolist())
        return next(
            (
                whole
                for at in range(len(self.lines.axes))
                for whole, text, box in self._written(at, area, metrics, where)
                if text != whole and box.contains(point)
            ),
            "",
        )


def beside(at: int, spots: Sequence[float], area: QRectF) -> tuple[float, float]:
    """Px between the axis of that place and those before and after it."""
    gaps = np.diff(spots).tolist() or [area.width() / 2]
    return gaps[max(0, at - 1)], gaps[min(at, len(gaps) - 1)]


def shared_out(room: float, wanted: Sequence[float]) -> list[float]:
    """Room for several, in px: as much as each wants and an equal part of the rest, or at most as much as fits for all.

    Where there is too little, those that want least get what they want before the others are cut to one width.
    """
    if (rest := room - sum(wanted)) >= 0:
        return [px + rest / len(wanted) for px in wanted]
    most, left = room / len(wanted), room
    for count, px in zip(range(len(wanted), 0, -1), sorted(wanted), strict=True):
        most = left / count
        if px > most:
            break
        left -= px
    return [min(px, most) for px in wanted]


def legible(heights: Sequence[float], line: float) -> list[bool]:
    """Which words of an axis are written: both ends, then those at least `line` px from all that are.

    Args:
        heights: of the ticks in px, in their order along the axis.
        line: px that one line of words takes.
    """
    written: list[int] = []
    for at in dict.fromkeys((0, len(heights) - 1, *range(len(heights)))):
        if 0 <= at < len(heights) and all(abs(heights[at] - heights[other]) >= line for other in written):
            written.append(at)
    return [at in written for at in range(len(heights))]


def _short(title: str) -> str:
    """ "lr" for "training.lr", "loss" for "loss.name", "MAP@R" for "MAP@R % ↑"."""
    section, _, last = title.partition(" % ")[0].rpartition(".")
    return section if last == "name" else last
