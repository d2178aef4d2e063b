"""The listed queries of an evaluation in their order, in memory, so that sorting and filtering read nothing."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from workbench.names import numbers_in_order
from workbench.ui.pages.retrieval.model.filters import Filters
from workbench.ui.state.selection.sample_rows import SampleRows
from workbench.workspace.rows import Queries

CLASS, AP, FIRST_HIT, GAIN = range(1, 5)  # columns; column 0 is the picture, GAIN what a method of search adds to AP
BLOCK = 10_000  # queries that are turned into rows at a time


@dataclass(frozen=True, slots=True)
class ListedQuery:
    """One row of the list."""

    sample_id: int
    class_name: str
    ap: float  # NaN if the class has no other sample
    first_hit: int  # rank, from 1; 0 if there is none
    r: int
    gain: float | None = None  # what a method of search adds to its AP; None where it did not search by it


@dataclass(frozen=True, slots=True, eq=False)
class Gains:
    """What a method of search adds to the AP of each query, and the orders of the queries by it."""

    values: np.ndarray  # [n] float64; NaN where it did not search by the query
    rows: dict[bool, np.ndarray]  # descending -> rows [n] int32 in that order, those without a value last


@dataclass(frozen=True, slots=True, eq=False)
class InOrder:
    """The orders of all queries of an evaluation, which do not depend on the filters."""

    labels: list[int]  # that occur, in the order of their names
    names: list[str]  # of these classes
    by_id: SampleRows  # rows of the queries
    rows: dict[tuple[int, bool], np.ndarray]  # column, descending -> rows [n] int32 in that order


def in_order(queries: Queries, class_names: tuple[str, ...]) -> InOrder:
    """Sort queries by each column: those without a value come last, and of equal ones the lower id comes first.

    It takes a second or two for a million queries, so it must not run on the window's thread.
    """
    sample_rows = SampleRows(queries.sample_ids)
    by_id = sample_rows.order
    lonely = (queries.r == 0)[by_id]
    rows = {}
    labels, of = np.unique(queries.labels, return_inverse=True)
    names = [_class_name(class_names, label) for label in labels.tolist()]
    order = sorted(range(len(names)), key=lambda at: numbers_in_order(names[at]))
    place = np.empty(len(order), np.int64)  # of each class among those that occur
    place[order] = np.arange(len(order))
    for column, values in ((CLASS, place[of]), (AP, queries.ap), (FIRST_HIT, queries.first_hit)):
        for descending in (False, True):
            keys = values[by_id].astype(np.float64)
            keys = -keys if descending else keys
            if column != CLASS:
                keys[lonely] = np.inf
            rows[column, descending] = by_id[np.argsort(keys, kind="stable")].astype(np.int32)
    return InOrder(labels[order].tolist(), [names[at] for at in order], sample_rows, rows)


def in_order_of_gains(values: np.ndarray, sorted_by: InOrder) -> Gains:
    """Sort the queries by what they gain [n], as `in_order` sorts; not on the window's thread."""
    by_id = sorted_by.by_id.order
    rows = {}
    for descending in (False, True):
        keys = (-values if descending else values)[by_id]
        rows[descending] = by_id[np.argsort(keys, kind="stable")].astype(np.int32)  # NaN is last
    return Gains(values, rows)


NOTHING = InOrder([], [], SampleRows(np.empty(0, np.int64)), {})


