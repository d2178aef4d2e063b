"""Stops trials of a sweep early: those below the median of the others at the same epoch."""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from math import ceil, inf, isfinite, nan
from statistics import median
from time import monotonic

import numpy as np

from workbench.control import Control
from workbench.problem import Problem
from workbench.sweeps.objective import TRAIN_SIDE, least_is_best
from workbench.workspace import Workspace
from workbench.workspace.experiments import early_stops
from workbench.workspace.experiments import sweeps as stored
from workbench.workspace.experiments.sweeps import Sweep, Trial
from workbench.workspace.measured import unkept

NOT_AT_PLACES = "Trials at a place are not stopped early."
LOOK = 2.0  # seconds between two looks at the trials
FEWEST = 5  # other trials with which one is compared
WARM_UP = 0.25  # of the epochs of a trial: before that it is not judged


@dataclass(frozen=True, slots=True)
class Curve:
    """The objective of one trial after each epoch at which it was measured; epoch 0 is before training."""

    point: int  # number of the setting: trials of one setting are not compared with each other
    values: Mapping[int, float]  # by epoch


def reason_to_stop(judged: Curve, others: Iterable[Curve], epochs: int, *, least: bool = False) -> str:
    """Why a trial need not train on, as "below the median of 7 trials at epoch 3"; empty if it should.

    Its best value so far is compared with the best values that other settings had at the same epoch.

    Args:
        judged: the trial; its last epoch is the one at which it is judged.
        others: trials of the same sweep that have ended or are training; those that did not get so far do not count.
        epochs: for which the trial is to train.
        least: whether a lower value is better.
    """
    epoch = max(judged.values, default=0)
    if not max(1, ceil(WARM_UP * epochs)) <= epoch < epochs:
        return ""
    own = _best_until(judged, epoch, least=least)
    got_so_far = [other for other in others if other.point != judged.point and max(other.values, default=0) >= epoch]
    compared = [
        (other.point, best) for other in got_so_far if (best := _best_until(other, epoch, least=least)) is not None
    ]
    if own is None or len(compared) < FEWEST:
        return ""
    middle = median(best for _, best in compared)
    if not (own > middle if least else own < middle):
        return ""
    several = len({point for point, _ in compared}) < len(compared)  # a setting with several seeds or folds
    counted = f"{len(compared):,} {'runs' if several else 'trials'}"
    return f"{'above' if least else 'below'} the median of {counted} at epoch {epoch}"


def _best_until(curve: Curve, epoch: int, *, least: bool) -> float | None:
    """The best value of an epoch of training up to this one; None without a number."""
    values = [value for at, value in curve.values.items() if 1 <= at <= epoch and isfinite(value)]
    if not values:
        return None
    return min(values) if least else max(values)


class EarlyStop:
    """Looks at the trials of one sweep from time to time; those that have ended are read once."""

    def __init__(self, workspace: Workspace, sweep: Sweep) -> None:
        self._workspace, self._sweep = workspace, sweep
        self._curves = dict[int, Curve]()  # by number of the trial
        self._read_whole = set[int]()  # trials that have ended
        self._looked = -inf

    def look(self, training: Mapping[int, Control]) -> None:
        """Stop those that need not train on, after their epoch. `training` are the trials of this worker, by number."""
        if monotonic() - self._looked < LOOK:
            return
        trials = [
            trial for trial in stored.trials(self._workspace, self._sweep.id)
            if trial.run_id is not None and trial.state not in ("failed", "cancelled")
        ]  # fmt: skip
        curves = {trial.id: self._curve(trial) for trial in trials}
        least = least_is_best(self._sweep.metric)
        for trial in trials:
            control = training.get(trial.id)
            if control is None or control.stop_asked:
                continue
            others = (curve for number, curve in curves.items() if number != trial.id)
            if reason := reason_to_stop(curves[trial.id], others, trial.epochs, least=least):
                early_stops.store(self._workspace, trial.id, reason)  # first: it may be killed before its run has ended
                control.stop()
        self._looked = monotonic()

    def _curve(self, trial: Trial) -> Curve:
        """The values of a trial so far, with those of evaluations that its run did not keep."""
        before = self._curves.get(trial.id, Curve(trial.point, {}))
        if trial.id not in self._read_whole and trial.run_id is not None:
            with suppress(Problem):  # the run was deleted, or is damaged, which whoever shows it says
                values = values_of(self._workspace, trial.run_id, self._sweep.metric)
                new = {epoch: value for epoch, value in values.items() if isfinite(value) or epoch not in before.values}
                self._curves[trial.id] = before = Curve(trial.point, {**before.values, **new})
            if trial.state == "done":
                self._read_whole.add(trial.id)
        return before


def values_of(workspace: Workspace, run_id: int, metric: str) -> dict[int, float]:
    """The objective of a run at each epoch at which it was evaluated; of a curve of training the best up to then.

    Raises:
        Problem: there is no such run, or it is damaged.
    """
    run, evaluations = workspace.run(run_id), workspace.evaluations(run_id)
    with workspace.reading() as db:
        evaluations = unkept.with_curves(db, run, evaluations)
    if metric not in TRAIN_SIDE:
        return {entry.epoch: entry.metrics.get(metric, nan) for entry in evaluations}
    steps, values = workspace.scalars(run_id, metric)
    trained = (steps > 0) & np.isfinite(values)
    best = (np.minimum if least_is_best(metric) else np.maximum).accumulate(values[trained])
    so_far = np.concatenate([[nan], best])
    before = np.searchsorted(steps[trained], [entry.step for entry in evaluations], side="right")
    return {entry.epoch: float(so_far[count]) for entry, count in zip(evaluations, before, strict=True)}


def sentence(workspace: Workspace, run_id: int, reason: str) -> str:
    """What happened to the run of a trial that was to be stopped; empty if that came too late to spare an epoch."""
    epoch = max((entry.epoch for entry in workspace.evaluations(run_id)), default=0)
    epochs = workspace.run(run_id).epochs
    return f"Stopped after epoch {epoch} of {epochs}: {reason}." if epoch < epochs else ""
