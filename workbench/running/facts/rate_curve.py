"""The curve of a learning-rate range test, and the rates that it suggests: plain numbers, without torch."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from workbench.numerals import counted, significant

STEPS = 100  # of a test, unless the training set is small
LEAST_STEPS, MOST_STEPS = 20, 2000
LAG = 25  # a smoothed loss is behind the loss by the 25th part of the steps, and so of the range, on average
TIMES_LEAST = 4.0  # times its minimum at which the smoothed loss has diverged
FIRST = 10  # the 10th part of the steps suggests nothing: the smoothed loss stands for few batches there
LEAST_POINTS = 5  # from then on
SPREADS = 5.0  # standard deviations of the smoothed loss, as batches differ, that it has to fall by
LEAST_FALL = 1e-3  # of the loss at first, that it has to fall by in any case
DIGITS = 2  # of a suggested rate
RULE = "where the smoothed loss falls most steeply"  # over the logarithm of the rate
TENTH_RULE = "a tenth of the rate with the lowest smoothed loss"
TOO_FEW = "The loss diverged after {steps}, too few to see it fall. Begin at a smaller rate."
NO_DESCENT = (
    "The loss does not fall by more than it differs from batch to batch. Use more or larger batches, or check "
    "whether the loss and the batches suit the data."
)
RISES = "The loss rises from the smallest rate on. Begin at a smaller rate."
FALLS_AT_ONCE = "The loss falls from the smallest rate on: begin at a smaller one to see where its descent starts."
STILL_FALLS = "The loss still falls at the largest rate: end at a larger one to see where it rises."

FAR = 10.0  # times, by which two suggested rates differ much
DIFFER = "The two suggested rates differ by more than ten times: try a rate between them, too."


def rising_rates(first: float, last: float, steps: int) -> np.ndarray:
    """Rates [steps] float64 from first to last, above 0; each is the one before times the same factor."""
    return np.geomspace(first, last, steps)


def weight_of(steps: int) -> float:
    """The weight w of the past in the smoothed loss of a test of some steps; its lag is w / (1 - w). 0.8 for 100."""
    return steps / (steps + LAG)


def smoothed(losses: Sequence[float] | np.ndarray, weight: float) -> np.ndarray:
    """The exponential mean of losses [n] with bias correction, [n] float64 (Adam, Kingma and Ba 2015, section 3).

    m[t] = weight m[t-1] + (1 - weight) loss[t], over 1 - weight^t; t from 1. `weight` is 0 up to but not 1.
    """
    means, mean = np.empty(len(losses)), 0.0
    for place, loss in enumerate(losses):
        mean = weight * mean + (1 - weight) * float(loss)
        means[place] = mean / (1 - weight ** (place + 1))
    return means


def diverged(smooth: Sequence[float] | np.ndarray) -> bool:
    """Whether a smoothed loss [n], finite but for its last value, has diverged at its last value.

    It has where the value is not finite, or above 4 times the least one and above the first. A loss that was 0 or less
    has no such multiple: there the limit is the least value plus 3 times the larger of it and the first, in size.
    """
    first, least, last = float(smooth[0]), float(np.min(smooth)), float(smooth[-1])
    if not np.isfinite(last):
        return True
    if least > 0:
        return last > max(TIMES_LEAST * least, first)
    return last > least + (TIMES_LEAST - 1) * max(abs(least), abs(first))


@dataclass(frozen=True, slots=True)
class Suggestion:
    """What a curve suggests: two rates, each with its rule, or none and the reason; `note` says what to consider."""

    rate: float | None  # at the steepest descent (RULE)
    tenth: float | None  # a tenth of the rate of the least loss (TENTH_RULE)
    reason: str = ""  # a sentence or two on why there are none
    note: str = ""


def suggest(rates: Sequence[float] | np.ndarray, losses: Sequence[float] | np.ndarray, steps: int) -> Suggestion:
    """The rates that a test suggests.

    The descent is that of the smoothed loss, from its value after a tenth of the steps to its minimum. It counts where
    it is larger than 5 standard deviations that the smoothed loss has because batches differ: those of the loss,
    estimated by its second differences (whose variance is six times its own, and 0 for a steady trend), times
    sqrt((1 - weight) / (1 + weight)).
    It also has to be a thousandth of the loss.

    Args:
        rates: [n], rising by the same factor, above 0.
        losses: [n] of the batches, each before its step; only the last may be not finite, and is then left out.
        steps: n or more, that were planned.
    """
    values, first = np.asarray(losses, np.float64), steps // FIRST
    values = values[:-1] if len(values) and not np.isfinite(values[-1]) else values
    if len(values) < first + LEAST_POINTS:
        return Suggestion(None, None, TOO_FEW.format(steps=counted(len(values), "step")))
    weight = weight_of(steps)
    smooth = smoothed(values, weight)[first:]
    logs = np.log(np.asarray(rates, np.float64)[first : len(values)])
    least = int(np.argmin(smooth))
    bends = np.diff(values[: first + least + 1], 2)  # not of a loss that diverges
    spread = float(np.sqrt(np.mean(bends**2) / 6 * (1 - weight) / (1 + weight))) if len(bends) else 0.0
    enough = max(SPREADS * spread, LEAST_FALL * abs(float(smooth[0])))
    if least == 0 and smooth[-1] - smooth[0] > enough:
        return Suggestion(None, None, RISES)
    if smooth[0] - smooth[least] <= enough:
        return Suggestion(None, None, NO_DESCENT)
    steepest = int(np.argmin(np.gradient(smooth, logs)[: least + 1]))
    rate, tenth = (rounded(float(np.exp(log))) for log in (logs[steepest], logs[least] - np.log(10)))
    notes = [FALLS_AT_ONCE] * (steepest == 0) + [STILL_FALLS] * (least == len(smooth) - 1)
    notes += [DIFFER] * (max(rate, tenth) > FAR * min(rate, tenth))
    return Suggestion(rate, tenth, note=" ".join(notes))


def rounded(rate: float) -> float:
    """A rate with two significant digits, as it is shown and set."""
    return float(f"{rate:.{DIGITS}g}")


def in_words(rate: float) -> str:
    """A rate as it is shown: "0.0012"."""
    return significant(rate, DIGITS)
