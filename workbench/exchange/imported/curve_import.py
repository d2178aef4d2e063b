"""Curves of runs that other programs trained, as ended runs of a workspace; what is there already is not added again.

Nothing is known of such a run but its curves: it has no data set, no evaluation and no setting, so that Compare takes
no two of them for repetitions of one training.
"""

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from workbench import __version__
from workbench.config import KINDS, OWN_LOOP, RunConfig
from workbench.events import Ended, Scalar
from workbench.exchange.imported import curve_tables, event_files
from workbench.exchange.imported.event_files import event_folders
from workbench.exchange.imported.foreign_run import ForeignRun
from workbench.exchange.imported.importing import take_back
from workbench.exchange.imported.named_arrays import KEPT
from workbench.jobs import command_line
from workbench.names import visible_name
from workbench.problem import Problem
from workbench.progress import Progress, quiet
from workbench.workspace import Workspace
from workbench.workspace.folders import travelling
from workbench.workspace.recorder import Recorder
from workbench.workspace.rows import Run
from workbench.workspace.times import now

LONGEST_RUN_NAME = 200  # letters, as in a config
TELL_EVERY = 5_000  # points
Curves = dict[str, tuple[np.ndarray, np.ndarray]]  # steps int64 [n], ascending, and values float64 [n]


@dataclass(frozen=True, slots=True)
class ImportedCurves:
    """What an import did to one run."""

    run_id: int
    name: str
    new: bool  # whether the run was made now
    points: int  # that were added
    trashed: bool = False  # whether the run is in the trash

    @property
    def words(self) -> str:
        """A sentence on it."""
        run = f"Run {self.run_id} ({self.name})"
        if self.trashed:
            return f"{run} is in the trash, with the same points."
        if not self.points:
            return f"{run} is there already, with the same points."
        return f"{run}: {self.points:,} {'' if self.new else 'more '}{'point' if self.points == 1 else 'points'}."


def holds_curves(source: Path) -> bool:
    """Whether these are curves of other programs: a table of them, an event file, or a folder with such files."""
    if source.is_dir():
        return event_files.has_event_files(source) or bool(_tables(source))
    return event_files.MARK in source.name or curve_tables.is_curve_table(source)


def import_curves(
    workspace: Workspace, source: Path, name: str = "", progress: Progress = quiet
) -> tuple[list[ImportedCurves], list[str]]:
    """Make a run of each run whose curves are in `source`, or add to those that came from there before.

    Args:
        workspace: where the runs are made, one after another; what was made before a failure or a cancel stays.
        source: a folder of TensorBoard's event files, of runs in folders below it, or of tables; or one such file. A
            table has a column step or epoch, and a column of numbers for each curve, or W&B's "run - curve".
        name: of the run; of several runs it stands before the name of each. By default that of the folder or file.
        progress: called with what is read and stored; may raise Cancelled, which leaves no half run behind.

    Returns:
        What became of each run, by its name, and sentences on what was left out.

    Raises:
        Problem: nothing of that kind, nothing that can be read in it, or a workspace that cannot be written.
    """
    if workspace.read_only:
        raise Problem(f"The workspace {workspace.path} is open for reading only.", kept=KEPT)
    if not os.path.exists(source):  # Path.exists raises at long names
        raise Problem(f"There is no file or folder {source}.", kept=KEPT, todo="Choose it again.")
    imported, remarks = list[ImportedCurves](), list[str]()
    known = _known(workspace)
    for run, several in _runs(source.absolute(), progress):
        remarks += run.remarks()
        curves = {curve: points.sorted() for curve, points in run.curves.items()}
        run.curves.clear()
        if not curves:
            remarks.append(f"“{run.name}” has no scalars.")
            continue
        called = visible_name(" ".join(filter(None, (name, run.name if several or not name else ""))), LONGEST_RUN_NAME)
        of_here = known.get(run.origin, [])
        before = next((stored for stored in of_here if _is_same(workspace, stored, curves)), None)
        if before is None:
            imported.append(_new(workspace, run, str(source.absolute()), called, curves, progress))
        else:
            imported.append(_more(workspace, before, curves, progress))
    if not imported:
        raise Problem(f"{source} has no curves.", kept=" ".join([*remarks[:3], KEPT]))
    return imported, remarks


