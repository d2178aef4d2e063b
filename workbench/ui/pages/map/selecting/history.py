"""Undo and redo on the map: of every change of the selection, wherever it was made, and of hidden groups."""

from collections.abc import Callable

import numpy as np
from PySide6.QtCore import QObject
from PySide6.QtGui import QUndoCommand, QUndoStack

from workbench.ui.session import Session
from workbench.workspace import Workspace

MOST = 200  # steps that are kept
SELECTING, HIDING = 1, 2  # numbers by which Qt asks whether two steps are one
Names = frozenset[str]


class Selecting(QUndoCommand):
    """From one selection to another."""

    def __init__(self, put: Callable[[np.ndarray], None], before: np.ndarray, after: np.ndarray) -> None:
        count = len(after)
        super().__init__("clearing the selection" if not count else f"selecting {count:,} image{'s' * (count != 1)}")
        self._put, self._before, self._after = put, before, after

    def undo(self) -> None:
        self._put(self._before)

    def redo(self) -> None:
        self._put(self._after)


class Hiding(QUndoCommand):
    """From some hidden groups to others, by their names, in the colouring that has them."""

    def __init__(
        self, put: Callable[[str, Names], None], colouring: str, names: tuple[Names, Names], row: int, words: str
    ) -> None:
        super().__init__(words)
        self._put, self.colouring, self.row = put, colouring, row
        self.before, self.after = names

    def id(self) -> int:
        return HIDING

    def mergeWith(self, other: QUndoCommand) -> bool:
        """A double-click is a click and then a solo of the same row: one step."""
        if not isinstance(other, Soloing) or (other.row, other.colouring) != (self.row, self.colouring):
            return False
        if isinstance(self, Soloing):
            return False
        self.after = other.after
        self.setText(other.text())
        self.setObsolete(self.after == self.before)
        return True

    def undo(self) -> None:
        self._put(self.colouring, self.before)

    def redo(self) -> None:
        self._put(self.colouring, self.after)


class Soloing(Hiding):
    """Only one group, or all again."""


class MapHistory(QObject):
    """Keeps the steps. They go when another data set is shown, for they name samples and classes.

    Args:
        hide: shows a colouring with these groups hidden.
    """

    def __init__(self, session: Session, hide: Callable[[str, Names], None], parent: QObject) -> None:
        super().__init__(parent)
        self._session, self._hide = session, hide
        self.stack = QUndoStack(self)
        self.stack.setUndoLimit(MOST)
        self._selection, self._run = session.selection, session.run_id
        self._data = self._dataset()
        self._replaying = False
        session.selection_changed.connect(self._selected)
        session.run_changed.connect(self._run_changed)

    def hidden(self, colouring: str, names: tuple[Names, Names], row: int, solo: bool, words: str) -> None:
        """A person hid or showed groups: names before and after, of the row that was clicked."""
        self.stack.push((Soloing if solo else Hiding)(self._put_hidden, colouring, names, row, words))

    def _selected(self) -> None:
        before, self._selection = self._selection, self._session.selection
        own, self._run = self._run == self._session.run_id, self._session.run_id
        if own and not self._replaying:  # a run that is shown anew clears the selection: that is no step
            self.stack.push(Selecting(self._put_selection, before, self._selection))

    def _put_selection(self, ids: np.ndarray) -> None:
        self._replaying = True
        try:
            self._session.select(ids)
        finally:
            self._replaying = False

    def _put_hidden(self, colouring: str, names: Names) -> None:
        self._hide(colouring, names)

    def _run_changed(self) -> None:
        if self._dataset() != self._data:
            self._data = self._dataset()
            self.stack.clear()

    def _dataset(self) -> tuple[Workspace, int | None]:
        run = self._session.run()
        return self._session.workspace, None if run is None else run.dataset_id
