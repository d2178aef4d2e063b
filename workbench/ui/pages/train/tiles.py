"""The tiles above the curves: the numbers of a run that one looks for first."""

import numpy as np
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout, QWidget

from workbench.comparing.smoothing import BATCH_LOSS, exponential_mean
from workbench.ui import theme
from workbench.ui.theme import SERIES
from workbench.ui.widgets.labels import ElidedLabel, label
from workbench.ui.words import NO_VALUE, device_of, duration, memory, percent, short_time
from workbench.workspace.rows import Evaluation, Run

SPARK, SPARK_POINTS = (56, 22), 40  # px; points drawn
FAMILIAR = 100  # a speed from which no digit follows the point


class Spark(QWidget):
    """A curve without axes."""

    def __init__(self, colour: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._colour, self._values = colour, np.empty(0)
        self.setFixedSize(*SPARK)

    def show_values(self, values: np.ndarray) -> None:
        """Draw these, [n]; numbers that are not finite are left out."""
        values = values[np.isfinite(values)]
        self._values = values[np.linspace(0, len(values) - 1, min(len(values), SPARK_POINTS)).astype(int)]
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        if len(self._values) < 2:
            return
        low, high = float(self._values.min()), float(self._values.max())
        across = np.linspace(1, self.width() - 1, len(self._values))
        up = (self._values - low) / ((high - low) or 1.0)
        points = QPolygonF([QPointF(x, 2 + (1 - y) * (self.height() - 4)) for x, y in zip(across, up, strict=True)])
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(QColor(theme.drawn(self._colour)), 1.6))
        painter.drawPolyline(points)
        painter.end()


class Tile(QFrame):
    """A caption, a number with its unit, a line on what it is of, and how it went."""

    def __init__(self, caption: str, colour: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("card", "true")
        self.caption, self.number, self.unit = ElidedLabel(caption, "caption"), label("", "title"), label("", "muted")
        self.below = ElidedLabel("", "caption")
        self.spark = Spark(colour) if colour else None
        middle = QHBoxLayout()
        middle.setSpacing(4)
        middle.addWidget(self.number)
        middle.addWidget(self.unit, 1, Qt.AlignmentFlag.AlignVCenter)
        if self.spark is not None:
            middle.addWidget(self.spark)
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 6, 8, 6)
        column.setSpacing(0)
        column.addWidget(self.caption)
        column.addLayout(middle)
        column.addWidget(self.below)

    def show_number(self, number: str, unit: str = "", below: str = "") -> None:
        """Show a number in words; an empty one is a dash."""
        self.number.setText(number or NO_VALUE)
        self.unit.setText(unit if number else "")
        self.below.setText(below)
        words = f"{self.caption.text()}: {self.number.text()} {self.unit.text()}".rstrip()
        self.setAccessibleName(f"{words}, {below}" if below else words)

    def show_curve(self, values: np.ndarray) -> None:
        """Draw how the number went; [n]."""
        if self.spark is not None:
            self.spark.show_values(values)


class Tiles(QWidget):
    """Six numbers: scores of the best epoch, loss, time, speed and memory."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.score, self.recall = Tile("Best MAP@R ★", SERIES["MAP@R"]), Tile("R@1 there", SERIES["recall@1"])
        self.loss, self.time = Tile("Loss of a batch", SERIES["ce"]), Tile("Time left")
        self.speed, self.memory = Tile("Speed"), Tile("Memory")
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        for tile in (self.score, self.recall, self.loss, self.time, self.speed, self.memory):
            row.addWidget(tile, 1)

    def show_run(self, run: Run) -> None:
        """Time, speed and memory of a run's row."""
        self.time.caption.setText("Time left" if run.live else "Time")
        if run.live:
            left = duration(run.seconds_left) if run.status == "running" and run.seconds_left else ""
            self.time.show_number(left, below=f"after {duration(run.seconds)}" if run.seconds >= 1 else "")
        else:
            self.time.show_number(duration(run.seconds) if run.seconds else "")
        pace = run.images_per_second
        per_step = short_time(run.seconds / run.done) if run.seconds >= 1 and run.done else ""
        digits = f"{pace:,.0f}" if pace >= FAMILIAR else f"{pace:.3g}"
        self.speed.show_number(digits if pace else "", "img/s", f"{per_step} per step" if per_step else "")
        number, _, unit = memory(run.memory_bytes).partition("\u2009") if run.memory_bytes else ("", "", "")
        device = device_of(run)
        self.memory.show_number(number, unit, f"on {device}" if device else "")

    def show_evaluations(self, evaluations: list[Evaluation], best: Evaluation | None) -> None:
        """Scores of the best of a run's evaluations, which are in order."""
        untrained = next((row for row in evaluations if row.epoch == 0), None)
        before = f" · untrained {percent(untrained.metrics.get('MAP@R'))}" if untrained is not None else ""
        for tile, metric in ((self.score, "MAP@R"), (self.recall, "recall@1")):
            value = None if best is None else best.metrics.get(metric)
            said = f"epoch {best.epoch}{before if metric == 'MAP@R' else ''}" if best is not None else ""
            tile.show_number("" if value is None else percent(value), "%", said)
            tile.show_curve(np.array([row.metrics.get(metric, np.nan) for row in evaluations]))

    def show_loss(self, values: np.ndarray) -> None:
        """The losses of all batches, [n]: the newest, smoothed."""
        smooth = exponential_mean(values, BATCH_LOSS)
        good = smooth[np.isfinite(smooth)]
        self.loss.show_number(f"{good[-1]:.3g}" if len(good) else "", "", "smoothed" if len(good) else "")
        self.loss.show_curve(smooth)
