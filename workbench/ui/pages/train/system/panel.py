"""The System tab of the Train page: where the time of a step goes, and how busy the machine was."""

from collections.abc import Iterable
from math import isfinite

from PySide6.QtCore import QSize, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QPixmap, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QGridLayout, QLabel, QWidget

from workbench.ui.pages.train.plots.plot_grid import PlotGrid
from workbench.ui.pages.train.plots.scalar_points import by_name
from workbench.ui.pages.train.system.costs import PARTS, StepCost, read_costs, written
from workbench.ui.pages.train.system.load_charts import CHARTS, COLOURS, LoadChart
from workbench.ui.pages.train.system.load_words import figures_of
from workbench.ui.plots.curve import Curve
from workbench.ui.plots.curve_plot import CurvePlot, Series
from workbench.ui.style import theme
from workbench.ui.style.words import device_of, short_time
from workbench.ui.widgets.boxes import in_column
from workbench.ui.widgets.card import Card
from workbench.ui.widgets.flow import FlowLayout
from workbench.ui.widgets.labels import label
from workbench.ui.widgets.numbers.shares_bar import SharesBar
from workbench.ui.widgets.scrolled import Scrolled
from workbench.workspace.rows import Run

BAR_PX, SWATCH = 10, 10
COLUMNS, WIDE = 4, 5  # charts side by side, if there are that many
FIGURES = 26  # that a chart is wide at least, so that its title has room
NOT_TIMED = "The first steps are being timed."
NEVER_TIMED = "No step of this run was timed."
NO_LOAD = "The load of the machine is measured once a second while a run trains."


