"""Restores runs from their folders, which have the journal, the data set, embeddings and rankings."""

import json
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from workbench import files
from workbench.config import RunConfig
from workbench.events import CHECKPOINTS, LIVE
from workbench.progress import Progress, quiet
from workbench.workspace.arriving.arriving_files import names_of
from workbench.workspace.database.connection import Connection
from workbench.workspace.folders import arrivals, journal, travelling
from workbench.workspace.folders.behind import behind_journal, has_arrays
from workbench.workspace.folders.dataset_copy import restore_dataset, restore_experiment
from workbench.workspace.folders.replaying import UNREADABLE, part, reason, replay_entry, restore_evaluation, shown
from workbench.workspace.folders.run_folders import run_number, without_row
from workbench.workspace.measured import sealing, superseded
from workbench.workspace.measured.artefacts import add_artefact
from workbench.workspace.paths import is_file, regular
from workbench.workspace.recorder import REPAIRED
from workbench.workspace.tables.runs import add_note
from workbench.workspace.times import moment, now
from workbench.workspace.workspace import Workspace

READING = "Reading the runs' folders"
LARGEST_CONFIG = 1 << 20  # bytes
UNTOLD = "Brought back by a repair; its journal does not say how it ended."


@dataclass(slots=True)
class Rebuilt:
    """What was restored, and what was not."""

    back: list[int] = field(default_factory=list)
    completed: list[int] = field(default_factory=list)  # had a row, with less than their journal says
    left: dict[str, str] = field(default_factory=dict)  # name of a folder that is no run of the workspace, and why
    missing: dict[int, list[str]] = field(default_factory=dict)  # of runs that came back in part

    def __str__(self) -> str:
        word = "1 run" if len(self.back) == 1 else f"{len(self.back)} runs"
        parts = [f"{word} came back with curves and evaluations."]
        if self.completed:
            parts.append(f"Completed from their journals: runs {', '.join(map(str, self.completed))}.")
        return " ".join([*parts, *self.not_restored()])

    def not_restored(self) -> list[str]:
        """Sentences on what could not be restored."""
        parts = [f"Run {run_id} lacks: {'; '.join(what)}." for run_id, what in self.missing.items()]
        parts += [
            f"runs/{name} could not be brought back and is left as it is: {why}." for name, why in self.left.items()
        ]
        return parts


def rebuild(workspace: Workspace, runs: Path | None = None, progress: Progress = quiet) -> Rebuilt:
    """Restore every run of `runs`, by default the workspace's folder, without a row or with an incomplete one.

    Each is a transaction of its own. What cannot be read is left out and named; no file is changed.
    Tags, colours and new names live in the database alone (see salvage.py). `progress` is called before each run; it
    may raise Cancelled, after which the runs before stay restored.

    Raises:
        Problem: the database cannot be written.
    """
    rebuilt, runs = Rebuilt(), runs or workspace.path / "runs"
    with workspace.reading() as db:
        names = without_row(db, runs)
    for done, name in enumerate(names):
        progress(READING, done, len(names))
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
    for done, run_id in enumerate(behind):
        progress(READING, done, len(behind))
        with workspace.writing() as db:
            before = _amount(db, run_id)
            missing = _fill(db, runs / str(run_id), run_id)
            completed = _amount(db, run_id) != before
        rebuilt.completed += [run_id] * completed
        if missing:
            rebuilt.missing[run_id] = missing
    if rebuilt.back or rebuilt.completed:
        with workspace.writing() as db:
            sealing.seal_new_samples(db)
    return rebuilt


def _amount(db: Connection, run_id: int) -> tuple[object, ...]:
    """What a repair may add to a known run: its evaluations and points, and its end."""
    sql = (
        "select (select count(*) from evaluations where run_id = runs.id), (select count(*) from scalar_points "
        "where run_id = runs.id), status from runs where id = ?"
    )
    row: tuple[object, ...] = db.execute(sql, (run_id,)).fetchone()
    return row


def readable(folder: Path) -> tuple[int, RunConfig, str]:
    """A run's number, its config and the config's text. Raises one of UNREADABLE if it is no run's folder."""
    run_id = run_number(folder.name)
    if run_id is None:
        raise ValueError("its name is not the number of a run")
    if folder.is_symlink():
        raise ValueError("it is a link")
    if regular(folder / "config.toml").stat().st_size > LARGEST_CONFIG:
        raise ValueError("its config is too large")
    text = (folder / "config.toml").read_text("utf-8")
    return run_id, RunConfig.model_validate(tomllib.loads(text)), text


