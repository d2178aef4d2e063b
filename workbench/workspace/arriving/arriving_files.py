"""The files of an imported run folder: evaluations and checkpoints, imported when they are complete."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from workbench.events import CHECKPOINTS, RunState
from workbench.files import parts
from workbench.problem import Problem
from workbench.workspace.arriving.copies import COPIES, LARGEST_FILE, copied, move, unreadable
from workbench.workspace.folders import deleted_checkpoints, journal
from workbench.workspace.folders.replaying import UNREADABLE, part, reason, restore_evaluation
from workbench.workspace.measured.arrays import hash_of, read_array, read_arrays
from workbench.workspace.measured.artefacts import add_artefact
from workbench.workspace.measured.stored_evaluation import COLUMNS
from workbench.workspace.paths import is_file, opened, regular
from workbench.workspace.tables import samples
from workbench.workspace.workspace import Workspace

LARGEST_ROW = 1 << 20  # bytes that an array has for an image or a class: 250,000 dimensions, or as many neighbours
AT_ONCE, MOST_AT_ONCE = 1 << 20, 16  # bytes of rankings, and evaluations, in one transaction: others wait for it
MOST_EVALUATIONS = 50_000  # of one run: their facts must fit into memory


@dataclass(slots=True)
class Taken:
    """What one pass over a folder imported."""

    folder: Path
    run_id: int
    status: RunState = RunState.QUEUED
    new: bool = False  # whether the run was new
    twin: int = 0  # of a new run: the run here that its folder was exported from; 0 for none
    points: int = 0
    evaluations: int = 0
    checkpoints: int = 0  # that were copied
    deleted: list[int] = field(default_factory=list)  # bytes of checkpoints that are there, and were deleted here
    unread: int = 0  # lines of the journal that cannot be read
    unfinished: bool = False  # whether a file is there, but not whole
    lacking: int = 0  # evaluations in its journal whose arrays are missing or incomplete
    journaled: RunState = RunState.QUEUED  # the last state in its journal; a silent run may have been marked since
    doubts: list[str] = field(default_factory=list)  # sentences, without a full stop, about what was refused
    kept: list[int] = field(default_factory=list)  # epochs whose evaluations the run kept when it deleted others
    gone: set[int] = field(default_factory=set)  # numbers of the evaluations that were deleted

    @property
    def about_twin(self) -> str:
        """A sentence on the run here that the new one was exported from, or that came from there; empty without."""
        if not self.twin:
            return ""
        return (
            f"Run {self.run_id} is run {self.twin} as it was exported, perhaps with what came later. Put the one that "
            "you do not need into the trash."
        )


def take_evaluations(workspace: Workspace, folder: Path, home: Path, dataset: int, taken: Taken) -> bool:
    """Store the evaluations in the journal, in order.

    Returns:
        False if the arrays of one are not complete yet, or cannot be read for now, such as a link: they are looked for
        the next time. What its journal says of an evaluation does not change: one that is refused for that is not.
    """
    new = _not_stored(workspace, home, taken)
    if not new:
        return True
    parts.remove_dead(home, COPIES)
    with workspace.reading() as db:
        known = _Known(samples.read_samples(db, dataset).ids, len(samples.read_dataset(db, dataset, home).class_names))
    ready: list[journal.EvaluationFacts] = []
    all_read = True
    try:
        for done, facts in enumerate(new):
            taken.lacking = len(new) - done
            what = f"the evaluation of epoch {facts.epoch}"
            try:
                wanted = _wanted(facts)
                _check_amount(wanted, known)
                lacks = next((name for name, (size, _) in wanted.items() if not _has_size(folder / name, size)), None)
            except UNREADABLE as error:
                taken.doubts.append(f"{what} ({reason(error)})")
                all_read &= not isinstance(error, Problem)
                continue
            if lacks is not None:
                taken.unfinished |= os.path.lexists(folder / lacks)
                return False
            with copied(folder, home, wanted) as copies:
                if copies is None:
                    taken.unfinished = True
                    return False
                try:
                    _check_belongs(copies, facts.epoch, known)
                except UNREADABLE as error:
                    taken.doubts.append(f"{what} ({reason(error)})")
                    continue
                move([copies / name for name, sums in wanted.items() if not _stored(home / name, *sums)], home)
            ready.append(facts)
            size = sum(of_ready.files[f"ranking-{of_ready.epoch}.npz"][0] for of_ready in ready)
            if size >= AT_ONCE or len(ready) >= MOST_AT_ONCE:
                _store(workspace, home, ready, taken)
    finally:
        _store(workspace, home, ready, taken)
    taken.lacking = 0
    return all_read


def _not_stored(workspace: Workspace, home: Path, taken: Taken) -> list[journal.EvaluationFacts]:
    """The evaluations in the journal that the workspace has not, in order; none, and a doubt, if it names too many."""
    with workspace.reading() as db:
        sql = "select epoch, distance, step from evaluations where run_id = ?"
        stored = set(db.execute(sql, (taken.run_id,)))
    named: dict[tuple[int, str], journal.EvaluationFacts] = {}
    for entry in filter(None, journal.entries(home, b'"evaluation"')):
        if (facts := entry.evaluation) is not None:
            named.pop((facts.epoch, facts.distance), None)
            named[facts.epoch, facts.distance] = facts
            if len(named) > MOST_EVALUATIONS:
                taken.doubts.append(f"the list of evaluations in its journal (it is longer than {MOST_EVALUATIONS:,})")
                return []
    return [facts for facts in named.values() if (facts.epoch, facts.distance, facts.step) not in stored]


@dataclass(frozen=True, slots=True, eq=False)
class _Known:
    """What the data set of a run has."""

    ids: np.ndarray  # [n] int64, of its samples
    classes: int


def _wanted(facts: journal.EvaluationFacts) -> dict[str, tuple[int, str]]:
    """Size and hash of the files of an evaluation, by name. Raises ValueError for one without."""
    names = names_of(facts)
    if missing := [name for name in names[:2] if name not in facts.files]:
        raise ValueError(f"its journal has no hash of {missing[0]}")
    return {name: facts.files[name] for name in names}


def _check_amount(wanted: Mapping[str, tuple[int, str]], known: _Known) -> None:
    """Raises ValueError for a file far larger than arrays of so many images and classes, before it is copied."""
    most = (len(known.ids) + known.classes + 1) * LARGEST_ROW
    for name, (size, _) in wanted.items():
        if size > most:
            raise ValueError(f"{name} is said to have {size:,} bytes, too many for {len(known.ids):,} images")


def _store(workspace: Workspace, home: Path, ready: list[journal.EvaluationFacts], taken: Taken) -> None:
    """Store the rows of evaluations whose arrays are in the run's own folder, and empty the list."""
    batch, doubts, count = tuple(ready), list[str](), len(ready)
    ready.clear()
    if not batch:
        return
    with workspace.writing() as db:
        for facts in batch:
            before = len(doubts)
            with part(db, f"the evaluation of epoch {facts.epoch}", doubts):
                restore_evaluation(db, home, taken.run_id, facts, doubts)
            count -= len(doubts) > before
    taken.doubts += doubts
    taken.evaluations += count


