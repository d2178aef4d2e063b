"""The System tab of the Train page: where the time of a step goes, and the memory that the run takes."""

from collections.abc import Iterable

from PySide6.QtCore import QRectF, QSize, Signal
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPixmap
from PySide6.QtWidgets import QGridLayout, QLabel, QVBoxLayout, QWidget

from workbench.colours import OKABE_ITO
from workbench.ui import theme
from workbench.ui.pages.train.costs import MEMORY, PARTS, StepCost, read_costs, written
from workbench.ui.pages.train.plot_grid import PlotGrid, by_name
from workbench.ui.widgets.card import Card
from workbench.ui.widgets.flow import FlowLayout
from workbench.ui.widgets.labels import label
from workbench.ui.widgets.plot import CurvePlot, Series
from workbench.ui.words import device_of, short_time
from workbench.workspace.rows import Run

BLUE, VERMILION, GREEN, PURPLE, SKY, ORANGE = OKABE_ITO[:6]
COLOURS = dict(zip(PARTS, (SKY, BLUE, VERMILION, GREEN, ORANGE, PURPLE), strict=True))
BAR_PX, SWATCH = 10, 10
NOT_TIMED = "The first steps are being timed."
NEVER_TIMED = "No step of this run was timed."


class StepBar(QWidget):
    """The parts of a step as one bar."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._seconds: dict[str, float] = {}
        self.setFixedHeight(BAR_PX)

    def show_parts(self, seconds: dict[str, float]) -> None:
        """Show these seconds by the names of PARTS."""
        self._seconds = seconds
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter, left = QPainter(self), 0.0
        painter.fillRect(self.rect(), QColor(theme.current().divider))
        whole = sum(self._seconds.values())
        for name, spent in self._seconds.items():
            width = self.width() * spent / whole if whole > 0 else 0.0
            painter.fillRect(QRectF(left, 0, max(0.0, width - 1), BAR_PX), QColor(theme.drawn(COLOURS[name])))
            left += width
        painter.end()


class SystemPanel(QWidget):
    """A verdict, one step as a bar, and curves. Give it scalars as they arrive.

    Args:
        gpus: what shows the GPUs of this machine.
    """

    failed = Signal(object)  # Problem, of saving a plot

    def __init__(self, gpus: QWidget | None = None, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.step = CurvePlot(
            "Parts of a step, ms", [Series(name, title, COLOURS[name]) for name, title in PARTS.items()]
        )
        self.memory = CurvePlot("Memory in use, GB", [Series(MEMORY, "Memory", GREEN)])
        self.plots = (self.step, self.memory)
        for plot in self.plots:
            plot.canvas.start_at_zero()
        self.verdict, self.advice = label("", "strong", wrap=True), label("", "muted", wrap=True)
        self.device, self.whole = label("", "muted"), label("", "caption")
        self.bar = StepBar()
        self._times = QWidget()
        self._entries = FlowLayout(self._times, spacing=12)
        self._live = True
        self._build(gpus)
        for plot in self.plots:
            plot.failed.connect(self.failed)
        self.clear()

    def _build(self, gpus: QWidget | None) -> None:
        card = Card()
        card.body.setContentsMargins(12, 8, 12, 8)
        card.body.setSpacing(4)
        for line in (self.verdict, self.advice, self.whole, self.bar, self._times, self.device):
            card.body.addWidget(line)
        if gpus is not None:
            card.body.addWidget(gpus)
        grid = QGridLayout()
        self.grid = PlotGrid(self.plots, grid, self)
        grid.setRowStretch(1, 0)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addWidget(card)
        column.addLayout(grid, 1)

    def clear(self) -> None:
        """Empty the plots and the bar."""
        for plot in self.plots:
            plot.clear()
        self._show(None)

    def show_run(self, run: Run) -> None:
        """Name the device that the run works on."""
        self._live = run.live
        device = device_of(run)
        self.device.setText(f"Device: {device}" if device else "")
        self.refresh()

    def add(self, points: Iterable[tuple[str, int, float]]) -> None:
        """Scalars (name, step, value) in the order written; names that no plot shows are passed over."""
        for name, steps, values in by_name(points, {*PARTS, MEMORY}):
            if name == MEMORY:
                self.memory.append(name, steps, values / 2**30)
            else:
                self.step.append(name, steps, 1000 * values)

    def refresh(self) -> None:
        """Read what the curves say now."""
        curves = {name: (curve.steps, curve.values / 1000) for name, curve in self.step.curves.items()}
        self._show(read_costs(curves))

    def _show(self, cost: StepCost | None) -> None:
        self.verdict.setText(cost.verdict if cost else NOT_TIMED if self._live else NEVER_TIMED)
        self.advice.setText(cost.advice if cost else "")
        self.whole.setText(f"One step: {short_time(cost.whole)}, median of the last timed steps" if cost else "")
        self.bar.show_parts(cost.seconds if cost else {})
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
