"""Rows out of the database: every question about runs that the window, the CLI and the reports ask."""

import json
from collections.abc import Sequence
from math import nan
from pathlib import Path
from typing import Any

import numpy as np

from workbench.problem import Problem
from workbench.workspace import checksums
from workbench.workspace.columns import (
    LARGEST_INT32,
    Unreadable,
    checked_row,
    environment_of,
    even,
    metrics_of,
    parsed,
    texts_of,
    told_of,
)
from workbench.workspace.connection import Connection
from workbench.workspace.packed import unpacked
from workbench.workspace.paths import pixel_cache
from workbench.workspace.rows import Dataset, Evaluation, Neighbour, Projection, Queries, Query, Run, Samples

RUN_COLUMNS = (
    "id, name, status, problem, phase, created, ended, seed, config, dataset_id, dataset, loss, backbone, done, total, "
    "epoch, epochs, images_per_second, memory_bytes, seconds_left, seconds, colour, note, pid, host, environment, "
    "trashed, experiment_id"
)


def runs(db: Connection, where: str, values: tuple[Any, ...]) -> list[Run]:
    """Runs with their tags and the metrics of their best (highest MAP@R) and last evaluation, newest first."""
    names = RUN_COLUMNS.split(", ")
    found = [
        dict(zip(names, row, strict=True))
        for row in db.execute(f"select {RUN_COLUMNS} from runs where {where} order by id desc", values)
    ]
    tags: dict[int, list[str]] = {}
    for run_id, tag in db.execute("select run_id, tag from tags order by tag"):
        tags.setdefault(run_id, []).append(tag)
    best, last = _best_and_last(db)
    return [_run(row, tuple(tags.get(row["id"], ())), best.get(row["id"]), last.get(row["id"])) for row in found]


def _run(row: dict[str, Any], tags: tuple[str, ...], best: tuple[str, int] | None, last: str | None) -> Run:
    """One run; what of its row cannot be read is told in `unread`."""
    facts = {name: value for name, value in row.items() if name != "environment"}
    facts, doubts = checked_row(Run, facts)
    environment, missing = environment_of(row["environment"])
    doubts += missing
    metrics: list[dict[str, float]] = []
    for text in (None if best is None else best[0], last):
        try:
            metrics.append({} if text is None else metrics_of(text))
        except Unreadable as error:
            metrics.append({})
            doubts.append(f"the metrics of an evaluation ({error})")
    return Run(
        **facts, environment=environment, tags=tags, best=metrics[0], best_epoch=0 if best is None else best[1],
        last=metrics[1], unread=told_of(doubts),
    )  # fmt: skip


def _best_and_last(db: Connection) -> tuple[dict[int, tuple[str, int]], dict[int, str]]:
    """By run the metrics and the epoch of the best evaluation, and the metrics of the last one; as JSON."""
    # SQLite fills bare columns from the row that holds the maximum.
    best = db.execute("select run_id, max(ifnull(score, -1)), metrics, epoch from evaluations group by run_id")
    last = db.execute("select run_id, max(id), metrics from evaluations group by run_id")
    return {row[0]: (row[2], row[3]) for row in best}, {row[0]: row[2] for row in last}


def as_metrics(text: str) -> dict[str, float]:
    """Metrics of one evaluation; none where they cannot be read, which its run tells of."""
    try:
        return metrics_of(text)
    except Unreadable:
        return {}


def scalar_names(db: Connection, run_id: int) -> list[str]:
    # A look into the index for each name: all points of a long run would take 16 ms.
    sql = (
        "select name from metrics where exists "
        "(select 1 from scalar_points where run_id = ? and metric_id = metrics.id limit 1)"
    )
    names = sorted(name for (name,) in db.execute(sql, (run_id,)))
    checksums.check_names(db, run_id, names)
    return names


def scalars(db: Connection, run_id: int, name: str) -> tuple[np.ndarray, np.ndarray]:
    sql = (
        "select step, value from scalar_points where run_id = ? "
        "and metric_id = (select id from metrics where name = ?) order by step, seq"
    )
    rows = db.execute(sql, (run_id, name)).fetchall()
    steps = np.fromiter((step for step, _ in rows), np.int64, len(rows))
    values = np.fromiter((nan if value is None else value for _, value in rows), np.float64, len(rows))
    checksums.check_curve(db, run_id, name, steps, values)
    return steps, values


