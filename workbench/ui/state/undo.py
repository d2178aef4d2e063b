"""Undo and redo in the Edit menu: of what was done to runs and on the page that is shown, the newest step first."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import partial
from time import monotonic_ns
from weakref import WeakKeyDictionary, ref

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtGui import QAction, QKeySequence, QUndoCommand, QUndoStack
from PySide6.QtWidgets import QWidget
from shiboken6 import isValid

from workbench.files import NoSpace
from workbench.problem import Problem
from workbench.ui.state.commands import Commands
from workbench.ui.style.icons import icon
from workbench.workspace.database.problems import Busy

Step = Callable[[Callable[[Problem], None]], object]


class Timed(QUndoCommand):
    """A step that knows when it was made: the steps of two stacks are undone in order."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.made = monotonic_ns()


@dataclass(frozen=True, slots=True)
class Offer:
    """A step that can be undone or redone: what it was, and when it was made, in ns."""

    text: str
    made: int


class Reversible(Timed):
    """Something that was done to runs and can be taken back.

    What another window has changed since is left as it is: `tell` gets a sentence, and the step is not offered again.
    On a full disk, or while another program writes, `tell` gets it too, and the step of `push` is offered again.

    Args:
        text: what was done, for the Undo command.
        again: does it once more; gets what to call with the Problem that keeps it from being done, perhaps later.
        back: takes it back; gets the same.
        tell: called with the Problem of a step that was not taken back or done again.
        runs: what it was done to; none where it does not end with them. See `forget_runs`.
    """

    def __init__(
        self, text: str, again: Step, back: Step, tell: Callable[[Problem], object], runs: Collection[int] = ()
    ) -> None:
        super().__init__(text)
        self.runs = runs
        self._again, self._back, self._tell = again, back, tell
        self._done = True  # the first `redo`, of `push`, does nothing: it is done already
        self._of_stack: ref[QUndoStack] | None = None

    def offer_on(self, stack: QUndoStack) -> None:
        """Be offered again on this stack where a step is refused for now; see `push`."""
        self._of_stack = ref(stack)

    def redo(self) -> None:
        """Do it again, unless it is done."""
        if not self._done:
            self._done = True
            self._again(partial(self._refused, "redone", False))

    def undo(self) -> None:
        """Take the action back by calling `back`, unless it is taken back."""
        if self._done:
            self._done = False
            self._back(partial(self._refused, "undone", True))

    def _refused(self, what: str, done: bool, problem: Problem) -> None:
        if not isValid(self):  # another workspace was opened meanwhile
            return
        stack = None if self._of_stack is None else self._of_stack()
        if stack is not None and isinstance(problem, NoSpace | Busy):
            self._done = done
            QTimer.singleShot(0, stack, partial(self._stand_again, stack))  # the stack may be undoing the step
        else:
            self.setObsolete(True)
        said = f"The {self.text()} was not {what}. {problem.what}"
        self._tell(Problem(said, kept=problem.kept, todo=problem.todo))

    def _stand_again(self, stack: QUndoStack) -> None:
        """Be the next step that is undone, or redone, as before; never again where others are between."""
        if not isValid(self):
            return
        index = stack.index()
        if self._done and index < stack.count() and stack.command(index) is self:
            stack.redo()
        elif not self._done and index and stack.command(index - 1) is self:
            stack.undo()
        else:
            self.setObsolete(True)


def push(stack: QUndoStack, step: Reversible) -> None:
    """Put a step that was done on a stack, which offers it again where a disk or a lock refuses it for now."""
    step.offer_on(stack)
    stack.push(step)


def forget_runs(stack: QUndoStack, is_there: Callable[[int], bool]) -> None:
    """Never offer to undo or redo what was done to runs that are all gone, nor a step that was refused."""
    for number in range(stack.count()):
        command = stack.command(number)
        if isinstance(command, Reversible) and command.runs and not any(map(is_there, command.runs)):
            command.setObsolete(True)
    drop_obsolete(stack)


def drop_obsolete(stack: QUndoStack) -> None:
    """Drop the steps that would be undone or redone next and are obsolete."""
    while stack.canUndo() and stack.command(stack.index() - 1).isObsolete():
        stack.undo()  # which drops it and does nothing else
    while stack.canRedo() and stack.command(stack.index()).isObsolete():
        stack.redo()


