"""The ranking of one evaluation as arrays, from the file beside the run: a database row for each query is slow."""

from contextlib import closing
from dataclasses import dataclass

import numpy as np

from workbench.problem import Problem
from workbench.workspace.contract import OpenWorkspace
from workbench.workspace.database.columns import LARGEST_INT32, MOST_LABELS, even
from workbench.workspace.database.connection import DatabaseError
from workbench.workspace.database.number_columns import read_columns
from workbench.workspace.database.problems import explain
from workbench.workspace.measured.arrays import check_form, check_range, read_arrays
from workbench.workspace.measured.evaluations import unless_deleted
from workbench.workspace.measured.stored_evaluation import COLUMNS, SIMILARITY_UNIT, TABLES

RANGES = {"labels": (-1, MOST_LABELS), "first_hit": (0, LARGEST_INT32), "r": (0, LARGEST_INT32)}


@dataclass(frozen=True, slots=True, eq=False)
class Ranking:
    """Every row is a sample of the test set, in the order of its embeddings."""

    sample_ids: np.ndarray  # [n] int64
    labels: np.ndarray  # [n] int64
    first_hit: np.ndarray  # [n] int32, rank of the first true neighbour; 0 if r is 0
    r: np.ndarray  # [n] int32
    neighbours: np.ndarray  # [n, k] int32 rows of these arrays, best first


def read_ranking(workspace: OpenWorkspace, evaluation_id: int) -> Ranking:
    """The whole ranking. Raises Problem when its file is missing, damaged or of other samples."""
    columns = _columns(workspace, evaluation_id, ("sample_ids", "labels", "first_hit", "r", "neighbours"))
    with unless_deleted(workspace, evaluation_id):
        row_to_query = _places(workspace, evaluation_id, columns["sample_ids"])
    rows = columns["neighbours"]
    outside = rows.size and (rows.min() < 0 or rows.max() >= len(row_to_query))
    if outside or ((neighbours := row_to_query[rows]) < 0).any():
        raise Problem(f"The ranking of evaluation {evaluation_id} names samples that the evaluation has not.")
    return Ranking(columns["sample_ids"], columns["labels"], columns["first_hit"], columns["r"], neighbours)


def read_first_hits(workspace: OpenWorkspace, evaluation_id: int) -> tuple[np.ndarray, np.ndarray]:
    """Sample ids [n] int64 and ranks [n] int32 of their first true neighbours. Raises as `read_ranking`."""
    columns = _columns(workspace, evaluation_id, ("sample_ids", "first_hit"))
    return columns["sample_ids"], columns["first_hit"]


def read_scores(workspace: OpenWorkspace, evaluation_id: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Sample ids, ranks of their first true neighbours and AP (NaN without one), each [n]. Raises as `read_ranking`."""
    columns = _columns(workspace, evaluation_id, ("sample_ids", "first_hit", "ap"))
    return columns["sample_ids"], columns["first_hit"], columns["ap"]


def read_r(workspace: OpenWorkspace, evaluation_id: int) -> np.ndarray:
    """Number r [n] int32 of true neighbours of each sample, 0 for what is no query. Raises as `read_ranking`."""
    return _columns(workspace, evaluation_id, ("r",))["r"]


def read_labels(workspace: OpenWorkspace, evaluation_id: int) -> np.ndarray:
    """Labels [n] int64 in the order of the embeddings. Raises as `read_ranking`."""
    return _columns(workspace, evaluation_id, ("labels",))["labels"]


def read_similarities(workspace: OpenWorkspace, evaluation_id: int) -> tuple[np.ndarray, np.ndarray]:
    """Sample ids [n] int64 and similarities [n, k] float64 of their neighbours, best first; raises Problem."""
    columns = _columns(workspace, evaluation_id, ("sample_ids", "similarities"))
    return columns["sample_ids"], columns["similarities"] / SIMILARITY_UNIT


def read_nearest_similarities(workspace: OpenWorkspace, evaluation_id: int) -> tuple[np.ndarray, np.ndarray]:
    """Sample ids [n] int64 and similarity [n] float64 of the nearest neighbour of each, NaN without one.

    Raises as `read_ranking`.
    """
    columns = _columns(workspace, evaluation_id, ("sample_ids", "similarities"))
    stored = columns["similarities"]
    nearest = stored[:, 0] / SIMILARITY_UNIT if stored.shape[1] else np.full(len(stored), np.nan)
    return columns["sample_ids"], nearest


def _columns(workspace: OpenWorkspace, evaluation_id: int, names: tuple[str, ...]) -> dict[str, np.ndarray]:
    evaluation = workspace.evaluation(evaluation_id)
    path = workspace.file(evaluation.run_id, f"ranking-{evaluation.epoch}.npz")
    sql = "select ranking, (select count(*) from queries where evaluation_id = e.id) from evaluations e where id = ?"
    with unless_deleted(workspace, evaluation_id):
        with workspace.reading() as db:
            stored, count = db.execute(sql, (evaluation_id,)).fetchone() or ("", 0)  # deleted since
        columns = read_arrays(path, names, stored)
        for name, column in columns.items():
            if name in TABLES:
                check_form(path, column, (count, None), name, TABLES[name])
            else:
                check_form(path, column, (count,), name, COLUMNS[name])
            if name in RANGES:
                check_range(path, column, *RANGES[name], name)
        return columns


def _places(workspace: OpenWorkspace, evaluation_id: int, sample_ids: np.ndarray) -> np.ndarray:
    """For every row of the data set the place [rows] int32 of its sample among these ids, or -1."""
    samples = (
        "samples where dataset_id = (select r.dataset_id from evaluations e join runs r on r.id = e.run_id "
        "where e.id = ?)"
    )
    fields = {"rows": ('"row"', np.int64), "ids": ("id", np.int64)}
    try:
        with closing(workspace.reader()) as db:
            columns = read_columns(db, samples, evaluation_id, fields, '"row"')
    except DatabaseError as error:
        raise explain(error, workspace.database) from None
    even("The samples of the data set", columns)
    rows, ids = columns["rows"], columns["ids"]
    order = np.argsort(ids)
    places = order[np.searchsorted(ids[order[:-1]], sample_ids)] if len(ids) else np.empty(0, np.int64)
    if not np.array_equal(ids[places], sample_ids):  # np.isin holds the interpreter lock for as long as it takes
        raise Problem(f"The ranking of evaluation {evaluation_id} names samples that its data set has not.")
    row_to_query = np.full(int(rows.max()) + 1 if len(rows) else 0, -1, np.int32)
    row_to_query[rows[places]] = np.arange(len(sample_ids))
    return row_to_query