# From a point to the first one that is `stride` steps or more behind it: each hop is a look into the index, so that
# what lies between is never read. One row of texts, as in `queries`.
THINNED = """
with recursive hop(step, value) as (
  select * from (select step, value from scalar_points where run_id = :run and metric_id = :metric
    order by step, seq limit 1)
  union all
  select p.step, p.value from hop join scalar_points p on p.seq = (
    select q.seq from scalar_points q where q.run_id = :run and q.metric_id = :metric and q.step >= hop.step + :stride
    order by q.step, q.seq limit 1))
select group_concat(step), group_concat(case when value is null then 'nan' else format('%!.17g', value) end) from hop
"""
EXTENT = """
select (select min(step) from scalar_points where run_id = :run and metric_id = :metric),
  (select max(step) from scalar_points where run_id = :run and metric_id = :metric),
  (select count(*) from (select 1 from scalar_points where run_id = :run and metric_id = :metric limit :most + 1))
"""


def thinned_scalars(db: Connection, run_id: int, name: str, most: int) -> tuple[np.ndarray, np.ndarray, int]:
    """At most `most` points of a curve, evenly along its steps, without reading the others.

    Returns:
        steps: int64 [m], rising.
        values: float64 [m], with NaN and infinity as they are stored.
        stride: steps from a point to the next at least; 1 where every step that has a point is there.
    """
    row = db.execute("select id from metrics where name = ?", (name,)).fetchone()
    asked = {"run": run_id, "metric": None if row is None else row[0]}
    first, last, count = db.execute(EXTENT, asked | {"most": most}).fetchone()
    stride = 1 if count <= most else -(-(last - first + 1) // most)
    steps, values = db.execute(THINNED, asked | {"stride": stride}).fetchone()
    found = _numbers(steps, np.int64)
    order = np.argsort(found, kind="stable")  # SQL promises none
    return found[order], _numbers(values, np.float64)[order], stride


def scalars_of_runs(db: Connection, run_ids: Sequence[int]) -> list[str]:
    """Names of the scalars that any of the runs has."""
    # One look into the index for each run and name; with `run_id in (...)` SQLite reads every point.
    sql = (
        "select distinct m.name from json_each(?) r cross join metrics m where exists "
        "(select 1 from scalar_points p where p.run_id = r.value and p.metric_id = m.id) order by m.name"
    )
    return [name for (name,) in db.execute(sql, (json.dumps(list(run_ids)),))]


def runs_with_scalar(db: Connection, run_ids: Sequence[int], name: str) -> set[int]:
    """Those of the runs that have a point of the scalar."""
    sql = (
        "select r.value from json_each(?) r where exists (select 1 from scalar_points p "
        "where p.run_id = r.value and p.metric_id = (select id from metrics where name = ?))"
    )
    return {run_id for (run_id,) in db.execute(sql, (json.dumps(list(run_ids)), name))}


EVALUATION_COLUMNS = "id, run_id, epoch, step, distance, metrics, created"


def evaluations(db: Connection, where: str, value: int) -> list[Evaluation]:
    sql = f"select {EVALUATION_COLUMNS} from evaluations where {where} = ? order by epoch, id"
    return [
        Evaluation(row[0], row[1], row[2], row[3], row[4], as_metrics(row[5]), row[6])
        for row in db.execute(sql, (value,))
    ]


def queries(db: Connection, evaluation_id: int) -> Queries:
    """All columns in one row of texts: each row fetched would be a wait for the interpreter. Raises Problem."""
    fields = ("place", "sample_id", "label", "ifnull(ap, 'nan')", "first_hit", "r", '"right"')
    sql = f"select {', '.join(f'group_concat({field})' for field in fields)} from queries where evaluation_id = ?"
    texts = dict(zip(QUERY_COLUMNS, db.execute(sql, (evaluation_id,)).fetchone(), strict=True))
    columns = {name: _numbers(text, np.float32 if name == "ap" else np.int64) for name, text in texts.items()}
    what = f"The queries of evaluation {evaluation_id}"
    even(what, columns)
    for name in ("first_hit", "r", "right"):
        if len(columns[name]) and not (columns[name].min() >= 0 and columns[name].max() <= LARGEST_INT32):
            raise Problem(f"{what} could not be read: {name} is out of range.", kept="The rest is kept.")
    order = np.argsort(columns["places"])  # sooner done here than in SQL
    found = Queries(
        sample_ids=columns["sample_ids"][order],
        labels=columns["labels"][order],
        ap=columns["ap"][order],
        first_hit=columns["first_hit"][order].astype(np.int32),
        r=columns["r"][order].astype(np.int32),
        right=columns["right"][order].astype(bool),
    )
    checksums.check_columns(db, evaluation_id, found)
    return found


QUERY_COLUMNS = ("places", "sample_ids", "labels", "ap", "first_hit", "r", "right")


def _numbers(text: str | None, dtype: type) -> np.ndarray:
    """Numbers with commas between them, read without an object for each; none for NULL."""
    return np.fromstring(text or "", dtype, sep=",")


def query(db: Connection, evaluation_id: int, sample_id: int) -> Query:
    sql = "select label, class, path, ap, first_hit, r from query_rows where evaluation_id = ? and sample_id = ?"
    row = db.execute(sql, (evaluation_id, sample_id)).fetchone()
    if row is None:
        raise Problem(f"Sample {sample_id} is not a query of evaluation {evaluation_id}.")
    checksums.check_shown(db, evaluation_id, [sample_id])
    label, class_name, path, ap, first_hit, r = row
    return Query(sample_id, label, class_name, path, nan if ap is None else ap, first_hit, r)


def neighbours(db: Connection, evaluation_id: int, sample_id: int) -> list[Neighbour]:
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
    unread = Problem(f"The neighbours of sample {sample_id} could not be read.", kept="The others are kept.")
    try:
        rows, similarities, label, dataset_id = unpacked(row[0]), unpacked(row[1]), row[2], row[3]
    except ValueError:
        raise unread from None
    samples = checksums.checked_samples(db, dataset_id, rows)
    found = {at: (number, its, name) for at, number, its, _, name, _ in samples}
    if len(rows) != len(similarities) or not found.keys() >= set(rows):
        raise unread
    return [
        Neighbour(rank, found[at][0], similarity / 10_000, found[at][1] == label, found[at][1], found[at][2])
        for rank, (at, similarity) in enumerate(zip(rows, similarities, strict=True), start=1)
    ]


def dataset(db: Connection, dataset_id: int, near: Path) -> Dataset:
    """One data set; `near` is the workspace's folder, where its pixel cache may be. Raises Problem."""
    names = ("id", "name", "root", "fingerprint", "class_names", "pixels", "image_size", "channels")
    row = db.execute(f"select {', '.join(names)} from datasets where id = ?", (dataset_id,)).fetchone()
    if row is None:
        raise Problem(f"There is no data set {dataset_id} in this workspace.")
    facts = dict(zip(names, row, strict=True))
    try:
        facts["class_names"] = texts_of(facts["class_names"])
    except Unreadable as error:
        raise Problem(
            f"The names of the classes of data set {dataset_id} could not be read ({error}).",
            kept="The runs are kept.",
        ) from None
    facts["pixels"] = pixel_cache(str(facts["pixels"]), near) if facts["pixels"] else None
    return Dataset(**facts)


def samples(db: Connection, dataset_id: int) -> Samples:
    """All samples by row. Raises Problem."""
    found = checksums.sample_rows(db, dataset_id)
    checksums.check_sample_rows(db, dataset_id, found)
    columns = list(zip(*found, strict=True)) or [()] * 6
    try:
        rows, ids, labels = (np.array(column, np.int64) for column in columns[:3])
    except (TypeError, ValueError, OverflowError):
        raise Problem(f"The samples of data set {dataset_id} could not be read.", kept="The runs are kept.") from None
    even(f"Data set {dataset_id}", {"ids": ids, "rows": rows, "labels": labels})
    return Samples(ids=ids, rows=rows, labels=labels, paths=list(columns[3]), official=list(columns[5]))


def projections(db: Connection, evaluation_id: int) -> list[Projection]:
    return projections_where(db, "evaluation_id = ?", (evaluation_id,))


def projections_where(db: Connection, where: str, values: tuple[Any, ...]) -> list[Projection]:
    """Maps in the order in which they were made."""
    # One text for all: every row is a wait for the interpreter beside a training thread.
    sql = (
        "select json_group_array(json_array(id, evaluation_id, method, params, seed, trustworthiness, versions, "
        "created, continuity, trust_queries, start_id, kept_id is not null, doubts)) "
        f"from (select * from projections where {where} order by id)"
    )
    ((text,),) = db.execute(sql, values).fetchall()
    return [_projection(row) for row in json.loads(text)]


def _projection(row: list[Any]) -> Projection:
    """One map; one whose settings cannot be read is named so, and is nobody's start or continuation."""
    method, params, versions, doubts = row[2], {}, {}, ()
    try:
        params, versions, doubts = parsed(row[3], dict), parsed(row[6], dict), tuple(parsed(row[12], list))
    except Unreadable as error:
        method = f"{method} (its settings could not be read: {error})"
    return Projection(
        id=row[0], evaluation_id=row[1], method=method, params=params, seed=row[4], trustworthiness=row[5],
        versions=versions, created=row[7], continuity=row[8], trust_queries=row[9], start_id=row[10],
        kept=bool(row[11]), doubts=doubts,
    )  # fmt: skip
