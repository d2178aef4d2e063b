"""The horizontal axis of a run's curves: its steps, its epochs, or the time since training began. No Qt."""

from collections.abc import Callable, Sequence

import numpy as np

from workbench.ui.plots.curve import Curve

SECONDS = "system/seconds"  # the curve that has the time of each step
STEP, EPOCH, TIME = "step", "epoch", "time"
KINDS = (STEP, EPOCH, TIME)
TITLES = {STEP: "Step", EPOCH: "Epoch", TIME: "Time"}
UNITS = (("time, h", 3600.0, 7200.0), ("time, min", 60.0, 300.0), ("time, s", 1.0, 0.0))  # seconds each; used from
Across = Callable[[np.ndarray], np.ndarray]  # what is stored [n], not falling -> places on the bottom axis [n]


class StepAxis:
    """The epochs and times of a run's steps, as far as they are known."""

    def __init__(self) -> None:
        self.steps_per_epoch = 0.0  # 0: not known
        self._clock = Curve()

    def clear(self) -> None:
        """Forget the times, for another run."""
        self._clock.clear()

    def add_times(self, steps: Sequence[float] | np.ndarray, seconds: Sequence[float] | np.ndarray) -> None:
        """Seconds since training began at these steps; both [n]. They restart where a run was resumed."""
        self._clock.append(steps, seconds)

    def has(self, kind: str) -> bool:
        """Whether this kind of axis is available."""
        if kind == TIME:
            return len(self._clock) > 1
        return kind == STEP or self.steps_per_epoch > 0

    def of(self, kind: str, stored: str) -> tuple[str, Across | None]:
        """The title of the bottom axis, and where what is stored stands on it; None: as it is stored.

        Args:
            kind: one of KINDS; one that this run does not have counts as STEP.
            stored: what the numbers of the plot count, "step" or "epoch". Over steps an epoch stays an epoch.
        """
        if kind in (STEP, stored) or not self.has(kind):
            return stored, None
        per_epoch = self.steps_per_epoch
        if kind == EPOCH:
            return EPOCH, lambda steps: steps / per_epoch
        steps, seconds = self._times()
        title, unit, _ = next(entry for entry in UNITS if seconds[-1] >= entry[2])
        if stored == EPOCH:
            if not per_epoch:
                return stored, None
            return title, lambda epochs: _reaching(epochs * per_epoch, steps, seconds) / unit
        return title, lambda wanted: _reaching(wanted, steps, seconds) / unit

    def _times(self) -> tuple[np.ndarray, np.ndarray]:
        """Steps and seconds of training, both [n], rising: the time between two parts of a run does not count."""
        steps, seconds = self._clock.steps, self._clock.values
        restarts = np.flatnonzero(np.diff(seconds) < 0) + 1
        added = np.zeros(len(seconds))
        for restart in restarts:
            added[restart:] += seconds[restart - 1]
        return np.concatenate(([0.0], steps)), np.concatenate(([0.0], seconds + added))


def _reaching(wanted: np.ndarray, steps: np.ndarray, seconds: np.ndarray) -> np.ndarray:
    """Seconds at the wanted steps; after the last known one at the mean pace."""
    pace = seconds[-1] / steps[-1] if steps[-1] else 0.0
    return np.asarray(np.interp(wanted, steps, seconds) + np.maximum(0.0, wanted - steps[-1]) * pace)
