"""The four plots of the Train page, with the evaluations: which stored numbers go into which."""

import re
from collections.abc import Iterable

import numpy as np
from PySide6.QtCore import Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QGridLayout, QWidget

from workbench.colours import OKABE_ITO
from workbench.comparing.measures import percent_factor
from workbench.ui.pages.train.curves.evaluation_table import EvaluationTable
from workbench.ui.pages.train.plots.plot_grid import Cell, PlotGrid
from workbench.ui.pages.train.plots.scalar_points import by_name
from workbench.ui.plots.curve_plot import CurvePlot, Series
from workbench.ui.preferences import Preferences
from workbench.ui.state.pages.in_parts import Parts, begun
from workbench.ui.style import theme
from workbench.ui.style.theme import SERIES
from workbench.ui.widgets.scrolled import Scrolled
from workbench.workspace.rows import Evaluation, Run, recalls

BLUE, VERMILION, GREEN, PURPLE, SKY, ORANGE = OKABE_ITO[:6]
RETRIEVAL = ("recall/0", "recall/1", "recall/2", "recall/3", "MAP@R")  # recall at the run's first four ranks
GRADIENT = "batch/gradient_norm"  # in the step that it is stored with
ACCURACY = "train/accuracy"  # shown in %
LEAST, GAP = 280, 8  # px of a card at 100% text where three stand in a row, and between two
EXPLODED = re.compile(
    r"The loss (exploded to \S+) at step (\d+)"
)  # as the trainer writes it; NaN is visible without it


