"""The files of an imported run folder: evaluations and checkpoints, imported when they are complete."""

import contextlib
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from workbench import files
from workbench.events import CHECKPOINTS, RunState
from workbench.files import parts
from workbench.problem import Problem
from workbench.workspace import journal
from workbench.workspace.arrays import hash_of, read_array, read_arrays
from workbench.workspace.artefacts import add_artefact
from workbench.workspace.paths import opened, regular
from workbench.workspace.replaying import COLUMNS, UNREADABLE, part, reason, restore_evaluation
from workbench.workspace.workspace import Workspace

LARGEST_FILE = 64 << 30  # bytes
MOST_EVALUATIONS = 50_000  # of one run: their facts must fit into memory


@dataclass(slots=True)
class Taken:
    """What one pass over a folder imported."""

    folder: Path
    run_id: int
    status: RunState = RunState.QUEUED
    new: bool = False  # whether the run was new
    points: int = 0
    evaluations: int = 0
    unread: int = 0  # lines of the journal that cannot be read
    unfinished: bool = False  # whether a file is there, but not whole
    lacking: int = 0  # evaluations in its journal whose arrays are not there, or not whole
    journaled: RunState = RunState.QUEUED  # the last state in its journal; a silent run may have been marked since
    doubts: list[str] = field(default_factory=list)  # sentences, without a full stop, about what was refused


def take_evaluations(workspace: Workspace, folder: Path, home: Path, dataset: int, taken: Taken) -> bool:
    """Store the evaluations in the journal, in order; False if the arrays of one are not complete yet."""
    with workspace.reading() as db:
        sql = "select epoch, distance, step from evaluations where run_id = ?"
        stored = set(db.execute(sql, (taken.run_id,)))
    named: dict[tuple[int, str], journal.EvaluationFacts] = {}
    for entry in filter(None, journal.entries(home)):
        if (facts := entry.evaluation) is not None:
            named.pop((facts.epoch, facts.distance), None)
            named[facts.epoch, facts.distance] = facts
            if len(named) > MOST_EVALUATIONS:
                taken.doubts.append(f"the list of evaluations in its journal (it is longer than {MOST_EVALUATIONS:,})")
                return True
    new = [facts for facts in named.values() if (facts.epoch, facts.distance, facts.step) not in stored]
    for done, facts in enumerate(new):
        taken.lacking = len(new) - done
        what = f"the evaluation of epoch {facts.epoch}"
        try:
            names = names_of(facts)
            if missing := [name for name in names[:2] if name not in facts.files]:
                raise ValueError(f"its journal has no hash of {missing[0]}")
            lacks = next((name for name in names if not _whole(folder / name, *facts.files[name])), None)
            if lacks is not None:
                taken.unfinished |= os.path.lexists(folder / lacks)
                return False
        except UNREADABLE as error:
            taken.doubts.append(f"{what} ({reason(error)})")
            continue
        with _copied(folder, home, names) as copies:
            if not all(_whole(copies / name, *facts.files[name]) for name in names):
                taken.unfinished = True
                return False  # they were changed meanwhile
            try:
                _check_belongs(workspace, copies, facts.epoch, dataset)
            except UNREADABLE as error:
                taken.doubts.append(f"{what} ({reason(error)})")
                continue
            for name in names:
                if not _stored(home / name, *facts.files[name]):
                    _move(copies / name, home / name)
        before = len(taken.doubts)
        with workspace.writing() as db, part(db, what, taken.doubts):
            restore_evaluation(db, home, taken.run_id, facts, taken.doubts)
        taken.evaluations += len(taken.doubts) == before
    taken.lacking = 0
    return True


def names_of(facts: journal.EvaluationFacts) -> list[str]:
    """The files of an evaluation, by fixed names: the two that each has, and those that its journal lists."""
    beside = (f"proxies-{facts.epoch}.npz", f"training-{facts.epoch}.npz")
    names = [f"embeddings-{facts.epoch}.npy", f"ranking-{facts.epoch}.npz"]
    return [*names, *(name for name in beside if name in facts.files)]


