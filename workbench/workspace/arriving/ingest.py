"""Imports run folders as runs of a workspace: what they have now, and the rest the next time.

A folder may be copied while it grows, cut off at any byte, in any order: complete lines of its journal are imported at
once, an evaluation when its arrays are complete, checkpoints when the run has ended. Nothing in a folder is trusted:
no file name in it is used, links are not followed, and every size is checked before a file is copied.
"""

import os
import re
from collections.abc import Callable
from pathlib import Path
from time import monotonic, sleep
from typing import BinaryIO

from workbench import files
from workbench.config import RunConfig
from workbench.events import RunState
from workbench.problem import Problem
from workbench.workspace.arriving.arriving_files import Taken, take_checkpoints, take_evaluations
from workbench.workspace.arriving.copies import copy_whole
from workbench.workspace.database.connection import Connection
from workbench.workspace.folders import (
    annotations,
    arrivals,
    dataset_copy,
    deleted_checkpoints,
    journal,
    settled,
    travelling,
    turns,
)
from workbench.workspace.folders.arrivals import Arrival
from workbench.workspace.folders.replaying import UNREADABLE, reason, replay_entry
from workbench.workspace.folders.run_folders import next_number
from workbench.workspace.measured import sealing, superseded
from workbench.workspace.owners import ownership
from workbench.workspace.paths import PUT_BACK, opened, regular, write_from
from workbench.workspace.rows import Placement
from workbench.workspace.tables import placements
from workbench.workspace.tables.runs import add_note, forget_after, next_colour
from workbench.workspace.times import now
from workbench.workspace.workspace import Workspace

AT_ONCE = 1 << 20  # bytes of a journal in one transaction, so that a run that trains here does not wait long
COMPARED = 1 << 12  # bytes before the position where reading continues, to recognise the journal
PATIENCE = 20.0  # seconds to wait for another program that imports the same run
AGAIN = 0.05  # seconds between two tries
ANNOTATIONS = "annotations"  # in Arrival.said: those that came last


class BeingImported(Problem):
    """Another program imports the same run, and has not ended after a while."""


def ingest(
    workspace: Workspace, folder: Path, place: str = "", experiment_id: int | None = None, *,
    deleted_too: bool = False,
) -> Taken:  # fmt: skip
    """Import what a run folder has and the workspace does not; the folder is only read.

    Args:
        workspace: open for writing.
        folder: of the run.
        place: the name of the place to which this process is about to send it, if it is new.
        experiment_id: to which it belongs, if it is new.
        deleted_too: bring back also checkpoints that were deleted here.

    Raises:
        travelling.Unfinished: its first files are not complete yet.
        BeingImported: another program imports the run at this moment; a short import is waited for.
        Problem: it is no run folder, it is a different run than before, or the workspace cannot be written.
    """
    card, config, text = travelling.read(folder)
    if not deleted_too and (as_before := _settled(workspace, folder, card.run)) is not None:
        return as_before
    with workspace.writing() as db:
        arrival = arrivals.known(db, card.run)
        taken = Taken(folder, 0 if arrival is None else arrival.run_id, new=arrival is None)
        if arrival is None:
            taken.run_id = _new_run(workspace, db, config, text, card.created, experiment_id)
            arrivals.came(db, card.run, taken.run_id, str(folder))
            if place:
                placements.store(db, Placement(taken.run_id, card.run, place))
                ownership.name_sender(db, taken.run_id)
            arrival = Arrival(card.run, taken.run_id, 0, True, {})
    home = workspace.folder(taken.run_id)
    files.make_folder(home)
    with turns.alone(home, home.with_name(f".importing-{taken.run_id}.lock"), _patience(taken.run_id)):
        return _take_in(workspace, folder, home, arrival, taken, deleted_too)


