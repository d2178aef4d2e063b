"""Which trials of a sweep are stopped early: those below the median of the others at the same epoch."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import ceil, isfinite
from statistics import median

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
