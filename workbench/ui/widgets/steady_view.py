"""A view of curves that grow: while points arrive, its range changes seldom, since axes are slow to draw."""

from typing import Any

import pyqtgraph as pg

SPARE = 0.1  # of the range, left free at an end that grows
WITHIN = 0.02  # of the range, by which an end may move into the least margin that pyqtgraph leaves around curves


class SteadyView(pg.ViewBox):
    """Fits itself as pyqtgraph's does; while `steady`, it leaves room for more points and keeps a range that holds all.

    Ticks, figures and grid of a range are drawn once, so a curve that grows within it costs its own line alone.
    """

    def __init__(self, **options: Any) -> None:
        self.steady = False
        self._fits = False
        super().__init__(**options)

    def settle(self) -> None:
        """Fit exactly to the current values, and keep fitting."""
        self.steady = False
        self.updateAutoRange()

    def updateAutoRange(self) -> None:
        self._fits = True
        try:
            super().updateAutoRange()
        finally:
            self._fits = False

    def setRange(self, *rect: Any, **options: Any) -> None:
        if self._fits and self.steady:
            for name, shown in zip(("xRange", "yRange"), self.viewRange(), strict=True):
                options[name] = roomy(options.get(name), shown)
            if options["xRange"] is None and options["yRange"] is None:
                return
        super().setRange(*rect, **options)


def roomy(wanted: list[float] | None, shown: list[float]) -> list[float] | None:
    """The range to show for `wanted`, (low, high), where `shown` is shown now; None keeps that.

    An end that has to move gets SPARE of the width beyond it. A range much wider than `wanted` is replaced by it.
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