class Curves(Scrolled):
    """Two rows, which scroll where they have no room; the evaluations stand in the second, or in a line below.

    Give it scalars as they arrive and evaluations as they are; it draws them within 100 ms.
    """

    wished = Signal(object)  # Wish, for Session.fulfil

    def __init__(self, preferences: Preferences, parent: QWidget | None = None, *, in_parts: bool = False) -> None:
        super().__init__(QWidget(), parent)
        self._preferences = preferences
        self._factor = 100  # of accuracies, which are fractions until one is above 1
        self.making = begun(self._parts(), in_parts)

    def _parts(self) -> Parts:
        self.probe = CurvePlot(
            "CE and SPCE on the probe, nats ↓",
            [Series("probe/ce", "CE", SERIES["ce"]), Series("probe/spce", "SPCE", SERIES["spce"])],
            log_if_steep=True,
            log_button=True,
            compared=("probe/spce", "probe/ce"),
        )
        colours = (SERIES["recall@1"], SKY, GREEN, PURPLE, SERIES["MAP@R"])
        titles = ("R@1", "R@2", "R@4", "R@8", "MAP@R")
        yield
        self.retrieval = CurvePlot(
            "Recall@k and MAP@R, test set, % ↑",
            [Series(*series, dots=True) for series in zip(RETRIEVAL, titles, colours, strict=True)],
            x_title="epoch",
        )
        yield
        self.batch = CurvePlot(
            "Batch loss, own scale ↓",
            [
                Series("batch/loss", "Loss", BLUE),
                Series(GRADIENT, "Gradient norm (right)", PURPLE, axis="right", dashed=True, short="Gradient (right)"),
            ],
            log_if_steep=True,
            log_button=True,
        )
        yield
        self.rate = CurvePlot(
            "Learning rate, accuracy, %",
            [
                Series("batch/lr", "Rate", GREEN, exact=True),
                Series(ACCURACY, "Accuracy (right)", ORANGE, axis="right", dashed=True),
            ],
        )
        yield
        self.retrieval.canvas.show_percent()
        self.rate.canvas.show_percent(right=True)
        self.batch.legend[GRADIENT].hide()  # runs of older versions have none
        self.plots = (self.probe, self.retrieval, self.batch, self.rate)
        self._of = {series.name: plot for plot in (self.probe, self.batch, self.rate) for series in plot.series}
        grid = QGridLayout(self.widget())
        grid.setContentsMargins(0, 0, 0, 0)
        self.grid = PlotGrid(self.plots, grid, self)
        for plot in self.plots:
            plot.follow_room()
            plot.wished.connect(self.wished)
        yield
        self.evaluations = EvaluationTable(self._preferences, self.accuracy_at)
        self.evaluations.wished.connect(self.wished)
        self.evaluations.full_size_asked.connect(lambda: self.grid.fill(self.evaluations, self.evaluations.table))
        self._lay_out()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if hasattr(self, "evaluations"):
            self._lay_out()

    def _lay_out(self) -> None:
        """The evaluations as a card beside two plots where three of them have room, otherwise in a line below four."""
        probe, retrieval, batch, rate = self.plots
        beside = self.width() >= 3 * theme.text_px(LEAST) + 2 * GAP  # the viewport's changes with the scroll bar
        self.evaluations.become_card(beside)
        if beside:
            cells = [Cell(0, 0, 9, 3), Cell(0, 9, 6, 3), Cell(1, 0, 5, 2), Cell(1, 5, 5, 2), Cell(1, 10, 5, 2)]
        else:
            cells = [Cell(0, 0, 1), Cell(0, 1, 1), Cell(1, 0, 1), Cell(1, 1, 1), Cell(2, 0, 2, 0)]
        self.grid.place(dict(zip((probe, retrieval, batch, rate, self.evaluations), cells, strict=True)))

    def clear(self) -> None:
        """Empty every plot."""
        for plot in self.plots:
            plot.clear()
        self._factor = 100
        self.batch.legend[GRADIENT].hide()

    def add(self, points: Iterable[tuple[str, int, float]]) -> None:
        """Scalars (name, step, value) in the order written; names that no plot shows are passed over."""
        for name, steps, values in by_name(points, self._of):
            self.add_curve(name, steps, values)

    def shows(self, name: str) -> bool:
        """Whether a plot is for the scalar of that name."""
        return name in self._of

    def add_curve(self, name: str, steps: np.ndarray, values: np.ndarray) -> None:
        """Points of one name; both [n]."""
        if name in self._of:
            self._of[name].append(name, steps, self._in_percent(values) if name == ACCURACY else values)
        if name == GRADIENT:
            self.batch.legend[name].show()

    def _in_percent(self, values: np.ndarray) -> np.ndarray:
        """Accuracies in %; a training loop of other people may log them so, which the first values need not show."""
        curve = self.rate.curves[ACCURACY]
        if self._factor == 100 and percent_factor(ACCURACY, values) == 1:
            self._factor = 1
            self.rate.replace(ACCURACY, curve.steps.copy(), curve.values / 100)
        with np.errstate(over="ignore"):  # of damaged values, which are no longer drawn
            return np.asarray(values * self._factor)

    def show_evaluations(self, evaluations: list[Evaluation]) -> None:
        """All evaluations of the run, in order; their metrics are fractions."""
        ranks = recalls(evaluations)[: len(RETRIEVAL) - 1]
        for series, metric in zip(RETRIEVAL, [*ranks, *[""] * (len(RETRIEVAL) - 1 - len(ranks)), "MAP@R"], strict=True):
            if metric.startswith("recall@"):
                self.retrieval.retitle(series, metric.replace("recall", "R"))
            self.retrieval.legend[series].setVisible(bool(metric) or not ranks)
            known = [evaluation for evaluation in evaluations if metric in evaluation.metrics]
            self.retrieval.replace(
                series,
                [evaluation.epoch for evaluation in known],
                [100 * evaluation.metrics[metric] for evaluation in known],
            )

    def show_trouble(self, run: Run) -> None:
        """Mark on the curve where the loss went wrong, as the run reports it."""
        exploded = EXPLODED.search(run.problem)
        if exploded is not None:
            self.batch.mark(float(exploded[2]), f"Loss {exploded[1]}")

    def accuracy_at(self, step: int) -> float | None:
        """Training accuracy in % as last measured up to a step; None when it was not."""
        curve = self.rate.curves[ACCURACY]
        index = int(np.searchsorted(curve.steps, step, side="right")) - 1
        return float(curve.values[index]) if index >= 0 else None
