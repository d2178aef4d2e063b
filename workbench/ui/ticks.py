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

    def choose(self, runs: Iterable[int]) -> None:
        """Tick these runs and no others, as a user asked; `chosen` is emitted where that changes anything."""
        before = self.runs
        self.put(runs)
        if self.runs != before:
            self.chosen.emit(before, self.runs)

    def put(self, runs: Iterable[int]) -> None:
        """Tick these runs and no others."""
        ticked = frozenset(runs)
        if ticked != self.runs:
            self.runs = ticked
            self.changed.emit()

    def keep_only(self, runs: Iterable[int]) -> None:
        """Untick all but these: the runs that there still are."""
        self.put(self.runs.intersection(runs))
