"""The forest plot: all groups against the baseline, a column for each metric with its own axis, p after Holm beside."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil, floor, isfinite, log10

from PySide6.QtCore import QEvent, QObject, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QFontMetrics, QHelpEvent, QKeyEvent, QMouseEvent, QPainter, QPen
from PySide6.QtWidgets import QToolTip

from workbench.comparing.difference.forest import Forest, ForestRow, Tested, forest_table, in_numbers
from workbench.comparing.grouping.groups import unlike_parts
from workbench.comparing.measures import is_share
from workbench.metric_names import metric_name
from workbench.numerals import minus, signed
from workbench.ui.pages.compare.style.group_styles import GroupStyle
from workbench.ui.plots.export import small
from workbench.ui.plots.painted_plot import PaintedPlot, Picture, Rows
from workbench.ui.style import theme
from workbench.ui.style.theme import Tokens
from workbench.ui.widgets.labels import plain_tip, shortened

ROW_PX, HEAD_PX, AXIS_PX, TICK_PX = 30, 20, 36, 40  # px: a row, the metrics' names, the axis, half a number of it
P_PX, GAP, SWATCH = 54, 8, 10  # px: the column of p, between things, the square before a name
DOT, CAP = 5.0, 4.0  # px: radius of a mean, half the height of an interval's ends
NAMES_MOST, METRIC_PX = 0.24, 130  # of the width that the names may take, or what such metrics leave
MOST_ROWS = 40  # groups that are drawn; the sentences are about all
LEFT = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
RIGHT = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
CENTRE = int(Qt.AlignmentFlag.AlignCenter)
HINT = "Click or press the arrow keys to choose the group compared below"


@dataclass(frozen=True, slots=True)
class _Scale:
    """Where the differences of a metric stand: `low` at `left` px, `high` at `right` px; in points for shares."""

    low: float
    high: float
    left: float
    right: float

    def x(self, value: float) -> float:
        return self.left + (value - self.low) / (self.high - self.low) * (self.right - self.left)


def round_differences(low: float, high: float, width: float, letters: QFontMetrics) -> list[float]:
    """Round numbers from `low` to `high`, zero among them, for an axis of that width in px.

    Their words do not meet in the font of `letters`, unless the axis is too narrow for zero and one other number.
    """
    power = floor(log10((high - low) / max(1.0, width)))
    steps = [part * 10.0**exponent for exponent in range(power, power + 6) for part in (1, 2, 5)]
    rounded = [[step * place for place in range(ceil(low / step), floor(high / step) + 1)] for step in steps]
    several = [ticks for ticks in rounded if len(ticks) > 1]
    return next((ticks for ticks in several if _apart(ticks, width / (high - low), letters)), several[-1])


def _apart(ticks: Sequence[float], scale: float, letters: QFontMetrics) -> bool:
    """Whether the words of neighbouring ticks have a gap, at `scale` px for one of the axis."""
    widths = [letters.horizontalAdvance(difference_words(tick)) for tick in ticks]
    gap = (ticks[1] - ticks[0]) * scale
    return all((one + other) / 2 + GAP <= gap for one, other in pairwise(widths))


def difference_words(tick: float) -> str:
    """A number of the axis with its sign."""
    return minus(signed(tick, ".6g"))


class ForestPlot(PaintedPlot):
    """A row for each group but the baseline. `chosen` emits the title of a row that the user chose."""

    chosen = Signal(str)

    def __init__(self) -> None:
        super().__init__("Difference from the baseline")
        self._forest: Forest | None = None
        self._styles: Mapping[str, GroupStyle] = {}
        self._names: list[str] = []
        self._marked = ""
        self.picture.installEventFilter(self)
        self.picture.setToolTip(HINT)

    def show_forest(self, forest: Forest, styles: Mapping[str, GroupStyle]) -> None:
        """Show other differences; `styles` are by the group's title. The picture is as high as its rows need."""
        self._forest, self._styles = forest, styles
        baseline, *self._names = unlike_parts([forest.baseline.title, *(row.group.title for row in forest.rows)])
        count, shown = len(forest.rows), len(self._drawn())
        left_out = f"; the first {shown} of {count} groups" if shown < count else ""
        self.picture.need_height(HEAD_PX + ROW_PX * shown + AXIS_PX)
        paired = "over seeds, 95% interval, filled where p < 0.05 after Holm"
        whole = f"Difference from {forest.baseline.title}, {paired}{left_out}"
        self.retitle(whole, f"Difference from {baseline}{left_out}")
        self.refresh()

    def mark(self, title: str) -> None:
        """Mark the row of the group that is compared below; none of another title."""
        self._marked = title
        self.refresh()

    def marked_y(self) -> int:
        """Where the middle of the marked row is, px of the screen below the upper edge of the plot; 0 without one."""
        place = self._place()
        if place is None:
            return 0
        return self.picture.y() + theme.text_px(int(HEAD_PX + self._row_px(self.picture.area) * (place + 0.5)))

    def rows(self) -> Rows:
        """All groups: difference, 95% interval, p after Holm and seeds of each metric."""
        return [] if self._forest is None else [[*row] for row in forest_table(self._forest)]

    def describe(self) -> str:
        """The numbers of each row that is drawn, and which row is chosen."""
        rows = [f"{row.group.title}: {'; '.join(map(in_numbers, row.tests))}" for row in self._drawn()]
        chosen = f" Chosen: {self._marked}." if self._place() is not None else ""
        return minus(f"{self.title}. {'. '.join(rows)}.{chosen}")

    def _drawn(self) -> tuple[ForestRow, ...]:
        return () if self._forest is None else self._forest.rows[:MOST_ROWS]

    def _place(self) -> int | None:
        """The row that is marked."""
        titles = [row.group.title for row in self._drawn()]
        return titles.index(self._marked) if self._marked in titles else None

    # The pointer and the keys

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Clicks, hovering and arrow keys over the picture."""
        if watched is not self.picture or not self._drawn():
            return super().eventFilter(watched, event)
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            return self._press(event.key())
        if isinstance(event, QHelpEvent):  # over a row the tooltip shows its numbers instead of the hint
            return self._row_at(QPointF(event.pos())) is not None
        if isinstance(event, QMouseEvent):
            row = self._row_at(event.position())
            if event.type() == QEvent.Type.MouseMove:
                self.picture.setCursor(Qt.CursorShape.ArrowCursor if row is None else Qt.CursorShape.PointingHandCursor)
                self._hover(event, row)
            elif event.type() == QEvent.Type.MouseButtonPress and event.button() == Qt.MouseButton.LeftButton:
                self._choose(row)
        if event.type() in (QEvent.Type.FocusIn, QEvent.Type.FocusOut):
            self.picture.update()
        return False

    def _press(self, key: int) -> bool:
        last, place = len(self._drawn()) - 1, self._place()
        wanted: dict[int, int] = {
            Qt.Key.Key_Up: last if place is None else max(0, place - 1),
            Qt.Key.Key_Down: 0 if place is None else min(last, place + 1),
            Qt.Key.Key_Home: 0,
            Qt.Key.Key_End: last,
        }
        if key not in wanted:
            return False
        self._choose(wanted[key])
        return True

    def _choose(self, row: int | None) -> None:
        if row is None or row == self._place():
            return
        title = self._drawn()[row].group.title
        self.mark(title)
        self.chosen.emit(title)

    def _hover(self, event: QMouseEvent, row: int | None) -> None:
        if row is None:
            QToolTip.hideText()
            return
        shown = self._drawn()[row]
        left, width = self._columns(self.picture.area)
        x = self.picture.at(event.position()).x()
        column = int((x - left) // width)
        tests = shown.tests[column : column + 1] if x >= left else shown.tests
        text = minus("\n".join([shown.group.title, *map(in_numbers, tests)]))
        QToolTip.showText(event.globalPosition().toPoint(), plain_tip(text), self.picture)

    def _row_at(self, position: QPointF) -> int | None:
        row = floor((self.picture.at(position).y() - HEAD_PX) / self._row_px(self.picture.area))
        return row if 0 <= row < len(self._drawn()) else None

    # The picture

    def _row_px(self, area: QRectF) -> float:
        return max(1.0, (area.height() - HEAD_PX - AXIS_PX) / max(1, len(self._drawn())))

    def _columns(self, area: QRectF) -> tuple[float, float]:
        """Left edge of the first metric and the width of each, px."""
        letters = QFontMetrics(small(self.picture.font()))
        widest = max(map(letters.horizontalAdvance, self._names), default=0)
        metrics = len(self._forest.metrics) if self._forest is not None else 1
        most = max(NAMES_MOST * area.width(), area.width() - METRIC_PX * metrics)
        names = min(widest + SWATCH + 4 * GAP, most)
        return area.left() + names, (area.width() - names) / max(1, metrics)

    def paint(self, painter: QPainter, area: QRectF, tokens: Tokens) -> None:
        """Draw names, intervals, p and axes into the rectangle, in the colours of a theme."""
        if self._forest is None or not self._drawn():
            return
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        left, width = self._columns(area)
        row_px, top = self._row_px(area), area.top() + HEAD_PX
        place = self._place()
        if place is not None and isinstance(painter.device(), Picture):
            marked = QRectF(area.left(), top + row_px * place, area.width(), row_px).adjusted(1, 1, -1, -1)
            painter.setPen(QPen(QColor(tokens.accent), 1.5) if self.picture.hasFocus() else Qt.PenStyle.NoPen)
            painter.setBrush(QColor(tokens.selection))
            painter.drawRoundedRect(marked, 4, 4)
            painter.setBrush(Qt.BrushStyle.NoBrush)
        for row in range(len(self._drawn())):
            if row:
                painter.setPen(QPen(QColor(tokens.divider), 1))
                line = top + row_px * row
                painter.drawLine(QPointF(area.left() + GAP, line), QPointF(area.right(), line))
            self._paint_name(painter, row, QRectF(area.left(), top + row_px * row, left - area.left(), row_px), tokens)
        for column in range(len(self._forest.metrics)):
            box = QRectF(left + width * column, area.top(), width, area.height())
            self._paint_column(painter, column, box, row_px, tokens)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)

    def _paint_name(self, painter: QPainter, row: int, box: QRectF, tokens: Tokens) -> None:
        middle = box.center().y()
        square = QRectF(box.left() + GAP, middle - SWATCH / 2, SWATCH, SWATCH)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._colour(row, tokens))
        painter.drawRoundedRect(square, 3, 3)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        words = box.adjusted(2 * GAP + SWATCH, 0, -GAP, 0)
        painter.setPen(QColor(tokens.text))
        name = shortened(self._names[row], self._names, painter.fontMetrics(), int(words.width()))
        painter.drawText(words, LEFT, name)

    def _colour(self, row: int, tokens: Tokens) -> QColor:
        style = self._styles.get(self._drawn()[row].group.title)
        if style is None:
            return QColor(tokens.text)
        return QColor(theme.drawn(style.colour, tokens))

    def _paint_column(self, painter: QPainter, column: int, box: QRectF, row_px: float, tokens: Tokens) -> None:
        assert self._forest is not None
        tests = [row.tests[column] for row in self._drawn()]
        metric = self._forest.metrics[column]
        scale = _scale(tests, box.left() + GAP + DOT, box.right() - P_PX - GAP - DOT)
        top, bottom = box.top() + HEAD_PX, box.top() + HEAD_PX + row_px * len(tests)
        plot = QRectF(box.left(), box.top(), box.width() - P_PX - GAP, HEAD_PX)
        painter.setPen(QColor(tokens.text))
        _write(painter, plot, CENTRE, metric_name(metric), bold=True)
        painter.setPen(QColor(tokens.muted))
        _write(painter, QRectF(plot.right(), box.top(), P_PX, HEAD_PX), RIGHT, "Holm p")
        grid = QColor(tokens.plot_axis)
        grid.setAlpha(tokens.plot_grid_alpha)
        letters = painter.fontMetrics()
        for tick in round_differences(scale.low, scale.high, scale.right - scale.left, letters):
            x = scale.x(tick)
            painter.setPen(QPen(QColor(tokens.disabled), 1.5) if tick == 0 else QPen(grid, 1))
            painter.drawLine(QPointF(x, top), QPointF(x, bottom))
            painter.setPen(QColor(tokens.plot_axis))
            painter.drawText(QRectF(x - TICK_PX, bottom + 2, 2 * TICK_PX, 14), CENTRE, difference_words(tick))
        unit = "points" if is_share(metric) else "difference"
        painter.drawText(QRectF(plot.left(), bottom + 17, plot.width(), 14), CENTRE, unit)
        for row, test in enumerate(tests):
            middle = top + row_px * (row + 0.5)
            _paint_interval(painter, test, scale, middle, self._colour(row, tokens), tokens)
            painter.setPen(_p_colour(test, tokens))
            p_box = QRectF(plot.right(), middle - row_px / 2, P_PX, row_px)
            _write(painter, p_box, RIGHT, test.p_words, bold=test.differs)


def _scale(tests: list[Tested], left: float, right: float) -> _Scale:
    """From the lowest to the highest end, including zero, with a small margin at both sides."""
    ends = [0.0]
    for test in tests:
        difference = test.difference
        ends += [_points(test, end) for end in (difference.mean, difference.low, difference.high) if isfinite(end)]
    low, high = min(ends), max(ends)
    room = 0.06 * (high - low) or 1.0
    return _Scale(low - room, high + room, left, max(left + 1, right))


def _points(test: Tested, value: float) -> float:
    return 100 * value if is_share(test.metric) else value


def _paint_interval(painter: QPainter, test: Tested, scale: _Scale, y: float, colour: QColor, tokens: Tokens) -> None:
    difference = test.difference
    if not isfinite(difference.mean):
        return
    painter.setPen(QPen(colour, 2))
    if difference.known:
        low, high = (scale.x(_points(test, end)) for end in (difference.low, difference.high))
        painter.drawLine(QPointF(low, y), QPointF(high, y))
        for x in (low, high):
            painter.drawLine(QPointF(x, y - CAP), QPointF(x, y + CAP))
    painter.setBrush(QColor(tokens.plot_background) if not test.differs else colour)
    painter.drawEllipse(QPointF(scale.x(_points(test, difference.mean)), y), DOT, DOT)
    painter.setBrush(Qt.BrushStyle.NoBrush)


def _p_colour(test: Tested, tokens: Tokens) -> QColor:
    """Muted where nothing differs; a gain and a loss where more is better."""
    if not test.differs:
        return QColor(tokens.muted)
    if not is_share(test.metric):
        return QColor(tokens.text)
    return QColor(tokens.right if test.difference.mean > 0 else tokens.wrong)


def _write(painter: QPainter, box: QRectF, how: int, words: str, *, bold: bool = False) -> None:
    font = painter.font()
    font.setBold(bold)
    painter.setFont(font)
    painter.drawText(box, how, words)
    font.setBold(False)
    painter.setFont(font)