class SystemPanel(Scrolled):
    """A verdict, one step as a bar, and charts of the machine. Give it scalars as they arrive.

    A chart is made once there is something in it and the tab is in sight: plots are slow to make.

    Args:
        machine: what shows the GPUs of this machine and the process that waits.
    """

    wished = Signal(object)  # Wish, for Session.fulfil
    made = Signal(object)  # a CurvePlot that is new

    def __init__(self, machine: QWidget | None = None) -> None:
        super().__init__(QWidget())
        self.curves = {name: Curve() for chart in CHARTS for name, *_ in chart.curves}  # as stored
        self._limits: dict[str, float] = {}
        self._charts: dict[str, CurvePlot] = {}  # by title
        self.verdict, self.advice = label("", "strong", wrap=True), label("", "muted", wrap=True)
        self.device, self.whole = label("", "muted"), label("", "caption")
        self.bar = SharesBar(BAR_PX)
        self._times = QWidget()
        self._entries = FlowLayout(self._times, spacing=12)
        self._grid = QGridLayout()
        self._best: int | None = None
        self._cost: StepCost | None = None
        self._live = True
        self._next = QTimer(self, singleShot=True, interval=0)
        self._next.timeout.connect(self._make_next)
        self._build(machine)
        self.clear()

    def _build(self, machine: QWidget | None) -> None:
        card = Card()
        card.body.setContentsMargins(12, 8, 12, 8)
        card.body.setSpacing(4)
        for line in (self.verdict, self.advice, self.whole, self.bar, self._times, self.device):
            card.body.addWidget(line)
        if machine is not None:
            card.body.addWidget(machine)
        self.nothing = label(NO_LOAD, "muted", wrap=True)
        self.nothing.setAlignment(Qt.AlignmentFlag.AlignCenter)
        in_column(card, self.nothing, (self._grid, 1), on=self.widget(), spacing=8)
        self._plots = PlotGrid((), self._grid, self)

    @property
    def plots(self) -> tuple[CurvePlot, ...]:
        """The charts made so far, in their order."""
        return tuple(self._charts[chart.title] for chart in CHARTS if chart.title in self._charts)

    def clear(self) -> None:
        """Empty the charts and the bar."""
        for curve in self.curves.values():
            curve.clear()
        self._limits, self._cost = {}, None
        for plot in self._charts.values():
            plot.clear()
            plot.canvas.show_limit(None)
        self._arrange()
        self._tell()
        self._show(None)

    def show_run(self, run: Run) -> None:
        """Name the device that the run works on."""
        self._live = run.live
        device = device_of(run)
        self.device.setText(f"Device: {device}" if device else "")
        self.refresh()

    def show_best(self, step: int | None) -> None:
        """Mark the step of the best epoch in every chart; None removes the mark."""
        self._best = step
        for plot in self._charts.values():
            plot.show_best(step)

    def add(self, points: Iterable[tuple[str, int, float]]) -> None:
        """Scalars (name, step, value) in the order written; names that no chart shows are passed over."""
        limits = {name for chart in CHARTS for name, _ in chart.limits}
        for name, steps, values in by_name(points, {*self.curves, *limits}):
            if name in limits:
                if isfinite(values[-1]):  # else the axis would have no range
                    self._limits[name] = float(values[-1])
                continue
            self.curves[name].append(steps, values)
            chart = next(chart for chart in CHARTS if any(name == own for own, *_ in chart.curves))
            if chart.title in self._charts:
                self._charts[chart.title].append(name, steps, chart.factor * values)

    def refresh(self) -> None:
        """Read what the curves say now, or when the panel is shown."""
        if not self.isVisible():
            return
        self._cost = read_costs({name: (self.curves[name].steps, self.curves[name].values) for name in PARTS})
        self._show(self._cost)
        self._arrange()
        self._tell()
        self._next.start()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.refresh()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    def _filled(self) -> list[LoadChart]:
        return [chart for chart in CHARTS if any(len(self.curves[name]) for name, *_ in chart.curves)]

    def _make_next(self) -> None:
        """Make one chart that has something to show, and come again for the next."""
        missing = [chart for chart in self._filled() if chart.title not in self._charts]
        if not missing or not self.isVisible():
            return
        chart = missing[0]
        plot = CurvePlot(chart.title, [Series(*series) for series in chart.curves])
        plot.canvas.start_at_zero()
        plot.canvas.show_percent(chart.unit == "%")
        plot.follow_room()  # otherwise each would ask for 480 px, and the last charts would be below the window
        plot.wished.connect(self.wished)
        for name, *_ in chart.curves:
            plot.replace(name, self.curves[name].steps, chart.factor * self.curves[name].values)
        plot.show_best(self._best)
        self._charts[chart.title] = plot
        self._plots.add(plot)
        self._arrange()
        self._tell()
        self.made.emit(plot)
        self._next.start()

    def _arrange(self) -> None:
        """Lay out the charts that have values; four beside each other once there are more than four."""
        filled = self._filled()
        shown = [chart for chart in filled if chart.title in self._charts]
        self.nothing.setVisible(not filled)
        room = self.width() >= COLUMNS * FIGURES * self.fontMetrics().horizontalAdvance("0")
        columns = COLUMNS if len(filled) >= WIDE and room else COLUMNS // 2
        self._plots.lay_out([self._charts[chart.title] for chart in shown], columns)
        for chart in shown:
            canvas = self._charts[chart.title].canvas
            known = [(self._limits[name], words) for name, words in chart.limits if name in self._limits]
            if not known:
                canvas.show_limit(None)
            else:
                limit, words = known[0]
                canvas.show_limit(chart.factor * limit, f"{chart.factor * limit:,.0f} {chart.unit}, {words}")

    def _tell(self) -> None:
        """Say in each chart what it shows now, and what it has shown."""
        for chart in CHARTS:
            if chart.title in self._charts:
                values = {name: self.curves[name].values for name, *_ in chart.curves}
                self._charts[chart.title].tell(*figures_of(chart, values, self._cost))

    def _show(self, cost: StepCost | None) -> None:
        self.verdict.setText(cost.verdict if cost else NOT_TIMED if self._live else NEVER_TIMED)
        self.advice.setText(cost.advice if cost else "")
        self.whole.setText(f"One step: {short_time(cost.whole)}, median of the last timed steps" if cost else "")
        self.bar.show_parts([(spent, COLOURS[name]) for name, spent in cost.seconds.items()] if cost else [])
        lines = written(cost) if cost else []
        self.bar.setAccessibleName("Parts of a step: " + ", ".join(f"{title} {time}" for title, time in lines))
        self._entries.clear()
        for (title, time), name in zip(lines, cost.seconds if cost else (), strict=True):
            self._entries.addWidget(_entry(f"{title} {time}", COLOURS[name]))
        for shown in (self.advice, self.whole, self.bar, self._times):
            shown.setVisible(cost is not None)


def _entry(words: str, colour: str) -> QWidget:
    """A swatch before its words."""
    entry, swatch = QWidget(), QLabel()
    picture = QPixmap(QSize(SWATCH, SWATCH))
    picture.fill(QColor(theme.drawn(colour)))
    swatch.setPixmap(picture)
    row = QGridLayout(entry)
    row.setContentsMargins(0, 0, 0, 0)
    row.setSpacing(4)
    row.addWidget(swatch, 0, 0)
    row.addWidget(label(words, "caption"), 0, 1)
    return entry
