"""The one state that all pages share: workspace, shown run, evaluation, selection, query, and the work in progress.

Pages change it and listen to it, and never call each other. Everything here is used on the window's thread, and nothing
here reads the disk on it: what is asked was read by the follower, and what must be read first comes with a signal.
"""

import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QTimer, Signal

from workbench.control import Control
from workbench.entries import catalog as catalogs
from workbench.entries.catalog import Catalog
from workbench.jobs import AnalysisProcess
from workbench.problem import Problem
from workbench.progress import Progress
from workbench.running import folds_and_seeds
from workbench.running.processes.spare import Spare
from workbench.ui.preferences import Preferences
from workbench.ui.state.background.analysis import AnalysisClient
from workbench.ui.state.background.tasks import Task, heard_by
from workbench.ui.state.background.work import GRACE
from workbench.ui.state.concern import EVERYWHERE, Concern, of_page
from workbench.ui.state.pages.page_turn import PageTurn
from workbench.ui.state.runs.known_places import KnownPlaces
from workbench.ui.state.runs.placed_runs import PlacedRuns
from workbench.ui.state.runs.run_jobs import MakeJob, chosen_devices, chosen_job, needs_several, wants_spare
from workbench.ui.state.runs.run_queue import RunQueue
from workbench.ui.state.selection.shown import Shown
from workbench.ui.style.theme import Theme
from workbench.workspace import Workspace
from workbench.workspace.database.problems import Full
from workbench.workspace.measured.evaluations import NoEvaluation
from workbench.workspace.news import Watch

if TYPE_CHECKING:
    from workbench.config import RunConfig
    from workbench.places.place import Place

log = logging.getLogger(__name__)
PAGES = ("setup", "train", "map", "retrieval", "compare", "report")
NO_RESULT = Problem(
    "The result of the experiment was not computed: that was cancelled.",
    kept="Its runs are kept.",
    todo="With its config, workbench run --resume computes it.",
)
DEAD_EVERY = 30_000  # ms between two searches for runs whose process has ended


