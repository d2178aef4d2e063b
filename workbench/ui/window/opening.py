"""What a user opens, drops or chooses again: a config, images, a workspace."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from PySide6.QtCore import QObject
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QFileDialog, QPushButton, QWidget

from workbench.jobs.newest import Newest
from workbench.problem import Problem
from workbench.progress import Progress
from workbench.ui.actions import offering
from workbench.ui.actions.exchange.curves import import_curves
from workbench.ui.actions.exchange.run_folders import import_run_folders
from workbench.ui.state.background.tasks import Task
from workbench.ui.state.concern import EVERYWHERE
from workbench.ui.state.session import Session
from workbench.ui.style.words import ARCHIVES, CONFIGS
from workbench.ui.widgets.buttons import button
from workbench.ui.widgets.dialogs.question import Question
from workbench.ui.window.commands.menus import chosen_place
from workbench.ui.window.frame.welcome import ONE_FOLDER_PER_CLASS
from workbench.workspace.database.problems import Damaged, Missing
from workbench.workspace.news import Watch, watched
from workbench.workspace.owners import lease
from workbench.workspace.owners.lease_holder import Leased

if TYPE_CHECKING:
    from workbench.settings.proposals import Proposal

Result = TypeVar("Result")
TAKE_OVER = "Open on another machine"
TAKEN_OVER = (
    "Before it takes over the workspace, Workbench watches for 50 seconds whether the other machine still writes to "
    "it; the machines' clocks do not matter. A machine that was only asleep notices this when it wakes: it writes "
    "nothing more, and its runs end."
)
REPAIR = "Repair a workspace"
NOT_REPAIRED = Problem(
    "The repair was cancelled, so the workspace is not opened.",
    kept="No run's folder was changed, and a damaged database is as it was.",
    todo="Open the workspace again to repair it.",
)
NOT_OPENED = "The workspace is not opened. Open it again to see its runs."
REPAIRED = (
    "The repair builds a new database from the old one and the runs' folders. The damaged file is kept beside it under "
    "another name, and no run's folder is changed."
)


def repaired(path: Path, progress: Progress) -> str:
    """Rebuild the database of a workspace; says what was done and what is lost. Not on the window's thread.

    `progress` may raise Cancelled, after which a damaged database is as it was.

    Raises:
        Problem: it cannot be repaired; then nothing was changed.
    """
    from workbench.workspace.repairs.repair import repair  # late: the window is shown first

    said, lost = repair(path, progress)
    return " ".join([said, *(f"{sentence[:1].upper()}{sentence[1:]}." for sentence in lost)])


def _close(watch: Watch) -> None:
    watch.close()
    watch.workspace.close()


def _said_before(problem: Problem, said: str = "") -> Problem:
    """The same problem, after a sentence on what was done before it."""
    return Problem(f"{said} {problem.what}".lstrip(), kept=problem.kept, todo=problem.todo)


class Opening(QObject):
    """Asks in dialogs over the window; the message bar says what cannot be opened."""

    def __init__(self, session: Session, window: QWidget) -> None:
        super().__init__(window)
        self._session, self._window = session, window
        self._looking = Newest(session)
        self._task: Task | None = None  # opens a workspace

    def offer(self, path: Path) -> None:
        """A folder or archive of images, or a config file becomes a config on Set up.

        Run folders and curves are imported; for a workspace the user is asked whether to open it. What it is is found
        out on a thread; of several paths the one offered last is taken.
        """
        near = [folder for kind in ("data_folders", "data") for folder in self._session.preferences.recent(kind)]
        look = partial(offering.looked_at, path, near, self._session.catalog)
        self._looking.ask("Reading", lambda progress: look(), partial(self._take_offered, path), quiet=True)

    def _take_offered(self, path: Path, offered: offering.Offered) -> None:
        if offered.space is not None:
            self._ask_to_open(offered.space)
        elif offered.run_folders:
            import_run_folders(self._session, path, self._window)
        elif offered.curves:
            import_curves(self._session, path)
        elif offered.proposal is not None:
            self._propose(path, offered.proposal, offered.of_images)

    def _ask_to_open(self, path: Path) -> None:
        if path.absolute() == self._session.workspace.path.absolute():
            self._session.notify(f"{path} is the workspace that is open.", EVERYWHERE)
            return
        keep, act = button("Do not open it"), button("Open it")
        words = "Its runs are shown instead of those of the workspace that is open now; nothing is copied or changed."
        what = f"{path} is a workspace."
        self._ask("Open a workspace", what, words, {"keep": keep, "open": act}, partial(self.open_workspace, path))

    def _propose(self, path: Path, proposal: "Proposal", of_images: bool) -> None:
        """Offer the config of a config file, or one for images, on Set up."""
        self._session.settled.emit(self._session.here())  # what another file could not do
        if of_images:
            self._session.preferences.remember("data", path)
            self._session.data_chosen.emit()
        self._session.config_offered.emit(proposal.config)
        if proposal.reasons:
            self._session.config_explained.emit(proposal.reasons)

    def open_workspace(self, path: Path) -> None:
        """Open the workspace in a folder, or make one there; it is shown when it is open."""
        failed = partial(self._not_opened, path)

        def work(progress: Progress) -> Watch:
            return watched(path, progress=progress)

        self._begin("Opening the workspace", work, self._show_workspace, failed, _close)

    def take_over(self, path: Path) -> None:
        """Open a workspace on a network disk after no heartbeat of the machine that has it came for a while."""

        def work(progress: Progress) -> Watch:
            lease.take_over(path, progress)
            return watched(path, progress=progress)

        self._begin("Taking over the workspace", work, self._show_workspace, self._say, _close)

    def repair(self, path: Path) -> None:
        """Rebuild a damaged workspace's database, open the workspace, and say what was done; not beside a run."""
        if self._session.busy:  # of the same workspace it would lose its database, and no other could be shown
            todo = "Stop or cancel it, then open the workspace again."
            self._say(Problem("A run is still training in this window.", kept="Nothing was repaired.", todo=todo))
            return

        done = list[str]()  # what the repair did, once it is done: it stays, whatever comes after it

        def work(progress: Progress) -> Watch:
            done.append(repaired(path, progress))
            return watched(path)

        def show(watch: Watch) -> None:
            self._show_workspace(watch, *done)

        def failed(problem: Problem) -> None:
            self._say(_said_before(problem, *done))

        closed = list[Watch]()

        def drop(watch: Watch) -> None:  # after the user's cancel, or when another workspace is opened instead
            _close(watch)
            closed.append(watch)
            self._session.notify(f"{done[0]} {NOT_OPENED}", EVERYWHERE)

        def cancelled() -> None:
            if not closed:
                self._session.notify(f"{done[0]} {NOT_OPENED}" if done else NOT_REPAIRED, EVERYWHERE)

        self._begin("Repairing the workspace", work, show, failed, drop, cancelled)

    def _begin(
        self, title: str, work: Callable[[Progress], Result], show: Callable[[Result], None],
        failed: Callable[[Problem], None], dropped: Callable[[Result], None],
        cancelled: Callable[[], None] | None = None,
    ) -> None:  # fmt: skip
        """Open a workspace; another one that is still being opened is closed as soon as it is there."""
        if self._task is not None:
            self._task.cancel()
        self._task = self._session.run_in_thread(title, work, show, failed, dropped=dropped, cancelled=cancelled)

    def _not_opened(self, path: Path, problem: Problem) -> None:
        """Say why; ask whether to repair it, or to take it over where another machine has it."""
        if isinstance(problem, Leased):
            keep, act = button("Do not open it"), button("Watch it and take it over", "", "danger")
            self._ask(TAKE_OVER, problem.what, TAKEN_OVER, {"keep": keep, "take": act}, partial(self.take_over, path))
        elif isinstance(problem, Damaged | Missing):
            keep, act = button("Do not repair it"), button("Repair it")
            words = f"{problem.kept} {REPAIRED}"
            self._ask(REPAIR, problem.what, words, {"keep": keep, "repair": act}, partial(self.repair, path))
        else:
            self._say(problem)

    def _ask(self, title: str, what: str, words: str, answers: dict[str, QPushButton], act: Callable[[], None]) -> None:
        """Ask a question whose first answer changes nothing; `act` follows any other."""
        self.question = Question(title, what, words, answers, self._window)
        self.question.answered.connect(lambda answer: None if answer == "keep" else act())
        self.question.open()

    def _say(self, problem: Problem) -> None:
        self._session.notify(problem, EVERYWHERE)

    def start_sample(self) -> None:
        """Start the run that needs no download, from Set up: it waits for the end of Preflight."""
        self._session.start_offered.emit(offering.sample_config())

    def ask_config(self) -> None:
        """Ask for a config file."""
        self._take(self.offer, QFileDialog.getOpenFileName(self._window, "Open a config", "", CONFIGS)[0])

    def ask_images(self) -> None:
        """Ask for a folder of images."""
        self._take(self.offer, QFileDialog.getExistingDirectory(self._window, ONE_FOLDER_PER_CLASS))

    def ask_archive(self) -> None:
        """Ask for an archive of images."""
        title = "An archive with one folder per class"
        self._take(self.offer, QFileDialog.getOpenFileName(self._window, title, "", ARCHIVES)[0])

    def ask_workspace(self) -> None:
        """Ask for the folder of a workspace."""
        title = "A workspace, or an empty folder for a new one"
        self._take(self.open_workspace, QFileDialog.getExistingDirectory(self._window, title))

    def open_recent_workspace(self, action: QAction) -> None:
        """Open the workspace behind an entry of a RecentMenu."""
        self._take(self.open_workspace, chosen_place(action))

    def open_recent_images(self, action: QAction) -> None:
        """Offer the images behind an entry of a RecentMenu."""
        self._take(self.offer, chosen_place(action))

    def _take(self, take: Callable[[Path], None], chosen: Path | str | None) -> None:
        if chosen:
            take(Path(chosen))

    def _show_workspace(self, watch: Watch, said: str = "") -> None:
        """Show a workspace, and say what was done to it, also if it cannot be shown."""
        try:
            self._session.open_workspace(watch.workspace, watch)
        except Problem as problem:
            _close(watch)
            self._say(_said_before(problem, said))
            return
        if said:
            self._session.notify(said, EVERYWHERE)
