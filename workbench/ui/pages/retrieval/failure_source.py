"""Failed queries, missed neighbours and changes: worked out on threads, and kept while the page is used."""

from collections import OrderedDict
from functools import partial

from PySide6.QtCore import QObject, QTimer, Signal

from workbench.problem import Problem
from workbench.progress import Progress
from workbench.results.explanations import FailedQueries, Standing, explain_failures
from workbench.results.mistakes import Changes, read_changes
from workbench.ui.state.background.tasks import Task
from workbench.ui.state.session import Session
from workbench.workspace import Workspace
from workbench.workspace.rows import Evaluation

KEPT = 3  # evaluations: 60,000 queries with 100 neighbours take 24 MB each
QUIET = 10_000  # queries up to which it takes well under a second
MISSED = 12  # missed neighbours that are shown
# A run that is resumed from an earlier checkpoint may give its next evaluation the number of a dropped one.
Key = tuple[Workspace, int, str]  # evaluation, when it was made


class FailureSource(QObject):
    """Explains the shown evaluation. A later answer about another evaluation is stored, and not passed on."""

    ready = Signal(object)  # FailedQueries
    gave_up = Signal()  # cancelled, or a file cannot be read, which the message bar shows
    compared = Signal(object, object)  # evaluation id compared with, Changes
    missed = Signal(object, object)  # sample id, Standing

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._kept: OrderedDict[Key, FailedQueries] = OrderedDict()
        self._wanted: Key | None = None
        self._tasks: dict[str, Task] = {}  # the newest of each kind
        self._explained: FailedQueries | None = None  # the failed queries of the shown evaluation
        self._working = False  # whether they are being worked out

    def show(self, evaluation: Evaluation) -> None:
        """Explain the failed queries of an evaluation: at once where they are kept, else `ready` follows."""
        workspace = self._session.workspace
        self._wanted = (workspace, evaluation.id, evaluation.created)
        self._explained, self._working = None, False
        self._cancel()
        if self._wanted in self._kept:
            self._take(self._wanted, self._kept[self._wanted])
            return
        work = partial(explain_failures, workspace, evaluation.id)
        take = partial(self._take, self._wanted)
        quiet = evaluation.metrics.get("queries", 0) <= QUIET
        self._start("find", "Explain the failed queries", work, take, quiet=quiet)
        self._working = True
        self._tasks["find"].ended.connect(self._find_ended)

    def compare(self, before: int, after: int) -> None:
        """Find what changed from one evaluation to another; `compared` follows."""
        workspace = self._session.workspace

        def work(progress: Progress) -> Changes:
            return read_changes(workspace, before, after)

        self._start("compare", "Compare two evaluations", work, partial(self._tell_changes, before), quiet=True)

    def look_for_missed(self, sample_id: int, beyond: int) -> None:
        """Find the true neighbours behind a rank, of the shown evaluation; `missed` follows."""
        explained = self._explained
        if explained is None:
            return

        def work(progress: Progress) -> Standing:
            return explained.standing(sample_id, beyond, MISSED)

        self._start("missed", "Look for missed neighbours", work, partial(self._tell_missed, sample_id), quiet=True)

    def _start(self, kind: str, title: str, work: object, then: object, *, quiet: bool) -> None:
        """Begin work of a kind; the work of that kind before it is cancelled."""
        if kind in self._tasks:
            self._tasks.pop(kind).cancel()
        failed = partial(self._fail, kind)
        self._tasks[kind] = self._session.run_in_thread(title, work, then, failed, quiet=quiet)  # type: ignore[arg-type]

    def _cancel(self) -> None:
        for task in self._tasks.values():
            task.cancel()
        self._tasks.clear()

    def _take(self, key: Key, explained: FailedQueries) -> None:
        self._tasks.pop("find", None)
        self._kept[key] = explained
        self._kept.move_to_end(key)
        while len(self._kept) > KEPT:
            self._kept.popitem(last=False)
        if key == self._wanted:
            self._explained, self._working = explained, False
            self.ready.emit(explained)

    def _find_ended(self, task: Task) -> None:
        if self._tasks.get("find") is task:
            QTimer.singleShot(0, self, partial(self._look_for_result, task))  # the result follows the end

    def _look_for_result(self, task: Task) -> None:
        if self._working and self._tasks.get("find", task) is task:
            self._tasks.pop("find", None)
            self._working = False
            self.gave_up.emit()

    def _tell_changes(self, before: int, changes: Changes) -> None:
        self._tasks.pop("compare", None)
        self.compared.emit(before, changes)

    def _tell_missed(self, sample_id: int, standing: Standing) -> None:
        self._tasks.pop("missed", None)
        self.missed.emit(sample_id, standing)

    def _fail(self, kind: str, problem: Problem) -> None:
        self._tasks.pop(kind, None)
        self._session.notify(problem)
