"""One sweep per device for all workspaces of this user on this machine: a file that the system locks.

The system frees the lock when the process ends, however it ends, so that a killed worker holds no device.
"""

import os
import re
import socket
from pathlib import Path

from platformdirs import user_state_path

from workbench.files import locks


def folder() -> Path:
    """The folder of the lock files: WORKBENCH_LOCKS, or the user's folder for the state of programs.

    It is not the runtime folder, because Linux removes that one when the user logs out, while workers continue.
    """
    named = os.environ.get("WORKBENCH_LOCKS")
    return Path(named) if named else user_state_path("workbench", appauthor=False) / "devices"


class DeviceLock:
    """The lock of one device. Two of them exclude each other in one process, too.

    Args:
        device: "cpu", "cuda:0", "mps".
    """

    def __init__(self, device: str) -> None:
        # Machines may share a home folder, but each has its own devices.
        self.path = folder() / f"{re.sub(r'[^A-Za-z0-9.]+', '-', f'{socket.gethostname()} {device}')}.lock"
        self._file: int | None = None

    @property
    def held(self) -> bool:
        """Whether this object has the device."""
        return self._file is not None

    def take(self) -> bool:
        """Take the device without waiting; False while another process has it.

        Raises:
            OSError: the place cannot be written, or its file system has no locks.
        """
        if self._file is not None:
            return True
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        opened = os.open(self.path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
        try:
            taken = locks.lock(opened) and _is_at(opened, self.path)
        except BaseException:
            os.close(opened)
            raise
        if taken:
            self._file = opened
        else:
            os.close(opened)
        return taken

    def free(self) -> None:
        """Release the device; the file stays, because removing it would let two processes lock it."""
        if self._file is not None:
            os.close(self._file)  # closing the last handle releases the lock
            self._file = None


def _is_at(opened: int, path: Path) -> bool:
    """Whether the locked file is still the one of that name: who cleans up may have removed it meanwhile."""
    try:
        return os.path.samestat(os.fstat(opened), path.stat())
    except FileNotFoundError:
        return False
