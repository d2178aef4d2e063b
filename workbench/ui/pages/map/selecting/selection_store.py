"""The named selections of the shown data set, and their changes as steps that can be undone."""

import logging
from collections import deque
from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QUndoStack
from shiboken6 import isValid

from workbench.problem import Problem
from workbench.progress import Progress
from workbench.ui.state.background.tasks import Task
from workbench.ui.state.background.work import GRACE
from workbench.ui.state.session import Session
from workbench.ui.state.undo import Timed, drop_obsolete
from workbench.workspace import Workspace
from workbench.workspace.choices.selections import Selection, all_selections, checked, put

log = logging.getLogger(__name__)

Listed = tuple[int, list[Selection]]  # the data set, and its selections
Put = Callable[[Workspace], None]
Replace = Callable[["Keeping", Put], None]


class Keeping(Timed):
    """Replaces a selection by another; None before it exists and after it is deleted."""

    def __init__(self, replace: Replace, before: Selection | None, after: Selection | None, words: str) -> None:
        super().__init__(words)
        self._replace, self._before, self._after = replace, before, after
        self.done = False  # once
        self.refused = False  # it was not stored: undoing it would change another selection

    def undo(self) -> None:
        """Store the selection before the step again, unless the step was refused or it was changed elsewhere since."""
        self._put(self._after, self._before, unchanged=True)

    def redo(self) -> None:
        """Store the selection after the step, unless the step was refused or, the second time, it was changed since."""
        self._put(self._before, self._after, unchanged=self.done)

    def _put(self, before: Selection | None, after: Selection | None, *, unchanged: bool) -> None:
        self.done = True
        if not self.refused:
            self._replace(self, partial(put, before=before, after=after, unchanged=unchanged))


class SelectionStore(QObject):
    """Reads and writes on threads, one after the other, because a run may be writing."""

    changed = Signal()  # `selections` are others, or another data set is shown

    def __init__(self, session: Session, stack: QUndoStack, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session, self._stack = session, stack
        self.dataset_id: int | None = None
        self.selections: list[Selection] = []
        self._waiting: deque[tuple[Keeping, Put]] = deque()
        self._task: Task | None = None  # that writes
        session.leaving.connect(self.write_all)
        session.choices_changed.connect(self._follow)

    @property
    def idle(self) -> bool:
        """Whether every change is written."""
        return self._task is None and not self._waiting

    def show_dataset(self, dataset_id: int | None) -> None:
        """List those of a data set, read again; none for None."""
        self.dataset_id = dataset_id
        if dataset_id is None:
            self.selections = []
            self.changed.emit()
        else:
            self._read()

    def _follow(self, changed: set[str]) -> None:
        """List what another window has saved, changed or deleted; after a write of this one they are read anyway."""
        if "selections" in changed and self.idle:
            self._read(self._listed_anew)

    def replace(self, before: Selection | None, after: Selection | None, words: str) -> bool:
        """Save, change or delete a selection; `words` name the step for Undo. Returns False if refused."""
        try:
            new = None if after is None else checked(after)
            others = [selection for selection in self.selections if before is None or selection.name != before.name]
            if new is not None and any(selection.name == new.name for selection in others):
                raise Problem(f"There is a selection named “{new.name}” already.", todo="Choose another name.")
        except Problem as problem:
            self._session.notify(problem)
            return False
        self._stack.push(Keeping(self._enqueue, before, new, words))
        return True

    def free_name(self) -> str:
        """ "Selection 3", the first that no other has."""
        taken = {selection.name for selection in self.selections}
        return next(name for number in range(1, len(taken) + 2) if (name := f"Selection {number}") not in taken)

    def _enqueue(self, step: Keeping, put_it: Put) -> None:
        self._waiting.append((step, put_it))
        self._next()

    def _next(self) -> None:
        if self._task is not None or not self._waiting:
            return
        step, put_it = self._waiting.popleft()
        workspace = self._session.workspace

        def work(progress: Progress) -> None:
            put_it(workspace)

        failed = partial(self._refused, step)
        self._task = self._session.run_in_thread("Named selections", work, failed=failed, quiet=True)
        self._task.ended.connect(self._written)

    def write_all(self) -> None:
        """Write every change that waits, after the one that is being written: the workspace is about to be left."""
        waiting, running, workspace = list(self._waiting), self._task, self._session.workspace
        self._waiting.clear()

        def work(progress: Progress) -> None:
            if running is not None:
                running.join(GRACE)
            for _, put_it in waiting:
                try:
                    put_it(workspace)
                except Problem as problem:
                    log.warning("a named selection: %s", problem)

        if waiting:
            self._session.run_in_thread("Named selections", work, quiet=True)

    def _refused(self, step: Keeping, problem: Problem) -> None:
        step.refused = True
        if isValid(step):  # else another data set is shown since
            step.setObsolete(True)
            drop_obsolete(self._stack)
        self._session.notify(problem)

    def _written(self) -> None:
        self._task = None
        self._read()
        self._next()

    def _read(self, then: Callable[[Listed], None] | None = None) -> None:
        workspace, dataset_id = self._session.workspace, self.dataset_id
        if dataset_id is None:
            return

        def work(progress: Progress) -> Listed:
            return dataset_id, all_selections(workspace, dataset_id)

        self._session.run_in_thread("Named selections", work, then or self._listed, quiet=True)

    def _listed_anew(self, answer: Listed) -> None:
        if self.idle and answer[1] != self.selections:
            self._listed(answer)

    def _listed(self, answer: Listed) -> None:
        if answer[0] == self.dataset_id:
            self.selections = answer[1]
            self.changed.emit()
