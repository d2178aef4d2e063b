"""The runs that are ticked to be compared: the list of runs changes them, the Compare page shows them."""

from collections.abc import Iterable

from PySide6.QtCore import QObject, Signal


class Ticks(QObject):
    """One set of run ids for the whole window."""

    changed = Signal()
    chosen = Signal(object, object)  # the ids before and after a user's change, each a frozenset: it can be undone

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.runs: frozenset[int] = frozenset()
        self._let_go: set[int] = set()  # that were ticked when they went into the trash
        self._coming: set[int] = set()  # of them, those that were taken out again and are not listed yet

    def choose(self, runs: Iterable[int]) -> None:
        """Tick these runs and no others, as a user asked; `chosen` is emitted where that changes anything."""
        before = self.runs
        self.put(runs)
        if not self.runs:
            self._let_go.clear()
        if self.runs != before:
            self.chosen.emit(before, self.runs)

    def put(self, runs: Iterable[int]) -> None:
        """Tick these runs and no others."""
        ticked = frozenset(runs)
        if ticked != self.runs:
            self.runs = ticked
            self.changed.emit()

    def keep_only(self, runs: Iterable[int]) -> None:
        """Untick all but these, the runs that there still are; those that `take_back` awaits are ticked again."""
        there = frozenset(runs)
        back = there & self._coming
        self._coming -= back
        self.put(self.runs & there | back)

    def let_go(self, run_id: int) -> None:
        """Remember whether a run is ticked that goes into the trash."""
        if run_id in self.runs:
            self._let_go.add(run_id)

    def take_back(self, run_id: int) -> None:
        """Tick a run that comes back from the trash, once it is listed, if it was ticked and not all were unticked."""
        if run_id in self._let_go:
            self._let_go.discard(run_id)
            self._coming.add(run_id)

    def forget(self) -> None:
        """Untick all: the numbers are of another workspace's runs."""
        self._let_go.clear()
        self._coming.clear()
        self.put(())