class Listing:
    """The queries that pass the filters, the worst first unless another order is chosen."""

    def __init__(self) -> None:
        self._queries: Queries | None = None
        self._names: tuple[str, ...] = ()
        self._rows: np.ndarray = np.empty(0, np.int32)  # rows of the listed queries, in their order
        self._in_order = NOTHING
        self._arranged: tuple[object, int, bool, np.ndarray] | None = None  # what `arrange` last listed
        self.gains: Gains | None = None  # by a method of search, where one is compared with
        self.column, self.descending = AP, False
        self.labels: list[int] = []  # that occur, before filtering
        self.sample_ids = np.empty(0, np.int64)  # as listed

    def show(self, queries: Queries | None, class_names: tuple[str, ...], sorted_by: InOrder | None = None) -> None:
        """Take the queries of another evaluation; `arrange` lists them.

        Args:
            sorted_by: the orders of these queries, if a thread has computed them.
        """
        self._queries, self._names, self.gains = queries, class_names, None
        self._in_order = sorted_by or (NOTHING if queries is None else in_order(queries, class_names))
        self.labels = self._in_order.labels

    def arrange(self, filters: Filters) -> None:
        """List the queries that pass the filters, in the chosen order; `sample_ids` stays where nothing has changed."""
        if self._queries is None:
            self._rows = self.sample_ids = np.empty(0, np.int64)
            self._arranged = None
            return
        passing = filters.passing(self._queries, self._in_order.by_id)
        if self._is_arranged(passing):
            return
        order = self._order()
        self._rows = order if passing.all() else order[passing[order]]
        self.sample_ids = self._queries.sample_ids[self._rows]
        self._arranged = (self._sorted_by, self.column, self.descending, passing)

    @property
    def _sorted_by(self) -> object:
        """What the order comes from."""
        return self.gains if self.column == GAIN and self.gains is not None else self._in_order

    def _order(self) -> np.ndarray:
        """Rows [n] of all queries in the chosen order; of gains that are not known, by AP from below."""
        if self.column != GAIN:
            return self._in_order.rows[self.column, self.descending]
        return self._in_order.rows[AP, False] if self.gains is None else self.gains.rows[self.descending]

    def _is_arranged(self, passing: np.ndarray) -> bool:
        """Whether these queries are listed already, in the chosen order."""
        if self._arranged is None:
            return False
        sorted_by, column, descending, listed = self._arranged
        same_order = sorted_by is self._sorted_by and (column, descending) == (self.column, self.descending)
        return same_order and np.array_equal(passing, listed)

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def total(self) -> int:
        """The number of queries of the evaluation, before filtering."""
        return 0 if self._queries is None else len(self._queries.sample_ids)

    @property
    def failures(self) -> int:
        """How many queries of the evaluation failed, before filtering."""
        return 0 if self._queries is None else int(np.count_nonzero(self._queries.first_hit > 1))

    @property
    def names(self) -> list[str]:
        """Names of the classes that occur, in the order of `labels`."""
        return self._in_order.names

    def class_name(self, label: int) -> str:
        """The name of a class, or its number if it has none."""
        return _class_name(self._names, label)

    def sample_id(self, position: int) -> int | None:
        """The query at a position of the list, or None beyond its ends."""
        return int(self.sample_ids[position]) if 0 <= position < len(self) else None

    def position_of(self, sample_id: int | None) -> int:
        """The position of a query in the list, or -1."""
        places = [] if sample_id is None else np.flatnonzero(self.sample_ids == sample_id).tolist()
        return places[0] if places else -1

    def query(self, position: int) -> ListedQuery:
        """The query at a position of the list, which must exist."""
        queries, row = self._queries, self._rows[position]
        assert queries is not None
        return ListedQuery(
            int(queries.sample_ids[row]), self.class_name(int(queries.labels[row])), float(queries.ap[row]),
            int(queries.first_hit[row]), int(queries.r[row]),
            None if self.gains is None else _number(float(self.gains.values[row])),
        )  # fmt: skip

    def all(self) -> Iterator[ListedQuery]:
        """The listed queries in their order. A thread may iterate over them while the list changes."""
        return _listed(self._queries, self._rows, self._names, self.gains) if self._queries is not None else iter(())


def _listed(queries: Queries, rows: np.ndarray, names: tuple[str, ...], gains: Gains | None) -> Iterator[ListedQuery]:
    for start in range(0, len(rows), BLOCK):
        part = rows[start : start + BLOCK]
        columns = (queries.sample_ids, queries.labels, queries.ap, queries.first_hit, queries.r)
        gained = np.full(len(part), np.nan) if gains is None else gains.values[part]
        lists = [*(column[part].tolist() for column in columns), gained.tolist()]
        for sample_id, label, ap, first_hit, r, gain in zip(*lists, strict=True):
            yield ListedQuery(sample_id, _class_name(names, label), ap, first_hit, r, _number(gain))


def _number(value: float) -> float | None:
    return value if value == value else None  # NaN


def _class_name(names: tuple[str, ...], label: int) -> str:
    return names[label] if 0 <= label < len(names) else str(label)