def _runs(source: Path, progress: Progress) -> Iterator[tuple[ForeignRun, bool]]:
    """Each run in the source, one after another, and whether there are several. Raises Problem for none."""
    if source.is_dir() and (folders := event_folders(source, progress)):
        for folder in folders:
            yield event_files.read_folder(folder, progress), len(folders) > 1
    elif event_files.MARK in source.name and source.is_file():
        only = event_files.EventFolder(source.parent, source.name, (source.name,), source.stat().st_size)
        yield event_files.read_folder(only, progress), False
    else:
        tables = _tables(source) if source.is_dir() else [source]
        if not tables:
            raise _nothing_in(source)
        runs = _of_tables(source, tables, progress)
        for run in runs:
            yield run, len(runs) > 1


def _of_tables(source: Path, tables: list[Path], progress: Progress) -> list[ForeignRun]:
    """The runs of some tables: one that several tables of a folder name, as W&B's, one for each chart, is one run."""
    runs = dict[str, ForeignRun]()
    for table in tables:
        for run in curve_tables.read_table(table, progress):
            if run.origin != str(table) and table != source:
                run.origin = f"{source} ({run.name})"
            whole = runs.setdefault(run.origin, run)
            if whole is not run:
                whole.join(run)
        curve_tables.check_amount(source, runs.values())
    return list(runs.values())


def _tables(folder: Path) -> list[Path]:
    """The tables of curves right in a folder, by name."""
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        names = sorted(entry.name for entry in entries if entry.name.lower().endswith(curve_tables.ENDINGS))
        return [folder / name for name in names[: curve_tables.MOST_RUNS] if curve_tables.is_curve_table(folder / name)]
    return []


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

    Each curve that both have begins with the same point, and there is one.
    """
    begins = list[bool]()
    for name in workspace.scalar_names(run.id):
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
    run_id = workspace.create_run(RunConfig.model_validate({**parts, "name": name, "dataset": dataset}))
    recorder = Recorder(workspace, run_id)
    try:
        facts = {"source": run.origin, "path": path, "program": run.program, "at": now()}
        recorder.environment({"workbench": __version__, "curves": facts})
        points = _record(recorder, name, curves, progress)
        recorder(Ended("done"))
    except BaseException:
        take_back(workspace, recorder, run_id)
        raise
    return ImportedCurves(run_id, name, True, points)


def _more(workspace: Workspace, run: Run, curves: Curves, progress: Progress) -> ImportedCurves:
    """The points that the run does not have yet, or has with another value."""
    have = set(workspace.scalar_names(run.id))
    new = {
        curve: _changed(points, workspace.scalars(run.id, curve)) if curve in have else points
        for curve, points in curves.items()
    }
    new = {curve: points for curve, points in new.items() if len(points[0])}
    if not new and run.status == "done":
        return ImportedCurves(run.id, run.name, False, 0, run.trashed is not None)
    workspace.take_over(run.id)
    recorder = Recorder(workspace, run.id)
    try:
        points = _record(recorder, run.name, new, progress)
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


def _nothing_in(source: Path) -> Problem:
    what = f"{source} holds no event files of TensorBoard and no tables of curves."
    if travelling.has_run(source):
        again = command_line("workbench", "ingest", str(source))
        return Problem(f"{source} is a run folder.", kept=KEPT, todo=f"`{again}` imports it with all that it has.")
    return Problem(what, kept=KEPT, todo="Name a folder with runs of TensorBoard, or a CSV file of curves.")
