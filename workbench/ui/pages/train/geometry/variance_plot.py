"""The variance of each dimension of the embeddings, with those that are dead."""

import numpy as np

from workbench.evaluation.health import DEAD, dead_dimensions
from workbench.numerals import significant
from workbench.ui.pages.train.geometry.axes import NEGATIVE, POSITIVE
from workbench.ui.pages.train.geometry.lines_plot import Line, LinesPlot
from workbench.ui.plots.painted_plot import Rows
from workbench.ui.widgets.labels import plain_tip

MOST_NAMED = 20  # dead dimensions that the description names
LIMIT = "1/1000"
HEAD = ["dimension, from 0", "variance", "variance / mean", "dead"]


class VariancePlot(LinesPlot):
    """A point for each dimension over its number, counted from 0 as in the stored embeddings."""

    def __init__(self) -> None:
        self._variances, self._dead = np.empty(0), np.empty(0, np.int64)
        super().__init__("Dead dimensions", HEAD[0], HEAD[2], log=True)

    def show_variances(self, variances: np.ndarray) -> None:
        """Show the variances [d] of one evaluation."""
        self._variances, self._dead = variances, dead_dimensions(variances)
        numbers, shares = np.arange(len(variances), dtype=np.float64), self._shares()
        alive = np.setdiff1d(np.arange(len(variances)), self._dead)
        lines = [
            Line(title, numbers[rows], shares[rows], colour, dots=True, joined=False)
            for title, rows, colour in (("alive", alive, NEGATIVE), ("dead", self._dead, POSITIVE))
            if len(rows)
        ]
        self.show_lines(lines, (DEAD, LIMIT))
        self.picture.setToolTip(plain_tip(self.describe()))

    def rows(self) -> Rows:
        """A row for each dimension."""
        dead = set(self._dead.tolist())
        shares = self._shares().tolist()
        return [list(HEAD)] + [
            [number, variance, share, "yes" if number in dead else "no"]
            for number, (variance, share) in enumerate(zip(self._variances.tolist(), shares, strict=True))
        ]

    def describe(self) -> str:
        """Which dimensions are dead, and the least and the largest variance of all."""
        if not len(self._variances):
            return f"{self.title}: no values yet."
        named = ", ".join(map(str, self._dead[:MOST_NAMED].tolist())) or "none"
        rest = len(self._dead) - MOST_NAMED
        more = f" and {rest:,} more" if rest > 0 else ""
        low, high = significant(float(self._variances.min())), significant(float(self._variances.max()))
        return f"{self.title}, counted from 0: {named}{more}. The variances go from {low} to {high}."

    def _shares(self) -> np.ndarray:
        """Variances [d] over their mean; zeros where nothing varies."""
        mean = self._variances.mean() if len(self._variances) else 0.0
        return np.asarray(self._variances / mean if mean > 0 else np.zeros(len(self._variances)))