class Steps(QObject):
    """What one part of the window can undo and redo."""

    changed = Signal()  # what is offered is another step

    def offers(self) -> tuple[Offer | None, Offer | None]:
        """The steps that would be undone and redone next; None for none."""
        raise NotImplementedError

    def undo(self) -> None:
        """Undo the newest step."""
        raise NotImplementedError

    def redo(self) -> None:
        """Redo the step that was undone last."""
        raise NotImplementedError


class StackSteps(Steps):
    """The steps of an undo stack; its commands are `Timed`.

    It does not keep the stack alive: one that was freed with this object would send it signals meanwhile, and crash.
    """

    def __init__(self, stack: QUndoStack, parent: QObject) -> None:
        super().__init__(parent)
        self._ref = ref(stack)
        stack.indexChanged.connect(self.changed)
        stack.undoTextChanged.connect(self.changed)  # of a step that another was merged with
        stack.redoTextChanged.connect(self.changed)

    def offers(self) -> tuple[Offer | None, Offer | None]:
        """The commands on both sides of the stack's index."""
        stack = self._stack
        if stack is None:
            return None, None
        index = stack.index()
        return _offer(stack, index - 1), _offer(stack, index)

    def undo(self) -> None:
        """Undo the newest command."""
        if (stack := self._stack) is not None:
            stack.undo()

    def redo(self) -> None:
        """Redo the command that was undone last."""
        if (stack := self._stack) is not None:
            stack.redo()

    @property
    def _stack(self) -> QUndoStack | None:
        """None once it is gone: it is emptied while the window is taken down."""
        stack = self._ref()
        return stack if stack is not None and isValid(stack) else None


class UndoCommands(QObject):
    """The commands "edit.undo" and "edit.redo", of what was done to runs and on the page that is shown, in order.

    Of two parts with something to undo it is the newest step of both, of two with something to redo the oldest.
    """

    def __init__(self, commands: Commands, window: QWidget, runs: QUndoStack) -> None:
        super().__init__(window)
        self._runs = StackSteps(runs, self)
        self._runs.changed.connect(self._refresh)
        self._parts: list[Steps] = [self._runs]
        self._of_stacks: WeakKeyDictionary[QUndoStack, Steps] = WeakKeyDictionary({runs: self._runs})
        self.undo, self.redo = QAction("Undo", window), QAction("Redo", window)
        for action, keys, drawn, key, slot in (
            (self.undo, "Ctrl+Z", "arrow-u-up-left", "edit.undo", self._undo),
            (self.redo, "Ctrl+Shift+Z", "arrow-u-up-right", "edit.redo", self._redo),
        ):
            action.setShortcut(QKeySequence(keys))
            action.setIcon(icon(drawn, "muted"))
            action.triggered.connect(slot)
            window.addAction(action)
            commands.adopt(key, action)
        self._refresh()

    def follow(self, page: QWidget) -> None:
        """Undo what was done on this page, too, when it has `steps` or an `undo_stack`."""
        steps, stack = getattr(page, "steps", None), getattr(page, "undo_stack", None)
        if isinstance(stack, QUndoStack):
            if stack not in self._of_stacks:
                self._of_stacks[stack] = StackSteps(stack, self)
            steps = self._of_stacks[stack]
        for part in self._parts[1:]:
            part.changed.disconnect(self._refresh)
        self._parts = [self._runs]
        if isinstance(steps, Steps):
            steps.changed.connect(self._refresh)
            self._parts.append(steps)
        self._refresh()

    def _next(self) -> tuple[tuple[Offer, Steps] | None, tuple[Offer, Steps] | None]:
        both = [(part, *part.offers()) for part in self._parts]
        back = [(undo, part) for part, undo, _ in both if undo is not None]
        forth = [(redo, part) for part, _, redo in both if redo is not None]
        return max(back, key=_made, default=None), min(forth, key=_made, default=None)

    def _undo(self) -> None:
        if (newest := self._next()[0]) is not None:
            newest[1].undo()

    def _redo(self) -> None:
        if (oldest := self._next()[1]) is not None:
            oldest[1].redo()

    def _refresh(self) -> None:
        for action, word, offered in zip((self.undo, self.redo), ("Undo", "Redo"), self._next(), strict=True):
            action.setText(word if offered is None else f"{word} {offered[0].text}")
            action.setEnabled(offered is not None)


def _offer(stack: QUndoStack, number: int) -> Offer | None:
    command = stack.command(number) if 0 <= number < stack.count() else None
    return Offer(command.text(), command.made) if isinstance(command, Timed) else None


def _made(offered: tuple[Offer, Steps]) -> int:
    return offered[0].made
