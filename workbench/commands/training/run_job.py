"""A run that trains in this process: the signals that end it, and the wait for its end."""

import contextlib
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

from workbench.commands.terminal import ProgressLine
from workbench.control import Control
from workbench.events import Ended
from workbench.jobs import Job

KEPT = "Its checkpoints are kept, and `--resume` continues from the last one."


def ending_signals() -> tuple[signal.Signals, ...]:
    """The signals, apart from Ctrl+C, that end a run with a checkpoint: of a machine that shuts down, and of a terminal
    or a connection that is closed, unless nohup has it ignored."""
    if sys.platform == "win32" or signal.getsignal(signal.SIGHUP) == signal.SIG_IGN:
        return (signal.SIGTERM,)
    return signal.SIGTERM, signal.SIGHUP


@contextlib.contextmanager
def obeying_signals(control: Control) -> Iterator[None]:
    """While a run works: SIGTERM and SIGHUP end it with a checkpoint, SIGUSR1 after its epoch."""
    obeyed = dict.fromkeys(ending_signals(), control.interrupt)
    if sys.platform != "win32":
        obeyed[signal.SIGUSR1] = control.stop
    before = {number: signal.signal(number, lambda *_, obey=obey: obey()) for number, obey in obeyed.items()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def finished(job: Job, control: Control, line: ProgressLine, asked: Path | None = None) -> Ended:
    """Start the job and wait for its end; Ctrl+C ends it with a checkpoint, twice without a new one.

    A file `asked` ends it after its epoch.
    """

    def interrupt(*_: object) -> None:
        if control.interrupted:
            control.cancel()
        control.interrupt()
        line.say("Stopping before the next step; a checkpoint is kept. Press Ctrl+C again to end without a new one.")

    before = signal.signal(signal.SIGINT, interrupt)
    try:
        job.start()
        while not job.join(0.2):
            if asked is not None and asked.exists():
                control.stop()
                asked = None
    finally:
        signal.signal(signal.SIGINT, before)
    return job.ended or Ended("failed", "The run ended for an unknown reason.")
