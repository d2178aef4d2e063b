"""Curves of runs that other programs trained, as ended runs of a workspace; what is there already is not added again.

Nothing is known of such a run but its curves: it has no data set, no evaluation and no setting, so that Compare takes
no two of them for repetitions of one training.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from time import sleep

import numpy as np

from workbench import __version__
from workbench.config import KINDS, OWN_LOOP, RunConfig
from workbench.events import Ended, Scalar
from workbench.exchange.imported import curve_tables, event_files
from workbench.exchange.imported.curve_folders import CurveFolder, curve_folders, first_tables, has_event_files
from workbench.exchange.imported.foreign_run import ForeignRun
from workbench.exchange.imported.importing import take_back
from workbench.exchange.imported.named_arrays import KEPT
from workbench.jobs import command_line
from workbench.names import visible_name
from workbench.problem import Problem
from workbench.progress import Progress, quiet
from workbench.workspace import Workspace
from workbench.workspace.folders import travelling, turns
from workbench.workspace.folders.run_folders import RUNS, make_folder
from workbench.workspace.recorder import Recorder
from workbench.workspace.rows import Run
from workbench.workspace.times import moment, now

LONGEST_RUN_NAME = 200  # letters, as in a config
TELL_EVERY = 5_000  # points
MOST_REMARKS = 3  # in a Problem
OF_LIGHTNING = "metrics"  # the table of each run, without its ending: the folder has the run's name
AGAIN = 0.1  # seconds between two looks whether another import has ended
WAITING = "Waiting for another import of curves"
Curves = dict[str, tuple[np.ndarray, np.ndarray]]  # steps int64 [n], ascending, and values float64 [n]


@dataclass(frozen=True, slots=True)
class ImportedCurves:
    """What an import did to one run."""

    run_id: int
    name: str
    new: bool  # whether the run was made now
    points: int  # that were added
    trashed: bool = False  # whether the run is in the trash, where nothing is added to it
    left: int = 0  # points that were not added for that reason

    @property
    def words(self) -> str:
        """A sentence on it."""
        run = f"Run {self.run_id} ({self.name})"
        if self.left:
            more = f"{self.left:,} more {'point' if self.left == 1 else 'points'}"
            return (
                f"{run} is in the trash: {more} were found, and none was added. Restore it and import again for them."
            )
        if self.trashed:
            return f"{run} is in the trash, with the same points."
        if not self.points:
            return f"{run} was imported before, with the same points."
        return f"{run}: {self.points:,} {'' if self.new else 'more '}{'point' if self.points == 1 else 'points'}."


def holds_curves(source: Path) -> bool:
    """Whether these are curves of other programs: a table of them, an event file, or a folder with such files.

    Of a folder the first folders below it are looked at; one with images and tables is a data set.
    """
    if source.is_dir():
        return has_event_files(source) or any(map(curve_tables.is_curve_table, first_tables(source)))
    return event_files.MARK in source.name or curve_tables.is_curve_table(source)


def import_curves(
    workspace: Workspace, source: Path, name: str = "", progress: Progress = quiet
) -> tuple[list[ImportedCurves], list[str]]:
    """Make a run of each run whose curves are in `source`, or add to those that came from there before.

    Args:
        workspace: where the runs are made, one after another; what was made before a failure or a cancel stays.
        source: a folder of TensorBoard's event files, of tables, or of runs in folders below it; or one such file. A
            table has a column step or epoch, and a column of numbers for each curve, or W&B's "run - curve". Tables
            beside event files are not read: they mostly repeat them.
        name: of the run; of several runs it stands before the name of each. By default that of the folder or file.
        progress: called with the bytes that are read and stored, of all runs; may raise Cancelled, which leaves no half
            run behind.

    Returns:
        What became of each run, by its name, and sentences on what was left out.

    Raises:
        Problem: nothing of that kind, nothing that can be read in it, or a workspace that cannot be written.
    """
    if workspace.read_only:
        raise Problem(f"The workspace {workspace.path} is open for reading only.", kept=KEPT)
    if not os.path.exists(source):  # Path.exists raises at long names
        raise Problem(f"There is no file or folder {source}.", kept=KEPT, todo="Choose it again.")
    runs = workspace.path / RUNS
    make_folder(workspace.path, runs)

    def wait() -> None:
        progress(WAITING, 0, 0)  # may raise Cancelled
        sleep(AGAIN)

    # Two programs that import the same curves at once would both make the same runs.
    with turns.alone(runs, runs / ".importing-curves.lock", wait):
        return _imported(workspace, source, name, progress)


def _imported(
    workspace: Workspace, source: Path, name: str, progress: Progress
) -> tuple[list[ImportedCurves], list[str]]:
    """As `import_curves`, of what exists."""
    imported, remarks = list[ImportedCurves](), list[str]()
    known = _known(workspace)
    source = source.absolute()
    folders = _folders(source, progress, remarks)
    total, before = sum(map(_weight, folders)), 0
    for number, folder in enumerate(folders, 1):
        half = _weight(folder) // 2  # what is read is one half of the work, what is stored the other
        words = f", folder {number:,} of {len(folders):,}" if len(folders) > 1 else ""
        runs = _runs(source, folder, _part(progress, words, before, half, total))
        storing = before + half
        for at, run in enumerate(runs):
            remarks += run.remarks()
            curves = {curve: points.sorted() for curve, points in run.curves.items()}
            run.curves.clear()
            if not curves:
                remarks.append(f"“{run.name}” has no scalars.")
                continue
            several = len(folders) > 1 or len(runs) > 1
            called = _called(name, run if several or not name else None)
            tell = _part(progress, words, storing + half * at // len(runs), half // len(runs), total)
            stored = next((old for old in known.get(run.origin, []) if _is_same(workspace, old, curves)), None)
            if stored is None:
                imported.append(_new(workspace, run, str(source), called, curves, tell))
            else:
                imported.append(_more(workspace, stored, run, curves, tell))
        before += 2 * half
    if not imported:
        raise Problem(f"{source} has no curves.", kept=" ".join([*remarks[:MOST_REMARKS], KEPT]))
    return imported, remarks


def _called(name: str, run: ForeignRun | None) -> str:
    """The name that was asked for, with the run's own behind it, in one line."""
    written = " ".join(f"{name} {'' if run is None else run.name}".split())
    return visible_name(written, LONGEST_RUN_NAME) or ("" if run is None else run.program)


