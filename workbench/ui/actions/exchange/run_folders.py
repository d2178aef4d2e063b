"""Runs of other machines and workspaces, imported from their folders as `workbench ingest` does."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QWidget

from workbench.names import visible_name
from workbench.problem import Problem
from workbench.progress import Progress
from workbench.running import folds_and_seeds
from workbench.ui.state.background.tasks import Task
from workbench.ui.state.concern import EVERYWHERE
from workbench.ui.state.session import Session
from workbench.ui.style.words import counted, memory, unbroken
from workbench.ui.widgets.buttons import button
from workbench.ui.widgets.dialogs.question import Question
from workbench.workspace import Workspace

if TYPE_CHECKING:
    from workbench.workspace.arriving.arriving_files import Taken

CANCELLED = Problem(
    "The import of run folders was cancelled.",
    kept="What was imported is kept.",
    todo="Import the folder again for the rest.",
)


@dataclass(slots=True)
class Imported:
    """What came of some run folders."""

    taken: "list[Taken]" = field(default_factory=list)
    refused: list[str] = field(default_factory=list)  # sentences


def import_run_folders(session: Session, path: Path, window: QWidget) -> Task:
    """Import a run folder, or all in a folder, on a thread; the newest new run is shown, and the message bar says all.

    Nothing is imported twice, and the folders are only read. Checkpoints that are there and were deleted here come
    back only after a question in the window.
    """
    workspace = session.workspace

    def work(progress: Progress) -> Imported:
        from workbench.workspace.folders import travelling  # late: the window is shown first

        return _imported(workspace, travelling.run_folders(path), progress)

    def show(result: Imported) -> None:
        _show(session, path, result)
        _ask_for_deleted(session, path, window, result)

    return _import(session, "Importing run folders", work, show)


def _import(
    session: Session, title: str, work: Callable[[Progress], Imported], show: Callable[[Imported], None]
) -> Task:
    return session.run_in_thread(
        title,
        work,
        show,
        partial(session.notify, concern=EVERYWHERE),
        cancelled=partial(session.notify, CANCELLED, EVERYWHERE),
        lasting=True,
    )


def _imported(
    workspace: Workspace, folders: Sequence[Path], progress: Progress, *, deleted_too: bool = False
) -> Imported:
    from workbench.workspace.arriving.ingest import ingest
    from workbench.workspace.experiments import experiments

    result = Imported()
    for number, folder in enumerate(folders):
        progress("Importing run folders", number, len(folders))
        try:
            result.taken.append(ingest(workspace, folder, deleted_too=deleted_too))
        except Problem as problem:
            result.refused.append(str(problem) if str(folder) in str(problem) else f"{folder}: {problem}")
    for experiment in experiments.every(workspace):
        if not experiment.result:
            folds_and_seeds.conclude(workspace, experiment.id, progress)
    return result


def _show(session: Session, path: Path, result: Imported) -> None:
    new = [taken.run_id for taken in result.taken if taken.new]
    if new:
        session.show_run(max(new))
    session.notify(" ".join(sentences(path, result.taken, result.refused)), EVERYWHERE)


def _ask_for_deleted(session: Session, path: Path, window: QWidget, result: Imported) -> None:
    """Ask whether checkpoints that were deleted here come back from the folders."""
    there = {taken.folder: taken for taken in result.taken if taken.deleted}
    if not there or session.workspace.read_only:
        return
    size = unbroken(memory(sum(sum(taken.deleted) for taken in there.values())))
    count = counted(sum(len(taken.deleted) for taken in there.values()), "checkpoint")
    runs = _numbers([taken.run_id for taken in there.values()])
    answers = {"leave": button("Leave them deleted"), "all": button(f"Bring them back, {size}")}
    there_is = f"{visible_name(str(path))} has {count} of {runs}, {size}."
    words = f"{there_is} With them a run can be resumed, and its network can be exported and embed new images."
    ask = Question("Import run folders", "Bring back checkpoints that were deleted here?", words, answers, window)
    workspace = session.workspace

    def answered(answer: str) -> None:
        if answer == "all" and session.workspace is workspace:
            again = partial(_imported, workspace, list(there), deleted_too=True)
            _import(session, "Bringing back checkpoints", again, partial(_say_brought, session, path))

    ask.answered.connect(answered)
    session.workspace_changed.connect(ask.reject)  # there others may have their numbers
    ask.open()


def _say_brought(session: Session, path: Path, result: Imported) -> None:
    runs = [taken.run_id for taken in result.taken if taken.checkpoints]
    count = counted(sum(taken.checkpoints for taken in result.taken), "checkpoint")
    said = [f"Brought back {count} of {_numbers(runs)}."] if runs else [f"No checkpoint was brought back from {path}."]
    doubts = [f"Refused for #{taken.run_id}: {doubt}." for taken in result.taken for doubt in taken.doubts]
    session.notify(" ".join([*said, *doubts, *result.refused]), EVERYWHERE)


def sentences(path: Path, taken: "Sequence[Taken]", refused: Sequence[str]) -> list[str]:
    """What was imported from a folder, and what was not."""
    new = [one.run_id for one in taken if one.new]
    more = [one.run_id for one in taken if not one.new and (one.points > 0 or one.evaluations or one.checkpoints)]
    said = [f"Imported {counted(len(new), 'run')}: {_numbers(new)}."] if new else []
    said += [f"More data were imported for {_numbers(more)}."] if more else []
    said = said or [f"Nothing new was found in {path}."]
    said += [one.about_twin for one in taken if one.twin]
    working = [one.run_id for one in taken if one.status.live]
    said += [f"Not ended yet: {_numbers(working)}. Import the folder again later."] if working else []
    for one in taken:
        said += [f"Refused for #{one.run_id}: {doubt}." for doubt in one.doubts]
        if one.lacking and not one.status.live:
            arrays = counted(one.lacking, "evaluation")
            said.append(f"#{one.run_id} lacks the arrays of {arrays}. If the folder is a copy, copy it again.")
    return [*said, *refused]


def _numbers(runs: Sequence[int]) -> str:
    return ", ".join(f"#{run_id}" for run_id in sorted(runs))