def names_of(facts: journal.EvaluationFacts) -> list[str]:
    """The files of an evaluation, by fixed names: the two that each has, and those that its journal lists."""
    beside = [f"{part}-{facts.epoch}.npz" for part in ("proxies", "training", "probe")]
    names = [f"embeddings-{facts.epoch}.npy", f"ranking-{facts.epoch}.npz"]
    return [*names, *(name for name in beside if name in facts.files)]


def _has_size(path: Path, size: int) -> bool:
    """Whether the file has that size. Raises ValueError for an impossible size, Problem for a link or a refusal."""
    if not 0 <= size <= LARGEST_FILE:
        raise ValueError(f"{path.name} is said to have {size:,} bytes")
    try:
        with opened(path) as file:
            return os.fstat(file.fileno()).st_size == size
    except FileNotFoundError:
        return False
    except OSError as error:
        raise unreadable(path, error) from error


def _stored(path: Path, size: int, digest: str) -> bool:
    """Whether the run's own folder has a file with these bytes, which are read again only if they changed."""
    return regular(path).exists() and path.stat().st_size == size and hash_of(path) == digest


def _check_belongs(folder: Path, epoch: int, known: _Known) -> None:
    """Raises ValueError, or an error of NumPy, for arrays that do not belong to the data set's samples."""
    ranking = read_arrays(folder / f"ranking-{epoch}.npz", ["sample_ids", "labels", "neighbours"])
    if any(array.dtype.kind not in COLUMNS["labels"] for array in ranking.values()):
        raise ValueError("its samples are not numbers")
    if not np.isin(ranking["sample_ids"], known.ids).all():
        raise ValueError("it names samples that its data set has not")
    near, labels, count = ranking["neighbours"], ranking["labels"], len(known.ids)
    if near.size and (near.min() < 0 or near.max() >= count):
        raise ValueError("it names neighbours that its data set has not")
    if labels.size and (labels.min() < 0 or labels.max() >= known.classes):
        raise ValueError("it names classes that its data set has not")
    read_array(folder / f"embeddings-{epoch}.npy")


def take_checkpoints(
    workspace: Workspace, folder: Path, home: Path, taken: Taken, *, deleted_too: bool = False
) -> None:
    """Copy the complete checkpoints of a run that has ended, but for those that were deleted here."""
    parts.remove_dead(home, COPIES)
    last: dict[str, journal.CheckpointFacts] = {}
    for entry in filter(None, journal.entries(home, b'"checkpoint"')):
        if entry.checkpoint is not None and entry.checkpoint.blake2b:
            last[entry.checkpoint.kind] = entry.checkpoint
    for kind, facts in last.items():
        name = CHECKPOINTS[kind]
        deleted = not (home / name).exists() and deleted_checkpoints.was_deleted(home, name, facts.blake2b)
        if deleted and not deleted_too:
            if is_file(folder / name):
                taken.deleted.append(facts.bytes)
            continue
        try:
            here = _stored(home / name, facts.bytes, facts.blake2b)
            if not here and _has_size(folder / name, facts.bytes):
                with copied(folder, home, {name: (facts.bytes, facts.blake2b)}) as copies:
                    if copies is not None:
                        move([copies / name], home)
                        here = True
                        taken.checkpoints += 1
            taken.unfinished |= not here and os.path.lexists(folder / name)
        except (ValueError, Problem) as error:
            taken.doubts.append(f"{name} ({reason(error)})")
            continue
        if here:
            with workspace.writing() as db:
                sql = "select 1 from artefacts where run_id = ? and path = ? and blake2b = ?"
                if db.execute(sql, (taken.run_id, name, facts.blake2b)).fetchone() is None:
                    add_artefact(db, home, taken.run_id, "checkpoint", home / name, facts.step, facts.blake2b)
