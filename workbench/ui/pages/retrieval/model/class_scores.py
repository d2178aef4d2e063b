"""How well the queries of each class are answered: MAP@R and recall@1 by class, in an order, found by a search."""

from dataclasses import dataclass

import numpy as np

from workbench.names import numbers_in_order
from workbench.numerals import percentage
from workbench.workspace.rows import Queries

MAP_AT_R, RECALL_AT_1 = "MAP@R", "R@1"
MEASURES = (MAP_AT_R, RECALL_AT_1)
WORST, BEST, NAME = "worst", "best", "name"
ORDERS = {WORST: "Worst first", BEST: "Best first", NAME: "By name"}


@dataclass(frozen=True, slots=True, eq=False)
class ClassScores:
    """The classes of an evaluation, in the order of their labels.

    Attributes:
        labels: [g] int64 that occur, rising.
        names: of these classes.
        queries: [g] how many of each count: they have another image of their class.
        values: by each of MEASURES the mean [g] over those queries, 0..1; NaN for a class without any.
    """

    labels: np.ndarray
    names: tuple[str, ...]
    queries: np.ndarray
    values: dict[str, np.ndarray]


def class_scores(queries: Queries, class_names: tuple[str, ...]) -> ClassScores:
    """The scores of every class, made with one pass over the queries."""
    labels, of = np.unique(queries.labels, return_inverse=True)
    counted = (queries.r > 0) & np.isfinite(queries.ap)
    of = of[counted]
    counts = np.bincount(of, minlength=len(labels))
    sums = {
        MAP_AT_R: np.bincount(of, queries.ap[counted], len(labels)),
        RECALL_AT_1: np.bincount(of, queries.first_hit[counted] == 1, len(labels)),
    }
    with np.errstate(invalid="ignore"):
        means = {measure: total / counts for measure, total in sums.items()}
    known = len(class_names)
    names = tuple(class_names[label] if 0 <= label < known else str(label) for label in labels.tolist())
    return ClassScores(labels, names, counts, means)


class ClassListing:
    """Which classes are listed, and in which order: worst first unless another is chosen; without a value last."""

    def __init__(self) -> None:
        self.scores: ClassScores | None = None
        self.measure, self.order, self.search = MAP_AT_R, WORST, ""
        self.among: np.ndarray | None = None  # labels [m] of the only classes that are listed; None for all
        self.rows = np.empty(0, np.int64)  # of the scores, as listed
        self._words: list[str] | None = None  # names in the letters that are searched, once they are

    def show(self, scores: ClassScores | None) -> None:
        """List the classes of another evaluation, or none."""
        if scores is None or self.scores is None or scores.names != self.scores.names:
            self._words = None
        self.scores = scores
        self._arrange()

    def choose(self, *, measure: str | None = None, order: str | None = None, search: str | None = None) -> None:
        """List by another of MEASURES, in another of ORDERS, or only classes whose name holds every word."""
        self.measure, self.order = measure or self.measure, order or self.order
        self.search = self.search if search is None else search
        self._arrange()

    def keep_among(self, labels: np.ndarray | None) -> None:
        """List only classes with these labels [m]; None for all."""
        self.among = labels
        self._arrange()

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def total(self) -> int:
        """Classes of the evaluation, before the search."""
        return 0 if self.scores is None else len(self.scores.labels)

    def label(self, position: int) -> int:
        """The class at a position of the list, which must exist."""
        assert self.scores is not None
        return int(self.scores.labels[self.rows[position]])

    def position_of(self, label: int | None) -> int:
        """Where a class is listed, or -1."""
        if self.scores is None or label is None:
            return -1
        return next(iter(np.flatnonzero(self.scores.labels[self.rows] == label).tolist()), -1)

    @property
    def summary(self) -> str:
        """How many classes are listed, and the mean and the spread of all over classes; empty without any."""
        if self.scores is None or not self.total:
            return ""
        values = self.scores.values[self.measure]
        values = values[np.isfinite(values)]
        listed = f"{len(self):,} of {self.total:,} classes. " if len(self) < self.total else ""
        if not len(values):
            return f"{listed}No class has two images."
        mean, low, high = (percentage(float(value)) for value in (values.mean(), values.min(), values.max()))
        return f"{listed}Mean over classes {mean}, {low} to {high}"

    def _arrange(self) -> None:
        if self.scores is None:
            self.rows = np.empty(0, np.int64)
            return
        words = self.search.casefold().split()
        rows = np.arange(self.total)
        if words:
            rows = np.flatnonzero(np.array([all(word in name for word in words) for name in self._folded()], bool))
        if self.among is not None:
            rows = rows[np.isin(self.scores.labels[rows], self.among)]
        if self.order == NAME:
            names = self._folded()
            self.rows = np.array(
                sorted(rows.tolist(), key=lambda row: (numbers_in_order(names[row]), names[row])), np.int64
            )
            return
        values = self.scores.values[self.measure][rows]
        self.rows = rows[np.argsort(-values if self.order == BEST else values, kind="stable")]  # NaN is last in both

    def _folded(self) -> list[str]:
        """The names of all classes in the letters that are searched."""
        if self._words is None:
            self._words = [] if self.scores is None else [name.casefold() for name in self.scores.names]
        return self._words