def _folders(source: Path, progress: Progress, remarks: list[str]) -> list[CurveFolder]:
    """The folders with curves in the source; of a file its own folder with nothing else. Raises Problem for none."""
    if source.is_dir():
        tree = curve_folders(source, progress)
        remarks += tree.remarks()
        if not tree.folders:
            raise _nothing_in(source, remarks)
        return tree.folders
    size = source.stat().st_size
    if event_files.MARK in source.name:
        return [CurveFolder(source.parent, source.name, (source.name,), (), True, size)]
    return [CurveFolder(source.parent, source.parent.name, (), (source,), True, size)]


def _weight(folder: CurveFolder) -> int:
    """Bytes, an even number."""
    return 2 * max(1, folder.size // 2)


def _part(progress: Progress, words: str, start: int, length: int, total: int) -> Progress:
    """A Progress of a part of the whole work, which begins at `start` of `total` bytes; `words` follow each text."""

    def tell(text: str, done: int, of: int) -> None:
        progress(f"{text}{words}", start + (length * min(done, of) // of if of else 0), total)

    return tell


def _runs(source: Path, folder: CurveFolder, progress: Progress) -> list[ForeignRun]:
    """The runs in one folder: one of event files, or those of its tables."""
    if folder.events:
        only = event_files.EventFolder(folder.path, folder.name, folder.events, folder.size)
        return [event_files.read_folder(only, progress)]
    within = folder.path if source.is_dir() else source
    runs = _of_tables(within, folder.tables, progress)
    for run in runs:
        run.name = visible_name(_name_of(run, folder), LONGEST_RUN_NAME)
    return runs


def _name_of(run: ForeignRun, folder: CurveFolder) -> str:
    """The name of a run of tables: below the folder that was searched, its path there is the first part.

    A table that is alone there is named by its folder, as Lightning's version_0/metrics.csv.
    """
    table = next((table for table in folder.tables if run.origin == str(table)), None)
    if table is not None and table.stem == OF_LIGHTNING:
        return folder.name or run.name
    if folder.is_root:
        return run.name
    alone = table is not None and len(folder.tables) == 1
    return folder.name if alone else f"{folder.name}/{run.name}"


def _of_tables(source: Path, tables: Sequence[Path], progress: Progress) -> list[ForeignRun]:
    """The runs of some tables: one that several tables of a folder name, as W&B's, one for each chart, is one run."""
    runs = dict[str, ForeignRun]()
    for number, table in enumerate(tables):
        of_table = _part(progress, "", 1000 * number, 1000, 1000 * len(tables))
        for run in curve_tables.read_table(table, of_table):
            if run.origin != str(table) and table != source:
                run.origin = f"{source} ({run.name})"
            whole = runs.setdefault(run.origin, run)
            if whole is not run:
                whole.join(run)
        curve_tables.check_amount(source, runs.values())
    return list(runs.values())


def _known(workspace: Workspace) -> dict[str, list[Run]]:
    """The runs that were made of curves before, by their origin, the newest first, those in the trash last.

    A run that travelled here is not among them: at the same path there may be another one on this machine.
    """
    known = dict[str, list[Run]]()
    for run in (*workspace.runs(), *workspace.runs(trashed=True)):
        if run.curves_of and not workspace.has_file(run.id, travelling.CARD):
            known.setdefault(run.curves_of, []).append(run)
    return known


def _is_same(workspace: Workspace, run: Run, curves: Curves) -> bool:
    """Whether the run began as these curves do: a folder or table may hold another training since.

    Each curve that both have begins with the same point, and there is one; or an import was killed before the first.
    """
    begins, names = list[bool](), workspace.scalar_names(run.id)
    if not names:
        return True
    for name in names:
        if name in curves:
            steps, values = workspace.scalars(run.id, name)
            begins.append(not len(_changed((steps[:1], values[:1]), curves[name])[0]))
    return bool(begins) and all(begins)


def _new(
    workspace: Workspace, run: ForeignRun, path: str, name: str, curves: Curves, progress: Progress
) -> ImportedCurves:
    """A new run of what lies at `path`, or none after an error."""
    parts = {kind: OWN_LOOP for kind in KINDS if kind != "dataset"}
    dataset = {"name": OWN_LOOP, "curves": run.origin}
    config = RunConfig.model_validate({**parts, "name": name, "dataset": dataset})
    about = {"source": run.origin, "path": path, "program": run.program, "at": now()}
    facts = {"workbench": __version__, "curves": about}
    began = "" if run.began is None else moment(run.began)
    run_id = workspace.create_run(config, created=began, facts=facts)
    recorder = Recorder(workspace, run_id)
    try:
        recorder.environment(facts)
        points = _record(recorder, name, curves, progress)
        _take_time(recorder, run)
        recorder(Ended("done"))
    except BaseException:
        take_back(workspace, recorder, run_id)
        raise
    return ImportedCurves(run_id, name, True, points)


def _take_time(recorder: Recorder, run: ForeignRun) -> None:
    """Let the run end when its last point was written, not now."""
    if run.began is not None and run.ended is not None:
        recorder.took(moment(run.ended), run.ended - run.began)


def _more(
    workspace: Workspace, run: Run, foreign: ForeignRun, curves: Curves, progress: Progress
) -> ImportedCurves:  # fmt: skip
    """The points that the run does not have yet, or has with another value; none are added to a run in the trash."""
    have = set(workspace.scalar_names(run.id))
    new = {
        curve: _changed(points, workspace.scalars(run.id, curve)) if curve in have else points
        for curve, points in curves.items()
    }
    new = {curve: points for curve, points in new.items() if len(points[0])}
    if not new and run.status == "done":
        return ImportedCurves(run.id, run.name, False, 0, run.trashed is not None)
    if run.trashed is not None:
        return ImportedCurves(run.id, run.name, False, 0, True, sum(len(steps) for steps, _ in new.values()))
    workspace.take_over(run.id)
    recorder = Recorder(workspace, run.id)
    try:
        points = _record(recorder, run.name, new, progress)
        _take_time(recorder, foreign)
    finally:
        recorder(Ended("done"))  # also after a cancel: what came is kept, and the rest comes with the next import
    return ImportedCurves(run.id, run.name, False, points)


def _changed(
    points: tuple[np.ndarray, np.ndarray], stored: tuple[np.ndarray, np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """Those points whose step is not stored, or with another value."""
    steps, values = points
    at = np.minimum(np.searchsorted(stored[0], steps), len(stored[0]) - 1)
    same = (stored[0][at] == steps) & ((stored[1][at] == values) | (np.isnan(stored[1][at]) & np.isnan(values)))
    return steps[~same], values[~same]


def _record(recorder: Recorder, name: str, curves: Curves, progress: Progress) -> int:
    """Store the points; returns how many."""
    total, done = sum(len(steps) for steps, _ in curves.values()), 0
    for curve, (steps, values) in curves.items():
        for step, value in zip(steps.tolist(), values.tolist(), strict=True):
            if done % TELL_EVERY == 0:
                progress(f"Storing {name}", done, total)
            recorder(Scalar(curve, step, value))
            done += 1
    return done


def _nothing_in(source: Path, remarks: Sequence[str]) -> Problem:
    what = f"{source} holds no event files of TensorBoard and no tables of curves."
    if travelling.has_run(source):
        again = command_line("workbench", "ingest", str(source))
        return Problem(f"{source} is a run folder.", kept=KEPT, todo=f"`{again}` imports it with all that it has.")
    kept = " ".join([*remarks[:MOST_REMARKS], KEPT])
    return Problem(what, kept=kept, todo="Name a folder with runs of TensorBoard, or a CSV file of curves.")
