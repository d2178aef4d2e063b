"""Undo and redo in the Edit menu: of the page that is shown, when it has an `undo_stack`, else of the list of runs."""

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QObject
from PySide6.QtGui import QKeySequence, QUndoCommand, QUndoGroup, QUndoStack
from PySide6.QtWidgets import QWidget
from shiboken6 import isValid

from workbench.problem import Problem
from workbench.ui.state.commands import Commands
from workbench.ui.style.icons import icon

UNDO = QKeySequence("Ctrl+Z")
Step = Callable[[Callable[[Problem], None]], object]


class Reversible(QUndoCommand):
    """Something that was done to runs and can be taken back.

    What another window has changed since is left as it is: `tell` gets a sentence, and the step is not offered again.

    Args:
        text: what was done, for the Undo command.
        again: does it once more; gets what to call with the Problem that keeps it from being done, perhaps later.
        back: takes it back; gets the same.
        tell: called with the Problem of a step that was not taken back or done again.
        run: what it was done to; None for several. See `forget_runs`.
    """

    def __init__(
        self, text: str, again: Step, back: Step, tell: Callable[[Problem], object], run: int | None = None
    ) -> None:
        super().__init__(text)
        self.run = run
        self._again, self._back, self._tell = again, back, tell
        self._pushed = False

    def redo(self) -> None:
        """Do it again; the first call, from `push`, does nothing."""
        if self._pushed:
            self._again(partial(self._refused, "done again"))
        self._pushed = True

    def undo(self) -> None:
        """Take the action back by calling `back`."""
        self._back(partial(self._refused, "undone"))

    def _refused(self, what: str, problem: Problem) -> None:
        if isValid(self):  # else another workspace was opened meanwhile
            self.setObsolete(True)
            said = f"The {self.text()} was not {what}. {problem.what}"
            self._tell(Problem(said, kept=problem.kept, todo=problem.todo))


def forget_runs(stack: QUndoStack, is_there: Callable[[int], bool]) -> None:
    """Never offer to undo or redo what was done to a run that is gone, nor a step that was refused."""
    for number in range(stack.count()):
        command = stack.command(number)
        if isinstance(command, Reversible) and command.run is not None and not is_there(command.run):
            command.setObsolete(True)
    drop_obsolete(stack)


def drop_obsolete(stack: QUndoStack) -> None:
    """Drop the steps that would be undone or redone next and are obsolete."""
    while stack.canUndo() and stack.command(stack.index() - 1).isObsolete():
        stack.undo()  # which drops it and does nothing else
    while stack.canRedo() and stack.command(stack.index()).isObsolete():
        stack.redo()


class UndoCommands(QObject):
    """The commands "edit.undo" and "edit.redo"; disabled when the page has nothing to undo or redo."""

    def __init__(self, commands: Commands, window: QWidget, runs: QUndoStack) -> None:
        super().__init__(window)
        self.group = QUndoGroup(self)
        self.group.addStack(runs)
        self._runs = runs
        undo, redo = self.group.createUndoAction(window, "Undo"), self.group.createRedoAction(window, "Redo")
        for action, keys, drawn, key in ((undo, "Ctrl+Z", "arrow-u-up-left", "edit.undo"),
                                         (redo, "Ctrl+Shift+Z", "arrow-u-up-right", "edit.redo")):  # fmt: skip
            action.setShortcut(QKeySequence(keys))
            action.setIcon(icon(drawn, "muted"))
            window.addAction(action)
            commands.adopt(key, action)

    def follow(self, page: QWidget) -> None:
        """Undo what was done on this page."""
        stack = getattr(page, "undo_stack", None)
        if isinstance(stack, QUndoStack) and stack not in self.group.stacks():
            self.group.addStack(stack)
        own_keys = any(action.shortcut() == UNDO for action in page.actions())  # undoes what it edits by itself
        active = stack if isinstance(stack, QUndoStack) else None if own_keys else self._runs
        if active is not None:
            self.group.setActiveStack(active)
        elif (before := self.group.activeStack()) is not None:
            before.setActive(False)
