"""A metric by two settings: a colour and a number for each pair of values."""

from collections.abc import Sequence
from math import isfinite

from PySide6.QtCore import QRectF, QSizeF, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter

from workbench.comparing.comparison_text import metric_title, number
from workbench.comparing.settings_space import Cell, HeatMap
from workbench.numerals import as_read
from workbench.ui.pages.compare.settings.parallel import legible
from workbench.ui.plots.painted_plot import LEAST, PaintedPlot, Rows
from workbench.ui.style.theme import Tokens
from workbench.ui.widgets.labels import shortened
from workbench.ui.widgets.numbers.heat import ink_on, mixed

NAME_PX, LINE_PX, GAP = 120, 16, 8
NAME_PART = 0.3  # of the plot's width, which names of rows may take where that is more than NAME_PX
COLDEST = 0.08  # share of the accent colour in the cell with the lowest value
MOST_ROWS = 24  # that have a line of the minimum height each
EDGES = 2  # px of a cell that are not filled
TWO_LINES = 34  # px: from this height of a cell on, n has a line of its own


class HeatMapPlot(PaintedPlot):
    """Rows are the values of one setting, columns those of the other; a cell without runs is empty."""

    def __init__(self) -> None:
        super().__init__("Heat map")
        self._shown: HeatMap | None = None
        self._metric = ""

    def show_map(self, shown: HeatMap, metric: str) -> None:
        """Show other means; `metric` determines their format."""
        self._shown, self._metric = shown, metric
        against = f" and {shown.column}" if shown.column else ""
        self.picture.need_height(max(LEAST[1], 3 * LINE_PX + LINE_PX * min(len(shown.rows), MOST_ROWS)))
        self.retitle(f"{metric_title(metric)} by {shown.row}{against}, mean over seeds")
        self.refresh()

    def rows(self) -> Rows:
        """The cells as a table with a head: row, column, mean, number of values and number of groups."""
        head: Rows = [["row", "column", self._metric, "n", "groups"]]
        return head + [
            [row, column, cell.mean if cell else "", cell.n if cell else 0, cell.groups if cell else 0]
            for row, column, cell in self._cells()
        ]

    def describe(self) -> str:
        """The title and the mean and n of each cell that has a value."""
        known = [(row, column, cell) for row, column, cell in self._cells() if cell is not None]
        if not known:
            return f"{self.title}: no run has the metric."
        cells = [
            f"{', '.join(filter(None, map(as_read, (row, column))))} {self.written(cell.mean)} (n {cell.n})"
            for row, column, cell in known
        ]
        return f"{self.title}: {'; '.join(cells)}."

    def _cells(self) -> list[tuple[str, str, Cell | None]]:
        shown = self._shown
        if shown is None:
            return []
        return [
            (row, column, shown.cells.get((down, right)))
            for down, row in enumerate(shown.rows)
            for right, column in enumerate(shown.columns)
        ]

    def paint(self, painter: QPainter, area: QRectF, tokens: Tokens) -> None:
        """Draw names and cells into `area`, in the colours of `tokens`; nothing if there is no row."""
        shown = self._shown
        if shown is None or not shown.rows:
            return
        metrics = painter.fontMetrics()
        rows, columns = ([as_read(value) for value in values] for values in (shown.rows, shown.columns))
        needed = max(map(metrics.horizontalAdvance, (*rows, shown.row))) + 2 * GAP
        names = min(needed, max(NAME_PX, int(NAME_PART * area.width())))
        inside = area.adjusted(names, 2 * LINE_PX + GAP, -GAP, -GAP)
        width, height = inside.width() / len(shown.columns), inside.height() / len(shown.rows)
        centre = int(Qt.AlignmentFlag.AlignCenter)
        right = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        painter.setPen(QColor(tokens.plot_axis))
        painter.drawText(QRectF(inside.left(), area.top(), inside.width(), LINE_PX), centre, shown.column)
        painter.drawText(QRectF(area.left(), area.top() + LINE_PX, names - GAP, LINE_PX), right,
                         metrics.elidedText(shown.row, Qt.TextElideMode.ElideLeft, names - GAP))  # fmt: skip
        for at, name in enumerate(columns):
            box = QRectF(inside.left() + at * width, area.top() + LINE_PX, width, LINE_PX)
            painter.drawText(box, centre, shortened(name, columns, metrics, int(width) - 4))
        written = legible([inside.top() + (at + 0.5) * height for at in range(len(rows))], metrics.height())
        for at, name in enumerate(rows):
            if written[at]:
                box = QRectF(area.left(), inside.top() + (at + 0.5) * height - LINE_PX / 2, names - GAP, LINE_PX)
                painter.drawText(box, right, shortened(name, rows, metrics, names - GAP))
        low, high = self.limits([cell.mean for cell in shown.cells.values() if isfinite(cell.mean)])
        for (down, across), cell in shown.cells.items():
            box = QRectF(inside.left() + across * width, inside.top() + down * height, width, height)
            part = min(1.0, max(0.0, (cell.mean - low) / (high - low))) if high > low else 0.5
            colour = mixed(tokens.plot_background, tokens.accent, COLDEST + (1 - COLDEST) * part)
            painter.fillRect(box.adjusted(1, 1, -1, -1), colour)
            painter.setPen(ink_on(colour))
            painter.drawText(box, centre, fitting(self.written(cell.mean), cell.n, box.size(), metrics))

    def limits(self, means: Sequence[float]) -> tuple[float, float]:
        """The values of the faintest and of the strongest colour."""
        return min(means, default=0.0), max(means, default=0.0)

    def written(self, mean: float) -> str:
        """The mean of a cell as it is shown."""
        return number(mean, self._metric)


def fitting(mean: str, n: int, room: QSizeF, metrics: QFontMetrics) -> str:
    """Mean and n in one line or two, the mean alone, or nothing: whatever is whole in that room of a cell."""
    count = f"n {n}"
    one, two = f"{mean}  {count}", f"{mean}\n{count}"
    for words in (two, one, mean) if room.height() >= TWO_LINES else (one, two, mean):
        lines = words.split("\n")
        wide, high = max(map(metrics.horizontalAdvance, lines)), metrics.lineSpacing() * len(lines)
        if wide <= room.width() - EDGES and high <= room.height() - EDGES:
            return words
    return ""
