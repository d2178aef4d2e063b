"""Scores by the size of classes: groups of classes, 95% intervals over classes, chance, rank correlation."""

from dataclasses import dataclass
from math import atanh, nan, sqrt, tanh

import numpy as np

from workbench.evaluation.intervals import bootstrap_interval

MANY, FEW = 100, 20  # training images: over MANY and under FEW are "many" and "few" of Liu et al. (2019)
FEWEST = 5  # classes in two of those groups; with fewer the classes are divided by rank
RELIABLE = 10  # classes from which 95% limits hold the mean in 92 to 96 of 100 draws (beta and normal scores)
DRAWN = 20_000  # classes up to which means are resampled; the limits of more are those of the normal distribution
NORMAL = 1.959964  # standard deviations around a mean that hold 95% of a normal distribution


@dataclass(frozen=True, slots=True, eq=False)
class SizeGroup:
    """Classes of similar size."""

    title: str
    low: int  # the smallest and the largest size in it, in images
    high: int
    members: np.ndarray  # [m] int64, positions among all classes


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number with its 95% limits, which are NaN where there are too few classes for them."""

    value: float
    low: float
    high: float

    def plain(self) -> dict[str, float]:
        """As data for JSON."""
        return {"value": self.value, "low_95": self.low, "high_95": self.high}


def by_shots(sizes: np.ndarray) -> list[SizeGroup]:
    """Classes with many, medium and few training images, the most first; empty groups are left out.

    Over 100, 20 to 100, and under 20 images (Liu et al., 2019, "Large-scale long-tailed recognition in an open world").

    Args:
        sizes: [k] int, training images of each class, 0 or more.

    Returns:
        Nothing where fewer than two groups have FEWEST classes: then `by_rank` says more.
    """
    parts = (("Many", sizes > MANY), ("Medium", (sizes >= FEW) & (sizes <= MANY)), ("Few", sizes < FEW))
    groups = [_group(title, sizes, chosen) for title, chosen in parts if chosen.any()]
    return groups if sum(len(group.members) >= FEWEST for group in groups) > 1 else []


def by_rank(sizes: np.ndarray) -> list[SizeGroup]:
    """Thirds of the classes by size, the largest first; classes of one size are always in one group.

    The limits are those sizes that divide the classes nearest to a third and two thirds, so that groups are unequal
    where many classes have the same size.

    Args:
        sizes: [k] int, images of each class.

    Returns:
        Two or three groups; nothing for classes that all have the same size.
    """
    distinct, counts = np.unique(sizes, return_counts=True)
    if len(distinct) < 2:
        return []
    below = np.cumsum(counts)[:-1]  # classes up to each size but the largest
    cuts = sorted({int(np.abs(below - share * len(sizes)).argmin()) for share in (1 / 3, 2 / 3)})
    limits = [distinct[0] - 1, *(distinct[cut] for cut in cuts), distinct[-1]]
    titles = ("Small", "Middle", "Large") if len(cuts) > 1 else ("Small", "Large")
    groups = [
        _group(title, sizes, (sizes > low) & (sizes <= high))
        for title, low, high in zip(titles, limits[:-1], limits[1:], strict=True)
    ]
    return groups[::-1]


def _group(title: str, sizes: np.ndarray, chosen: np.ndarray) -> SizeGroup:
    members = np.flatnonzero(chosen)
    return SizeGroup(title, int(sizes[members].min()), int(sizes[members].max()), members)


def mean_over_classes(values: np.ndarray) -> Estimate:
    """The mean over classes, and its 95% limits: the bootstrap over classes, of over DRAWN classes the normal ones.

    Percentiles of the bootstrap are too narrow for few classes: those of five hold the mean in 83 of 100 draws. So they
    are taken further out, by Student's t with k - 1 degrees of freedom (Hesterberg, 2015, "What teachers should know
    about the bootstrap", expanded percentiles): of five classes they hold it in 90 to 93 of 100, of four or fewer they
    are at most the smallest and the largest score.

    Args:
        values: [k], one for each class; those that are not finite are left out.

    Returns:
        NaN for no class; NaN limits for a single one.
    """
    known = values[np.isfinite(values)].astype(np.float64)
    if len(known) < 2:
        return Estimate(float(known[0]) if len(known) else nan, nan, nan)
    mean = float(known.mean())
    if len(known) > DRAWN:
        half = NORMAL * float(known.std(ddof=1)) / sqrt(len(known))
        return Estimate(mean, mean - half, mean + half)
    low, high = bootstrap_interval(known, level=_expanded(len(known)))
    return Estimate(mean, float(low), float(high))


def _expanded(count: int) -> float:
    """The share of resampled means of `count` values that is between limits with the width of Student's."""
    from scipy.special import ndtr, stdtrit

    return 1 - 2 * float(ndtr(-sqrt(count / (count - 1)) * stdtrit(count - 1, 0.975)))


def rank_correlation(sizes: np.ndarray, values: np.ndarray) -> Estimate:
    """Spearman's correlation of score and size over classes, -1..1, ties with their mean rank.

    The limits are those of Fisher's z with the variance (1 + rho^2 / 2) / (k - 3) (Bonett and Wright, 2000).

    Args:
        sizes: [k] numbers.
        values: [k], one for each class; those that are not finite are left out.

    Returns:
        NaN where one of the two does not vary; NaN limits for fewer than four classes, or a correlation of 1 or -1.
    """
    known = np.isfinite(values)
    first, second = _ranks(sizes[known]), _ranks(values[known])
    first, second = first - first.sum() / max(1, len(first)), second - second.sum() / max(1, len(second))
    scale = sqrt(float(first @ first) * float(second @ second))
    if not scale:
        return Estimate(nan, nan, nan)
    rho = min(1.0, max(-1.0, float(first @ second) / scale))
    if len(first) < 4 or 1 - abs(rho) < 1e-12:
        return Estimate(rho, nan, nan)
    half = NORMAL * sqrt((1 + rho**2 / 2) / (len(first) - 3))
    return Estimate(rho, tanh(atanh(rho) - half), tanh(atanh(rho) + half))


def _ranks(values: np.ndarray) -> np.ndarray:
    """Ranks [k] from 1, ties with their mean."""
    _, of, counts = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(counts) - (counts - 1) / 2)[of], np.float64)


def chance_of_recall(r: np.ndarray, others: int | np.ndarray) -> np.ndarray:
    """The expected recall@1 [n] of queries whose gallery is in random order.

    Args:
        r: [n] int, images of the query's class among those that are searched, 0..others.
        others: images that are searched, without the query: a number, or one for each query [n].
    """
    return np.asarray(np.asarray(r, np.float64) / np.maximum(1, others))


def chance_of_map(r: np.ndarray, others: int | np.ndarray) -> np.ndarray:
    """The expected MAP@R [n] of queries whose gallery is in random order, NaN without a match.

    With N images of which R match, a rank is a match with probability R / N, and so is an earlier one with
    (R - 1) / (N - 1): the mean over ranks i up to R of the precision at i where i matches is
    p (H_R + q (R - H_R)) / R with p = R / N, q = (R - 1) / (N - 1) and the harmonic number H_R.

    Args:
        r, others: as of `chance_of_recall`.
    """
    most = int(r.max()) if len(r) else 0
    harmonic = np.concatenate([[0.0], np.cumsum(1 / np.arange(1, most + 1))])[r]
    count = np.asarray(r, np.float64)
    first, second = count / np.maximum(1, others), (count - 1) / np.maximum(1, np.subtract(others, 1))
    with np.errstate(invalid="ignore"):
        return np.asarray(first * (harmonic + second * (count - harmonic)) / count)
