"""Checksums of rows: a flipped bit on the disk is noticed before the damaged value is shown.

Small tables have a column `checksum` (CRC-32 of the whole row as JSON). A trigger empties it whenever a row changes,
whatever program changes it, and Workspace.writing fills what is empty before it commits. Large tables have separate
checksums: one for each row of `queries` and `samples`, one for each curve of a run that has ended. Without a checksum
a row is not checked, as after a write by an older Workbench.
"""

import json
import zlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from workbench.progress import Progress, quiet
from workbench.workspace.database.columns import rows_as_one
from workbench.workspace.database.connection import Connection, file_of
from workbench.workspace.database.problems import Damaged
from workbench.workspace.rows import Queries

# The columns that name a row for the user, by table.
SEALED = {
    "runs": "id", "evaluations": "id", "datasets": "id", "projections": "id", "artefacts": "id", "experiments": "id",
    "metrics": "id", "selections": "id", "sweeps": "id", "sweep_trials": "id", "tags": "run_id, tag",
    "sample_tags": "dataset_id, tag, sample_id", "report_templates": "template", "charts": "run_id, step",
    "label_decisions": "dataset_id, sample_id", "saved_views": "name",
}  # fmt: skip
NEWER = ("label_decisions", "saved_views")  # made by later steps of the schema, which add the checksums themselves
LATER = ("charts",)  # large texts: checked when they are read
SUMS = np.dtype("<u4")
HEAD = np.dtype([
    ("sample_id", "<i8"), ("place", "<i8"), ("label", "<i8"), ("ap", "<f8"), ("first_hit", "<i8"), ("r", "<i8"),
    ("right", "<i8"),
])  # fmt: skip
AT_A_TIME = 2_000  # rows of samples that are read at a time
HEAD_COLUMNS = "sample_id, place, label, ifnull(ap, 'nan'), first_hit, r, \"right\""


def make_tables(db: Connection) -> None:
    """The columns, triggers and tables of checksums (step m011 of the schema)."""
    for table in SEALED:
        if table not in NEWER:
            make_sealed(db, table)
    db.execute("alter table evaluations add column ranking text")
    db.execute(
        "create table evaluation_sums (evaluation_id integer primary key references evaluations(id) on delete cascade, "
        "columns integer not null, rows blob not null) strict"
    )
    db.execute(
        "create table sample_sums (dataset_id integer primary key references datasets(id) on delete cascade, "
        "rows blob not null) strict"
    )
    db.execute(
        "create table curve_sums (run_id integer not null references runs(id) on delete cascade, "
        "metric_id integer not null references metrics(id), checksum integer not null, "
        "primary key (run_id, metric_id)) without rowid, strict"
    )
    for what, row in (("insert", "new"), ("update", "new"), ("delete", "old")):
        db.execute(
            f"create trigger curves_{what} after {what} on scalar_points begin delete from curve_sums "
            f"where run_id = {row}.run_id and metric_id = {row}.metric_id; end"
        )
        db.execute(
            f"create trigger samples_{what} after {what} on samples begin delete from sample_sums "
            f"where dataset_id = {row}.dataset_id; end"
        )
    db.execute(
        "create trigger queries_update after update on queries begin delete from evaluation_sums "
        "where evaluation_id = new.evaluation_id; end"
    )


def make_sealed(db: Connection, table: str) -> None:
    """The column, index and trigger of the checksums of one small table that is in SEALED."""
    db.execute(f"alter table {table} add column checksum integer")
    db.execute(f"create index {table}_unchecked on {table} ({SEALED[table]}) where checksum is null")
    same_row = " and ".join(f"{column} = new.{column}" for column in SEALED[table].split(", "))
    db.execute(
        f"create trigger {table}_changed after update on {table} "
        "when new.checksum is old.checksum and new.checksum is not null "
        f"begin update {table} set checksum = null where {same_row}; end"
    )


