"""Evaluations of a run: their metrics, queries and neighbours from the database, their arrays from the run's folder."""

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from math import isclose, nan
from pathlib import Path
from typing import Any

import numpy as np

from workbench import jobs
from workbench.events import ProbeEmbeddings, score_of
from workbench.names import visible_name
from workbench.problem import Problem
from workbench.workspace.contract import OpenWorkspace
from workbench.workspace.database import checksums
from workbench.workspace.database.columns import (
    FROM_A_COPY,
    LARGEST_INT32,
    MOST_LABELS,
    Unreadable,
    even,
)
from workbench.workspace.database.connection import Connection
from workbench.workspace.database.number_columns import read_columns
from workbench.workspace.database.packed import unpacked
from workbench.workspace.database.stored_metrics import ROUNDING, metrics_of, named
from workbench.workspace.measured import arrays
from workbench.workspace.rows import DISTANCES, Evaluation, Neighbour, Queries, Query, Run

EVALUATION_COLUMNS = "id, run_id, epoch, step, distance, metrics, created, score"
MOST_SAID = 3  # evaluations that one sentence names

QUERY_COLUMNS = {
    "places": ("place", np.int64), "sample_ids": ("sample_id", np.int64), "labels": ("label", np.int64),
    "ap": ("ifnull(ap, 'nan')", np.float32), "first_hit": ("first_hit", np.int64), "r": ("r", np.int64),
    "right": ('"right"', np.int64),
}  # fmt: skip


class NoEvaluation(Problem):
    """There is no evaluation of that number, perhaps no more: a run that works deletes those that it does not keep."""

    def __init__(self, evaluation_id: int, folder: Path) -> None:
        super().__init__(
            f"There is no evaluation {evaluation_id} in {folder}.",
            todo="If it was there before, its run does not keep it: choose another one.",
        )


@contextlib.contextmanager
def unless_deleted(workspace: OpenWorkspace, evaluation_id: int) -> Iterator[None]:
    """For a block that reads an evaluation: NoEvaluation for any Problem in it if the evaluation was deleted meanwhile.

    Its rows and files go one after the other, so that what is read between looks damaged.
    """
    try:
        yield
    except Problem:
        if not workspace.has_evaluation(evaluation_id):
            raise NoEvaluation(evaluation_id, workspace.path) from None
        raise


def as_metrics(text: str) -> dict[str, float]:
    """Metrics of one evaluation; empty if they cannot be read, which its run reports."""
    return _read_metrics(text)[0]


def _read_metrics(text: str) -> tuple[dict[str, float], str]:
    """Metrics, and what of them could not be read; empty for nothing."""
    try:
        metrics, wrong = metrics_of(text)
    except Unreadable as error:
        return {}, str(error)
    return metrics, named(wrong)


def read_evaluations(db: Connection, where: str, value: int) -> list[Evaluation]:
    """Evaluations by epoch; `where` is a column, "id" or "run_id", and `value` its number.

    One whose distance is none of DISTANCES is left out, which its run reports: nothing could be compared by it.
    """
    sql = f"select {EVALUATION_COLUMNS} from evaluations where {where} = ? order by epoch, id"
    return [_evaluation(*row) for row in db.execute(sql, (value,)) if row[4] in DISTANCES]


def _evaluation(
    number: int, run_id: int, epoch: int, step: int, distance: str, text: str, created: str, score: float | None
) -> Evaluation:
    metrics, unread = _read_metrics(text)
    by_metrics = score_of(metrics)
    if not unread and not (score is by_metrics is None or isclose(score or 0, by_metrics or 0, abs_tol=ROUNDING)):
        unread = f"the score by which the best one is chosen ({score} is not that of its metrics)"
    return Evaluation(number, run_id, epoch, step, distance, metrics, created, unread)


def unread_words(run: Run, evaluations: Iterable[Evaluation]) -> str:
    """A sentence about evaluations of a run that could not all be read; empty where all could.

    What is damaged is left out, so that another evaluation may be called the best.
    """
    damaged = [evaluation for evaluation in evaluations if evaluation.unread]
    if not damaged:
        return f"Run {run.id}: {run.unread}" if run.unread else ""
    said = "; ".join(f"of epoch {evaluation.epoch}, {evaluation.unread}" for evaluation in damaged[:MOST_SAID])
    more = f"; and of {len(damaged) - MOST_SAID:,} more" if len(damaged) > MOST_SAID else ""
    return (
        f"Run {run.id}: metrics could not be read, and are left out: {said}{more}. Another evaluation may be the best."
    )


def is_stored(db: Connection, evaluation_id: int) -> bool:
    """Whether there is a row of that number, which may not be readable."""
    return db.execute("select 1 from evaluations where id = ?", (evaluation_id,)).fetchone() is not None


def unreadable(evaluation_id: int) -> Problem:
    """What to say of an evaluation that is left out."""
    what = f"Evaluation {evaluation_id} could not be read: its distance is unknown."
    return Problem(what, kept="The rest of the run is kept.", todo=FROM_A_COPY)


