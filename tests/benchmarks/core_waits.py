"""How long a thread waited for a core, so that stalls on a busy machine can be read as those on a quiet one."""

import os


class Waits:
    """Milliseconds in which the thread that creates it waited for a core; 0 where the system does not say."""

    def __init__(self) -> None:
        try:
            self._file: int | None = os.open("/proc/thread-self/schedstat", os.O_RDONLY)  # opening takes 0.1 ms
        except OSError:
            self._file = None

    def so_far(self) -> float:
        return 0.0 if self._file is None else int(os.pread(self._file, 100, 0).split()[1]) / 1e6
