"""A view of growing curves: while points arrive, its range changes rarely, because axes are slow to draw."""

from typing import Any

import pyqtgraph as pg

SPARE = 0.1  # share of the range that is left free at a growing end
WITHIN = 0.02  # share of the range by which an end may move into pyqtgraph's minimum margin around curves
NARROWEST, SMALLEST = 1e-12, 1e-290  # width of a range, to its larger end and at all; Qt crashed with a smaller one
EDGE = 0.03  # share of the range that is left beyond the ends of what is possible, for the line there
PERCENT = (0.0, 100.0)
AROUND = 0.5  # share of a single value that is shown below and above it


class SteadyView(pg.ViewBox):
    """Fits its range as pyqtgraph does. While `steady`, it leaves room for more points and keeps a range that has all.

    Ticks, labels and grid of a range are then drawn once, and a curve that grows within it redraws only its line.

    Attributes:
        from_zero: no value is below 0: where all are 0, the range does not begin below it.
        ends: the smallest and the largest value that is possible, as of a percentage: no range shows more. None: any.
    """

    def __init__(self, **options: Any) -> None:
        self.steady = self.from_zero = False
        self.ends: tuple[float, float] | None = None
        self._fits = False
        super().__init__(**options)

    def settle(self) -> None:
        """Fit the range exactly to the current values, now and from now on."""
        self.steady = False
        self.updateAutoRange()

    def updateAutoRange(self) -> None:
        self._fits = True
        try:
            super().updateAutoRange()
        finally:
            self._fits = False

    def setRange(self, *rect: Any, **options: Any) -> None:
        if self._fits and "xRange" in options:
            options["xRange"] = around_one_place(options["xRange"])
        if self._fits and "yRange" in options:
            options["yRange"] = widened(options["yRange"], from_zero=self.from_zero)
        if self._fits and self.steady:
            for name, shown in zip(("xRange", "yRange"), self.viewRange(), strict=True):
                options[name] = roomy(options.get(name), shown)
            if options["xRange"] is None and options["yRange"] is None:
                return
        if self._fits and self.ends is not None and options.get("yRange") is not None:
            options["yRange"] = kept_within(options["yRange"], self.ends)
        super().setRange(*rect, **options)


def widened(wanted: list[float], *, from_zero: bool = False) -> list[float]:
    """The range (low, high) that shows one value, or several that hardly differ, in a fitting scale; others unchanged.

    `from_zero`: a single 0 is at the bottom of it.
    pyqtgraph keeps the scale of before, so that a learning rate of 0.01 stood on an axis from -0.5 to 0.5.
    """
    low, high = wanted
    if not is_narrow(low, high):
        return wanted
    size = max(abs(low), abs(high))
    if from_zero and not low:
        return [0.0, 2 * AROUND]
    around = AROUND * size if size > SMALLEST else AROUND
    return [low - around, high + around]


def around_one_place(wanted: list[float]) -> list[float]:
    """The range (low, high) of a bottom axis on which all points are at one place; others unchanged.

    No step, epoch or time is below 0: with the evaluation before training alone, an axis went from -4 to 4 epochs.
    """
    low, high = widened(wanted, from_zero=True)
    return [-EDGE * high, high] if [low, high] != wanted and not low else [low, high]


def kept_within(wanted: list[float], ends: tuple[float, float]) -> list[float]:
    """The range (low, high) without what lies beyond the ends of what is possible, but for an EDGE."""
    low, high = max(wanted[0], ends[0]), min(wanted[1], ends[1])
    if high <= low:
        return wanted
    edge = EDGE * (high - low)
    return [max(wanted[0], ends[0] - edge), min(wanted[1], ends[1] + edge)]


def is_narrow(low: float, high: float) -> bool:
    """Whether two ends of a range are one value, or hardly differ."""
    return high - low <= max(NARROWEST * max(abs(low), abs(high)), SMALLEST)


def roomy(wanted: list[float] | None, shown: list[float]) -> list[float] | None:
    """The new range if `shown` (low, high) is on screen and `wanted` (low, high) is needed; None keeps `shown`.

    An end that must move gets SPARE of the width beyond it. If `shown` is much wider than `wanted`, `wanted` is used.
    """
    if wanted is None:
        return None
    low, high = wanted
    width = high - low
    below, above = low < shown[0] - WITHIN * width, high > shown[1] + WITHIN * width
    if not (below or above):
        return None if shown[1] - shown[0] <= (1 + 3 * SPARE) * width else [low, high]
    ends = min(low, shown[0]), max(high, shown[1])
    return [low - SPARE * width if below else ends[0], high + SPARE * width if above else ends[1]]
