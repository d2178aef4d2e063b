"""The tiles above the curves: the most important numbers of a run."""

import numpy as np
from PySide6.QtWidgets import QHBoxLayout, QWidget

from workbench.comparing.curves.smoothing import BATCH_LOSS, exponential_mean
from workbench.numerals import significant
from workbench.ui.style.theme import SERIES
from workbench.ui.style.words import THIN, device_of, duration, memory, pace, percent, short_time
from workbench.ui.widgets.numbers.tile import Tile
from workbench.workspace.rows import Evaluation, Run


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
        per_step = short_time(run.seconds / run.done) if run.seconds >= 1 and run.done else ""
        self.speed.show_number(pace(run.images_per_second), "img/s", f"{per_step} per step" if per_step else "")
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
