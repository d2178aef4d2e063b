"""Where the curves of a run cross: what sentences and rings refer to by letters. It does not use Qt."""

from collections.abc import Mapping
from string import ascii_uppercase

import numpy as np

from workbench.ui.plots.rings import Crossing

Curve = tuple[np.ndarray, np.ndarray]  # steps [n] rising, values [n]
ALIKE = 0.02  # nats: CE and SPCE this close are said to agree


def crossings(curves: Mapping[str, Curve]) -> list[Crossing]:
    """Both ends of the longest stretch with PCE above CE, then where CE and SPCE come together or cross last.

    Args:
        curves: by the names of their scalars; missing ones are passed over.
    """
    steps, ce, pce = both(curves, "anatomy/ce", "anatomy/pce")
    places = [("anatomy/pce", *ends, True) for ends in bound_ends(steps, pce > ce)]
    steps, ce, spce = both(curves, "probe/ce", "probe/spce")
    if (ends := meeting(steps, spce - ce)) is not None:
        places.append(("probe/spce", *ends, False))
    return [
        Crossing(letter, name, "anatomy/ce", before, after, wrong)
        for letter, (name, before, after, wrong) in zip(ascii_uppercase, places, strict=False)
    ]


def longest_stretch(true: np.ndarray) -> tuple[int, int]:
    """The first and the last index of the longest stretch of True in [n] bool, which has at least one."""
    edges = np.diff(np.concatenate(([0], true.astype(np.int8), [0])))
    starts, ends = np.flatnonzero(edges == 1), np.flatnonzero(edges == -1) - 1
    longest = int(np.argmax(ends - starts))
    return int(starts[longest]), int(ends[longest])


def bound_ends(steps: np.ndarray, fails: np.ndarray) -> list[tuple[float, float]]:
    """The steps before and after each end of the longest stretch at which the bound fails; of ends that were measured.

    Args:
        steps: [n] rising. fails: [n] bool.
    """
    if not fails.any():
        return []
    start, end = longest_stretch(fails)
    pairs = [(start - 1, start)] * (start > 0) + [(end, end + 1)] * (end + 1 < len(steps))
    return [(float(steps[before]), float(steps[after])) for before, after in pairs]


def meeting(steps: np.ndarray, gap: np.ndarray) -> tuple[float, float] | None:
    """The steps between which SPCE − CE changes its sign last, or twice the step from which on they are alike.

    None where they never meet, or always were alike. Args: steps: [n] rising. gap: [n], nats.
    """
    if len(steps) < 2:
        return None
    apart = np.flatnonzero(np.abs(gap) >= ALIKE)
    if not len(apart):
        return None
    if apart[-1] + 1 < len(steps):
        since = float(steps[apart[-1] + 1])
        return since, since
    crossed = np.flatnonzero(np.diff(np.sign(gap)))
    if len(crossed) and len(set(np.sign(gap[apart]))) > 1:
        return float(steps[crossed[-1]]), float(steps[crossed[-1] + 1])
    return None


def both(curves: Mapping[str, Curve], first: str, second: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The steps at which both curves have a number, and their values there; all [n]."""
    nothing = (np.empty(0), np.empty(0))
    (at, values), (other_at, others) = curves.get(first, nothing), curves.get(second, nothing)
    steps, rows, other_rows = np.intersect1d(at, other_at, return_indices=True)
    values, others = values[rows], others[other_rows]
    good = np.isfinite(values) & np.isfinite(others)
    return steps[good], values[good], others[good]
