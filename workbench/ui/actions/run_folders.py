"""Runs of other machines and workspaces, imported from their folders as `workbench ingest` does."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.problem import Problem
from workbench.progress import Progress
from workbench.running import folds_and_seeds
from workbench.ui.state.background.tasks import Task
from workbench.ui.state.concern import EVERYWHERE
from workbench.ui.state.session import Session
from workbench.ui.style.words import counted
from workbench.workspace import Workspace

if TYPE_CHECKING:
    from workbench.workspace.arriving.arriving_files import Taken

CANCELLED = Problem(
    "The import of run folders was cancelled.",
    kept="What had come is kept.",
    todo="Import the folder again for the rest.",
)


@dataclass(slots=True)
class Imported:
    """What came of some run folders."""

    taken: "list[Taken]" = field(default_factory=list)
    refused: list[str] = field(default_factory=list)  # sentences


def import_run_folders(session: Session, path: Path) -> Task:
    """Import a run folder, or all in a folder, on a thread; the newest new run is shown, and the message bar says all.

    Nothing is imported twice, and the folders are only read.
    """
    workspace = session.workspace
    return session.run_in_thread(
        "Importing run folders",
        lambda progress: _imported(workspace, path, progress),
        partial(_show, session, path),
        partial(session.notify, concern=EVERYWHERE),
        cancelled=partial(session.notify, CANCELLED, EVERYWHERE),
        lasting=True,
    )


def _imported(workspace: Workspace, path: Path, progress: Progress) -> Imported:
    from workbench.workspace.arriving.ingest import ingest  # late: the window is shown first
    from workbench.workspace.experiments import experiments
    from workbench.workspace.folders import travelling

    result = Imported()
    folders = travelling.run_folders(path)
    for number, folder in enumerate(folders):
        progress("Importing run folders", number, len(folders))
        try:
            result.taken.append(ingest(workspace, folder))
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


def sentences(path: Path, taken: "Sequence[Taken]", refused: Sequence[str]) -> list[str]:
    """What was imported from a folder, and what was not."""
    new = [one.run_id for one in taken if one.new]
    more = [one.run_id for one in taken if not one.new and (one.points > 0 or one.evaluations or one.checkpoints)]
    said = [f"Imported {counted(len(new), 'run')}: {_numbers(new)}."] if new else []
    said += [f"More came of {_numbers(more)}."] if more else []
    said = said or [f"Nothing new came from {path}."]
    said += [one.about_twin for one in taken if one.twin]
    working = [one.run_id for one in taken if one.status.live]
    said += [f"Not ended yet: {_numbers(working)}. Import the folder again later."] if working else []
    for one in taken:
        said += [f"Refused of #{one.run_id}: {doubt}." for doubt in one.doubts]
        if one.lacking and not one.status.live:
            arrays = counted(one.lacking, "evaluation")
            said.append(f"#{one.run_id} lacks the arrays of {arrays}. If the folder is a copy, copy it again.")
    return [*said, *refused]


def _numbers(runs: Sequence[int]) -> str:
    return ", ".join(f"#{run_id}" for run_id in sorted(runs))