def _take_in(
    workspace: Workspace, folder: Path, home: Path, arrival: Arrival, taken: Taken, deleted_too: bool
) -> Taken:
    for name in ("config.toml", travelling.CARD):
        if not (home / name).exists():
            copy_whole(folder / name, home / name)
    begun = settled.state_of(folder)  # what is written from now on is another state
    _experiment(workspace, folder, home, taken)
    moved = False
    while _lines(workspace, folder, home, arrival, taken):
        moved = True
    _annotations(workspace, folder, arrival, taken)
    superseded.remove_files(home, taken.kept, taken.gone)
    superseded.sweep_maps(workspace, taken.run_id)
    dataset = _dataset(workspace, folder, home, taken)
    if dataset is not None and arrival.waiting:
        arrival.waiting = not take_evaluations(workspace, folder, home, dataset, taken)
        with workspace.writing() as db:
            arrivals.looked(db, arrival)
    workspace.sweep_dead_runs()
    taken.status = RunState(workspace.run(taken.run_id).status)
    taken.journaled = _journaled(arrival, home)
    if dataset is None and not taken.doubts:
        taken.lacking = len(
            {entry.evaluation.epoch for entry in filter(None, journal.entries(home)) if entry.evaluation}
        )
    if not taken.status.live:
        deleted_checkpoints.carry_over(folder, home)
        take_checkpoints(workspace, folder, home, taken, deleted_too=deleted_too)
        with workspace.reading() as db:
            unsealed = moved or not sealing.is_sealed(db, taken.run_id)  # an import before may have been broken off
        if unsealed:
            with workspace.writing() as db:
                sealing.seal_curves(db, taken.run_id)
        _settle(workspace, folder, home, arrival, taken, begun)
    return taken


def _patience(run_id: int) -> Callable[[], None]:
    """What is called while another program imports the run: it waits a moment, or raises BeingImported."""
    since = monotonic()

    def wait() -> None:
        if monotonic() - since > PATIENCE:
            raise BeingImported(
                f"Run {run_id} is being imported by another program.",
                kept="That program continues.",
                todo="Import the folder again once it has ended.",
            )
        sleep(AGAIN)

    return wait


def _settled(workspace: Workspace, folder: Path, uid: str) -> Taken | None:
    """The result for a folder in which nothing changed since a run that has ended was imported; None for any other."""
    with workspace.reading() as db:
        arrival = arrivals.known(db, uid)
        if arrival is None or not arrival.said.get("settled") or arrivals.gone_on_here(db, arrival.run_id):
            return None
    home = workspace.folder(arrival.run_id)
    status = RunState(workspace.run(arrival.run_id).status)
    if status.live or _folders(settled.state_of(folder), home) != arrival.said["settled"]:
        return None
    lacking = str(arrival.said.get("lacking", ""))
    taken = Taken(folder, arrival.run_id, status, journaled=_journaled(arrival, home))
    taken.lacking = int(lacking) if re.fullmatch(r"[0-9]{1,9}", lacking) else 0
    deleted = str(arrival.said.get("deleted", ""))
    taken.deleted = list(map(int, deleted.split())) if re.fullmatch(r"[0-9]{1,18}( [0-9]{1,18})?", deleted) else []
    return taken


def _settle(workspace: Workspace, folder: Path, home: Path, arrival: Arrival, taken: Taken, begun: str) -> None:
    """Remember the state of the folders, if all that is there came. Raises Problem for another journal than before."""
    if not settled.same_journal(folder, home, arrival.read):
        raise _another_journal(folder, taken.run_id)
    ended = "" if taken.doubts or taken.unfinished else _folders(begun, home)
    come = {"settled": ended, "lacking": str(taken.lacking), "deleted": " ".join(map(str, taken.deleted))}
    if come.items() - arrival.said.items():
        arrival.said |= come
        with workspace.writing() as db:
            arrivals.looked(db, arrival)


def _folders(theirs: str, home: Path) -> str:
    ours = settled.kept_in(home)
    return f"{theirs} {ours}" if theirs and ours else ""


def _journaled(arrival: Arrival, home: Path) -> RunState:
    """The last state in the journal; a repaired workspace has to read it."""
    stored = next((state for state in RunState if state == arrival.said.get("status")), None)
    return journal.last_state(home) if stored is None else stored


def _new_run(
    workspace: Workspace, db: Connection, config: RunConfig, text: str, created: str, experiment_id: int | None
) -> int:  # fmt: skip
    run_id = next_number(db, workspace.path / "runs")
    values = (config.name, text, config.seed, config.dataset.name, config.loss.name, config.backbone.name, created)
    db.execute(
        "insert into runs (id, name, config, seed, dataset, loss, backbone, created, status, epochs, colour, "
        "experiment_id) values (?, ?, ?, ?, ?, ?, ?, ?, 'queued', ?, ?, ?)",
        (run_id, *values, config.planned_epochs, next_colour(db, experiment_id), experiment_id),
    )
    return run_id


