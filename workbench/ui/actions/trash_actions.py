"""The trash of runs: the shown run or all ticked ones go there, come back, and are deleted for ever."""

from collections.abc import Callable, Collection
from functools import partial

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QUndoStack
from PySide6.QtWidgets import QMessageBox, QWidget

from workbench.problem import Problem
from workbench.ui.state.commands import Commands
from workbench.ui.state.session import Session
from workbench.ui.state.undo import Reversible, push
from workbench.ui.style.words import counted

DELETED = "Its curves, evaluations, maps and checkpoints are deleted. This cannot be undone."
ALL_DELETED = "Their curves, evaluations, maps and checkpoints are deleted. This cannot be undone."
LIVE = "A running or queued run cannot be moved to the trash: end it first."


class Trashing(Reversible):
    """The step that moved runs to the trash."""


class TrashActions(QObject):
    """Actions on the shown run, on the ticked ones and on all that are in the trash.

    Args:
        undo_stack: gets a step for each move to the trash.
        refused: called with the Problem of a step that could not be undone or done again.
    """

    def __init__(
        self, session: Session, commands: Commands, window: QWidget, undo_stack: QUndoStack,
        refused: Callable[[Problem], None],
    ) -> None:  # fmt: skip
        super().__init__(window)
        self._session, self._window, self._undo_stack, self._refused = session, window, undo_stack, refused
        add = commands.add
        self.move = add("run.trash", "Move to trash", self._move, "", "trash")
        self.move_ticked = add("run.trash-ticked", "Move ticked runs to trash", self._move_ticked, "", "trash")
        self.restore = add("run.restore", "Restore from trash", self._restore, "", "arrow-counter-clockwise")
        self.restore_all = add("run.restore-all", "Restore all from trash", self._restore_all)
        self.delete = add("run.delete", "Delete permanently…", self._delete)
        self.show = add("run.show-trash", "Show the trash", None, checkable=True)
        self.empty = add("run.empty-trash", "Empty the trash…", self._empty)
        session.runs_trashed.connect(self._remember)
        session.trash_refused.connect(self._delete_at_once)

    def refresh(self) -> None:
        """Enable what can be done now."""
        run, ticked, there = self._session.run(), self._ticked(), self._session.trashed_runs()
        in_trash = run is not None and run.trashed is not None
        self.move.setEnabled(run is not None and not in_trash and not run.live)
        self.move.setToolTip(LIVE if run is not None and run.live else "")
        self.move_ticked.setVisible(bool(self._session.ticks.runs))
        self.move_ticked.setEnabled(bool(ticked))
        self.move_ticked.setText(f"Move {counted(len(ticked), 'ticked run') if ticked else 'ticked runs'} to trash")
        self.restore_all.setEnabled(bool(there))
        for action in (self.restore, self.delete):
            action.setEnabled(in_trash)

    def _ticked(self) -> list[int]:
        """The ticked runs that have ended; the others stay where they are."""
        return [run.id for run in self._session.runs() if run.id in self._session.ticks.runs and not run.live]

    def _move(self) -> None:
        run = self._session.run()
        if run is not None:
            self._session.trash_run(run.id)

    def _move_ticked(self) -> None:
        self._session.trash_runs(self._ticked())

    def ask(self) -> None:
        """Move the shown run to the trash, or say why that cannot be done now."""
        run = self._session.run()
        if self.move.isEnabled():
            self.move.trigger()
        elif run is not None and run.live:
            self._session.notify(LIVE)

    def _remember(self, names: dict[int, str]) -> None:
        runs = tuple(names)
        what = counted(len(names), "run") if len(names) > 1 else f"“{names[runs[0]]}”"
        again, back = partial(self._move_again, runs), partial(self.bring_back, runs)
        push(self._undo_stack, Trashing(f"move of {what} to the trash", again, back, self._refused, runs))

    def _move_again(self, run_ids: Collection[int], refused: Callable[[Problem], None]) -> None:
        for run_id in run_ids:
            self._session.ticks.let_go(run_id)
        workspace = self._session.workspace
        if len(run_ids) == 1:
            self._session.change(partial(workspace.trash, *run_ids), failed=refused)
        else:
            moved = partial(self._moved_again, run_ids, refused)
            self._session.change(partial(workspace.trash_several, run_ids), moved, refused)

    def _moved_again(self, run_ids: Collection[int], refused: Callable[[Problem], None], moved: list[int]) -> None:
        if not moved:
            count = counted(len(run_ids), "run")
            refused(Problem(f"None of {count} can be moved: they are training, or no longer exist."))

    def undo(self, run_ids: Collection[int]) -> None:
        """Bring runs back as Undo does; their steps are then not offered to be undone once more."""
        stack, wanted = self._undo_stack, set(run_ids)
        newest = stack.command(stack.index() - 1) if stack.index() else None
        if isinstance(newest, Trashing) and wanted == set(newest.runs):
            stack.undo()
            return
        for number in range(stack.index()):
            command = stack.command(number)
            if isinstance(command, Trashing) and wanted.issuperset(command.runs):
                command.setObsolete(True)
        self.bring_back(run_ids)

    def bring_back(self, run_ids: Collection[int], refused: Callable[[Problem], None] | None = None) -> None:
        """Take runs out of the trash, show the newest of them, and tick those that were ticked before.

        Args:
            refused: called with the Problem of runs that are all gone; by default the message bar shows it.
        """
        workspace = self._session.workspace
        if len(run_ids) == 1:
            (run_id,) = run_ids
            self._session.change(partial(workspace.restore, run_id), lambda _: self._brought_back([run_id]), refused)
        else:
            came = partial(self._several_came, refused or self._refused, len(run_ids))
            self._session.change(partial(workspace.restore_several, run_ids), came, refused)

    def _several_came(self, refused: Callable[[Problem], None], asked: int, back: list[int]) -> None:
        if back:
            self._brought_back(back)
        else:
            refused(Problem(f"None of {counted(asked, 'run')} exists any more."))

    def _brought_back(self, run_ids: list[int]) -> None:
        for run_id in run_ids:
            self._session.ticks.take_back(run_id)
        self._session.show_run(max(run_ids))

    def _restore(self) -> None:
        if self._session.run_id is not None:
            self.undo([self._session.run_id])

    def _restore_all(self) -> None:
        self.undo([run.id for run in self._session.trashed_runs()])

    def _delete(self) -> None:
        run = self._session.run()
        if run is not None and self._sure(f"Delete “{run.name}” permanently?", DELETED):
            self._session.show_run(None)
            self._session.change(partial(self._session.workspace.delete, run.id))

    def _delete_at_once(self, names: dict[int, str]) -> None:
        """Instead of a move to the trash, for which the disk has no room."""
        one = next(iter(names.values())) if len(names) == 1 else ""
        what, where = (f"“{one}”", f"it cannot be moved to the trash. {DELETED}")
        if not one:
            what, where = counted(len(names), "run"), f"they cannot be moved to the trash. {ALL_DELETED}"
        if not self._sure(f"Delete {what} permanently?", f"The disk is full: {where}"):
            return
        if self._session.run_id in names:
            self._session.show_run(None)
        for run_id in names:
            self._session.change(partial(self._session.workspace.delete, run_id, at_once=True))

    def _empty(self) -> None:
        runs = [run.id for run in self._session.trashed_runs()]
        if not runs:
            self._session.notify("The trash is empty.")
            return
        if self._sure(f"Delete {counted(len(runs), 'run')} permanently?", "This cannot be undone."):
            if self._session.run_id in runs:
                self._session.show_run(None)
            # Others may have been moved there meanwhile.
            self._session.change(partial(self._session.workspace.empty_trash, runs))

    def _sure(self, question: str, text: str) -> bool:
        """Ask; False also where another workspace was opened meanwhile, in which runs have the same numbers."""
        workspace = self._session.workspace
        box = QMessageBox(QMessageBox.Icon.Warning, "Workbench", question, parent=self._window)
        box.setTextFormat(Qt.TextFormat.PlainText)
        box.setInformativeText(text)
        yes = box.addButton("Delete", QMessageBox.ButtonRole.DestructiveRole)
        box.setDefaultButton(box.addButton("Keep", QMessageBox.ButtonRole.RejectRole))
        box.exec()
        return box.clickedButton() is yes and self._session.workspace is workspace
