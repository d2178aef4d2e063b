"""The Anatomy panel of the Train page: what the loss does to the embeddings, in the terms of the five papers."""

from collections.abc import Iterable

import numpy as np
from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import QGridLayout, QWidget

from workbench.colours import OKABE_ITO
from workbench.numerals import raised, significant
from workbench.ui.pages.train.anatomy.loss_parts import AT_FIRST, LEAST, LossParts
from workbench.ui.pages.train.plots.plot_grid import PlotGrid
from workbench.ui.pages.train.plots.scalar_points import by_name
from workbench.ui.plots.curve import Curve
from workbench.ui.plots.curve_plot import CurvePlot, Series
from workbench.ui.preferences import Preferences
from workbench.ui.state.pages.in_parts import Parts, begun
from workbench.ui.style import theme
from workbench.ui.style.words import counted
from workbench.ui.widgets.boxes import in_column, in_row
from workbench.ui.widgets.labels import label, plain_tip
from workbench.ui.widgets.scrolled import Scrolled

BLUE, VERMILION, GREEN, PURPLE, SKY = OKABE_ITO[:5]
SMALLEST_LAMBDA = 1e-8
SCALE = "anatomy/seen/scale"
OF_CLASSIFIER = "anatomy/ce", "anatomy/pce", "anatomy/information/discriminative"
LOSSES_OF_CLASSIFIER = {"center", "ce", "pce"}
GAP = 8  # px between two plots
MEASURED = "Curves with an asterisk are measured on what the loss compares: vectors of {}."
WAITING = "Measured on the probe every few steps, for any loss. Nothing has been measured yet."


