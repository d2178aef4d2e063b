"""The listed queries of an evaluation in their order, held in memory: sorting and filtering read nothing."""

from dataclasses import dataclass

import numpy as np

from workbench.ui.pages.retrieval.filters import Filters
from workbench.workspace.rows import Queries

CLASS, AP, FIRST_HIT = range(1, 4)  # columns; column 0 is the picture


@dataclass(frozen=True, slots=True)
class ListedQuery:
    """One row of the list."""

    sample_id: int
    class_name: str
    ap: float  # NaN when the class has no other sample
    first_hit: int  # 0 when there is none
    r: int


class Listing:
    """Queries that pass the filters, the worst first unless another order is chosen."""

    def __init__(self) -> None:
        self._queries: Queries | None = None
        self._names: tuple[str, ...] = ()
        self._rows = np.empty(0, np.int64)  # of the queries, in the order listed
        self._sorted: tuple[int, bool, np.ndarray] | None = None  # column, direction, and rows of all queries
        self.column, self.descending = AP, False
        self.labels: list[int] = []  # that occur, before filtering
        self.sample_ids = np.empty(0, np.int64)  # as listed

    def show(self, queries: Queries | None, class_names: tuple[str, ...]) -> None:
        """Take the queries of another evaluation; `arrange` lists them."""
        self._queries, self._names, self._sorted = queries, class_names, None
        self.labels = [] if queries is None else np.unique(queries.labels).tolist()

    def arrange(self, filters: Filters) -> None:
        """List the queries that pass the filters, in the chosen order."""
        if self._queries is None:
            self._rows = self.sample_ids = np.empty(0, np.int64)
            return
        if self._sorted is None or self._sorted[:2] != (self.column, self.descending):
            self._sorted = (self.column, self.descending, self._order(self._queries))
        order = self._sorted[2]
        self._rows = order[filters.passing(self._queries)[order]]
        self.sample_ids = self._queries.sample_ids[self._rows]

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def total(self) -> int:
        """Queries of the evaluation, before filtering."""
        return 0 if self._queries is None else len(self._queries.sample_ids)

    @property
    def names(self) -> list[str]:
        """Names of the classes that occur, in the order of `labels`."""
        return [self.class_name(label) for label in self.labels]

    def class_name(self, label: int) -> str:
        """The name of a class; its number where there is none."""
        return self._names[label] if 0 <= label < len(self._names) else str(label)

    def sample_id(self, position: int) -> int | None:
        """The query at a position of the list, or None beyond its ends."""
        return int(self.sample_ids[position]) if 0 <= position < len(self) else None

    def position_of(self, sample_id: int | None) -> int:
        """Where a query is listed, or -1."""
        places = [] if sample_id is None else np.flatnonzero(self.sample_ids == sample_id).tolist()
        return places[0] if places else -1

    def query(self, position: int) -> ListedQuery:
        """The query at a position of the list, which must exist."""
        queries, row = self._queries, self._rows[position]
        assert queries is not None
        return ListedQuery(
            int(queries.sample_ids[row]), self.class_name(int(queries.labels[row])), float(queries.ap[row]),
            int(queries.first_hit[row]), int(queries.r[row]),
        )  # fmt: skip

    def _order(self, queries: Queries) -> np.ndarray:
        """Rows of all queries in the chosen order: those without a value last, of equals the lower id first."""
        values = {AP: queries.ap, FIRST_HIT: queries.first_hit}.get(self.column, queries.labels).astype(np.float64)
        unvalued = queries.r == 0 if self.column in (AP, FIRST_HIT) else np.zeros(len(values), bool)
        values = np.where(unvalued, 0, values)
        return np.lexsort((queries.sample_ids, -values if self.descending else values, unvalued))