def _twin(workspace: Workspace, db: Connection, run_id: int, origin: str) -> int:
    """The run that the folder of a new one was exported from, or the first other that was; 0 for none here."""
    if not origin:
        return 0
    same = "select other.id from runs join runs other on other.config = runs.config and other.created = runs.created"
    for (number,) in db.execute(f"{same} where runs.id = ? and other.id != runs.id order by 1", (run_id,)).fetchall():
        if annotations.origin_of(workspace.path, number) == origin:
            return int(number)
    came = "select ifnull(min(run_id), 0) from arrivals where instr(said, ?) > 0 and run_id != ?"
    ((number,),) = db.execute(came, (origin, run_id)).fetchall()
    return int(number)


def _experiment(workspace: Workspace, folder: Path, home: Path, taken: Taken) -> None:
    if (home / "experiment.json").exists() or not regular(folder / "experiment.json").exists():
        return
    try:
        copy_whole(folder / "experiment.json", home / "experiment.json", largest=dataset_copy.LARGEST_EXPERIMENT)
        with workspace.writing() as db:
            experiment = dataset_copy.restore_experiment(db, home)
            values = (experiment, next_colour(db, experiment), taken.run_id)
            db.execute("update runs set experiment_id = ?, colour = ? where id = ?", values)
    except ValueError as error:  # cut, or not of this form
        (home / "experiment.json").unlink(missing_ok=True)
        taken.doubts.append(f"the experiment that it belongs to ({reason(error)})")


def _annotations(workspace: Workspace, folder: Path, arrival: Arrival, taken: Taken) -> None:
    """Take the name, tags and colour that came since the last time."""
    try:
        new = annotations.read(folder)
    except UNREADABLE as error:
        taken.doubts.append(f"its name and tags ({reason(error)})")
        return
    text = "" if new is None else new.model_dump_json()
    if new is None or arrival.said.get(ANNOTATIONS) == text:
        return
    with workspace.writing() as db:
        arrivals.refresh(db, arrival)
        if taken.new:
            taken.twin = _twin(workspace, db, taken.run_id, new.origin)
        (config,) = db.execute("select config from runs where id = ?", (taken.run_id,)).fetchall()[0]
        before = annotations.parsed(arrival.said.get(ANNOTATIONS, ""))
        before = before or annotations.annotations_of(RunConfig.recorded(config).name, (), 0)
        annotations.annotate(db, taken.run_id, new, before, at_first=taken.new)
        arrival.said[ANNOTATIONS] = text
        arrivals.looked(db, arrival)


def _lines(workspace: Workspace, folder: Path, home: Path, arrival: Arrival, taken: Taken) -> bool:
    """Import the next complete lines of the journal, in one transaction; returns whether there may be more."""
    source, here = regular(folder / journal.NAME), home / journal.NAME
    if not source.exists():
        return False
    with workspace.writing() as db, opened(source) as file:
        if arrivals.gone_on_here(db, taken.run_id):
            raise Problem(
                f"Run {taken.run_id} was continued in this workspace: nothing more is imported from {folder}.",
                kept="Both are kept as they are.",
            )
        arrivals.refresh(db, arrival)  # another program may be importing the same folder
        size = os.fstat(file.fileno()).st_size
        known = min(arrival.read, size)
        kept = min(known, here.stat().st_size) if here.exists() else known
        if known and not kept:
            raise _emptied(folder, here, taken.run_id)
        if _before(file, kept) != _before_in(here, kept):
            raise _another_journal(folder, taken.run_id)
        for start in range(kept, known, AT_ONCE):  # a power cut took what was not on the disk yet
            file.seek(start)
            write_from(here, start, file.read(min(AT_ONCE, known - start)))
        if arrival.read > size:
            return False  # a shorter copy of what was imported
        lines = _next_lines(file, arrival.read, folder)
        if not lines:
            return False
        if arrival.read and "status" not in arrival.said:  # the database was rebuilt
            arrival.said |= arrivals.said_in(home)
        write_from(here, arrival.read, lines)
        for line in lines.split(b"\n"):
            if line.strip():
                _line(db, line, arrival, taken)
        arrival.read += len(lines)
        _state(db, arrival, taken)
        arrivals.advanced(db, arrival)
        return True


