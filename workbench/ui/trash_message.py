"""The message that a run is in the trash, with Undo; it goes when the run is there no more."""

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QObject

from workbench.ui.message_bar import MessageBar
from workbench.ui.session import Session


class TrashMessage(QObject):
    """Speaks through the window's message bar.

    Args:
        bring_back: restores a run, by its number.
    """

    def __init__(
        self, session: Session, bar: MessageBar, bring_back: Callable[[int], object], parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._session, self._bar, self._bring_back = session, bar, bring_back
        self._run_id: int | None = None  # of the newest message
        self._listed = False  # whether that run was seen in the trash: the list is read a little later
        self._words = ""
        session.run_trashed.connect(self._tell)
        session.runs_changed.connect(self._look)
        session.workspace_changed.connect(self._forget)

    def _tell(self, run_id: int, name: str) -> None:
        self._run_id, self._words = run_id, f"“{name}” is in the trash."
        self._listed = self._in_trash
        self._bar.show_message(self._words, undo=partial(self._undo, run_id))

    def _undo(self, run_id: int) -> None:
        self._bring_back(run_id)

    def _look(self) -> None:
        if self._run_id is None:
            return
        if self._in_trash:
            self._listed = True
        elif self._listed:  # restored, or deleted for ever
            self._bar.settle(self._words)
            self._forget()

    @property
    def _in_trash(self) -> bool:
        return any(run.id == self._run_id for run in self._session.trashed_runs())

    def _forget(self) -> None:
        self._run_id = None
