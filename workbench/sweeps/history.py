"""What a sweep has reached: the value of each setting in the order of the proposals, and the best until then."""

from collections.abc import Sequence
from dataclasses import dataclass

from workbench.sweeps.objective import least_is_best
from workbench.sweeps.progress import standings
from workbench.workspace.experiments.sweeps import Sweep, Trial


@dataclass(frozen=True, slots=True)
class Reached:
    """One setting with a value."""

    point: int  # its number, from 1
    value: float  # mean of the objective over its runs so far
    whole: bool  # whether every run has trained to its end: only such values are compared
    best: float | None  # of the whole ones so far, this one included; None before the first


def best_so_far(sweep: Sweep, trials: Sequence[Trial]) -> list[Reached]:
    """The settings that have a value, by their numbers: the order in which they were drawn or proposed."""
    better = min if least_is_best(sweep.metric) else max
    best: float | None = None
    reached = []
    for standing in sorted(standings(sweep, trials), key=lambda standing: standing.point):
        if standing.mean is None:
            continue
        whole = all(trial.objective is not None and not trial.stopped_early for trial in standing.trials)
        if whole:
            best = standing.mean if best is None else better(best, standing.mean)
        reached.append(Reached(standing.point, standing.mean, whole, best))
    return reached
