"""Pause, stop and cancel, asked from one thread and obeyed by another between two steps."""

from collections.abc import Callable
from threading import Event
from time import monotonic, sleep
from typing import TypeVar

from workbench.events import Emit, Resumed, Waiting
from workbench.problem import Problem, RunTaken

Result = TypeVar("Result")


class Cancelled(Exception):  # noqa: N818 - a request, not an error
    """The user asked to discard this work. Not an error: nothing is shown."""


class Control:
    """Shared by the caller and the worker.

    Args:
        attended: whether a user can answer when the run waits; otherwise a run with a problem ends.

    Attributes:
        can_pause: whether a pause can be asked for.
    """

    can_pause = True

    def __init__(self, *, attended: bool = False) -> None:
        self._running = Event()
        self._running.set()
        self._cancelled = Event()
        self.attended = attended
        self.reason = ""  # why the work paused itself; empty when a user paused it
        self.stop_asked = False  # finish the epoch, keep everything
        self.kept = False  # cancelled, and what it finished is wanted
        self.interrupted = False  # stop before the next step, keep a checkpoint (Ctrl+C in a terminal)
        self.standing_back = False  # between two steps, waiting for the window
        self.pass_on: Callable[[float], None] | None = None  # tells `give_way` to the process of the work
        self._stand_back_until = 0.0  # by the monotonic clock

    @property
    def paused(self) -> bool:
        """Whether the work waits, or will wait before its next step."""
        return not self._running.is_set()

    @property
    def cancelled(self) -> bool:
        """Whether the work was asked to end at once."""
        return self._cancelled.is_set()

    def pause(self) -> None:
        """Wait before the next step, until `resume` or an order to end."""
        self._running.clear()

    def resume(self) -> None:
        """Go on after a pause."""
        self.reason = ""
        self._running.set()

    def stop(self) -> None:
        """End after this epoch and its evaluation; everything is kept."""
        self.stop_asked = True
        self.resume()

    def interrupt(self) -> None:
        """End before the next step; a checkpoint is kept, from which the run can continue."""
        self.interrupted = True
        self.resume()

    def cancel(self) -> None:
        """End before the next step; the run is discarded."""
        self._cancelled.set()
        self.resume()  # a paused run must be able to hear it

    def stop_now(self) -> None:
        """End wherever the work is; finished epochs are kept."""
        self.kept = True
        self.cancel()

    def give_way(self, seconds: float) -> None:
        """Leave the interpreter to the window for that long from now; this is not a pause, and emits no event."""
        self._stand_back_until = monotonic() + seconds
        if self.pass_on is not None:
            self.pass_on(seconds)

    def stand_back(self) -> None:
        """Called between steps: waits where `give_way` asked for it."""
        while (left := self._stand_back_until - monotonic()) > 0:
            self.standing_back = True
            sleep(left)
        self.standing_back = False

    def gate(self) -> None:
        """Called between steps: waits while paused, raises Cancelled when asked to discard."""
        self._running.wait()
        if self._cancelled.is_set():
            raise Cancelled


def wait_if_asked(control: Control, emit: Emit, first: Callable[[], object] = lambda: None) -> bool:
    """Wait while paused, with an event before and after; returns whether there was a pause. Raises Cancelled.

    `first` is called before a pause is said.
    """
    control.stand_back()
    paused = control.paused
    if paused:
        first()
        emit(Waiting(control.reason))
        control.gate()
        emit(Resumed())
    elif control.cancelled:  # not the gate: a pause that came since the look would be obeyed in silence
        raise Cancelled
    return paused


def insist(control: Control, emit: Emit, work: Callable[[], Result]) -> Result:
    """`work()`, again after each Problem, for which an attended run waits for the user.

    Raises:
        Problem: of `work`, where nobody is there to free a disk or the run was asked to end; RunTaken always.
        Cancelled: while it waited.
    """
    while True:
        try:
            return work()
        except RunTaken:
            raise
        except Problem as problem:
            if not control.attended or control.stop_asked or control.interrupted:
                raise
            control.reason = str(problem)
            control.pause()
            wait_if_asked(control, emit)
