"""The value of one metric for each query of an evaluation, by sample id."""

from dataclasses import dataclass

import numpy as np

from workbench.workspace.database.connection import Connection
from workbench.workspace.measured import evaluations
from workbench.workspace.rows import Evaluation, Run
from workbench.workspace.tables import samples

QUERY = "query"  # the word of a data set's official list


@dataclass(frozen=True, slots=True, eq=False)
class QueryValues:
    """Columns in the order of the evaluation; queries without another sample of their class are left out."""

    sample_ids: np.ndarray  # [n] int64, unique
    values: np.ndarray  # [n] float64

    def common(self, other: "QueryValues") -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The queries that both have, by rising sample id: ids [m], own values [m], the other's values [m]."""
        ids, mine, theirs = np.intersect1d(self.sample_ids, other.sample_ids, assume_unique=True, return_indices=True)
        return ids, self.values[mine], other.values[theirs]


def has_query_values(metric: str) -> bool:
    """Whether the workspace stores what the metric is for one query: MAP@R, P@1 and recall@k."""
    return metric in ("MAP@R", "P@1") or metric.startswith("recall@")


def read_query_values(db: Connection, run: Run, evaluation: Evaluation, metric: str) -> QueryValues:
    """Average precision for MAP@R; 1 or 0 for recall@k, as a query is found among its k nearest.

    Where the split has a gallery, only its queries count, as in the metric itself.

    Raises:
        ValueError: a metric without values of queries.
    """
    if not has_query_values(metric):
        raise ValueError(metric)
    queries = evaluations.read_queries(db, evaluation.id)
    if metric == "MAP@R":
        values = queries.ap.astype(np.float64)
    else:
        k = 1 if metric == "P@1" else int(metric.partition("@")[2])
        values = ((queries.first_hit > 0) & (queries.first_hit <= k)).astype(np.float64)
    counted = (queries.r > 0) & np.isfinite(values)
    if run.dataset_id is not None and int(counted.sum()) != evaluation.metrics.get("queries", counted.sum()):
        stored = samples.read_samples(db, run.dataset_id)
        official = dict(zip(stored.ids.tolist(), stored.official, strict=True))
        counted &= np.array([official.get(sample_id) == QUERY for sample_id in queries.sample_ids.tolist()], bool)
    return QueryValues(queries.sample_ids[counted], values[counted])