def _another_journal(folder: Path, run_id: int) -> Problem:
    return Problem(
        f"The journal in {folder} is not the one that run {run_id} came from.",
        kept="Nothing more was imported.",
        todo="Two copies of a folder that were both resumed are two runs: only one can be imported.",
    )


def _emptied(folder: Path, here: Path, run_id: int) -> Problem:
    return Problem(
        f"{here} is empty: the lines that were imported of run {run_id} were there. Without them nothing tells whether "
        f"{folder} is still the folder that it came from.",
        kept=f"What was imported before is kept in the workspace, and {folder} was not changed.",
        todo=f"If it is that folder, copy its {journal.NAME} to {here.parent} and import it again.",
    )


def _before(file: BinaryIO, at: int) -> bytes:
    """The bytes of a journal before a position, at most a few thousand."""
    file.seek(max(0, at - COMPARED))
    return file.read(min(at, COMPARED))


def _before_in(path: Path, at: int) -> bytes:
    if not at:
        return b""
    try:
        with regular(path).open("rb") as file:
            return _before(file, at)
    except FileNotFoundError:
        raise Problem(f"{path} is missing.", kept="Nothing more was imported.", todo=PUT_BACK) from None


def _next_lines(file: BinaryIO, at: int, folder: Path) -> bytes:
    """Complete lines from a position of a journal; may be empty. Raises Problem for an endless line."""
    file.seek(at)
    block = file.read(AT_ONCE)
    if end := block.rfind(b"\n") + 1:
        return block[:end]
    block += file.readline(journal.LONGEST_LINE)
    if block.endswith(b"\n"):
        return block
    if len(block) > journal.LONGEST_LINE:
        raise Problem(
            f"The journal in {folder} has a line of over {journal.LONGEST_LINE >> 20} MiB, which no run writes.",
            kept="What comes before it was imported.",
        )
    return b""


def _line(db: Connection, line: bytes, arrival: Arrival, taken: Taken) -> None:
    entry = journal.parsed(line)
    if entry is None:
        taken.unread += 1
        return
    replay_entry(db, taken.run_id, entry)
    taken.points += len(entry.scalars)
    if entry.forget is not None:
        taken.points -= forget_after(db, taken.run_id, entry.forget)
    if entry.keep is not None:
        taken.kept, taken.gone = entry.keep, taken.gone | superseded.keep_only(db, taken.run_id, entry.keep)
    if entry.note is not None:
        add_note(db, taken.run_id, entry.note)
    if entry.owner is not None:
        arrivals.set_owner(db, taken.run_id, entry.owner)
    if entry.evaluation is not None:
        arrival.waiting = True
    arrivals.hear(arrival.said, entry)


def _state(db: Connection, arrival: Arrival, taken: Taken) -> None:
    """Set the run's state to that of its journal, even if it was marked dead in a silence.

    The heartbeat of a known run is set to this moment, because the clock of its machine may be wrong.
    """
    beat = min(str(arrival.said.get("heartbeat") or ""), now()) if taken.new else now()
    values = (arrival.said.get("status", "queued"), arrival.said.get("problem", ""), beat or None, taken.run_id)
    db.execute("update runs set status = ?, problem = ?, heartbeat = ? where id = ?", values)


def _dataset(workspace: Workspace, folder: Path, home: Path, taken: Taken) -> int | None:
    """The number of the run's data set here; None as long as its copy is not complete."""
    with workspace.reading() as db:
        ((dataset,),) = db.execute("select dataset_id from runs where id = ?", (taken.run_id,)).fetchall()
    if dataset is not None:
        return int(dataset)
    source = regular(folder / "dataset.json")
    if not source.exists():
        return None
    try:
        facts = dataset_copy.read_copy(source)
    except dataset_copy.CutError:
        taken.unfinished = True
        return None
    except UNREADABLE as error:
        taken.doubts.append(f"its data set ({reason(error)})")
        return None
    with workspace.writing() as db:
        try:
            number = dataset_copy.arrived(db, facts)
        except (ValueError, Problem) as error:
            taken.doubts.append(f"its data set ({reason(error)})")
            return None
        sealing.seal_samples(db, number)
        db.execute("update runs set dataset_id = ? where id = ?", (number, taken.run_id))
        dataset_copy.keep_dataset(db, number, home)
    return number
