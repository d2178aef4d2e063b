"""The message that runs are in the trash, with Undo for all that it names; it goes when none exists any more."""

from collections.abc import Callable, Collection

from PySide6.QtCore import QObject

from workbench.ui.state.session import Session
from workbench.ui.style.words import counted
from workbench.ui.window.frame.message_bar import MessageBar

MOST_NAMED = 3  # runs


class TrashMessage(QObject):
    """Speaks through the window's message bar. A run joins those of the message that is still open.

    Args:
        bring_back: restores runs, by their numbers.
    """

    def __init__(
        self, session: Session, bar: MessageBar, bring_back: Callable[[Collection[int]], object],
        parent: QObject | None = None,
    ) -> None:  # fmt: skip
        super().__init__(parent)
        self._session, self._bar, self._bring_back = session, bar, bring_back
        self._names: dict[int, str] = {}  # of the runs of the message, in the order in which they were moved
        self._listed: set[int] = set()  # those that were seen in the trash: the list is read a little later
        self._words = ""
        session.runs_trashed.connect(self._add)
        session.runs_changed.connect(self._look)
        session.workspace_changed.connect(self._forget)

    def _add(self, names: dict[int, str]) -> None:
        if not self._bar.has(self._words):  # closed, or replaced by another message
            self._forget()
        for run_id, name in names.items():
            self._names.pop(run_id, None)  # undone by the Edit menu, and moved again
            self._names[run_id] = name
            self._listed.discard(run_id)
        self._look()
        self._tell()

    def _tell(self) -> None:
        self._bar.settle(self._words)
        self._words = _sentence(list(self._names.values()))
        self._bar.show_message(self._words, undo=self._undo)

    def _undo(self) -> None:
        runs = list(self._names)
        self._forget()
        self._bring_back(runs)

    def _look(self) -> None:
        """Leave out the runs that were restored, or deleted for ever."""
        there = {run.id for run in self._session.trashed_runs()} & self._names.keys()
        gone = self._listed - there
        self._listed |= there
        if not gone:
            return
        for run_id in gone:
            del self._names[run_id]
        self._listed -= gone
        if not self._names:
            self._bar.settle(self._words)
            self._forget()
        elif self._bar.has(self._words):
            self._tell()

    def _forget(self) -> None:
        self._names, self._listed, self._words = {}, set(), ""


def _sentence(names: list[str]) -> str:
    quoted = [f"“{name}”" for name in names]
    if len(names) > MOST_NAMED:
        return f"{counted(len(names), 'run')} are in the trash, {quoted[-1]} last."
    *before, last = quoted
    return f"{', '.join(before)} and {last} are in the trash." if before else f"{last} is in the trash."
