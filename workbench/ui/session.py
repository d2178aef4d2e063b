"""The one state that all pages share: workspace, shown run, evaluation, selection, query, and the work in progress.

Pages change it and listen to it, and never call each other. Everything here is used on the window's thread.
"""

import logging
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from PySide6.QtCore import QObject, QTimer, Signal

from workbench.control import Control
from workbench.entries import catalog as catalogs
from workbench.entries.catalog import Catalog
from workbench.jobs import AnalysisProcess
from workbench.problem import Problem
from workbench.progress import Progress
from workbench.running import folds_and_seeds
from workbench.ui.activity import Activity
from workbench.ui.analysis import AnalysisClient
from workbench.ui.live import Follower
from workbench.ui.page_turn import PageTurn
from workbench.ui.preferences import Preferences
from workbench.ui.run_queue import MakeJob, RunQueue, experiment_job
from workbench.ui.tasks import Task
from workbench.ui.theme import Theme
from workbench.workspace import Workspace, experiments
from workbench.workspace.rows import Evaluation, Experiment, Run

if TYPE_CHECKING:
    from workbench.config import RunConfig
    from workbench.datasets.pictures import Pictures

log = logging.getLogger(__name__)
Result = TypeVar("Result")
PAGES = ("setup", "train", "map", "retrieval", "compare", "report")
DEAD_EVERY = 30_000  # ms between two looks for runs whose owner is gone
GRACE = 30.0  # seconds that work off the window's thread gets to hear of its end