def read_queries(db: Connection, evaluation_id: int) -> Queries:
    """All columns, in the order of the embeddings. Raises Problem."""
    columns = read_columns(db, "queries where evaluation_id = ?", evaluation_id, QUERY_COLUMNS, "sample_id")
    what = f"The queries of evaluation {evaluation_id}"
    even(what, columns)
    for name in ("first_hit", "r", "right"):
        if len(columns[name]) and not (columns[name].min() >= 0 and columns[name].max() <= LARGEST_INT32):
            wrong = f"{what} could not be read: {name} is out of range."
            raise Problem(wrong, kept="The rest is kept.", todo=FROM_A_COPY)
    if (np.abs(columns["ap"] - 0.5) > 0.5 + ROUNDING).any():  # NaN, of a sample that is no query, is none of them
        wrong = f"{what} could not be read: an average precision is not from 0 to 1."
        raise Problem(wrong, kept="The rest is kept.", todo=FROM_A_COPY)
    order = np.argsort(columns["places"])  # faster here than in SQL
    columns_in_order = Queries(
        sample_ids=columns["sample_ids"][order],
        labels=columns["labels"][order],
        ap=columns["ap"][order],
        first_hit=columns["first_hit"][order].astype(np.int32),
        r=columns["r"][order].astype(np.int32),
        right=columns["right"][order].astype(bool),
    )
    checksums.check_columns(db, evaluation_id, columns_in_order)
    return columns_in_order


def read_query(db: Connection, evaluation_id: int, sample_id: int) -> Query:
    """One query of an evaluation. Raises Problem if the sample is no query, or its row is damaged."""
    sql = "select label, class, path, ap, first_hit, r from query_rows where evaluation_id = ? and sample_id = ?"
    row = db.execute(sql, (evaluation_id, sample_id)).fetchone()
    if row is None:
        raise Problem(f"Sample {sample_id} is not a query of evaluation {evaluation_id}.")
    checksums.check_shown(db, evaluation_id, [sample_id])
    label, class_name, path, ap, first_hit, r = row
    return Query(sample_id, label, visible_name(class_name), path, nan if ap is None else ap, first_hit, r)


def read_neighbours(db: Connection, evaluation_id: int, sample_id: int) -> list[Neighbour]:
    """The stored neighbours of one query, best first."""
    row = db.execute(
        "select q.neighbours, q.similarities, q.label, r.dataset_id from queries q "
        "join evaluations e on e.id = q.evaluation_id join runs r on r.id = e.run_id "
        "where q.evaluation_id = ? and q.sample_id = ?",
        (evaluation_id, sample_id),
    ).fetchone()
    if row is None:
        raise Problem(f"Sample {sample_id} is not a query of evaluation {evaluation_id}.")
    checksums.check_queries(db, evaluation_id, [sample_id])
    what = f"The neighbours of sample {sample_id} could not be read."
    unread = Problem(what, kept="The others are kept.", todo=FROM_A_COPY)
    try:
        rows, similarities, label, dataset_id = unpacked(row[0]), unpacked(row[1]), row[2], row[3]
    except ValueError:
        raise unread from None
    samples = checksums.checked_samples(db, dataset_id, rows)
    by_row = {at: (number, its, visible_name(name)) for at, number, its, _, name, _ in samples}
    if len(rows) != len(similarities) or not by_row.keys() >= set(rows):
        raise unread
    return [
        Neighbour(rank, by_row[at][0], similarity / 10_000, by_row[at][1] == label, by_row[at][1], by_row[at][2])
        for rank, (at, similarity) in enumerate(zip(rows, similarities, strict=True), start=1)
    ]


def query_table(db: Connection, evaluation_id: int) -> list[list[Any]]:
    """All queries by sample id: sample id, path, class, average precision, first hit, R and right. Raises Problem."""
    checksums.check_shown(db, evaluation_id)
    sql = (
        'select sample_id, path, class, ap, first_hit, r, "right" from query_rows '
        "where evaluation_id = ? order by sample_id"
    )
    return [[*row[:2], visible_name(row[2]), *row[3:]] for row in db.execute(sql, (evaluation_id,))]


def count_and_sum(db: Connection, evaluation_id: int) -> tuple[int, int | None]:
    """How many queries an evaluation has, and the sum of their ids (modulo 2**31 - 1 each); None without any.

    Two test sets of one data set with the same count and sum have the same samples: ids are spread evenly.
    """
    sql = "select count(*), sum(sample_id % 2147483647) from queries where evaluation_id = ?"
    count, total = db.execute(sql, (evaluation_id,)).fetchone()
    return count, total


def extent(db: Connection, run_id: int) -> tuple[int, int | None]:
    """The number of evaluations of a run, and the highest of their ids."""
    count, last = db.execute("select count(*), max(id) from evaluations where run_id = ?", (run_id,)).fetchone()
    return count, last


def last_evaluation(db: Connection, run_id: int) -> int:
    """The id of a run's evaluation of the latest epoch. Raises Problem if it has none yet."""
    row = db.execute(
        "select id from evaluations where run_id = ? order by epoch desc, id desc limit 1", (run_id,)
    ).fetchone()
    if row is None:
        raise Problem(f"Run {run_id} has no evaluation yet.")
    return int(row[0])


