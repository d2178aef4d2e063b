"""`workbench ingest`: imports run folders into a workspace."""

import sys
from collections.abc import Iterable
from pathlib import Path
from time import monotonic, sleep, time

import click

from workbench.commands.arguments import workspace_option
from workbench.commands.terminal import one_line
from workbench.numerals import counted
from workbench.problem import Problem
from workbench.progress import duration
from workbench.running import folds_and_seeds
from workbench.workspace import Workspace
from workbench.workspace.arriving.arriving_files import Taken
from workbench.workspace.arriving.ingest import BeingImported, ingest
from workbench.workspace.experiments import experiments
from workbench.workspace.folders import journal, travelling
from workbench.workspace.folders.replaying import shown
from workbench.workspace.folders.settled import state_of
from workbench.workspace.owners import ownership
from workbench.workspace.paths import default_workspace

POLL = 1.0  # seconds between two looks with --follow


@click.command("ingest", short_help="Import the runs of a folder into a workspace.")
@click.argument("source", metavar="DIR", type=click.Path(path_type=Path, file_okay=False, exists=True))
@workspace_option
@click.option("--follow", is_flag=True, help="Continue while runs in DIR grow; stop with Ctrl+C.")
@click.option("--deleted-checkpoints", is_flag=True, help="Also bring back checkpoints that were deleted here.")
def take_in(source: Path, folder: Path | None, follow: bool, deleted_checkpoints: bool) -> None:
    """Import the runs of DIR into a workspace: a folder of `workbench run --folder` or of `workbench export --format
    run`, or a folder of them.

    Nothing is imported twice, and a folder may be imported while its run trains. When a window asks your own training
    loop to stop, its folder gets an empty file after-epoch. The exit status is 0 if everything in DIR was imported,
    even if some runs have not ended; 1 if something was refused or a folder is incomplete.
    """
    travelling.run_folders(source)  # where there is none, no workspace is made
    with Workspace(folder or default_workspace(), create=True) as workspace:
        sys.exit(take_in_all(workspace, source, follow=follow, deleted_too=deleted_checkpoints))


def take_in_all(workspace: Workspace, source: Path, *, follow: bool, deleted_too: bool = False) -> int:
    """Import every run folder below `source`, repeatedly with `follow`; returns the exit status.

    That is 0 if all that is there was imported, also of runs that have not ended.
    """
    looks = _Looks(workspace, follow=follow, deleted_too=deleted_too)
    while True:
        looks.look_into(travelling.run_folders(source))
        _conclude(workspace)
        if not follow and looks.working:
            runs = "1 run has" if looks.working == 1 else f"{looks.working:,} runs have"
            click.echo(f"{runs} not ended: import the folder again later, or with --follow until all have.", err=True)
        if not follow or not (looks.working or looks.comes):
            if not (looks.news or looks.said):
                click.echo(one_line(shown(f"No new points, evaluations or checkpoints in {source}.")))
            return 1 if looks.refused else 0
        sleep(POLL)


class Changes:
    """When folders last changed, by this machine's own watch: clocks elsewhere may be hours behind."""

    def __init__(self) -> None:
        self._seen: dict[Path, tuple[int | str, float]] = {}  # state, and when it was first seen

    def lately(self, folder: Path, state: int | str) -> bool:
        """Whether this state of a folder is a new one, or was new less than ownership.SILENT ago."""
        if folder not in self._seen or self._seen[folder][0] != state:
            self._seen[folder] = (state, monotonic())
        return monotonic() - self._seen[folder][1] < ownership.SILENT


def _may_go_on(workspace: Workspace, taken: Taken, changes: Changes) -> bool:
    """Whether a run of another machine whose journal has no end may still be training: it grew recently.

    The other machine, or a container, may have this one's name: then its process is not here, and its journal is new.
    """
    with workspace.reading() as db:
        owner = ownership.owner_of(db, "runs", taken.run_id)
    if owner is None or owner.host is None or not taken.journaled.live:
        return False
    written = (taken.folder / journal.NAME).stat()
    recently = changes.lately(taken.folder, written.st_size)
    return recently and (not ownership.is_here(owner.host) or abs(time() - written.st_mtime) < ownership.SILENT)


def _lacks(taken: Taken) -> str:
    """A sentence on what is not whole of a run that has ended; empty if nothing is."""
    if taken.lacking:
        arrays = "1 evaluation" if taken.lacking == 1 else f"{taken.lacking:,} evaluations"
        what = f"the arrays of {arrays} are missing or incomplete"
    elif taken.unfinished and not taken.journaled.live:  # a killed run may have saved more than it wrote down
        what = "a file is incomplete"
    else:
        return ""
    return f"{taken.folder}, run {taken.run_id}: {what}. If it is a copy, copy it again."


