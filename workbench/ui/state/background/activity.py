"""The jobs that the user waits for: title, progress, time left and Cancel."""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic
from typing import Literal

from PySide6.QtCore import QObject, QTimer, Signal

from workbench.ui.state.background.mailbox import Mailbox

State = Literal["working", "done", "failed", "cancelled"]
KEPT = 200  # ended jobs in the list
OFTEN = 50  # ms between two updates of a job's progress
SURE_AFTER = 2.0  # seconds before the time left is estimated


@dataclass(frozen=True, slots=True)
class Progressed:
    """How far a job is; `done` of `total`, both 0 when the length is unknown. One that `rests` has no time left."""

    done: int = 0
    total: int = 0
    text: str = ""
    seconds_left: float | None = None
    rests: bool = False


class ActivityItem(QObject):
    """One job. `progress`, `finish`, `fail` and `cancelled` may be called from any thread and at any rate."""

    changed = Signal(object)  # itself, on the window's thread

    def __init__(self, title: str, cancel: Callable[[], None] | None, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.title = title
        self.started = self._counted = monotonic()  # when it began, and when its count last changed
        self._pace_from = (self.started, 0)  # when the present count began, and at which number
        self.state: State = "working"
        self.now = Progressed()
        self._cancel = cancel
        self._lock = threading.Lock()
        self._new: tuple[State, Progressed] | None = None
        self._looking = False  # an update is posted, or was delivered less than OFTEN ago
        self._mailbox = Mailbox(self._take, self)

    @property
    def can_cancel(self) -> bool:
        """Whether the job works and can be cancelled."""
        return self._cancel is not None and self.state == "working"

    @property
    def seconds_left(self) -> float | None:
        """The job's own estimate, otherwise one from its pace so far; None when unknown.

        Parts of a job may take unequally long: while one takes longer than all that was left, nothing is known.
        """
        if self.now.seconds_left is not None or self.now.rests or self.state != "working":
            return self.now.seconds_left
        now = monotonic()
        began, first = self._pace_from
        if self.now.total <= 0 or self.now.done <= first or now - began < SURE_AFTER:
            return None
        left = (self._counted - began) * (self.now.total - self.now.done) / (self.now.done - first)
        left -= now - self._counted
        return left if left >= 0 else None

    def cancel(self) -> None:
        """Ask the job to end; its state changes when it has ended."""
        if self._cancel is not None:
            self._cancel()

    def progress(
        self, done: int = 0, total: int = 0, text: str = "", seconds_left: float | None = None, *, rests: bool = False
    ) -> None:  # fmt: skip
        """Report progress: `done` of `total`, both 0 when the length is unknown; `seconds_left` None means unknown.

        Of a job that `rests`, or of which nothing is known at the moment, no time left is estimated.
        """
        self._post("working", Progressed(done, total, text, seconds_left, rests))

    def finish(self, text: str = "") -> None:
        """Report that the job succeeded."""
        self._post("done", Progressed(text=text))

    def fail(self, text: str) -> None:
        """Report that the job failed, and why."""
        self._post("failed", Progressed(text=text))

    def cancelled(self, text: str = "Cancelled") -> None:
        """Report that the job ended because it was cancelled."""
        self._post("cancelled", Progressed(text=text))

    def _post(self, state: State, now: Progressed) -> None:
        with self._lock:  # only the newest is delivered: a fast job cannot flood the window's queue
            first, self._looking = not self._looking, True
            self._new = (state, now)
        if first:
            self._mailbox.send()

    def _take(self) -> None:
        with self._lock:
            new, self._new = self._new, None
            self._looking = new is not None
        if new is not None:
            if new[1].done != self.now.done:
                self._counted = monotonic()
            another = new[1].total != self.now.total or new[1].done < self.now.done  # count, perhaps as long
            if another and self.now != Progressed():
                self._pace_from = (monotonic(), new[1].done)  # what was done before, such as loading, has another pace
            self.state, self.now = new
            self.changed.emit(self)
            QTimer.singleShot(OFTEN, self, self._take)


class Activity(QObject):
    """The list of jobs, newest last, and the lines of the log. Use on the window's thread."""

    changed = Signal()
    logged = Signal(str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.items: list[ActivityItem] = []
        self._logged: set[ActivityItem] = set()

    @property
    def newest_working(self) -> ActivityItem | None:
        """The job that was added last of those that have not ended; None when all have."""
        return next((item for item in reversed(self.items) if item.state == "working"), None)

    def add(self, title: str, cancel: Callable[[], None] | None = None) -> ActivityItem:
        """Add a job; `cancel` is called on the window's thread when the user cancels it."""
        item = ActivityItem(title, cancel, self)
        item.changed.connect(self._item_changed)
        self.items.append(item)
        self._drop_old()
        self.changed.emit()
        return item

    def log(self, line: str) -> None:
        """Add a line to the log under the list."""
        self.logged.emit(line)

    def _item_changed(self, item: ActivityItem) -> None:
        if item.state != "working" and item not in self._logged:
            self._logged.add(item)
            text = item.now.text
            nothing_more = text.rstrip(".").casefold() in ("", item.state)
            self.log(f"{item.title}: {item.state}" if nothing_more else f"{item.title}: {item.state}. {text}")
        self.changed.emit()

    def _drop_old(self) -> None:
        ended = [item for item in self.items if item.state != "working"]
        for item in ended[: max(0, len(ended) - KEPT)]:
            self.items.remove(item)
            self._logged.discard(item)
            item.deleteLater()
