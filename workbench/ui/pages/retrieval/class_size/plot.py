"""Each class as a point: its score against its number of images, with the groups, their intervals and chance."""

from math import isfinite

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QMouseEvent, QPainter, QPen

from workbench.numerals import counted, percentage
from workbench.results.by_class_size import COUNTED, MAP, TITLES, BySize
from workbench.ui.plots.painted_plot import LINE, WIDE, Axes, PaintedPlot, Rows
from workbench.ui.style import theme
from workbench.ui.style.theme import Tokens

COLOUR = "#0072B2"
LEFT, RIGHT, TOP, BOTTOM = 46, 14, 38, 34  # px around the axes
DOT, REACH, TALL = 2.5, 8, 200  # px; px; least height
FAINT, BAND, STRONG = 70, 40, 190  # of 255: points of groups that are not chosen, intervals, chosen points
CELLS = 120  # of the picture along each axis: of the points in a cell one is drawn
NAMED = 5  # classes that a tooltip names
SHARES = (0, 25, 50, 75, 100)  # percent, on the left axis


class SizePlot(PaintedPlot):
    """One metric of every class by its size, on a logarithmic axis; a click emits the group that is there."""

    picked = Signal(int)  # position of a group

    def __init__(self) -> None:
        self._measured: BySize | None = None
        self._metric, self._marked = MAP, -1
        self._drawn: list[np.ndarray] = []  # of each group, the positions of the classes that are drawn
        super().__init__("Score by class size")
        self.picture.need_height(TALL)
        self.picture.mousePressEvent = self._pressed  # type: ignore[method-assign]

    def show_measured(self, measured: BySize | None, metric: str) -> None:
        """Show another measurement, or another of its metrics."""
        self._measured, self._metric = measured, metric
        self._drawn = [] if measured is None else [self._thinned(members) for members in measured.members]
        self.refresh()

    def mark(self, group: int) -> None:
        """Draw the points of one group strongly; -1 for all alike."""
        self._marked = group
        self.refresh()

    def rows(self) -> Rows:
        """A row for each class."""
        head: Rows = [["class", "images", f"{TITLES[self._metric]} %"]]
        if self._measured is None:
            return head
        classes = self._measured.classes
        values = classes.values[self._metric]
        return head + [
            [classes.names[at], int(classes.sizes[at]), 100 * float(values[at])] for at in range(len(values))
        ]

    def describe(self) -> str:
        """The score of each group, and the rank correlation."""
        if self._measured is None:
            return f"{self.title}: nothing is measured yet."
        said = "; ".join(
            f"{group.title} ({group.size_words} images) {percentage(group.scores[self._metric].value)}"
            for group in self._measured.groups
        )
        return f"{TITLES[self._metric]} by class size: {said}. {self._measured.correlation_sentence}"

    def paint(self, painter: QPainter, area: QRectF, tokens: Tokens) -> None:
        """Draw axes, points, and over them the means of the groups with their intervals and chance."""
        if self._measured is None or not self._measured.groups:
            return
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        box = self._box(area)
        self._paint_axes(painter, area, box, tokens)
        classes, ink = self._measured.classes, QColor(theme.drawn(COLOUR, tokens))
        values = classes.values[self._metric]
        painter.setPen(Qt.PenStyle.NoPen)
        for group, members in enumerate(self._drawn):
            ink.setAlpha(STRONG if self._marked in (-1, group) else FAINT)
            painter.setBrush(ink)
            across, up = self._across(classes.sizes[members], box), self._up(values[members], box)
            for x, y in zip(across.tolist(), up.tolist(), strict=True):
                painter.drawEllipse(QPointF(x, y), DOT, DOT)
        self._paint_groups(painter, box, tokens)

    def _paint_groups(self, painter: QPainter, box: QRectF, tokens: Tokens) -> None:
        assert self._measured is not None
        text = QColor(tokens.text)
        band = QColor(text)
        band.setAlpha(BAND)
        named: list[QRectF] = []  # where titles of groups stand
        for group in self._measured.groups:
            score, chance = group.scores[self._metric], group.chance[self._metric]
            left, right = self._across(np.array([group.low, group.high]), box).tolist()
            left, right = left - 2 * DOT, right + 2 * DOT
            if isfinite(score.low):
                high, low = self._up(np.array([score.high, score.low]), box).tolist()
                painter.fillRect(QRectF(left, high, right - left, max(1.0, low - high)), band)
            width = painter.fontMetrics().horizontalAdvance(group.title) + DOT
            place = QRectF((left + right - width) / 2, box.top() - LINE - 2, width, LINE)
            if not any(place.intersects(other) for other in named):
                named.append(place)
                painter.setPen(text)
                painter.drawText(place, int(Qt.AlignmentFlag.AlignHCenter), group.title)
            for share, style in ((score.value, Qt.PenStyle.SolidLine), (chance, Qt.PenStyle.DashLine)):
                y = float(self._up(np.array([share]), box)[0])
                painter.setPen(QPen(text, 1.8 if style == Qt.PenStyle.SolidLine else 1.2, style))
                painter.drawLine(QPointF(left, y), QPointF(right, y))

    def _paint_axes(self, painter: QPainter, area: QRectF, box: QRectF, tokens: Tokens) -> None:
        assert self._measured is not None
        axes = Axes(painter, area, box, tokens)
        for share in SHARES:
            axes.at_left(float(self._up(np.array([share / 100]), box)[0]), str(share))
        for size in self._ticks(box):
            axes.below(float(self._across(np.array([size]), box)[0]), f"{size:,}", line=True)
        axes.name_below(f"{COUNTED[self._measured.counted]} of a class")
        painter.setPen(QColor(tokens.text))
        above = f"{TITLES[self._metric]} %; lines: means of the groups with 95% intervals; dashed: chance"
        above = painter.fontMetrics().elidedText(above, Qt.TextElideMode.ElideRight, round(area.width() - 8))
        painter.drawText(QRectF(area.left() + 4, area.top(), area.width() - 8, LINE), 0, above)

    def _ticks(self, box: QRectF) -> list[int]:
        """Sizes that are named below the axis: both ends, and round ones between that have room."""
        low, high = map(round, self._ends())
        ticks = [low]
        for size in [digit * 10**power for power in range(19) for digit in (1, 2, 5)]:
            if low < size < high:
                before, here, end = self._across(np.array([ticks[-1], size, high]), box).tolist()
                ticks += [size] if min(here - before, end - here) >= WIDE else []
        return [*ticks, high]

    def _ends(self) -> tuple[float, float]:
        """The smallest and the largest size that is drawn; a class without an image stands at one."""
        assert self._measured is not None
        sizes = self._measured.classes.sizes
        return max(1.0, float(sizes.min())), max(1.0, float(sizes.max()))

    @staticmethod
    def _box(area: QRectF) -> QRectF:
        return area.adjusted(LEFT, TOP, -RIGHT, -BOTTOM)

    def _across(self, sizes: np.ndarray, box: QRectF) -> np.ndarray:
        low, high = np.log(self._ends())
        share = (np.log(np.maximum(sizes, 1)) - low) / max(high - low, 1e-9)
        return np.asarray(box.left() + 3 * DOT + share * (box.width() - 6 * DOT))

    @staticmethod
    def _up(shares: np.ndarray, box: QRectF) -> np.ndarray:
        return np.asarray(box.bottom() - np.nan_to_num(shares) * box.height())

    def _thinned(self, members: np.ndarray) -> np.ndarray:
        """One class of each cell of the picture, so that a million classes are drawn as fast as a thousand."""
        assert self._measured is not None
        classes, square = self._measured.classes, QRectF(0, 0, CELLS, CELLS)
        across = self._across(classes.sizes[members], square).astype(np.int64)
        up = self._up(classes.values[self._metric][members], square).astype(np.int64)
        drawn = np.full((CELLS + 1) ** 2, -1)
        drawn[across * (CELLS + 1) + up] = members  # of the classes in a cell the last one
        return np.asarray(drawn[drawn >= 0])

    def words_at(self, position: QPointF) -> str:
        """The classes at this position of the picture (px on screen), the nearest first; empty without."""
        if self._measured is None or not self._measured.groups:
            return ""
        pointer, box, classes = self.picture.at(position), self._box(self.picture.area), self._measured.classes
        values = classes.values[self._metric]
        apart = np.hypot(self._across(classes.sizes, box) - pointer.x(), self._up(values, box) - pointer.y())
        near = np.flatnonzero(apart <= REACH)
        near = near[np.argsort(apart[near], kind="stable")]
        lines = [
            f"{classes.names[at]}: {counted(int(classes.sizes[at]), 'image')}, {percentage(float(values[at]))}"
            for at in near[:NAMED].tolist()
        ]
        more = [f"and {len(near) - NAMED:,} more"] if len(near) > NAMED else []
        return "\n".join(lines + more)

    def _pressed(self, event: QMouseEvent) -> None:
        """Emit the group whose sizes are nearest to where the picture was pressed."""
        if self._measured is None or not self._measured.groups or event.button() != Qt.MouseButton.LeftButton:
            return
        box, x = self._box(self.picture.area), self.picture.at(event.position()).x()
        gaps = []
        for group in self._measured.groups:
            left, right = self._across(np.array([group.low, group.high]), box).tolist()
            gaps.append(max(left - x, x - right, 0.0))
        self.picked.emit(int(np.argmin(gaps)))