class _Looks:
    """Looks at run folders, one after another, each of which imports what is new; a sentence is printed once.

    Attributes:
        working, comes, refused: of the last look: runs that train, and whether more is expected of a folder whose run
            does not train, or something was refused.
        news: whether any look imported something.
        said: the sentences on the error output.
    """

    def __init__(self, workspace: Workspace, *, follow: bool, deleted_too: bool) -> None:
        self._workspace, self._follow, self._deleted_too = workspace, follow, deleted_too
        self._growth, self._changes = Changes(), Changes()
        self.working, self.comes, self.refused, self.news = 0, False, False, False
        self.said: set[str] = set()

    def look_into(self, folders: Iterable[Path]) -> None:
        """Import what is new in each folder, and say what was imported, refused, or is not whole."""
        self.working, self.comes, self.refused = 0, False, False
        for folder in folders:
            lacks = self._take_in(folder)
            if lacks and self._follow and self._changes.lately(folder, state_of(folder)):
                self.comes = True
            elif lacks:
                self.refused = True
                self._say(lacks)
                if self._follow:
                    self._say(f"{folder}: nothing new for {duration(ownership.SILENT)}; not waiting for it.")

    def _take_in(self, folder: Path) -> str:
        """Import one folder; returns a sentence on what it lacks, empty if it is whole, trains or was refused."""
        try:
            taken = ingest(self._workspace, folder, deleted_too=self._deleted_too)
        except travelling.Unfinished as problem:
            lacks = _named(folder, problem)
            self._say(lacks)
            return lacks
        except Problem as problem:
            self.refused = True
            self.comes |= isinstance(problem, BeingImported)
            self._say(_named(folder, problem))
            return ""
        trains = taken.status.live or _may_go_on(self._workspace, taken, self._growth)
        self.working += trains
        self.news |= self._report(taken)
        passed_on = self._passed_on(taken)
        self.refused |= bool(taken.doubts) or not passed_on
        return "" if trains else _lacks(taken)

    def _report(self, taken: Taken) -> bool:
        """Say what was imported of a run, and what was not; returns whether anything was."""
        measured = taken.new or taken.points > 0 or taken.evaluations > 0
        news = measured or taken.checkpoints > 0
        if news:
            parts = [counted(taken.points, "point"), counted(taken.evaluations, "evaluation")] if measured else []
            parts += [counted(taken.checkpoints, "checkpoint")] if taken.checkpoints else []
            folder = one_line(shown(str(taken.folder)))
            click.echo(f"Run {taken.run_id} ({taken.status}): {', '.join(parts)} from {folder}")
        named = f"{taken.folder}, run {taken.run_id}"
        if taken.twin:
            self._say(taken.about_twin)
        if taken.unread:
            self._say(f"{named}: {counted(taken.unread, 'line')} of its journal cannot be read.")
        if taken.deleted:
            what = "its checkpoints were deleted here" if len(taken.deleted) > 1 else "a checkpoint was deleted here"
            self._say(f"{named}: {what}; --deleted-checkpoints brings back what is there.")
        for doubt in taken.doubts:
            self._say(f"{named}: {doubt} was refused.")
        return news

    def _passed_on(self, taken: Taken) -> bool:
        """Pass a request to stop from a window on to the training loop that records the run; False if that failed."""
        if not (taken.status.live and self._workspace.run(taken.run_id).loop_asked_to_stop):
            return True
        try:
            new = travelling.ask_to_stop(taken.folder)
        except Problem as problem:
            self._say(_named(taken.folder, problem))
            return False
        if new:
            file = taken.folder / travelling.AFTER_EPOCH
            copied = "If this is a copy of the run's folder, make that file in the folder itself."
            click.echo(one_line(shown(f"Run {taken.run_id} was asked to stop, by the file {file}. {copied}")))
        return True

    def _say(self, sentence: str) -> None:
        if sentence not in self.said:
            self.said.add(sentence)
            click.echo(one_line(shown(sentence)), err=True)


def _named(folder: Path, problem: Problem) -> str:
    """The sentences of a problem, with the folder where they do not name it."""
    return str(problem) if str(folder) in str(problem) else f"{folder}: {problem}"


def _conclude(workspace: Workspace) -> None:
    """Store the result of each experiment whose runs are all done."""
    for experiment in experiments.every(workspace):
        if not experiment.result:
            folds_and_seeds.conclude(workspace, experiment.id)
