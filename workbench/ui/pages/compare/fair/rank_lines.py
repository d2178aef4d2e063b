"""The critical-difference diagram of a fair comparison: mean ranks with intervals, bars over similar methods."""

from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

from workbench.fair.table import Comparison, Placed
from workbench.ui.plots.painted_plot import PaintedPlot, Rows
from workbench.ui.style import theme
from workbench.ui.style.theme import Tokens

ROW, BAR, SIDE, BOTTOM, DOT = 17, 7, 12, 34, 3.5  # px: a row, a bar, margins, the axis, the radius of a mean's dot
ABOVE = 16  # px above the rows for the numbers of the ranks
MOST_TICKS = 10
CENTRED = int(Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignTop)
AXIS = "Mean rank over seeds (line: 95% of the rank; bars: no pair differs after Holm)"


@dataclass(frozen=True, slots=True)
class _Ranks:
    """The x positions of the ranks, with half a rank of margin at both ends."""

    left: float
    step: float  # px per rank

    def x(self, rank: float) -> float:
        return self.left + (rank - 0.5) * self.step


class RankLines(PaintedPlot):
    """A row for each method; above the rows, a bar over each group of methods no two of which differ."""

    def __init__(self) -> None:
        super().__init__("Mean ranks")
        self._placed: list[Placed] = []
        self._groups: list[tuple[int, int]] = []

    def show_comparison(self, comparison: Comparison) -> None:
        """Show another comparison; the plot takes the height that its rows need."""
        self._placed, self._groups = comparison.placed, comparison.groups
        self.picture.need_height(ROW * len(self._placed) + BAR * len(self._groups) + ABOVE + BOTTOM + SIDE)
        self.retitle(f"Mean ranks of {len(self._placed)} methods, 1 is best")
        self.refresh()

    def rows(self) -> Rows:
        """Method, mean rank over seeds and the limits of its interval."""
        head: Rows = [["method", "mean_rank", "rank_low_95", "rank_high_95"]]
        return head + [[method.name, method.rank, method.low, method.high] for method in self._placed]

    def describe(self) -> str:
        """The methods in the order of their ranks, and the groups that do not differ."""
        names = ", ".join(f"{method.name} {method.rank:.1f}" for method in self._placed)
        alike = "; ".join(f"{self._placed[first].name} to {self._placed[last].name}" for first, last in self._groups)
        return f"{self.title}: {names}. No pair differs after Holm: {alike or 'none'}."

    def paint(self, painter: QPainter, area: QRectF, tokens: Tokens) -> None:
        """Draw the bars, the rows and the axis into `area`, in the colours of `tokens`."""
        if not self._placed:
            return
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        widest = max(painter.fontMetrics().horizontalAdvance(method.name) for method in self._placed)
        left = area.left() + 2 * SIDE + widest
        ranks = _Ranks(left, (area.right() - SIDE - left) / len(self._placed))
        top = area.top() + SIDE / 2
        painter.setPen(QPen(QColor(tokens.text), 2.5))
        for bar, (first, last) in enumerate(self._groups):
            y = top + BAR * (bar + 0.5)
            ends = (ranks.x(self._placed[first].rank), ranks.x(self._placed[last].rank))
            painter.drawLine(QPointF(ends[0], y), QPointF(ends[1], y))
        top += BAR * len(self._groups) + ABOVE
        self._paint_ranks(painter, top - ABOVE + 2, ranks, tokens)  # the lower axis may be out of view
        for row, method in enumerate(self._placed):
            self._paint_row(painter, method, QRectF(area.left(), top + ROW * row, left - SIDE, ROW), ranks, tokens)
        self._paint_axis(painter, top + ROW * len(self._placed), ranks, tokens)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)

    @staticmethod
    def _paint_row(painter: QPainter, method: Placed, area: QRectF, ranks: _Ranks, tokens: Tokens) -> None:
        """Draw the method's name in `area`, and its interval and mean to the right of it."""
        painter.setPen(QColor(tokens.text))
        painter.drawText(area, int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter), method.name)
        y, colour = area.center().y(), QColor(theme.drawn(theme.SERIES["ce"]))
        painter.setPen(QPen(colour, 1.4))
        painter.drawLine(QPointF(ranks.x(method.low), y), QPointF(ranks.x(method.high), y))
        painter.setBrush(colour)
        painter.drawEllipse(QPointF(ranks.x(method.rank), y), DOT, DOT)
        painter.setBrush(Qt.BrushStyle.NoBrush)

    def _paint_axis(self, painter: QPainter, y: float, ranks: _Ranks, tokens: Tokens) -> None:
        count = len(self._placed)
        painter.setPen(QPen(QColor(tokens.plot_axis), 1))
        painter.drawLine(QPointF(ranks.x(0.5), y), QPointF(ranks.x(count + 0.5), y))
        self._paint_ranks(painter, y + 2, ranks, tokens)
        painter.drawText(QRectF(ranks.x(0.5), y + 16, ranks.x(count + 0.5) - ranks.x(0.5), 16), CENTRED, AXIS)

    def _paint_ranks(self, painter: QPainter, y: float, ranks: _Ranks, tokens: Tokens) -> None:
        """Draw the numbers of the ranks with their upper edge at `y`."""
        count = len(self._placed)
        painter.setPen(QPen(QColor(tokens.plot_axis), 1))
        for rank in range(1, count + 1, -(-count // MOST_TICKS)):
            painter.drawText(QRectF(ranks.x(rank) - 20, y, 40, 14), CENTRED, str(rank))
