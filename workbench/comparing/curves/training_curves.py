"""Curves of training over steps: any logged scalar of each run, thinned while reading, with a mean over seeds."""

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass

import numpy as np

from workbench.comparing.grouping.groups import Group
from workbench.comparing.measures import Curve, as_fractions, limits_of, runs_in_mean, seed_means
from workbench.comparing.statistics.intervals import Interval, t_interval
from workbench.progress import Progress, quiet
from workbench.workspace import Workspace
from workbench.workspace.measured import curves
from workbench.workspace.rows import Run

MOST_POINTS = 300  # read of one run
MOST_BINS = 50  # of one group: six points of each run in a bin
FIRST_SHOWN = ("batch/loss", "probe/ce", "probe/spce")


@dataclass(frozen=True, slots=True, eq=False)
class Points:
    """What was read of one run: steps [m] int64, rising, values [m] float64, and steps from one to the next."""

    steps: np.ndarray
    values: np.ndarray
    stride: int = 1  # 1: every point


@dataclass(frozen=True, slots=True, eq=False)
class TrainingCurves:
    """One scalar of some groups."""

    name: str
    curves: tuple[Curve, ...]  # of the first groups that have it
    groups: int  # that have it
    without: tuple[int, ...]  # runs that do not
    not_finite: tuple[int, ...]  # runs of the curves with NaN or infinity among the points that were read


def scalar_names(workspace: Workspace, runs: Sequence[Run]) -> tuple[str, ...]:
    """Scalars that any of the runs has: the loss of each batch, CE and SPCE on the probe first, the others by name."""
    with closing(workspace.reader()) as db:
        names = curves.scalars_of_runs(db, [run.id for run in runs])
    return tuple(sorted(names, key=lambda name: (FIRST_SHOWN.index(name) if name in FIRST_SHOWN else 9, name)))


def training_curves(
    workspace: Workspace,
    groups: Sequence[Group],
    name: str,
    most: int,
    progress: Progress = quiet,
) -> TrainingCurves:
    """Read one scalar of the first `most` groups that have it, over its own connection; shares are fractions.

    Not on the window's thread: two hundred runs take some tenths of a second. `progress` may raise Cancelled.
    """
    with closing(workspace.reader()) as db:
        every = [run.id for group in groups for run in group.runs]
        known = curves.runs_with_scalar(db, every, name)
        having = [group for group in groups if any(run.id in known for run in group.runs)]
        drawn = [run for group in having[:most] for run in group.runs if run.id in known]
        points = {}
        for done, run in enumerate(drawn):
            progress("Curves", done, len(drawn))
            steps, values, stride = curves.thinned_scalars(db, run.id, name, MOST_POINTS)
            points[run.id] = Points(steps, as_fractions(name, values), stride)  # of a group some may be in percent
    return TrainingCurves(
        name=name,
        curves=tuple(training_curve_of(group, points) for group in having[:most]),
        groups=len(having),
        without=tuple(sorted(set(every) - known)),
        not_finite=tuple(sorted(key for key, run_points in points.items() if not np.isfinite(run_points.values).all())),
    )


def training_curve_of(group: Group, points: Mapping[int, Points]) -> Curve:
    """Each run of a group that has points, and over the steps that all of them cover the mean and the interval.

    Runs that have the same steps there, `MOST_BINS` at most, are averaged at these. Else their common range of steps is
    cut into equal bins, `MOST_BINS` at most and no more than the sparsest run has points there; the value of a run is
    the mean of its points in the bin, drawn at its middle. A bin in which a run has no point is left out. Nothing is
    interpolated. Where a point of any run is NaN or infinite the mean is NaN. It is that of `runs_in_mean`.

    Args:
        group: of runs that differ in seed and fold.
        points: by run; runs without any are left out.
    """
    drawn = [run for run in group.runs if run.id in points and len(points[run.id].steps)]
    lines = tuple((run, points[run.id].steps, points[run.id].values) for run in drawn)
    stride = max((points[run.id].stride for run in drawn), default=1)
    counted = runs_in_mean(drawn)
    places, table, width = _at_common_places([(points[run.id].steps, points[run.id].values) for run in counted])
    intervals = [_over_seeds([run.seed for run in counted], column) for column in table.T]
    mean, low, high = limits_of(intervals)
    return Curve(group, lines, places, mean, low, high, bin_width=width, stride=stride)


def _at_common_places(lines: Sequence[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray, float]:
    """Places [k], values [runs, k] and the width of a bin, 0 if there are none."""
    nothing = np.empty(0), np.empty((len(lines), 0)), 0.0
    if not lines:
        return nothing
    low, high = max(steps[0] for steps, _ in lines), min(steps[-1] for steps, _ in lines)
    inside = [
        (steps[within], values[within])
        for steps, values in lines
        for within in [slice(*np.searchsorted(steps, (low, high + 1)))]
    ]
    fewest = min(len(steps) for steps, _ in inside)
    if fewest == 0:
        return nothing
    first = inside[0][0]
    if fewest <= MOST_BINS and all(np.array_equal(steps, first) for steps, _ in inside):
        return first, np.stack([values for _, values in inside]), 0.0
    bins = -(-fewest // -(-fewest // MOST_BINS))
    width = float(high - low + 1) / bins
    sums, counts = np.zeros((len(lines), bins)), np.zeros((len(lines), bins), np.int64)
    for row, (steps, values) in enumerate(inside):
        bin_of_step = np.minimum((steps - low) / width, bins - 1).astype(np.int64)
        sums[row] = np.bincount(bin_of_step, weights=values, minlength=bins)
        counts[row] = np.bincount(bin_of_step, minlength=bins)
    kept = (counts > 0).all(axis=0)
    middles = low + width * (np.arange(bins) + 0.5) - 0.5  # the mean of the steps in a bin
    return middles[kept], sums[:, kept] / counts[:, kept], width


def _over_seeds(seeds: Sequence[int], column: np.ndarray) -> Interval:
    if not np.isfinite(column).all():
        return Interval(np.nan, np.nan, np.nan, len(set(seeds)))
    return t_interval(list(seed_means(list(zip(seeds, column.tolist(), strict=True))).values()))