def read_embeddings(workspace: OpenWorkspace, evaluation_id: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Sample ids [n] int64, labels [n] int64 and embeddings [n, d] float32 (a read-only memory map)."""
    path, _ = _artefact(workspace, evaluation_id, "embeddings_id") or (Path(), "")
    with unless_deleted(workspace, evaluation_id), jobs.meanwhile(lambda: arrays.hash_ahead(path)):
        columns = workspace.queries(evaluation_id)
    return columns.sample_ids, columns.labels, read_vectors(workspace, evaluation_id)


def read_vectors(workspace: OpenWorkspace, evaluation_id: int) -> np.ndarray:
    """The embeddings alone, [n, d] float32 (a read-only memory map). Raises Problem; NoEvaluation is one."""
    with unless_deleted(workspace, evaluation_id):
        stored = _artefact(workspace, evaluation_id, "embeddings_id")
        if stored is None:
            raise NoEvaluation(evaluation_id, workspace.path)
        vectors = arrays.read_array(*stored)
        with workspace.reading() as db:
            sql = "select count(*) from queries where evaluation_id = ?"
            count = db.execute(sql, (evaluation_id,)).fetchone()[0]
        width = max(1, vectors.size // max(1, count))
        return arrays.check_form(stored[0], vectors, (count, width), "embeddings")


def read_proxies(workspace: OpenWorkspace, evaluation_id: int) -> tuple[np.ndarray, np.ndarray] | None:
    """Class vectors at that evaluation: vectors [p, d] float32 and labels [p] int64; None for losses without."""
    stored = _artefact(workspace, evaluation_id, "proxies_id")
    if stored is None:
        return None
    labels, vectors = _with_vectors(workspace, evaluation_id, stored, ("labels",), "class vectors")
    arrays.check_range(stored[0], labels, -1, MOST_LABELS, "labels")
    return vectors, labels


def read_training(workspace: OpenWorkspace, evaluation_id: int) -> tuple[np.ndarray, np.ndarray] | None:
    """Sample ids [t] int64 and embeddings [t, d] float32 of the training set; None if they were not stored."""
    stored = _of_training_images(workspace, evaluation_id, "training")
    if stored is None:
        return None
    ids, vectors = _with_vectors(workspace, evaluation_id, stored, ("sample_ids",))
    return ids, vectors


def read_probe(workspace: OpenWorkspace, evaluation_id: int) -> ProbeEmbeddings | None:
    """The embeddings of the probe at an evaluation; None for a run without, or of before November 2026.

    Raises:
        Problem: the file is missing or damaged; NoEvaluation is one.
    """
    stored = _of_training_images(workspace, evaluation_id, "probe")
    if stored is None:
        return None
    ids, labels, vectors = _with_vectors(workspace, evaluation_id, stored, ("sample_ids", "labels"))
    arrays.check_range(stored[0], labels, 0, MOST_LABELS, "labels")
    return ProbeEmbeddings(ids, labels, vectors)


def _with_vectors(
    workspace: OpenWorkspace, evaluation_id: int, stored: tuple[Path, str], names: Sequence[str],
    what: str = "embeddings",
) -> list[np.ndarray]:  # fmt: skip
    """Arrays of whole numbers [m] of a file by name, then its vectors [m, d], as wide as the embeddings."""
    path, digest = stored
    with unless_deleted(workspace, evaluation_id):
        columns = arrays.read_arrays(path, (*names, "vectors"), digest)
        width = read_vectors(workspace, evaluation_id).shape[1]
    count = len(arrays.check_form(path, columns[names[0]], (None,), names[0].replace("_", " "), "iu"))
    numbers = [arrays.check_form(path, columns[name], (count,), name.replace("_", " "), "iu") for name in names]
    return [*numbers, arrays.check_form(path, columns["vectors"], (count, width), what)]


def _of_training_images(workspace: OpenWorkspace, evaluation_id: int, part: str) -> tuple[Path, str] | None:
    """The path and the hash of the file of one part of the training set at an evaluation."""
    sql = (
        "select a.run_id, a.path, a.blake2b from evaluations e join artefacts a on a.run_id = e.run_id "
        "and a.path = ? || '-' || e.epoch || '.npz' and a.step = e.step where e.id = ?"
    )
    with workspace.reading() as db:
        row = db.execute(sql, (part, evaluation_id)).fetchone()
    return None if row is None else (workspace.file(row[0], row[1]), row[2])


def _artefact(workspace: OpenWorkspace, evaluation_id: int, column: str) -> tuple[Path, str] | None:
    """The path of a file of an evaluation, and its hash."""
    sql = f'select a.run_id, a.path, a.blake2b from evaluations e join artefacts a on a.id = e."{column}"'
    with workspace.reading() as db:
        row = db.execute(f"{sql} where e.id = ?", (evaluation_id,)).fetchone()
    return None if row is None else (workspace.file(row[0], row[1]), row[2])