class Session(QObject):
    """State shared by pages: its methods change it, its signals say what changed.

    Args:
        workspace: an open workspace; `open_workspace` changes it and closes the one before.
        preferences: what the window remembers; the default file when it is not given.
        make_job: makes the job of a run; tests give another.
    """

    workspace_changed = Signal()
    catalog_changed = Signal()  # the catalog was made: it is empty at the very first start
    run_changed = Signal(object)  # run id or None
    evaluation_changed = Signal(object)  # evaluation id or None
    selection_changed = Signal()
    query_changed = Signal(object)  # sample id or None
    page_asked = Signal(str)  # one of PAGES
    config_offered = Signal(object)  # RunConfig for the Set up page: from a file, a folder of images or a run
    comparison_offered = Signal(object)  # run ids for the Compare page, which is there: ask for the page first
    report_offered = Signal(object)  # ReportOffer for the Report page, which is there: see ui/report_offer.py
    images_located = Signal(int)  # data set whose images were looked for in another folder: pictures are read again
    noticed = Signal(object)  # Problem or str for the message bar
    end_asked = Signal(int)  # the person wants this run of this window to end: how is asked by the window
    run_ended = Signal(int, str)  # run of this window, its status

    # As the follower says them; `scalars_arrived` tells the shown run from its first point on after `run_changed`.
    runs_changed = Signal()
    status_changed = Signal(str)
    scalars_arrived = Signal(list)  # [(name, step, value), ...]
    evaluations_changed = Signal()
    charts_changed = Signal()

    def __init__(
        self,
        workspace: Workspace,
        preferences: Preferences | None = None,
        make_job: MakeJob = experiment_job,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self.preferences = preferences or Preferences(parent=self)
        self.theme = Theme(self.preferences, self)
        self.activity = Activity(self)
        self.analysis = AnalysisClient(self)
        self.drawing = AnalysisClient(self, partial(AnalysisProcess, module="workbench.reports.server"))
        self.catalog: Catalog = catalogs.read() or {}
        self.page = "setup"
        self._make_job = make_job
        self._tasks: set[Task] = set()
        self._closed = False
        self._look_for_dead_runs = QTimer(self, interval=DEAD_EVERY)
        self._look_for_dead_runs.timeout.connect(self._mark_dead_runs)
        self._look_for_dead_runs.start()
        self._adopt(workspace)

    def _adopt(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.run_id: int | None = None
        self.evaluation_id: int | None = None
        self.selection: np.ndarray = np.empty(0, np.int64)  # sample ids
        self.query: int | None = None
        self._evaluation_chosen = False
        self._discarded: set[int] = set()  # runs that go to the trash as soon as they have ended
        self._runs: list[Run] | None = None
        self._pictures: tuple[int, Pictures] | None = None
        self.queue = RunQueue(workspace, self._make_job, self)
        self.queue.ended.connect(self._queue_ended)
        self._turning = PageTurn(self.queue, self.queue)
        self._turning.turned.connect(self.page_asked)
        self.follower = Follower(workspace, self)
        self.follower.runs_changed.connect(self._hear_runs)
        self.follower.status_changed.connect(self.status_changed)
        self.follower.scalars_arrived.connect(self.scalars_arrived)
        self.follower.evaluations_changed.connect(self._hear_evaluations)
        self.follower.charts_changed.connect(self.charts_changed)
        self.follower.failed.connect(self.notify)

    # Workspace and catalog

    def open_workspace(self, workspace: Workspace) -> None:
        """Show another workspace and close the one before. Raises Problem while a run of this window works."""
        if self.queue.busy:
            raise Problem("A run is still working in this workspace.", todo="Stop or cancel it first.")
        self._wait_for_tasks()
        before, follower, queue = self.workspace, self.follower, self.queue
        self._adopt(workspace)
        follower.close()
        follower.deleteLater()
        queue.deleteLater()
        before.close()
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

    # What is shown

    def runs(self) -> list[Run]:
        """All runs that are not in the trash, newest first; read once per change of the workspace."""
        if self._runs is None:
            self._runs = self.workspace.runs()
        return self._runs

    def run(self) -> Run | None:
        """The shown run as it is now, or None."""
        if self.run_id is None:
            return None
        return next((run for run in self.runs() if run.id == self.run_id), None) or self.workspace.run(self.run_id)

    def evaluation(self) -> Evaluation | None:
        """The shown evaluation, or None."""
        return None if self.evaluation_id is None else self.workspace.evaluation(self.evaluation_id)

    def show_run(self, run_id: int | None) -> None:
        """Show a run with its best evaluation, or none; selection and query are cleared."""
        if run_id == self.run_id:
            return
        self._evaluation_chosen = False
        self.run_id = run_id
        self.evaluation_id = self._best_evaluation()
        self.follower.follow(run_id)
        self.run_changed.emit(run_id)
        self.evaluation_changed.emit(self.evaluation_id)
        self.show_query(None)
        self.select(np.empty(0, np.int64))

    def show_evaluation(self, evaluation_id: int | None) -> None:
        """Show an evaluation of the shown run and stay with it; the best, or None, follows the best from then on."""
        best = self._best_evaluation()
        self._evaluation_chosen = evaluation_id not in (None, best)
        self._set_evaluation(best if evaluation_id is None else evaluation_id)

    def show_earlier(self) -> None:
        """The evaluation before the shown one, if there is one."""
        self._step_evaluation(-1)

    def show_later(self) -> None:
        """The evaluation after the shown one, if there is one."""
        self._step_evaluation(1)

    def _step_evaluation(self, by: int) -> None:
        every = [] if self.run_id is None else [each.id for each in self.workspace.evaluations(self.run_id)]
        place = every.index(self.evaluation_id) + by if self.evaluation_id in every else -1
        if 0 <= place < len(every):
            self.show_evaluation(every[place])

    def select(self, sample_ids: np.ndarray) -> None:
        """Select samples by id; [n] int64."""
        new = np.asarray(sample_ids, np.int64)
        if not np.array_equal(new, self.selection):
            self.selection = new
            self.selection_changed.emit()

    def show_query(self, sample_id: int | None) -> None:
        """Show one sample as the query."""
        if sample_id != self.query:
            self.query = sample_id
            self.query_changed.emit(sample_id)

    def show_page(self, name: str) -> None:
        """Bring a page to the front: one of PAGES."""
        if name not in PAGES:
            raise ValueError(name)
        self.page = name
        self._turning.turn(name)

    def pictures(self) -> "Pictures | None":
        """Images of the shown run's data set; None before the run has read its data."""
        run = self.run()
        if run is None or run.dataset_id is None:
            return None
        if self._pictures is None or self._pictures[0] != run.dataset_id:
            self._pictures = (run.dataset_id, self.workspace.pictures(run.dataset_id))
        return self._pictures[1]

    # Runs of this window

    def start(self, config: "RunConfig") -> int:
        """Make all runs of a config and start them, in line behind the one that works; the first becomes the shown run.

        Raises:
            Problem: when the workspace cannot be written.
        """
        numbers = folds_and_seeds.prepare(config, self.workspace)
        for run_id in numbers:
            self.queue.add(run_id)
        self.show_run(numbers[0])
        return numbers[0]

    def place_for(self, run_id: int, name: str) -> str:
        """Where files made of a run go unless a person says otherwise; nowhere, and told, where it would be a link."""
        try:
            return str(self.workspace.file(run_id, name))
        except Problem as problem:
            self.notify(problem)
            return ""

    def experiments(self) -> list[Experiment]:
        """Runs that belong together, newest first."""
        return experiments.every(self.workspace)

    def resume_run(self, run_id: int) -> None:
        """Go on with a run from its last whole checkpoint. Raises Problem when it still works, anywhere."""
        self.workspace.take_over(run_id)
        self.queue.add(run_id, resume=True)
        self.show_run(run_id)

    def control(self, run_id: int) -> Control | None:
        """Pause, resume, stop: of a run that this window started; None for any other."""
        return self.queue.control(run_id)

    def end_run(self, run_id: int) -> None:
        """End a run of this window before its next step, keeping its finished epochs; out of the line if it waits."""
        self.queue.end(run_id)

    def discard_run(self, run_id: int) -> None:
        """End a run of this window and move it to the trash with all that it trained."""
        self._discarded.add(run_id)
        self.queue.end(run_id, keep=False)
        if self.control(run_id) is None:
            self._trash_discarded(run_id)

    def _trash_discarded(self, run_id: int) -> None:
        if run_id not in self._discarded:
            return
        self._discarded.remove(run_id)
        name = self.workspace.run(run_id).name
        try:
            self.workspace.trash(run_id)
        except Problem as problem:
            self.notify(problem)
            return
        if self.run_id == run_id:
            self.show_run(None)
        self.notify(f"“{name}” is in the trash. The Runs list can show and restore it.")

    # Work off the window's thread

    def run_in_thread(
        self,
        title: str,
        work: Callable[[Progress], Result],
        then: Callable[[Result], None] | None = None,
        failed: Callable[[Problem], None] | None = None,
        *,
        quiet: bool = False,
    ) -> Task:
        """Do `work(progress)` on a thread; `then(result)` or `failed(problem)` follow on the window's thread.

        Args:
            title: the line in the Activity panel.
            work: gets `progress(text, done, total)`, which raises Cancelled once the person cancelled.
            then: called with the result; not when cancelled.
            failed: called with the Problem; by default it is shown in the message bar.
            quiet: for work well under a second: no line in the Activity panel.

        After `close` nothing is done any more: the task is cancelled before it begins.
        """
        activity = None if quiet else self.activity
        task = Task(title, work, then, failed or self.notify, activity, self)
        if self._closed:  # a timer of a page that is on its way out
            task.cancel()
            return task
        self._tasks.add(task)
        task.over.connect(self._task_over)
        return task.start()

    def notify(self, what: Problem | str) -> None:
        """One sentence in the window's message bar."""
        log.info("notice: %s", what)
        self.noticed.emit(what)

    @property
    def closed(self) -> bool:
        """Whether `close` was called: a page on its way out may still ask."""
        return self._closed

    @property
    def busy(self) -> bool:
        """Whether a run of this window works or waits in line."""
        return self.queue.busy

    def close(self) -> None:
        """End all that works off the window's thread and close the workspace. Runs must have ended or are cancelled."""
        self._closed = True
        self._look_for_dead_runs.stop()
        self.queue.withdraw_waiting()
        running = self.queue.running
        if running is not None:
            self.queue.end(running)
            self.queue.close(GRACE)
            for run_id in self._discarded:
                with suppress(Problem):  # it has not ended yet: it stays in the list of runs
                    self.workspace.trash(run_id)
        self._wait_for_tasks()
        for client in self.findChildren(AnalysisClient):
            client.close()
        self.follower.close()
        self.theme.close()
        self.preferences.keep()
        self.workspace.close()

    def _wait_for_tasks(self) -> None:
        for task in self._tasks:
            task.cancel()
        for task in self._tasks:
            task.join(GRACE)

    def _task_over(self, task: Task) -> None:
        self._tasks.discard(task)
        task.deleteLater()

    def _mark_dead_runs(self) -> None:
        """What changes is heard from the follower; a workspace that cannot be written now is looked at again."""
        mark, not_now = self.workspace.sweep_dead_runs, partial(log.info, "dead runs: %s")
        self.run_in_thread("Looking for dead runs", lambda progress: mark(), failed=not_now, quiet=True)

    def _queue_ended(self, run_id: int, status: str, problem: str) -> None:
        if status == "failed":
            self.notify(Problem(problem or "The run failed. See the log."))
        self.run_ended.emit(run_id, status)
        self._trash_discarded(run_id)
        experiment = self.workspace.run(run_id).experiment_id
        if status == "done" and experiment is not None:
            conclude = partial(folds_and_seeds.conclude, self.workspace, experiment)
            self.run_in_thread("Result of the experiment", lambda progress: conclude(), self._concluded)

    def _concluded(self, result: dict[str, Any] | None) -> None:
        if result is not None:
            self.runs_changed.emit()

    # What the follower says

    def _hear_runs(self, runs: list[Run]) -> None:
        self._runs = runs
        self.runs_changed.emit()

    def _hear_evaluations(self) -> None:
        if not self._evaluation_chosen:
            try:
                self._set_evaluation(self._best_evaluation())
            except Problem as problem:  # the database was damaged since the look that told of them
                self.notify(problem)
                return
        self.evaluations_changed.emit()

    def _best_evaluation(self) -> int | None:
        """That of the epoch which the run list and the reports call the best."""
        if self.run_id is None:
            return None
        best, found = self.workspace.run(self.run_id).best_epoch, self.workspace.evaluations(self.run_id)
        return next((each.id for each in reversed(found) if each.epoch == best), found[-1].id if found else None)

    def _set_evaluation(self, evaluation_id: int | None) -> None:
        if evaluation_id != self.evaluation_id:
            self.evaluation_id = evaluation_id
            self.evaluation_changed.emit(evaluation_id)
