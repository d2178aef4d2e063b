"""The one state that all pages share: workspace, shown run, evaluation, selection, query, and the work in progress.

Pages change it and listen to it, and never call each other. Everything here is used on the window's thread, and nothing
here reads the disk on it: what is asked was read by the follower, and what must be read first comes with a signal.
"""

import logging
from collections.abc import Callable
from contextlib import suppress
from functools import partial

from PySide6.QtCore import QObject, QTimer, Signal

from workbench.entries import catalog as catalogs
from workbench.entries.catalog import Catalog
from workbench.jobs import AnalysisProcess
from workbench.problem import Problem
from workbench.ui.preferences import Preferences
from workbench.ui.state.background.analysis import AnalysisClient
from workbench.ui.state.background.tasks import Task
from workbench.ui.state.background.work import GRACE
from workbench.ui.state.concern import EVERYWHERE, Concern, of_page
from workbench.ui.state.pages.page_turn import PageTurn
from workbench.ui.state.runs.known_places import KnownPlaces
from workbench.ui.state.runs.run_jobs import MakeJob
from workbench.ui.state.runs.window_runs import WindowRuns
from workbench.ui.style.theme import Theme
from workbench.workspace import Workspace
from workbench.workspace.measured.evaluations import NoEvaluation
from workbench.workspace.news import Watch

log = logging.getLogger(__name__)
PAGES = ("setup", "train", "map", "retrieval", "compare", "report")
DEAD_EVERY = 5_000  # ms between two searches for runs whose process has ended, while others train some
RARELY = 6  # of these searches, the one that is made in any case: for what a kill left


class Session(WindowRuns):
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
    page_asked = Signal(str)  # one of PAGES
    part_made = Signal(object)  # widget made after its page, a dialog or view: it is arranged as the user left it
    data_chosen = Signal()  # images for the next run: the start cards are not needed any more
    config_offered = Signal(object)  # RunConfig for the Set up page: from a file, a folder of images or a run
    start_offered = Signal(object)  # RunConfig that Set up shows and starts on this machine, once its check has ended
    config_explained = Signal(object)  # dict[str, str]: why the config that was just offered has its values, by field
    report_offered = Signal(object)  # ReportOffer for the Report page, which is there: see ui/state/report_offer.py
    images_located = Signal(int)  # data set whose images were looked for in another folder: pictures are read again
    done = Signal(object)  # a Reversible: Undo takes it back on all pages that have no steps of their own
    new_run_asked = Signal()  # the form begins anew
    checkpoints_asked = Signal()  # the user wants the lost checkpoints of the shown run from a folder
    places_asked = Signal()  # the user wants to see and change the places

    def __init__(
        self,
        workspace: Workspace,
        preferences: Preferences | None = None,
        make_job: MakeJob | None = None,
        parent: QObject | None = None,
        watch: Watch | None = None,
    ) -> None:
        super().__init__(watch or Watch(workspace), preferences, make_job, parent)
        self.theme = Theme(self.preferences, self)
        self.analysis = AnalysisClient(self)
        self.drawing = AnalysisClient(self, partial(AnalysisProcess, module="workbench.reports.server"))
        self.catalog: Catalog = catalogs.at_first()
        self.page = "setup"
        self.places = KnownPlaces(self)
        self._looks = 0  # for dead runs, that were due
        self._look_for_dead_runs = QTimer(self, interval=DEAD_EVERY)
        self._look_for_dead_runs.timeout.connect(self._mark_dead_runs)
        self._look_for_dead_runs.start()
        self._wait_for_turns()

    def _wait_for_turns(self) -> None:
        """Have the runs of the queue wait while a page is shown."""
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
        self._wait_for_turns()
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

    def fulfil(self, wish: Callable[["Session"], object]) -> None:
        """Do what a part of a page wants that has no session of its own: copy, save, say so."""
        wish(self)

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

    # Files and the end of the window

    def find_place(self, run_id: int, name: str, then: Callable[[str], None]) -> Task:
        """Call `then` with the default folder for files made from a run; a link there is shown as a Problem.

        A read-only workspace has none: `then` is called with "".
        """
        workspace = self.workspace
        return self.read(lambda: "" if workspace.read_only else str(workspace.file(run_id, name)), then)

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
        self._looks += 1
        if self._looks % RARELY and not any(run.live and self.control(run.id) is None for run in self.runs()):
            return
        mark, not_now = self.workspace.sweep_dead_runs, partial(log.info, "dead runs: %s")
        self.run_in_thread("Looking for dead runs", lambda progress: mark(), failed=not_now, quiet=True)
