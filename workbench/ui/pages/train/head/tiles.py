"""The tiles above the curves: the most important numbers of a run."""

from collections.abc import Mapping
from functools import lru_cache

import numpy as np
from PySide6.QtWidgets import QHBoxLayout, QWidget

from workbench.comparing.curves.smoothing import BATCH_LOSS, exponential_mean
from workbench.config import BadConfig, RunConfig
from workbench.numerals import raised, significant
from workbench.ui.style.theme import SERIES
from workbench.ui.style.words import NO_VALUE, THIN, device_of, duration, memory, pace, percent, short_time
from workbench.ui.widgets.numbers.tile import Tile
from workbench.workspace.rows import Evaluation, Run

GROWS = "SPCE multiplies embeddings with each other: it grows with the square of their length"
Curve = tuple[np.ndarray, np.ndarray]  # steps [n] rising, values [n]


class Tiles(QWidget):
    """Six numbers: scores of the best epoch, loss, time, speed and memory; of a run that trained nothing the scores.

    Beside the Anatomy, those of CE, SPCE and H(Y) − CE on the probe that the loss has are in place of loss, memory and
    speed.
    """

    def __init__(self) -> None:
        super().__init__()
        self.score, self.recall = Tile("Best MAP@R ★", SERIES["MAP@R"]), Tile("R@1", SERIES["recall@1"])
        self.loss, self.time = Tile("Loss of a batch", SERIES["ce"]), Tile("Time left")
        self.speed, self.memory = Tile("Speed"), Tile("Peak memory")
        self.ce, self.spce = Tile("CE on the probe", SERIES["ce"]), Tile("SPCE on the probe", SERIES["spce"])
        self.information = Tile("H(Y) − CE", SERIES["pce"])
        self.information.setToolTip("A lower bound of the mutual information of embeddings and labels, on the probe")
        self.spce.setToolTip(GROWS)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        of_probe = (self.ce, self.spce, self.information)
        for tile in (self.score, self.recall, self.loss, *of_probe, self.time, self.speed, self.memory):
            row.addWidget(tile, 1)
        self._anatomy = False  # whether the numbers of the probe are wanted
        self._trained = True
        self.show_probe({})

    @property
    def empty(self) -> bool:
        """Whether no tile but that of the time has a number."""
        tiles = (self.score, self.recall, self.loss, self.speed, self.memory, self.ce, self.spce, self.information)
        return all(tile.number.text() == NO_VALUE for tile in tiles)

    def show_anatomy(self, on: bool) -> None:
        """Show the numbers of the probe in place of loss, memory and speed, or these again."""
        self._anatomy = on
        for usual, of_probe in ((self.loss, self.ce), (self.memory, self.spce), (self.speed, self.information)):
            shown = on and of_probe.number.text() != NO_VALUE
            of_probe.setVisible(shown)
            usual.setVisible(self._trained and not shown)

    def show_trained(self, on: bool) -> None:
        """Show the numbers of training, or hide them for a run that trained nothing: it has its scores alone."""
        self._trained = on
        self.time.setVisible(on)
        self.score.caption.setText("Best MAP@R ★" if on else "MAP@R")
        self.show_anatomy(self._anatomy)

    def show_run(self, run: Run) -> None:
        """Time, speed and memory of a run's row."""
        self.time.caption.setText("Time left" if run.live else "Time")
        if run.live:
            left = duration(run.seconds_left) if run.status == "running" and run.seconds_left else ""
            self.time.show_number(left, below=f"after {duration(run.seconds)}" if run.seconds >= 1 else "")
        else:
            self.time.show_number(duration(run.seconds) if run.seconds else "")
        images = images_per_step(run.config) if run.images_per_second else 0
        per_step = short_time(images / run.images_per_second) if images else ""
        self.speed.show_number(pace(run.images_per_second), "img/s", f"{per_step} per step" if per_step else "")
        number, _, unit = memory(run.memory_bytes).partition(THIN) if run.memory_bytes else ("", "", "")
        device = device_of(run)
        self.memory.show_number(number, unit, f"on {device}" if device else "")

    def show_evaluations(self, evaluations: list[Evaluation], best: Evaluation | None) -> None:
        """Scores of the best of a run's evaluations, which are in order; see `show_trained`."""
        untrained = next((row for row in evaluations if row.epoch == 0), None)
        trained = best is not None and best.epoch > 0
        before = f" · from {percent(untrained.metrics.get('MAP@R'))}" if untrained is not None and trained else ""
        epoch = "" if best is None or not self._trained else f"epoch {best.epoch}" if trained else "untrained"
        for tile, metric in ((self.score, "MAP@R"), (self.recall, "recall@1")):
            value = None if best is None else best.metrics.get(metric)
            tile.show_number(
                "" if value is None else percent(value), "%", epoch + (before if metric == "MAP@R" else "")
            )
            tile.show_curve(np.array([row.metrics.get(metric, np.nan) for row in evaluations]))

    def show_loss(self, values: np.ndarray) -> None:
        """The losses of all batches, [n]: the newest, smoothed."""
        smooth = exponential_mean(values, BATCH_LOSS)
        good = smooth[np.isfinite(smooth)]
        self.loss.show_number(raised(significant(good[-1])) if len(good) else "", "", "smoothed" if len(good) else "")
        self.loss.show_curve(smooth)

    def show_probe(self, curves: Mapping[str, Curve]) -> None:
        """The newest values on the probe, in nats, from scalars by their names; missing ones are dashes."""
        entropy = _ends(curves, "anatomy/entropy/labels")
        most = f"of H(Y) = {significant(entropy[1])}" if entropy is not None else ""
        for tile, name, below in (
            (self.ce, "probe/ce", ""),
            (self.spce, "probe/spce", ""),
            (self.information, "anatomy/information/discriminative", most),
        ):
            ends = _ends(curves, name)
            if ends is None:
                tile.show_number("")
            else:
                first, last = (raised(significant(value)) for value in ends)
                tile.show_number(last, "nats", below or f"from {first}")
            tile.show_curve(curves[name][1] if name in curves else np.empty(0))
        self.show_anatomy(self._anatomy)


@lru_cache(maxsize=16)
def images_per_step(config: str) -> int:
    """The images of a batch by a run's recorded config, with each view of them; 0 if it cannot be read."""
    try:
        return RunConfig.recorded(config).training.images_per_step
    except BadConfig:
        return 0


def _ends(curves: Mapping[str, Curve], name: str) -> tuple[float, float] | None:
    """First and last number of a curve; None where it has none."""
    values = curves[name][1] if name in curves else np.empty(0)
    known = values[np.isfinite(values)]
    return (float(known[0]), float(known[-1])) if len(known) else None
