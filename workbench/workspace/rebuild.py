"""Runs brought back from their folders: journal, data set, embeddings and rankings are all there."""

import contextlib
import json
import os
import tomllib
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from math import nan
from pathlib import Path

import numpy as np

from workbench.config import RunConfig
from workbench.events import CHECKPOINTS, LIVE, Evaluated
from workbench.files.unreadable import NO_ARRAY
from workbench.problem import Problem
from workbench.workspace import journal, sealing
from workbench.workspace.artefacts import add_artefact
from workbench.workspace.behind import HAS_POINT, behind_journal
from workbench.workspace.connection import Connection, sqlite3
from workbench.workspace.dataset_copy import restore_dataset, restore_experiment
from workbench.workspace.paths import regular
from workbench.workspace.recorder import REPAIRED
from workbench.workspace.run_folders import run_number, without_row
from workbench.workspace.stored_evaluation import Arrays, store
from workbench.workspace.times import now
from workbench.workspace.workspace import Workspace

LARGEST_CONFIG = 1 << 20  # bytes
COLUMNS = {"sample_ids": "iu", "labels": "iu", "ap": "f", "first_hit": "iu", "r": "iu"}  # of a ranking: [n] and kinds
TABLES = {"neighbours": "iu", "similarities": "iu"}  # [n, k]
UNTOLD = "Brought back by a repair; its journal does not say how it ended."
# What damaged files raise. What the new database raises (a full disk) is none of them and ends the repair.
UNREADABLE = (*NO_ARRAY, Problem, sqlite3.IntegrityError, sqlite3.ProgrammingError, sqlite3.InterfaceError)


@dataclass(slots=True)
class Rebuilt:
    """What came back, and what did not."""

    back: list[int] = field(default_factory=list)
    completed: list[int] = field(default_factory=list)  # had a row, with less than their journal says
    left: dict[str, str] = field(default_factory=dict)  # name of a folder that is no run of the workspace, and why
    missing: dict[int, list[str]] = field(default_factory=dict)  # of runs that came back in part

    def __str__(self) -> str:
        parts = [f"{len(self.back)} runs came back with their curves and evaluations."]
        if self.completed:
            parts.append(f"Completed from their journals: runs {', '.join(map(str, self.completed))}.")
        parts += [f"Of run {run_id} is missing: {'; '.join(what)}." for run_id, what in self.missing.items()]
        parts += [
            f"runs/{name} could not be brought back and is left as it is: {why}." for name, why in self.left.items()
        ]
        return " ".join(parts)


def rebuild(workspace: Workspace, runs: Path | None = None) -> Rebuilt:
    """Bring back every run of `runs`, by default the workspace's folder of that name, that has no row, or a part of it.

    Each is a transaction of its own. What cannot be read is left out and named; no file is changed.
    Tags, colours and new names live in the database alone (see salvage.py).

    Raises:
        Problem: the database cannot be written.
    """
    rebuilt, runs = Rebuilt(), runs or workspace.path / "runs"
    with workspace.reading() as db:
        names = without_row(db, runs)
    for name in names:
        try:
            run_id, config, text = readable(runs / name)
        except UNREADABLE as error:
            rebuilt.left[shown(name)] = reason(error)
            continue
        with workspace.writing() as db:
            missing = _run(db, runs / name, run_id, config, text)
        rebuilt.back.append(run_id)
        if missing:
            rebuilt.missing[run_id] = missing
    with workspace.reading() as db:
        behind = sorted(set(behind_journal(db, runs)) - set(rebuilt.back))
    for run_id in behind:
        with workspace.writing() as db:
            missing = _fill(db, runs / str(run_id), run_id)
        rebuilt.completed.append(run_id)
        if missing:
            rebuilt.missing[run_id] = missing
    return rebuilt


def readable(folder: Path) -> tuple[int, RunConfig, str]:
    """A run's number, its config and the config's text. Raises one of UNREADABLE where a folder is not a run's."""
    run_id = run_number(folder.name)
    if run_id is None:
        raise ValueError("its name is no run's number")
    if folder.is_symlink():
        raise ValueError("it is a link")
    if regular(folder / "config.toml").stat().st_size > LARGEST_CONFIG:
        raise ValueError("its config is too large")
    text = (folder / "config.toml").read_text("utf-8")
    return run_id, RunConfig.model_validate(tomllib.loads(text)), text


def shown(name: str) -> str:
    """A file's name that may hold anything, for a terminal and a database."""
    return name.encode("utf-8", "backslashreplace").decode()


def _run(db: Connection, folder: Path, run_id: int, config: RunConfig, text: str) -> list[str]:
    """The run with all that can be read; returns what cannot."""
    created = datetime.fromtimestamp((folder / "config.toml").stat().st_mtime, UTC).isoformat(timespec="seconds")
    values = (config.name, text, config.seed, config.dataset.name, config.loss.name, config.backbone.name, created)
    db.execute(
        "insert into runs (id, name, config, seed, dataset, loss, backbone, created, status, epochs) "
        "values (?, ?, ?, ?, ?, ?, ?, ?, 'queued', ?)",
        (run_id, *values, config.training.epochs),
    )
    missing: list[str] = []
    with _part(db, "the experiment that it belongs to", missing):
        db.execute("update runs set experiment_id = ? where id = ?", (restore_experiment(db, folder), run_id))
    return _fill(db, folder, run_id, missing)