def _run(db: Connection, folder: Path, run_id: int, config: RunConfig, text: str) -> list[str]:
    """Restore what can be read of the run; returns what cannot."""
    created = moment((folder / "config.toml").stat().st_mtime)
    values = (config.name, text, config.seed, config.dataset.name, config.loss.name, config.backbone.name, created)
    db.execute(
        "insert into runs (id, name, config, seed, dataset, loss, backbone, created, status, epochs) "
        "values (?, ?, ?, ?, ?, ?, ?, ?, 'queued', ?)",
        (run_id, *values, config.planned_epochs),
    )
    missing: list[str] = []
    with part(db, "the folder that it came from", missing):
        if is_file(folder / travelling.CARD):
            arrivals.came(db, travelling.read(folder)[0].run, run_id, "")  # from where is not known
    with part(db, "the experiment that it belongs to", missing):
        db.execute("update runs set experiment_id = ? where id = ?", (restore_experiment(db, folder), run_id))
    return _fill(db, folder, run_id, missing)


def _fill(db: Connection, folder: Path, run_id: int, before: Sequence[str] = ()) -> list[str]:
    """Restore what a run's folder has and its rows lack; returns `before` and what cannot be read."""
    missing, evaluations = list(before), {}
    with part(db, "its journal", missing):
        evaluations = _replay(db, folder, run_id, missing)
        arrivals.replayed(db, run_id, journal.whole_lines(folder))
    with part(db, "its data set", missing):
        dataset = restore_dataset(db, folder)
        db.execute("update runs set dataset_id = ifnull(dataset_id, ?) where id = ?", (dataset, run_id))
        if evaluations and dataset is None:
            missing.append("its data set")
    for epoch, facts in evaluations.items():
        with part(db, f"the evaluation of epoch {epoch}", missing):
            _check_arrays(folder, facts)
            restore_evaluation(db, folder, run_id, facts, missing)
    for name in CHECKPOINTS.values():
        with part(db, name, missing):
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


def _check_arrays(folder: Path, facts: journal.EvaluationFacts) -> None:
    """Raises ValueError for arrays of an earlier evaluation of that epoch, where the journal has the hashes."""
    for name in names_of(facts):
        path = regular(folder / name)
        if name in facts.files and path.exists() and files.digest(path) != facts.files[name][1]:
            raise ValueError(f"{name} is not the one that its journal names")


def _replay(db: Connection, folder: Path, run_id: int, missing: list[str]) -> dict[int, journal.EvaluationFacts]:
    """The journal's lines, one by one, into the database; returns its evaluations by epoch.

    Evaluations that the run let go of, and did not record again, are deleted; where lines cannot be read one with its
    arrays is not: it may be one of them.
    """
    bad, seen, evaluations = 0, set[int](), dict[int, journal.EvaluationFacts]()
    imported = is_file(folder / travelling.CARD)  # then the rest of a cut last line comes with the next import
    for entry in journal.entries(folder, whole=imported):
        if entry is None:
            bad += 1
            continue
        replay_entry(db, run_id, entry)
        if entry.note is not None:
            add_note(db, run_id, entry.note, once=True)
        if entry.owner is not None and not arrivals.gone_on_here(db, run_id):
            arrivals.set_owner(db, run_id, entry.owner)
        if entry.taken_back is not None:
            seen.add(entry.taken_back.epoch)
        if entry.evaluation is not None:
            seen.add(entry.evaluation.epoch)
            evaluations[entry.evaluation.epoch] = entry.evaluation
    gone = {epoch for epoch in seen - evaluations.keys() if not (bad and has_arrays(folder, epoch))}
    superseded.delete_at(db, run_id, gone)  # not as each line says it: a later one may have recorded it again
    if bad:
        missing.append("1 line of its journal" if bad == 1 else f"{bad} lines of its journal")
    stored = (path.stem.partition("-")[2] for path in sorted(folder.glob("ranking-*.npz")))
    untold = [epoch for epoch in stored if epoch.isdecimal() and int(epoch) not in seen]
    if untold:
        missing.append(f"the evaluations of epochs {', '.join(untold)}, which are not in the journal")
    if not (folder / journal.NAME).exists() and (untold or (folder / CHECKPOINTS["last"]).exists()):
        missing.append("its journal")
    return evaluations