class Session(Shown):
    """State shared by pages: its methods change it, its signals say what changed.

    Args:
        workspace: an open workspace; `open_workspace` changes it and closes the one before.
        preferences: what the window remembers; the default file when it is not given.
        make_job: makes the job of a run; by default where the user chose; tests give another.
        watch: on the workspace, made where it was opened; else it is made here.
    """

    leaving = Signal()  # the workspace is about to be closed: what was typed and is not stored yet is stored now
    workspace_changed = Signal()
    catalog_changed = Signal()  # the catalog was made: at the very first start it was the shipped one, without plug-ins
    run_trashed = Signal(int, str)  # a run that was moved to the trash, and its name
    trash_refused = Signal(int, str)  # a run that a full disk has no room to move to the trash, and its name
    page_asked = Signal(str)  # one of PAGES
    part_made = Signal(object)  # widget made after its page, a dialog or view: it is arranged as the user left it
    data_chosen = Signal()  # images for the next run: the start cards are not needed any more
    config_offered = Signal(object)  # RunConfig for the Set up page: from a file, a folder of images or a run
    start_offered = Signal(object)  # RunConfig that Set up shows and starts on this machine, once its check has ended
    config_explained = Signal(object)  # dict[str, str]: why the config that was just offered has its values, by field
    report_offered = Signal(object)  # ReportOffer for the Report page, which is there: see ui/state/report_offer.py
    images_located = Signal(int)  # data set whose images were looked for in another folder: pictures are read again
    end_asked = Signal(int)  # the user wants this run of this window to end: how is asked by the window
    run_ended = Signal(int, str)  # run of this window, its status
    done = Signal(object)  # a Reversible: Undo takes it back on all pages that have no steps of their own
    new_run_asked = Signal()  # the form begins anew
    places_asked = Signal()  # the user wants to see and change the places
    data_asked = Signal(str, object)  # a path of a config, and the place where its counterpart is not known

    def __init__(
        self,
        workspace: Workspace,
        preferences: Preferences | None = None,
        make_job: MakeJob | None = None,
        parent: QObject | None = None,
        watch: Watch | None = None,
    ) -> None:
        super().__init__(watch or Watch(workspace), parent)
        self.preferences = preferences or Preferences(parent=self)
        self.theme = Theme(self.preferences, self)
        self.analysis = AnalysisClient(self)
        self.drawing = AnalysisClient(self, partial(AnalysisProcess, module="workbench.reports.server"))
        self.catalog: Catalog = catalogs.at_first()
        self.page = "setup"
        self.places = KnownPlaces(self)
        self.spare = Spare()
        self._make_job = make_job or partial(chosen_job, self.preferences, self.spare)
        self._look_for_dead_runs = QTimer(self, interval=DEAD_EVERY)
        self._look_for_dead_runs.timeout.connect(self._mark_dead_runs)
        self._look_for_dead_runs.start()
        self._begin_queue()
        self.run_changed.connect(self._show_place)
        self.runs_changed.connect(self._trash_ended)

    def _begin_queue(self) -> None:
        """Give the workspace an empty queue, and follow its runs at places."""
        self._discarded: set[int] = set()  # runs that go to the trash as soon as they have ended
        self.queue = RunQueue(self.workspace, self._make_job, self, partial(chosen_devices, self.preferences))
        self.queue.ended.connect(self._queue_ended)
        self.queue.unstored.connect(partial(self.notify, concern=EVERYWHERE))
        self.placed = PlacedRuns(self, self.workspace, self)
        self.placed.kept_on.connect(self._discarded.discard)
        self._turning = PageTurn(self.queue, self.queue)
        self._turning.turned.connect(self.page_asked)

    # Workspace and catalog

    def open_workspace(self, workspace: Workspace, watch: Watch | None = None) -> None:
        """Show another workspace; the one before is closed on a thread, when what worked on it has ended.

        Args:
            watch: on it, made where it was opened; else it is made here, which reads the disk.

        Raises:
            Problem: while a run of this window works; the caller closes what it opened.
        """
        if self.queue.busy:
            raise Problem("A run is still training in this workspace.", todo="Stop or cancel it first.")
        self.leaving.emit()
        before, follower, queue, placed = self.workspace, self.follower, self.queue, self.placed
        placed.close()
        ending = self._cancel_tasks()
        self._adopt(watch or Watch(workspace))
        self._begin_queue()
        follower.stop()
        queue.deleteLater()

        def close() -> None:
            for task in ending:
                task.join(GRACE)
            placed.release()
            follower.watch.close()
            before.close()

        def forget(_: None) -> None:
            follower.deleteLater()
            placed.deleteLater()

        unclosed = partial(self.notify, concern=EVERYWHERE)
        self.run_in_thread("Closing", lambda progress: close(), forget, unclosed, quiet=True)
        self.workspace_changed.emit()
        self.run_changed.emit(None)
        self.evaluation_changed.emit(None)
        self.query_changed.emit(None)
        self.selection_changed.emit()
        self.runs_changed.emit()

    def set_catalog(self, catalog: Catalog) -> None:
        """Take the catalog that was made after the first paint."""
        if catalog != self.catalog:
            self.catalog = catalog
            self.catalog_changed.emit()

    def here(self) -> Concern:
        """The shown page, and the shown run where the page is about it."""
        return of_page(self.page, self.run_id)

    def tell_failure(self, *, lasting: bool = False) -> Callable[[Problem], None]:
        """As `Work.tell_failure`; what only reads is silent about an evaluation that its run has deleted meanwhile.

        The pages go over to another one then.
        """
        tell = super().tell_failure(lasting=lasting)

        def tell_others(problem: Problem) -> None:
            if isinstance(problem, NoEvaluation):
                log.info("not shown: %s", problem)
            else:
                tell(problem)

        return tell if lasting else tell_others

    def show_page(self, name: str) -> None:
        """Bring a page to the front: one of PAGES."""
        if name not in PAGES:
            raise ValueError(name)
        self.page = name
        self._turning.turn(name)

    # Runs of this window

    def start(self, config: "RunConfig", then: Callable[[], None] | None = None) -> None:
        """Make all runs of a config and start them, queued behind the one that trains; the first becomes the shown run.

        They are made on a thread; `then` is called when the first is shown. Where the workspace cannot be written, the
        message bar says so. `start_at` starts them at another place.
        """
        prepare = partial(folds_and_seeds.prepare, config, self.workspace)
        self.change(prepare, partial(self._started, then, "," in config.device))

    def _started(self, then: Callable[[], None] | None, alone: bool, numbers: list[int]) -> None:
        for run_id in numbers:
            self.queue.add(run_id, alone=alone)
        self.show_run(numbers[0])
        if then is not None:
            then()

    def add_runs(
        self, configs: "Sequence[RunConfig]", then: Callable[[list[int]], None], failed: Callable[[Problem], None]
    ) -> None:
        """Make all runs of several configs and queue them; the shown run stays. `then` gets their numbers."""
        workspace = self.workspace

        def work() -> list[tuple[int, bool]]:
            return [
                (run_id, "," in config.device)
                for config in configs
                for run_id in folds_and_seeds.prepare(config, workspace)
            ]

        def queue(made: list[tuple[int, bool]]) -> None:
            for run_id, alone in made:
                self.queue.add(run_id, alone=alone)
            then([run_id for run_id, _ in made])

        self.run_in_thread("Writing", lambda progress: work(), queue, failed, quiet=True)

    def start_at(
        self, config: "RunConfig", place: "Place", then: Callable[[], None] | None = None,
        refused: Callable[[Problem], None] = lambda problem: None,
    ) -> None:  # fmt: skip
        """As `start`, at a place. Data that the place has elsewhere are asked for: `data_asked`.

        `refused` gets what the message bar says, too: of a field whose file, folder or device the place has not.
        """
        from workbench.places import sending  # late: the window is shown first
        from workbench.places.launching import launcher_of
        from workbench.running.unusable import refuse_size_unseen

        workspace, remarks = self.workspace, list[str]()

        def work(progress: Progress) -> list[int]:
            sending.translated(config, place)  # what is not known is asked for before
            progress("Checking the image size", 0, 0)
            with self.loading(progress):
                refuse_size_unseen(config)
            asked = launcher_of(place, heard_by(progress, f"Asking {place.name} for its files and devices"))
            remarks.append(sending.refuse_missing(config, place, asked))
            progress("Making the runs", 0, 0)
            numbers = sending.prepare(workspace, config, place)
            launcher = launcher_of(place, heard_by(progress, f"Sending them to {place.name}"))
            sending.submit(workspace, numbers, place, launcher)
            return numbers

        def sent(numbers: list[int]) -> None:
            self.placed.follow()
            self.show_run(numbers[0])
            if remarks[0]:
                self.notify(remarks[0], EVERYWHERE)
            if then is not None:
                then()

        def failed(problem: Problem) -> None:
            if isinstance(problem, sending.UnknownData):
                self.data_asked.emit(problem.path, place)
            else:
                self.notify(problem, EVERYWHERE)
                refused(problem)

        def cancelled() -> None:
            kept = "Runs that were made are kept, and Resume sends them."
            self.notify(Problem(f"Starting at {place.name} was cancelled.", kept=kept), EVERYWHERE)

        self.run_in_thread(f"Starting at {place.name}", work, sent, failed, cancelled=cancelled, lasting=True)

    def find_place(self, run_id: int, name: str, then: Callable[[str], None]) -> Task:
        """Call `then` with the default folder for files made from a run; a link there is shown as a Problem.

        A read-only workspace has none: `then` is called with "".
        """
        workspace = self.workspace
        return self.read(lambda: "" if workspace.read_only else str(workspace.file(run_id, name)), then)

    def resume_run(self, run_id: int) -> None:
        """Resume a run from its last intact checkpoint, where it trained; reports a run that is still training."""
        run = self.run(run_id)
        if run is not None and run.placement is not None:
            self.placed.resume(run_id)
            return
        self.change(partial(self.workspace.take_over, run_id), partial(self._resumed, run_id))

    def _resumed(self, run_id: int, _: None) -> None:
        run = self.run(run_id)
        several = run is not None and needs_several(run.config)
        self.queue.add(run_id, resume=True, alone=several)
        self.show_run(run_id)

    def keep_spare(self) -> None:
        """Have a process with torch loaded wait for the next run, or none, as the user chose where runs train."""
        self.spare.want(wants_spare(self.preferences))

    def control(self, run_id: int) -> Control | None:
        """The control (pause, resume, stop) of a run that this window started or that works at a place; else None."""
        return self.queue.control(run_id) or self.placed.control(self.run(run_id))

    def shown_control(self) -> Control | None:
        """The control of the shown run; None when this window did not start it or it has ended."""
        return None if self.run_id is None else self.control(self.run_id)

    def toggle_pause(self) -> None:
        """Pause the shown run, or resume it when it is paused; nothing happens without its control."""
        control = self.shown_control()
        if control is not None:
            (control.resume if control.paused else control.pause)()

    def stop_shown(self) -> None:
        """Ask the shown run to stop after its epoch, a loop of the user's own to stop where it looks for that."""
        run, control = self.run(), self.shown_control()
        if control is not None:
            control.stop()
            self.runs_changed.emit()  # every place that names its state says that it is being ended
        elif run is not None and run.looks_for_stop:
            self.change(partial(self.workspace.ask_to_stop, run.id))

    def end_run(self, run_id: int) -> None:
        """End a run of this window before its next step, keeping its finished epochs; a queued one is removed."""
        control = self.placed.control(self.run(run_id))
        if control is not None:
            control.stop_now()
        else:
            self.queue.end(run_id)
        self.runs_changed.emit()  # every place that names its state says that it is being ended

    def discard_run(self, run_id: int) -> None:
        """End a run of this window and move it to the trash with all that it trained."""
        self._discarded.add(run_id)
        control = self.placed.control(self.run(run_id))
        if control is not None:
            control.cancel()
        else:
            self.queue.end(run_id, keep=False)
            if self.control(run_id) is None:
                self._trash_discarded(run_id)
        self.runs_changed.emit()  # as in `end_run`

    def _show_place(self, run_id: int | None) -> None:
        self.placed.show(None if run_id is None else self.run(run_id))

    def _trash_ended(self) -> None:
        """Put discarded runs of other places into the trash once they have ended there."""
        for run_id in tuple(self._discarded):
            run = self.run(run_id)
            if run is not None and run.placement is not None and not run.live:
                self._trash_discarded(run_id)

    def _trash_discarded(self, run_id: int) -> None:
        if run_id not in self._discarded:
            return
        self._discarded.remove(run_id)
        self.trash_run(run_id)

    def trash_run(self, run_id: int) -> None:
        """Put a run into the trash; a run that works stays where it is, and the message bar says so."""
        run = self.run(run_id)
        name = f"Run {run_id}" if run is None else run.name
        self.ticks.let_go(run_id)
        done, failed = partial(self._trashed, run_id, name), partial(self._not_trashed, run_id, name)
        self.change(partial(self.workspace.trash, run_id), done, failed)

    def _not_trashed(self, run_id: int, name: str, problem: Problem) -> None:
        self.notify(problem, EVERYWHERE)
        if isinstance(problem, Full):
            self.trash_refused.emit(run_id, name)

    def _trashed(self, run_id: int, name: str, _: None) -> None:
        if self.run_id == run_id:
            self.show_run(None)
        self.run_trashed.emit(run_id, name)

    @property
    def busy(self) -> bool:
        """Whether a run of this window trains or waits in the queue."""
        return self.queue.busy

    def close(self, *, ending: bool = False) -> None:
        """End all work off the window's thread and close the workspace. Runs must have ended or are cancelled.

        Args:
            ending: the process ends with it: a library that is being loaded is given up, not waited for.
        """
        self.leaving.emit()
        self._closed, self._ending = True, ending
        self.placed.close()
        self._look_for_dead_runs.stop()
        self.places.close()
        self.queue.withdraw_waiting()
        for run_id in self.queue.running:
            self.queue.end(run_id)
        if self.queue.busy:
            self.queue.close(GRACE)
            for run_id in self._discarded:
                with suppress(Problem):  # it has not ended yet: it stays in the list of runs
                    self.workspace.trash(run_id)
        self.spare.close()
        self._wait_for_tasks()
        self.placed.release()
        for client in self.findChildren(AnalysisClient):
            client.close()
        self.follower.close()
        self.theme.close()
        self.preferences.keep()
        self.workspace.close()

    def _mark_dead_runs(self) -> None:
        """The follower reports what changes; a workspace that cannot be written now is tried again later."""
        mark, not_now = self.workspace.sweep_dead_runs, partial(log.info, "dead runs: %s")
        self.run_in_thread("Looking for dead runs", lambda progress: mark(), failed=not_now, quiet=True)

    def _queue_ended(self, run_id: int, status: str, problem: str) -> None:
        if status == "failed":
            self.notify(Problem(problem or "The run failed. See the log."), Concern(run=run_id))
        self.run_ended.emit(run_id, status)
        self._trash_discarded(run_id)
        run = self.run(run_id)
        if status == "done" and run is not None and run.experiment_id is not None:
            experiment = run.experiment_id
            work = partial(folds_and_seeds.conclude, self.workspace, experiment)
            no_result = partial(self.notify, NO_RESULT, EVERYWHERE)
            self.run_in_thread(
                "Result of the experiment", work, self._concluded, cancelled=no_result, lasting=True
            )  # fmt: skip

    def _concluded(self, result: dict[str, Any] | None) -> None:
        if result is not None:
            self.runs_changed.emit()
