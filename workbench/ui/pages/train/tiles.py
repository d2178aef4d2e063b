"""The tiles above the curves: the most important numbers of a run."""

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout, QWidget

from workbench.comparing.smoothing import BATCH_LOSS, exponential_mean
from workbench.numerals import minus, significant
from workbench.ui.theme import SERIES
from workbench.ui.widgets.labels import ElidedLabel, label
from workbench.ui.widgets.spark import SPARK, Spark
from workbench.ui.words import NO_VALUE, THIN, device_of, duration, memory, percent, short_time
from workbench.workspace.rows import Evaluation, Run

SIDES, GAP = (12, 8), 4  # px of a tile left and right, and between its parts
FAMILIAR = 100  # from this speed on no decimals are shown


class Tile(QFrame):
    """A caption, a number with its unit, a line that explains it, and its curve."""

    def __init__(self, caption: str, colour: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("card", "true")
        self.caption, self.number, self.unit = ElidedLabel(caption, "caption"), label("", "title"), label("", "muted")
        self.below = ElidedLabel("", "caption")
        self.spark = Spark(colour) if colour else None
        middle = QHBoxLayout()
        middle.setSpacing(GAP)
        middle.addWidget(self.number)
        middle.addWidget(self.unit, 1, Qt.AlignmentFlag.AlignVCenter)
        if self.spark is not None:
            middle.addWidget(self.spark)
        column = QVBoxLayout(self)
        column.setContentsMargins(SIDES[0], 6, SIDES[1], 6)
        column.setSpacing(0)
        column.addWidget(self.caption)
        column.addLayout(middle)
        column.addWidget(self.below)

    def show_number(self, number: str, unit: str = "", below: str = "") -> None:
        """Show a number in words; an empty one is a dash."""
        self.number.setText(minus(number) or NO_VALUE)
        self.unit.setText(unit if number else "")
        self.below.setText(minus(below))
        words = f"{self.caption.text()}: {self.number.text()} {self.unit.text()}".rstrip()
        self.setAccessibleName(f"{words}, {below}" if below else words)

        self._fit()

    def show_curve(self, values: np.ndarray) -> None:
        """Draw how the number went; [n]."""
        if self.spark is not None:
            self.spark.show_values(values)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """Never cut the number: first hide the curve, then make the number as small as other text."""
        margins = self.contentsMargins().left() + self.contentsMargins().right() + sum(SIDES)
        room = self.width() - margins - GAP - self.unit.sizeHint().width()
        self.number.setProperty("role", "title")
        self.number.style().polish(self.number)
        wide = self.number.fontMetrics().horizontalAdvance(self.number.text())
        if self.spark is not None:
            self.spark.setVisible(wide + GAP + SPARK[0] <= room)
        if wide > room:
            self.number.setProperty("role", "strong")
            self.number.style().polish(self.number)


class Tiles(QWidget):
    """Six numbers: scores of the best epoch, loss, time, speed and memory."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.score, self.recall = Tile("Best MAP@R ★", SERIES["MAP@R"]), Tile("R@1", SERIES["recall@1"])
        self.loss, self.time = Tile("Loss of a batch", SERIES["ce"]), Tile("Time left")
        self.speed, self.memory = Tile("Speed"), Tile("Peak memory")
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
        digits = f"{pace:,.0f}" if pace >= FAMILIAR else significant(pace)
        self.speed.show_number(digits if pace else "", "img/s", f"{per_step} per step" if per_step else "")
        number, _, unit = memory(run.memory_bytes).partition(THIN) if run.memory_bytes else ("", "", "")
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
        self.loss.show_number(significant(good[-1]) if len(good) else "", "", "smoothed" if len(good) else "")
        self.loss.show_curve(smooth)