def seal(db: Connection) -> None:
    """Fill in the missing checksums of small tables; call it at the end of each transaction."""
    unchecked = " union all ".join(
        f"select '{table}' where exists (select 1 from {table} where checksum is null)" for table in sealed_tables(db)
    )
    for (table,) in db.execute(unchecked).fetchall():
        same_row = " and ".join(f"{column} = ?" for column in SEALED[table].split(", "))
        db.executemany(
            f"update {table} set checksum = ? where {same_row}",
            [(checksum, *key) for key, _, checksum in _rows(db, table, "where checksum is null")],
        )


def damaged_rows(
    db: Connection, tables: Iterable[str] | None = None, where: str = "", values: Any = (), progress: Progress = quiet
) -> list[str]:
    """Damaged rows of small tables (all but LATER), in words; `progress` is asked before each table."""
    damaged = list[str]()
    for table in sealed_tables(db):
        if table in tables if tables else table not in LATER:
            progress("Checking the workspace", 0, 0)
            damaged += [
                f"{table}, row {', '.join(str(part) for part in key)}"
                for key, stored, now in _rows(db, table, where or "where checksum is not null", values)
                if stored not in (None, now)
            ]
    return damaged


def check_small(db: Connection, progress: Progress = quiet) -> None:
    """Raises Damaged if a row of a small table is damaged; `progress` is asked between tables, may raise Cancelled."""
    if has_sums(db):
        _refuse(db, damaged_rows(db, progress=progress))


def check_charts(db: Connection, run_id: int, step: int) -> None:
    """Raises Damaged if the charts of a step are damaged."""
    _refuse(db, damaged_rows(db, ["charts"], "where run_id = ? and step = ?", (run_id, step)))


def _refuse(db: Connection, differences: list[str]) -> None:
    if differences:
        raise damaged(db, "; ".join(differences[:3]) + (" ..." if len(differences) > 3 else ""))


def has_sums(db: Connection) -> bool:
    """Whether step m011 of the schema was applied."""
    return db.execute("select 1 from sqlite_master where name = 'curve_sums'").fetchone() is not None


def damaged(db: Connection, what: str) -> Damaged:
    """The Problem that names what is damaged."""
    return Damaged(file_of(db), what)


def sealed_tables(db: Connection) -> list[str]:
    """The small tables that have checksums."""
    names = {name for (name,) in db.execute("select name from sqlite_master where type = 'index'")}
    return [table for table in SEALED if f"{table}_unchecked" in names]


def _rows(db: Connection, table: str, where: str, values: Any = ()) -> list[tuple[tuple[Any, ...], Any, int]]:
    """Key, stored checksum and present checksum of rows of a small table."""
    cursor = db.execute(f"select * from {table} {where}", values)
    names = [value[0] for value in cursor.description]
    at, places = names.index("checksum"), [names.index(column) for column in SEALED[table].split(", ")]
    # NULL adds nothing: a program with one more column computes the same checksum.
    encode = json.JSONEncoder(default=bytes.hex).encode
    return [
        (
            tuple(row[index] for index in places),
            row[at],
            zlib.crc32(encode([value for value in (*row[:at], *row[at + 1 :]) if value is not None]).encode()),
        )
        for row in cursor.fetchall()
    ]


# Evaluations


def query_sums(head: np.ndarray, neighbours: Sequence[bytes | str], similarities: Sequence[bytes | str]) -> np.ndarray:
    """CRC-32 [n] of whole rows of `queries`; `head` is HEAD [n], whose NaN become one; the other two are as stored."""
    ap = head["ap"]
    head["ap"] = np.where(np.isnan(ap), np.nan, ap)  # one bit pattern for all NaN
    whole, width, crc = head.tobytes(), HEAD.itemsize, zlib.crc32
    if len(neighbours) and isinstance(neighbours[0], str):
        neighbours, similarities = ([str(text).encode() for text in texts] for texts in (neighbours, similarities))
    heads = (whole[at : at + width] for at in range(0, len(whole), width))
    sums = map(crc, similarities, map(crc, neighbours, map(crc, heads)))  # type: ignore[arg-type]
    return np.fromiter(sums, SUMS, len(head))