def _whole(path: Path, size: int, digest: str) -> bool:
    """Whether the file is complete. Raises ValueError for an impossible size, Problem for a link."""
    if not 0 <= size <= LARGEST_FILE:
        raise ValueError(f"{path.name} is said to have {size:,} bytes")
    try:
        with opened(path) as file:
            return os.fstat(file.fileno()).st_size == size and files.digest_of(file) == digest
    except FileNotFoundError:
        return False


def _stored(path: Path, size: int, digest: str) -> bool:
    """As `_whole`, of a file of the run's own folder, which is read again only if it changed."""
    return regular(path).exists() and path.stat().st_size == size and hash_of(path) == digest


@contextlib.contextmanager
def _copied(folder: Path, home: Path, names: list[str]) -> Iterator[Path]:
    """Copies of some files, for the block: what is checked there is what is stored, whoever writes in `folder`."""
    copies = home / "copies"
    parts.remove_dead(home, copies.name)
    with contextlib.ExitStack() as stack:
        try:
            inner = stack.enter_context(parts.part_folder(copies))
        except OSError as error:
            raise files.explain(error, copies) from error
        for name in names:
            copy_whole(folder / name, inner / name)
        yield inner


def _move(source: Path, target: Path) -> None:
    try:
        source.replace(regular(target))
        files.sync_folder(target.parent)
    except OSError as error:
        raise files.explain(error, target) from error


def _check_belongs(workspace: Workspace, folder: Path, epoch: int, dataset: int) -> None:
    """Raises ValueError, or an error of NumPy, for arrays that do not belong to the data set's samples."""
    samples = workspace.samples(dataset)
    ranking = read_arrays(folder / f"ranking-{epoch}.npz", ["sample_ids", "labels", "neighbours"])
    if any(array.dtype.kind not in COLUMNS["labels"] for array in ranking.values()):
        raise ValueError("its samples are not numbers")
    if not np.isin(ranking["sample_ids"], samples.ids).all():
        raise ValueError("it names samples that its data set has not")
    near, labels, count = ranking["neighbours"], ranking["labels"], len(samples.ids)
    if near.size and (near.min() < 0 or near.max() >= count):
        raise ValueError("it names neighbours that its data set has not")
    if labels.size and (labels.min() < 0 or labels.max() >= len(workspace.dataset(dataset).class_names)):
        raise ValueError("it names classes that its data set has not")
    read_array(folder / f"embeddings-{epoch}.npy")


def take_checkpoints(workspace: Workspace, folder: Path, home: Path, taken: Taken) -> None:
    """Copy the complete checkpoints of a run that has ended."""
    last: dict[str, journal.CheckpointFacts] = {}
    for entry in filter(None, journal.entries(home)):
        if entry.checkpoint is not None and entry.checkpoint.blake2b:
            last[entry.checkpoint.kind] = entry.checkpoint
    for kind, facts in last.items():
        name = CHECKPOINTS[kind]
        try:
            here = _stored(home / name, facts.bytes, facts.blake2b)
            if not here and _whole(folder / name, facts.bytes, facts.blake2b):
                copy_whole(folder / name, home / name)
                here = _stored(home / name, facts.bytes, facts.blake2b)
            taken.unfinished |= not here and os.path.lexists(folder / name)
        except (ValueError, Problem) as error:
            taken.doubts.append(f"{name} ({reason(error)})")
            continue
        if here:
            with workspace.writing() as db:
                sql = "select 1 from artefacts where run_id = ? and path = ? and blake2b = ?"
                if db.execute(sql, (taken.run_id, name, facts.blake2b)).fetchone() is None:
                    add_artefact(db, home, taken.run_id, "checkpoint", home / name, facts.step)


def copy_whole(source: Path, target: Path, largest: int = LARGEST_FILE) -> None:
    """Copy one file. Raises Problem for a link, for a file that is too large, and if the disk refuses it."""
    with opened(source) as whole:
        size = os.fstat(whole.fileno()).st_size
        if size > largest or size > shutil.disk_usage(target.parent).free:
            raise Problem(f"{source} has {size:,} bytes, for which there is no room here.", kept="It was not copied.")
        with files.atomic_write(regular(target)) as file:
            left = size
            while block := whole.read(min(left, 1 << 20)):
                file.write(block)
                left -= len(block)
