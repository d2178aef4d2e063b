"""Which threads outlive a test: rule 4 of docs/architecture.md."""

import threading
from collections.abc import Collection
from time import monotonic

from tests.waits import HANG

WHOLE_PROCESS = ("starter",)  # of jobs/: one for all jobs of the process
OF_LIBRARIES = (
    "_DummyThread",  # not started by Python: of Qt's pool or torch's backward pass
    "TMonitor",  # of tqdm: one for the process
)


def outliving(before: Collection[threading.Thread], wait: float = HANG) -> list[str]:
    """Names of threads that were not there before and do not end within `wait` seconds: all were told to end.

    A thread that has told its last news may wait for a core before it is over.
    """
    started = [
        thread
        for thread in threading.enumerate()
        if thread not in before and thread.name not in WHOLE_PROCESS and type(thread).__name__ not in OF_LIBRARIES
    ]
    until = monotonic() + wait
    for thread in started:
        thread.join(max(0.0, until - monotonic()))
    return [thread.name for thread in started if thread.is_alive()]