def columns_sum(queries: Queries) -> int:
    """CRC-32 of all queries of an evaluation without their neighbours."""
    checksum = 0
    for column in (queries.sample_ids, queries.labels, queries.first_hit, queries.r, queries.right):
        checksum = zlib.crc32(np.ascontiguousarray(column, "<i8").data, checksum)  # bytes would be a copy, made with
    ap = np.where(np.isnan(queries.ap), np.nan, queries.ap).astype("<f4")  # the interpreter lock held
    return zlib.crc32(ap.data, checksum)


def store_sums(db: Connection, evaluation_id: int, columns: int, rows: np.ndarray) -> None:
    """Store the checksums of an evaluation's queries: one of all columns, and [n] of the rows by place."""
    sql = "insert or replace into evaluation_sums (evaluation_id, columns, rows) values (?, ?, ?)"
    db.execute(sql, (evaluation_id, columns, rows.astype(SUMS).tobytes()))


def check_columns(db: Connection, evaluation_id: int, queries: Queries) -> None:
    """Raises Damaged if these columns differ from the stored ones."""
    row = db.execute("select columns from evaluation_sums where evaluation_id = ?", (evaluation_id,)).fetchone()
    if row is not None and row[0] != columns_sum(queries):
        raise damaged(db, f"the queries of evaluation {evaluation_id}")


def check_queries(db: Connection, evaluation_id: int, sample_ids: Sequence[int] | None = None) -> None:
    """Raises Damaged if the scores or the neighbours of one of these queries (None: any) are damaged."""
    stored = db.execute("select rows from evaluation_sums where evaluation_id = ?", (evaluation_id,)).fetchone()
    if stored is None or (sample_ids is not None and not len(sample_ids)):
        return
    only = "" if sample_ids is None else "and sample_id in (select value from json_each(?))"
    places, sums = query_rows(db, evaluation_id, only, () if sample_ids is None else (json.dumps(list(sample_ids)),))
    _compare(db, stored[0], places, sums, sample_ids is None, f"of evaluation {evaluation_id}: queries")


def check_shown(db: Connection, evaluation_id: int, sample_ids: Sequence[int] | None = None) -> None:
    """Raises Damaged if one of these queries (None: any), or the name of its image, is damaged."""
    check_queries(db, evaluation_id, sample_ids)
    sql = "select r.dataset_id from evaluations e join runs r on r.id = e.run_id where e.id = ?"
    (dataset_id,) = db.execute(sql, (evaluation_id,)).fetchone() or (None,)
    if sample_ids is None:
        for _ in checked_parts(db, dataset_id):
            pass
    else:
        checked_samples(db, dataset_id, sample_ids, "id")


