"""The difference of two runs by class size: whether a method helps rare classes, frequent ones, or both."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.evaluation.class_sizes import RELIABLE, Estimate, mean_over_classes
from workbench.numerals import finite, minus, signed
from workbench.progress import Progress, quiet
from workbench.results.by_class_size import COUNTED, FEW_CLASSES, TRAINING, BySize, by_class_size, sizes_in_words
from workbench.workspace import Workspace


@dataclass(frozen=True, slots=True)
class SizeDifference:
    """The difference of two runs over the classes of one group: second minus first, paired over classes."""

    title: str
    low: int
    high: int
    classes: int
    first: float  # means over classes
    second: float
    difference: Estimate

    @property
    def size_words(self) -> str:
        """As of GroupScores."""
        return sizes_in_words(self.low, self.high)


def paired_by_size(
    measured: BySize, sample_ids: np.ndarray, first: np.ndarray, second: np.ndarray
) -> list[SizeDifference]:
    """The differences of two runs in the groups of one of them: means over classes, paired, with 95% intervals.

    Args:
        measured: groups the classes by the sizes of one of the runs.
        sample_ids: [m] int64, queries of both, unique. Those without a class there are left out.
        first, second: [m] scores of each query.
    """
    if not len(sample_ids) or not measured.groups:
        return []
    classes = measured.classes
    order = np.argsort(classes.sample_ids, kind="stable")
    at = np.minimum(np.searchsorted(classes.sample_ids, sample_ids, sorter=order), len(order) - 1)
    known = (classes.sample_ids[order[at]] == sample_ids) & np.isfinite(first) & np.isfinite(second)
    of, count = classes.of[order[at[known]]], len(classes.labels)
    number = np.bincount(of, minlength=count)
    with np.errstate(invalid="ignore"):
        means = [np.bincount(of, values[known], count) / number for values in (first, second)]
    rows = []
    for group, members in zip(measured.groups, measured.members, strict=True):
        both = members[number[members] > 0]
        if len(both):
            before, after = (values[both] for values in means)
            difference = mean_over_classes(after - before)
            rows.append(
                SizeDifference(
                    group.title, group.low, group.high, len(both), float(before.mean()), float(after.mean()), difference
                )
            )
    return rows


@dataclass(frozen=True, slots=True, eq=False)
class ComparedBySize:
    """Two runs, or means of runs over the same queries, by the class sizes of the one whose sizes differ more."""

    measured: BySize  # of the run whose class sizes group the classes
    rows: tuple[SizeDifference, ...]
    remarks: tuple[str, ...]

    @property
    def sentences(self) -> list[str]:
        """How the classes are grouped, and what is to be known of the differences."""
        if not self.measured.groups:
            return [self.measured.sentence, *self.remarks]
        said = (
            f"Differences are paired over classes, which are grouped by the sizes in run {self.measured.run_id}; their "
            "intervals are over classes, not over seeds."
        )
        few = [FEW_CLASSES] if any(row.classes < RELIABLE for row in self.rows) else []
        return [self.measured.sentence, said, *few, *self.remarks]


def compared_by_size(
    workspace: Workspace, evaluations: tuple[int, int], sample_ids: np.ndarray, first: np.ndarray, second: np.ndarray,
    progress: Progress = quiet,
) -> ComparedBySize:  # fmt: skip
    """The difference in each group of classes, second minus first; as `by_class_size`, not for the window's thread.

    Args:
        evaluations: one of the first and one of the second; classes are grouped by the sizes of that with
            the greater ratio of the largest class to the smallest.
        sample_ids, first, second: as of `paired_by_size`.

    Raises:
        Problem, Cancelled: as `by_class_size`.
    """
    both = [by_class_size(workspace, number, progress, nearest_class=False) for number in evaluations]
    measured, other = both if _ratio(both[0]) >= _ratio(both[1]) else both[::-1]
    remarks, ours, theirs = list(measured.remarks), measured.classes, other.classes
    same = np.array_equal(ours.labels, theirs.labels)
    if measured.counted == other.counted == TRAINING and same and (ours.sizes != theirs.sizes).any():
        remarks.append(f"Run {other.run_id} was trained with other numbers of images of these classes.")
    if others := int((~np.isin(sample_ids, ours.sample_ids)).sum()):
        remarks.append(
            f"Queries that are no test images of run {measured.run_id}, as of other folds: {others:,}, left out."
        )
    return ComparedBySize(measured, tuple(paired_by_size(measured, sample_ids, first, second)), tuple(remarks))


def _ratio(measured: BySize) -> float:
    """The size of the largest class to that of the smallest, 1 or more."""
    sizes = measured.classes.sizes
    return float(sizes.max() / max(1, sizes.min())) if len(sizes) else 1.0


def compared_titles(compared: ComparedBySize, first: str = "First", second: str = "Second") -> tuple[str, ...]:
    """The titles of the columns of `compared_rows`, with the words for the first and the second run."""
    counted = COUNTED[compared.measured.counted].capitalize()
    return ("Group", counted, "Classes", f"{first} %", f"{second} %", "Δ points", "95%")


def compared_rows(compared: ComparedBySize) -> list[tuple[str, ...]]:
    """A row for each group under `compared_titles`, as texts: scores in percent, differences in points."""
    return [
        (
            row.title, row.size_words, f"{row.classes:,}", f"{100 * row.first:.1f}", f"{100 * row.second:.1f}",
            minus(signed(100 * row.difference.value, ".1f")), limits_words(row.difference),
        )
        for row in compared.rows
    ]  # fmt: skip


def limits_words(difference: Estimate) -> str:
    """The limits of a difference in points as "−1.2 to +0.4"; a dash as in `cells_of`."""
    if not difference.low < difference.high:
        return "–"
    return minus(f"{signed(100 * difference.low, '.1f')} to {signed(100 * difference.high, '.1f')}")


def differences_data(rows: Sequence[SizeDifference]) -> list[dict[str, Any]]:
    """Plain data for JSON, as `as_data`."""
    return [
        dict(
            finite(
                {
                    "group": row.title, "smallest": row.low, "largest": row.high, "classes": row.classes,
                    "first": row.first, "second": row.second, "difference": row.difference.value,
                    "low_95": row.difference.low, "high_95": row.difference.high,
                }
            )
        )
        for row in rows
    ]  # fmt: skip


SIZE_COLUMNS = (
    "group", "class_group", "counted", "smallest", "largest", "classes", "first", "second", "difference",
    "difference_low_95", "difference_high_95",
)  # fmt: skip


def size_rows(compared: Mapping[str, ComparedBySize]) -> list[list[Any]]:
    """Rows for CSV under SIZE_COLUMNS, in full precision: for each group of runs, by title, its groups of classes."""
    return [
        [
            title, row["group"], made.measured.counted,
            *(row[key] for key in ("smallest", "largest", "classes", "first", "second", "difference")),
            row["low_95"], row["high_95"],
        ]
        for title, made in compared.items()
        for row in differences_data(made.rows)
    ]  # fmt: skip