class AnatomyPanel(Scrolled):
    """CE against PCE, mutual information, the parts of each loss, and a sentence on the bound CE ≥ PCE.

    Give it scalars as they arrive. The plots of the losses are made once it is shown: plots are slow to make.
    """

    wished = Signal(object)  # Wish, for Session.fulfil
    made = Signal(object)  # CurvePlot, of the parts of another loss

    def __init__(self, preferences: Preferences, parent: QWidget | None = None, *, in_parts: bool = False) -> None:
        super().__init__(QWidget(), parent)
        self._preferences = preferences
        self._lambda, self._lambda_steps = np.empty(0), np.empty(0)
        self._seen = ""  # how embeddings and class vectors are compared, if not unchanged
        self._has_parts = False  # whether the plots of the losses were made
        self._next = QTimer(self, singleShot=True, interval=0)
        self._next.timeout.connect(self._make_next)
        self.making = begun(self._parts(), in_parts)

    def _parts(self) -> Parts:
        self.bound = CurvePlot(
            "Bound gap CE − PCE, nats",
            [
                Series("anatomy/ce", "CE", BLUE, dots=True),
                Series("anatomy/pce", "PCE", GREEN, dots=True, may_be_undefined=True),
                Series("probe/spce", "SPCE", VERMILION, exact=True),
            ],
            log_if_steep=True,
            log_button=True,
            compared=("anatomy/ce", "anatomy/pce"),
        )
        self.bound.canvas.shade_between("anatomy/pce", "anatomy/ce")
        yield
        self.information = CurvePlot(
            "Mutual information, nats (of pairs: right)",
            [
                Series("anatomy/information/generative", "H(Z) − H(Z|Y)", BLUE, axis="right", dots=True, short="pairs"),
                Series("anatomy/information/discriminative", "H(Y) − CE", VERMILION, dots=True, may_be_undefined=True),
                Series("anatomy/entropy/labels", "H(Y)", GREEN, dashed=True),
                Series("anatomy/entropy/embeddings", "H(Z)", PURPLE, dashed=True, hidden=True),
                Series("anatomy/entropy/within", "H(Z|Y)", SKY, dashed=True, hidden=True),
            ],
        )
        self.information.canvas.start_at_zero()  # H(Y) alone is one number
        yield
        self.parts = LossParts(self._preferences, self)
        self._of = {series.name: plot for plot in (self.bound, self.information) for series in plot.series}
        self._titles = {series.name: series.title for plot in (self.bound, self.information) for series in plot.series}
        grid = QGridLayout()
        column = in_column((grid, 1), on=self.widget(), margins=(0, 8, 0, 0), spacing=4)
        self.grid = PlotGrid((), grid, self)
        for plot in self.plots:
            self._take(plot)
        self.parts.made.connect(self._take)
        self.parts.made.connect(self.made)
        self.parts.changed.connect(self._lay_out)
        self._lay_out()
        self.sentence = label(WAITING, "muted", wrap=True)
        foot = in_row((self.sentence, 1), (self.parts.button, Qt.AlignmentFlag.AlignTop), spacing=GAP)
        column.addLayout(foot)

    @property
    def seen(self) -> str:
        """At what the curves with an asterisk are measured, "unit length × 16"; empty where none has one."""
        return self._seen

    @property
    def plots(self) -> tuple[CurvePlot, ...]:
        """All plots that were made."""
        return (self.bound, self.information, *self.parts.plots.values())

    @property
    def curves(self) -> dict[str, Curve]:
        """All curves by the names of their scalars, also those of losses whose parts are not shown."""
        return {**self.bound.curves, **self.information.curves, **self.parts.curves}

    def _take(self, plot: CurvePlot) -> None:
        """Put a new plot among the others."""
        plot.follow_room()
        plot.wished.connect(self.wished)
        self.grid.add(plot)

    def _lay_out(self) -> None:
        """The parts of the losses in one row where it has room for four, otherwise two in a row."""
        beside = self.width() >= AT_FIRST * theme.text_px(LEAST) + (AT_FIRST - 1) * GAP
        first = (self.bound, self.information)
        parts = self.parts.shown() if self._has_parts else self.parts.plots.values()
        self.grid.lay_out([*first, *parts], *((AT_FIRST, first) if beside else (2, ())))

    def _make_next(self) -> None:
        """Make one plot of a loss, and come again for the next."""
        if not self.isVisible():
            return
        self._has_parts = not self.parts.make_next()
        self._lay_out()
        if not self._has_parts:
            self._next.start()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if not self._has_parts:
            self._make_next()  # at once: else the plots above would first take the room of those of the losses

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if hasattr(self, "grid"):
            self._lay_out()

    def clear(self) -> None:
        """Empty every plot."""
        self.bound.clear()
        self.information.clear()
        self.parts.clear()
        self._lambda, self._lambda_steps = np.empty(0), np.empty(0)
        self._show_seen(None)
        self.sentence.setText(WAITING)

    @property
    def lambdas(self) -> tuple[np.ndarray, np.ndarray]:
        """Steps and values of λ, both [n]."""
        return self._lambda_steps, self._lambda

    def add(self, points: Iterable[tuple[str, int, float]]) -> None:
        """Scalars (name, step, value) in the order written; names that no plot shows are passed over."""
        for name, steps, values in by_name(points, {*self._of, *self.parts.curves, "anatomy/lambda", SCALE}):
            self._add_curve(name, steps, values)
        self.parts.fit()

    def _add_curve(self, name: str, steps: np.ndarray, values: np.ndarray) -> None:
        if name in self._of:
            self._of[name].append(name, steps, values)
        if name in self.parts.curves:
            self.parts.add(name, steps, values)
        if name == SCALE and len(values):
            self._show_seen(float(values[-1]))
        if name == "anatomy/lambda":
            self._lambda = np.concatenate([self._lambda, values])
            self._lambda_steps = np.concatenate([self._lambda_steps, steps])
        if name in ("anatomy/pce", "anatomy/lambda", "anatomy/entropy/within"):
            self._tell_bound()

    def _tell_bound(self) -> None:
        """Say how often PCE exceeds CE and where it is undefined."""
        ce, pce = (self.bound.curves[f"anatomy/{name}"] for name in ("ce", "pce"))
        if not len(pce):
            if len(self.information.curves["anatomy/entropy/within"]):
                own = "CE is computed from the loss's own logits. " if len(ce) else ""
                self.sentence.setText(f"{own}PCE needs one class vector for each class: this loss has none.")
            return
        _, at, of_ce = np.intersect1d(pce.steps, ce.steps, return_indices=True)
        above = pce.values[at] > ce.values[of_ce]
        undefined = int(np.isnan(pce.values).sum())
        defined = len(pce) - undefined
        said = [f"PCE exceeds CE at {int(above.sum())} of {defined} points."] if defined else []
        if undefined:
            known = self._lambda[np.isfinite(self._lambda)]
            small = raised(f"λ is under {SMALLEST_LAMBDA:g}")
            why = small if len(known) else "K · d³ is over 10⁹, which would take too long"
            where = f"at {counted(undefined, 'point')}" if defined else "everywhere"
            said.append(f"PCE is undefined {where}: {why}.")
        if len(self._lambda) and np.isfinite(self._lambda[-1]):
            said.append(raised(f"λ = {self._lambda[-1]:.2g}."))
        if self._seen:
            said.append(f"* At {self._seen}.")
        self.sentence.setText(" ".join(said))

    def _show_seen(self, scale: float | None) -> None:
        """Say that curves of the classifier are of unit vectors times this scale; None: as they are."""
        self._seen = "" if scale is None else f"unit length × {significant(scale, 4)}"
        self.sentence.setToolTip(plain_tip(MEASURED.format(self._seen)) if self._seen else "")
        self.parts.say_seen(LOSSES_OF_CLASSIFIER, self._seen)
        for name in OF_CLASSIFIER:
            title = self._titles[name]
            self._of[name].retitle(name, *((f"{title} ({self._seen})", f"{title}*") if self._seen else (title,)))