def query_rows(db: Connection, evaluation_id: int, only: str, values: tuple[Any, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Places [n] int64 of queries, ascending, and the checksums [n] of their current rows; `only` is SQL."""
    sql = f"select {HEAD_COLUMNS}, neighbours, similarities from queries where evaluation_id = ? {only} order by place"
    rows = db.execute(sql, (evaluation_id, *values)).fetchall()
    head = np.array([row[:7] for row in rows], HEAD) if rows else np.empty(0, HEAD)
    return head["place"].copy(), query_sums(head, [row[7] for row in rows], [row[8] for row in rows])


# Samples of data sets


def checked_samples(db: Connection, dataset_id: int | None, among: Sequence[int], column: str = '"row"') -> list[Any]:
    """Row, id, label, path, class and half of some samples (rows of the data set, or ids).

    They are fetched as one text, because every row waits for the interpreter lock beside a training thread, and in the
    order of an index, because SQLite would else read all samples.

    Raises:
        Damaged: one of them is damaged.
    """
    inner = f"select * from samples where dataset_id = ? and {column} in (select value from json_each(?))"
    fields = '"row", id, label, path, class, official'
    rows = rows_as_one(db, fields, f"({inner} order by {column})", (dataset_id, json.dumps(list(among))))
    stored = _sample_sums(db, dataset_id)
    if stored is not None:
        _compare(db, stored, *sums_of_samples(rows), False, f"of data set {dataset_id}: samples")
    return rows


def checked_parts(db: Connection, dataset_id: int | None) -> Iterator[list[Any]]:
    """As `sample_parts`. Raises Damaged after the last part if a sample is damaged."""
    stored, sums = _sample_sums(db, dataset_id), []
    for rows in sample_parts(db, dataset_id):
        if stored is not None:
            sums.append(sums_of_samples(rows))
        yield rows
    if stored is not None:
        _compare(db, stored, *joined_sums(sums), True, f"of data set {dataset_id}: samples")


def sample_parts(db: Connection, dataset_id: int | None) -> Iterator[list[Any]]:
    """Row, id, label, path, class and half of the samples of a data set, by row, AT_A_TIME in each list.

    A million rows at once are a million objects more for the garbage collector, and each step over all of them holds
    the interpreter lock.
    """
    sql = 'select "row", id, label, path, class, official from samples where dataset_id = ? order by "row"'
    cursor = db.execute(sql, (dataset_id,))
    while rows := cursor.fetchmany(AT_A_TIME):
        yield rows


def _sample_sums(db: Connection, dataset_id: int | None) -> Any:
    """The stored checksums of the samples of a data set; None without any."""
    row = db.execute("select rows from sample_sums where dataset_id = ?", (dataset_id,)).fetchone()
    return None if row is None else row[0]


def sums_of_samples(rows: list[Any]) -> tuple[np.ndarray, np.ndarray]:
    """Rows [n] int64 in the pixel cache of samples as `sample_parts` gives them, and their checksums [n]."""
    sums = (zlib.crc32("\0".join(map(str, row)).encode("utf-8", "surrogatepass")) for row in rows)
    return np.fromiter((row[0] for row in rows), np.int64, len(rows)), np.fromiter(sums, SUMS, len(rows))


def joined_sums(parts: Iterable[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    """Several results of `sums_of_samples` as one."""
    rows, sums = [np.empty(0, np.int64)], [np.empty(0, SUMS)]
    for part_rows, part_sums in parts:
        rows.append(part_rows)
        sums.append(part_sums)
    return np.concatenate(rows), np.concatenate(sums)


def _compare(db: Connection, stored: bytes, places: np.ndarray, sums: np.ndarray, every: bool, what: str) -> None:
    """Raises Damaged if checksums [m] differ from those stored for their places [m]."""
    if not isinstance(stored, bytes):
        raise damaged(db, f"{what}; their checksums")
    known = np.frombuffer(stored[: len(stored) // SUMS.itemsize * SUMS.itemsize], SUMS)
    if (every and len(known) != len(places)) or ((places < 0) | (places >= len(known))).any():
        raise damaged(db, f"{what}; their number")
    wrong = places[known[places] != sums]
    if len(wrong):
        raise damaged(db, f"{what} {', '.join(map(str, wrong[:5].tolist()))}" + (" ..." if len(wrong) > 5 else ""))


# Curves


def curve_sum(steps: np.ndarray, values: np.ndarray) -> int:
    """CRC-32 of one curve: steps [n] int64 and values [n] float64 in the order in which they are read."""
    whole = np.where(np.isnan(values), np.nan, values)
    return zlib.crc32(whole.astype("<f8").tobytes(), zlib.crc32(steps.astype("<i8").tobytes()))


def check_curve(db: Connection, run_id: int, name: str, steps: np.ndarray, values: np.ndarray) -> None:
    """Raises Damaged if this is not the curve that was stored."""
    sql = "select checksum from curve_sums where run_id = ? and metric_id = (select id from metrics where name = ?)"
    row = db.execute(sql, (run_id, name)).fetchone()
    if row is not None and row[0] != curve_sum(steps, values):
        raise damaged(db, f"the curve {name} of run {run_id}")


def check_names(db: Connection, run_id: int, names: Iterable[str]) -> None:
    """Raises Damaged if a stored curve is not among these."""
    sql = "select name from metrics where id in (select metric_id from curve_sums where run_id = ?)"
    lost = {name for (name,) in db.execute(sql, (run_id,))} - set(names)
    if lost:
        raise damaged(db, f"the curves {', '.join(sorted(lost))} of run {run_id}")
