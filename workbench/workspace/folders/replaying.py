"""Turns lines of a journal and the arrays beside it into rows: for repairs, and for imported run folders."""

import contextlib
import json
import os
from collections.abc import Iterator
from math import nan
from pathlib import Path

import numpy as np

from workbench.events import Evaluated
from workbench.files.unreadable import NO_ARRAY
from workbench.problem import Problem
from workbench.workspace.database.connection import Connection, sqlite3
from workbench.workspace.folders import journal
from workbench.workspace.measured.arrays import read_array, read_arrays
from workbench.workspace.measured.stored_evaluation import COLUMNS, TABLES, Arrays, probe_path, store, training_path
from workbench.workspace.paths import regular

# Errors of damaged files. Errors of the new database (a full disk) are not among them and end the repair.
UNREADABLE = (*NO_ARRAY, Problem, sqlite3.IntegrityError, sqlite3.ProgrammingError, sqlite3.InterfaceError)


def replay_entry(db: Connection, run_id: int, entry: journal.Entry) -> None:
    """Store the rows of one line: points, charts, the run's columns and environment; nothing is stored twice.

    Of two points of a curve at one step the last stays.
    """
    ids: dict[str, int] = {}
    for name in dict.fromkeys(name for name, _, _ in entry.scalars):
        db.execute("insert or ignore into metrics (name) values (?)", (name,))
        ((ids[name],),) = db.execute("select id from metrics where name = ?", (name,)).fetchall()
    last = {(name, step): value for name, step, value in entry.scalars}
    points = [(run_id, ids[name], step, value) for (name, step), value in last.items()]
    at_step = "from scalar_points where run_id = ?1 and metric_id = ?2 and step = ?3"
    add = (
        f"insert into scalar_points (run_id, metric_id, step, value) select ?1, ?2, ?3, ?4 where not exists "
        f"(select 1 {at_step})"
    )
    if db.executemany(add, points).rowcount < len(points):
        db.executemany(f"delete {at_step} and value is not ?4", points)
        db.executemany(add, points)
    if entry.charts is not None:
        values = (run_id, entry.step, entry.charts)
        db.execute("insert or replace into charts (run_id, step, charts) values (?, ?, ?)", values)
    if entry.started is not None:
        db.execute("update runs set started = ifnull(started, ?) where id = ?", (entry.started, run_id))
    if entry.run is not None and entry.run.model_fields_set:
        known = entry.run.model_dump(exclude_unset=True)
        columns = ", ".join(f'"{column}" = ?' for column in known)  # of journal.RunColumns, whatever the file names
        db.execute(f"update runs set {columns} where id = ?", (*known.values(), run_id))
    if entry.environment is not None:
        db.execute("update runs set environment = ? where id = ?", (json.dumps(entry.environment), run_id))


def restore_evaluation(
    db: Connection, folder: Path, run_id: int, facts: journal.EvaluationFacts, missing: list[str]
) -> None:
    """Restore the rows of one evaluation from its arrays in the run's folder, if they are missing.

    Args:
        facts: hashes in them are those of the files: the caller has compared them.
        missing: gets a sentence on proxies that cannot be read.

    Raises:
        One of UNREADABLE: an array is missing, damaged or of another size.
    """
    epoch = facts.epoch
    same = "select 1 from evaluations where run_id = ? and epoch = ? and distance = ? and step = ?"
    if db.execute(same, (run_id, epoch, facts.distance, facts.step)).fetchone() is not None:
        return
    embeddings = regular(folder / f"embeddings-{epoch}.npy")
    columns = read_arrays(regular(folder / f"ranking-{epoch}.npz"), [*COLUMNS, *TABLES])
    vectors = read_array(embeddings)
    _check_lengths(columns, vectors)
    metrics = {name: nan if value is None else value for name, value in facts.metrics.items()}
    event = Evaluated(
        epoch, facts.step, facts.distance, metrics, columns["sample_ids"], columns["labels"], vectors, columns["ap"],
        columns["first_hit"], columns["r"], columns["neighbours"], columns["similarities"],
    )  # fmt: skip
    proxies, path = None, folder / f"proxies-{epoch}.npz"
    with part(db, f"the proxies of epoch {epoch}", missing):
        if regular(path).exists():
            kept = read_arrays(path, ["vectors", "labels"])
            if kept["vectors"].ndim != 2 or kept["labels"].shape != kept["vectors"].shape[:1]:
                raise ValueError("vectors and labels have other lengths")
            proxies = path
    beside = (training_path(folder, epoch), probe_path(folder, epoch))
    training, probe = (path if regular(path).exists() else None for path in beside)
    digests = {name: digest for name, (_, digest) in facts.files.items()}
    arrays = Arrays(embeddings, proxies, columns["neighbours"], columns["similarities"], training, probe, digests)
    store(db, folder, run_id, event, arrays)


def _check_lengths(columns: dict[str, np.ndarray], vectors: np.ndarray) -> None:
    """Raises ValueError, or KeyError, for arrays that do not belong to one evaluation."""
    n, k = len(columns["sample_ids"]), columns["neighbours"].shape[-1]
    shapes = {**dict.fromkeys(COLUMNS, (n,)), **dict.fromkeys(TABLES, (n, k))}
    for name, kinds in {**COLUMNS, **TABLES}.items():
        if columns[name].shape != shapes[name] or columns[name].dtype.kind not in kinds:
            raise ValueError(f"{name} has another length or type than its ranking")
    if vectors.ndim != 2 or len(vectors) != n or vectors.dtype != np.float32:
        raise ValueError("embeddings and ranking have other lengths")


@contextlib.contextmanager
def part(db: Connection, what: str, missing: list[str]) -> Iterator[None]:
    """A part of a run that is restored completely, or not at all and then named in `missing`."""
    db.execute("savepoint part")
    try:
        yield
    except UNREADABLE as error:
        db.execute("rollback to part")
        missing.append(f"{what} ({reason(error)})")
    db.execute("release part")


def reason(error: BaseException) -> str:
    """The error on one short line."""
    if isinstance(error, Problem):
        words = error.what
    elif isinstance(error, OSError):
        words = " ".join(filter(None, (error.strerror, error.filename and Path(os.fsdecode(error.filename)).name)))
    elif isinstance(error, KeyError):
        words = f"{error} is missing"
    else:
        words = str(error)
    line = shown((words or type(error).__name__).partition("\n")[0]).rstrip(".")
    return line if len(line) <= 160 else f"{line[:159]}…"


def shown(name: str) -> str:
    """An arbitrary file name in a form that is safe for a terminal and a database."""
    return name.encode("utf-8", "backslashreplace").decode()
