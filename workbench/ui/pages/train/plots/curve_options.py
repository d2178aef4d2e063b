"""Options for all curves of a run: smoothing and horizontal axis."""

from collections.abc import Callable, Iterable

from PySide6.QtWidgets import QWidget

from workbench.comparing.curves.smoothing import AT_FIRST
from workbench.ui.pages.train.plots.axis import EPOCH, KINDS, SECONDS, STEP, TIME, TITLES, StepAxis
from workbench.ui.pages.train.plots.scalar_points import by_name
from workbench.ui.plots.curve_plot import CurvePlot
from workbench.ui.plots.smoothing_slider import SmoothingSlider
from workbench.ui.preferences import Preferences
from workbench.ui.widgets.boxes import in_row
from workbench.ui.widgets.fields.segments import Segments

AXIS = "train/axis"  # the horizontal axis
NO_TIMES, NO_EPOCHS = "This run stored no times", "The length of an epoch is not known"


class CurveOptions(QWidget):
    """The controls in the corner of the tabs; plots follow them.

    Args:
        plots: gives all plots that there are.
    """

    def __init__(self, preferences: Preferences, plots: Callable[[], Iterable[CurvePlot]]) -> None:
        super().__init__()
        self._preferences, self._plots = preferences, plots
        self._steps = StepAxis()
        self.smoother = SmoothingSlider(AT_FIRST)
        self.axis = Segments("Axis", [(kind, TITLES[kind]) for kind in KINDS])
        chosen = preferences.text(AXIS, STEP)
        self.axis.set_value(chosen if chosen in KINDS else STEP)
        in_row(self.smoother, self.axis, on=self, spacing=4)
        self.smoother.chosen.connect(self._smooth)
        self.axis.chosen.connect(self._choose_axis)
        self._smooth(AT_FIRST)

    def apply_to(self, plot: CurvePlot) -> None:
        """Make a new plot like the others."""
        plot.set_smoothing(self.smoother.weight)
        self._stand_over(plot)

    def forget(self) -> None:
        """Forget the times, for another run."""
        self._steps.clear()
        self.show_axis()

    def add_times(self, points: list[tuple[str, int, float]]) -> None:
        """Take the times of steps from points of scalars: name, step, value."""
        for _, steps, seconds in by_name(points, {SECONDS}):
            self._steps.add_times(steps, seconds)

    def set_steps_per_epoch(self, steps: float) -> None:
        """How many steps an epoch of the run has; 0: that is not known."""
        self._steps.steps_per_epoch = steps

    def show_axis(self) -> None:
        """Draw every curve over the chosen axis, if the run has it."""
        self.axis.allow(EPOCH, self._steps.has(EPOCH), NO_EPOCHS)
        self.axis.allow(TIME, self._steps.has(TIME), NO_TIMES)
        for plot in self._plots():
            self._stand_over(plot)

    def _smooth(self, weight: float) -> None:
        for plot in self._plots():
            plot.set_smoothing(weight)

    def _choose_axis(self, kind: str) -> None:
        self._preferences.set_text(AXIS, kind)
        self.show_axis()

    def _stand_over(self, plot: CurvePlot) -> None:
        plot.stand_over(*self._steps.of(self.axis.value(), plot.counts))
