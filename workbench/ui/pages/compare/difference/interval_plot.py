"""The interval of each seed, and over all seeds."""

from collections.abc import Sequence
from math import nan
from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtGui import QColor

from workbench.comparing.statistics.intervals import Interval
from workbench.numerals import significant
from workbench.ui.pages.compare.style.still_plot import StillPlot
from workbench.ui.plots.curve import drawable

MARGIN = 0.7  # rows: above the first and below the last
CAP = 0.12  # rows: half the height of the strokes at both limits


class IntervalPlot(StillPlot):
    """One row for each interval, with a dot at its mean; the row over all seeds is the lowest, in bold."""

    def __init__(self) -> None:
        self._rows: list[tuple[str, Interval]] = []
        super().__init__("Difference with 95% interval")
        self.plot.setMouseEnabled(x=True, y=False)

    def show_rows(self, rows: Sequence[tuple[str, Interval]], title: str) -> None:
        """Show rows of name and interval, the last one over all seeds; limits may be NaN."""
        self._rows = list(rows)
        self.retitle(title)
        words = [
            f"{name} {significant(interval.mean, 4)}"
            + (f", from {significant(interval.low, 4)} to {significant(interval.high, 4)}" if interval.known else "")
            for name, interval in rows
        ]
        self.plot.setAccessibleDescription(f"{title}: {'; '.join(words)}.")
        self.draw()
        self.show_all()

    def show_all(self) -> None:
        """Show all of the intervals; the rows have their places."""
        self.plot.enableAutoRange(axis="x")

    def rows(self) -> list[list[Any]]:
        """A row for each interval: its name, mean and limits, and how many differences it has."""
        limits = [[name, interval.mean, interval.low, interval.high, interval.n] for name, interval in self._rows]
        return [["", "difference", "low_95", "high_95", "n"], *limits]

    def draw(self) -> None:
        """Draw the interval of each row, the last row thicker, and a line at zero."""
        shown, last = self.look, len(self._rows) - 1
        self.plot.clear()
        self.plot.addItem(pg.InfiniteLine(0.0, angle=90, pen=pg.mkPen(shown.muted, width=1)))
        places = [float(last - row) for row in range(len(self._rows))]
        for part, colour, width, mark, size in (
            (slice(0, -1), shown.accent, 2, "o", 11),
            (slice(-1, None), shown.text, 3, "d", 15),
        ):
            rows, heights = self._rows[part], places[part]
            xs, ys = (np.array(ends) for ends in _strokes([interval for _, interval in rows], heights))
            xs, ys = drawable(xs, ys)
            self.plot.addItem(pg.PlotDataItem(xs, ys, pen=pg.mkPen(colour, width=width), connect="finite"))
            means = drawable(np.array([interval.mean for _, interval in rows]), np.array(heights))
            self.plot.addItem(pg.ScatterPlotItem(*means, symbol=mark, size=size, brush=QColor(colour), pen=None))
        ticks = [(float(last - row), name) for row, (name, _) in enumerate(self._rows)]
        self.plot.getAxis("left").setTicks([ticks, []])
        self.plot.setYRange(-MARGIN, max(0, last) + MARGIN, padding=0)  # its own would depend on the height


def _strokes(intervals: Sequence[Interval], places: Sequence[float]) -> tuple[list[float], list[float]]:
    """Lines from limit to limit with a cap at both ends, as the x and y of one line with gaps."""
    xs, ys = [nan], [nan]
    for interval, y in zip(intervals, places, strict=True):
        if interval.known:
            xs += [interval.low, interval.high, nan, interval.low, interval.low, nan, interval.high, interval.high, nan]
            ys += [y, y, nan, y - CAP, y + CAP, nan, y - CAP, y + CAP, nan]
    return xs, ys