def _fill(db: Connection, folder: Path, run_id: int, before: Sequence[str] = ()) -> list[str]:
    """Restore what a run's folder holds and its rows lack; returns `before` and what cannot be read."""
    missing, evaluations = list(before), {}
    with _part(db, "its journal", missing):
        evaluations = _replay(db, folder, run_id, missing)
    with _part(db, "its data set", missing):
        dataset = restore_dataset(db, folder)
        db.execute("update runs set dataset_id = ifnull(dataset_id, ?) where id = ?", (dataset, run_id))
        if evaluations and dataset is None:
            missing.append("its data set")
    for epoch, facts in evaluations.items():
        with _part(db, f"the evaluation of epoch {epoch}", missing):
            _evaluation(db, folder, run_id, facts, missing)
    for name in CHECKPOINTS.values():
        with _part(db, name, missing):
            if regular(folder / name).exists():
                add_artefact(db, folder, run_id, "checkpoint", folder / name, None)
    live = ", ".join("?" * len(LIVE))
    sql = f"update runs set status = 'interrupted', phase = '', problem = ? where id = ? and status in ({live})"
    db.execute(sql, (UNTOLD, run_id, *LIVE))
    sealing.seal_curves(db, run_id)
    db.execute(f"update runs set environment = json_remove(environment, '$.{REPAIRED}') where id = ?", (run_id,))
    if missing:
        note = json.dumps({"at": now(), "missing": missing})
        sql = f"update runs set environment = json_set(environment, '$.{REPAIRED}', json(?)) where id = ?"
        db.execute(sql, (note, run_id))
    return missing


def _replay(db: Connection, folder: Path, run_id: int, missing: list[str]) -> dict[int, journal.EvaluationFacts]:
    """The journal's lines, one by one, into the database; returns its evaluations by epoch."""
    bad, seen, evaluations = 0, set(), {}
    for entry in journal.entries(folder):
        if entry is None:
            bad += 1
            continue
        _entry(db, run_id, entry)
        if entry.taken_back is not None:
            seen.add(entry.taken_back)
        if entry.evaluation is not None:
            seen.add(entry.evaluation.epoch)
            evaluations[entry.evaluation.epoch] = entry.evaluation
    if bad:
        missing.append("1 line of its journal" if bad == 1 else f"{bad} lines of its journal")
    stored = (path.stem.partition("-")[2] for path in sorted(folder.glob("ranking-*.npz")))
    untold = [epoch for epoch in stored if epoch.isdecimal() and int(epoch) not in seen]
    if untold:
        missing.append(f"the evaluations of epochs {', '.join(untold)}, which are not in the journal")
    if not (folder / journal.NAME).exists() and (untold or (folder / CHECKPOINTS["last"]).exists()):
        missing.append("its journal")
    return evaluations


def _entry(db: Connection, run_id: int, entry: journal.Entry) -> None:
    for name, step, value in entry.scalars:
        db.execute("insert or ignore into metrics (name) values (?)", (name,))
        db.execute(
            "insert into scalar_points (run_id, metric_id, step, value) "
            f"select ?, (select id from metrics where name = ?), ?, ? where not {HAS_POINT}",
            (run_id, name, step, value, run_id, name, step),
        )
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


def _evaluation(db: Connection, folder: Path, run_id: int, facts: journal.EvaluationFacts, missing: list[str]) -> None:
    epoch = facts.epoch
    same = "select 1 from evaluations where run_id = ? and epoch = ? and distance = ? and step = ?"
    if db.execute(same, (run_id, epoch, facts.distance, facts.step)).fetchone() is not None:
        return
    embeddings = regular(folder / f"embeddings-{epoch}.npy")
    columns = _arrays(regular(folder / f"ranking-{epoch}.npz"))
    vectors = np.load(embeddings, mmap_mode="r", allow_pickle=False)
    _check_lengths(columns, vectors)
    metrics = {name: nan if value is None else value for name, value in facts.metrics.items()}
    event = Evaluated(
        epoch, facts.step, facts.distance, metrics, columns["sample_ids"], columns["labels"], vectors, columns["ap"],
        columns["first_hit"], columns["r"], columns["neighbours"], columns["similarities"],
    )  # fmt: skip
    proxies, path = None, folder / f"proxies-{epoch}.npz"
    with _part(db, f"the proxies of epoch {epoch}", missing):
        if regular(path).exists():
            kept = _arrays(path)
            if kept["vectors"].ndim != 2 or kept["labels"].shape != kept["vectors"].shape[:1]:
                raise ValueError("vectors and labels have other lengths")
            proxies = path
    store(db, folder, run_id, event, Arrays(embeddings, proxies, columns["neighbours"], columns["similarities"]))


def _arrays(path: Path) -> dict[str, np.ndarray]:
    """The arrays of an .npz file, as NumPy writes it: what is compressed could unpack to any size."""
    with zipfile.ZipFile(path) as packed:
        if any(entry.compress_type != zipfile.ZIP_STORED for entry in packed.infolist()):
            raise ValueError(f"{path.name} is compressed")
    with np.load(path, allow_pickle=False) as stored:
        return {name: stored[name] for name in stored.files}


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
def _part(db: Connection, what: str, missing: list[str]) -> Iterator[None]:
    """A part of a run that comes back whole, or not at all and is then named in `missing`."""
    db.execute("savepoint part")
    try:
        yield
    except UNREADABLE as error:
        db.execute("rollback to part")
        missing.append(f"{what} ({reason(error)})")
    db.execute("release part")


def reason(error: BaseException) -> str:
    """Why, on one short line."""
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
