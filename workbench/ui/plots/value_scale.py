"""The scale of the values of a curve plot: linear, or logarithmic, which has room for 0 and negative values, too."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, inf, isfinite, log, log10

import numpy as np

from workbench.numerals import RAISED, grouped, minus, same_decimals

STEEP = 1000.0  # times the median: where the largest value is more, the others cannot be read on a linear scale
SMALL = 5.0  # percentile of the sizes of values below which a logarithmic scale with negative values is linear
MOST_TICKS = 6  # numbers of an axis, and one
LARGEST = 1e300  # of what an axis can show: the width of its range is a number, too
LEAST_POWER = -300  # of ten, for what is about linear
LEAST = 1e-9  # of a height: what rounding may move it by
PARTS = ((1.0,), (1.0, 3.0), (1.0, 2.0, 5.0))  # numbers of an axis within one power of ten, from few to many


@dataclass(frozen=True, slots=True)
class ValueScale:
    """Where a value is drawn.

    Attributes:
        log: logarithmic, not linear.
        near: logarithmic with negative values: below this size, above 0, it is about linear; 0: positive values alone.
    """

    log: bool = False
    near: float = 0.0

    def heights(self, values: np.ndarray) -> np.ndarray:
        """Where values [n] are drawn; without a place for them 0 gives -infinity, and a negative value NaN.

        On a linear scale larger ones than LARGEST are drawn there.
        """
        if not self.log:
            return np.asarray(np.clip(values, -LARGEST, LARGEST))
        with np.errstate(divide="ignore", invalid="ignore"):
            if not self.near:
                return np.asarray(np.log10(values))
            times = np.log(np.abs(values)) - log(self.near)  # of the logarithm: the quotient may be too large
            return np.asarray(np.sign(values) * np.logaddexp(0.0, times) / log(10))

    def height(self, value: float) -> float:
        """Where one value is drawn."""
        return float(self.heights(np.array([value]))[0])

    def value(self, height: float) -> float:
        """The value that is drawn there; beyond the largest number it is infinite."""
        if not self.log:
            return height
        with np.errstate(over="ignore", under="ignore"):
            if not self.near:
                return float(np.power(10.0, height))
            size = abs(height)
            above = np.power(10.0, size + log10(self.near)) if size > 15 else self.near * (10.0**size - 1)
            return float(np.copysign(above, height))


LINEAR = ValueScale()


def logarithmic(values: Sequence[np.ndarray], *, with_zero: bool = False) -> ValueScale:
    """The logarithmic scale for these values, arrays of any lengths; linear if none of them is a number other than 0.

    `with_zero`: 0 is shown, too.
    """
    known = _known(values)
    sizes = np.abs(known[known != 0])
    if not len(sizes):
        return LINEAR
    if not with_zero and known.min() > 0:
        return ValueScale(log=True)
    return ValueScale(log=True, near=10.0 ** max(LEAST_POWER, floor(log10(np.percentile(sizes, SMALL)))))


def steep(values: Sequence[np.ndarray]) -> bool:
    """Whether the largest of these values, of either sign, hides the others on a linear scale."""
    known = _known(values)
    sizes = np.abs(known[known != 0])
    return bool(len(sizes) and sizes.max() / STEEP > np.median(sizes))


def log_ticks(scale: ValueScale, low: float, high: float, most: int) -> list[tuple[float, str]]:
    """Round numbers between two heights of a logarithmic scale, each with its height; about `most`.

    Powers of ten, parts of them where these are few, and equal steps where a range has less than two such numbers. None
    where the range goes beyond the numbers of a computer.
    """
    bottom, top = scale.value(low), scale.value(high)
    if not (isfinite(bottom) and isfinite(top) and isfinite(top - bottom)) or (bottom <= 0 and not scale.near):
        return []
    for parts in reversed(PARTS):
        every = _of_parts(scale, bottom, top, parts)
        numbers = [number for number in every if low - LEAST <= scale.height(number) <= high + LEAST]
        if len(numbers) <= most:
            break
    if len(numbers) > most:  # powers of ten alone: every second, third and so on
        apart = ceil(len(numbers) / most)
        zero = numbers.index(0.0) if 0.0 in numbers else 0
        numbers = [number for place, number in enumerate(numbers) if (place - zero) % apart == 0]
    if len(numbers) < 2:
        numbers = ticks(bottom, top, max(2, most))
        return list(zip(map(scale.height, numbers), in_decimals(numbers), strict=True))
    return [(scale.height(number), written(number)) for number in numbers]


def written(number: float) -> str:
    """A round number of a logarithmic axis: "0.02", "−500" and "10,000" in full, "5×10⁻⁶" and "10⁸" beyond."""
    if not number:
        return "0"
    exponent = floor(log10(abs(number)) + 1e-9)
    if -3 < exponent < 5:
        return minus(f"{number:,.{max(0, -exponent)}f}")
    first = round(abs(number) / 10.0**exponent)
    times = "" if first == 1 else f"{first}×"
    return f"{'−' if number < 0 else ''}{times}10{str(exponent).translate(RAISED)}"


def _known(values: Sequence[np.ndarray]) -> np.ndarray:
    every = np.concatenate([np.ravel(part) for part in values]) if values else np.empty(0)
    return every[np.isfinite(every)]


def _of_parts(scale: ValueScale, bottom: float, top: float, parts: Sequence[float]) -> list[float]:
    """Parts of the powers of ten from one value to another, and of negative ones and 0; ascending."""
    least = 10 * scale.near  # smaller ones are too near to 0
    above = _powers(max(bottom, least), top, parts)
    if not scale.near:
        return above
    below = [-number for number in reversed(_powers(max(-top, least), -bottom, parts))]
    return [*below, 0.0, *above]


def _powers(low: float, high: float, parts: Sequence[float]) -> list[float]:
    if not 0 < low <= high < inf:
        return []
    exponents = range(floor(log10(low)), floor(log10(high)) + 1)
    return [part * 10.0**exponent for exponent in exponents for part in parts]


def ticks(low: float, high: float, most: int = MOST_TICKS, *, whole: bool = False) -> list[float]:
    """Round numbers between two, at most so many and one; `whole` ones alone for the powers of a logarithmic axis."""
    span = max(high - low, 1e-9)
    size = 10.0 ** floor(log10(span / most))
    size *= next(part for part in (1, 2, 5, 10) if span / (part * size) <= most)
    size = max(size, 1.0) if whole else size
    return [round(number * size, 10) for number in range(ceil(low / size), floor(high / size) + 1)]


def in_decimals(values: Sequence[float]) -> list[str]:
    """The numbers of an axis, with equally many decimals."""
    return same_decimals([minus(grouped(f"{value:.10g}")) for value in values])
