"""One program at a time does something in a workspace, on every system: the others wait, or refuse.

The system frees the lock when its program ends, however it ends. POSIX locks the folder itself, which any user who may
read it can do. Windows has no locks on folders: there a file is locked, which is removed at the end.
"""

import contextlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path

from workbench import files
from workbench.files import locks
from workbench.workspace.paths import writable

LOCKS_FOLDERS = os.name == "posix"


@contextlib.contextmanager
def alone(folder: Path, file: Path, wait: Callable[[], None]) -> Iterator[None]:
    """No other program is in such a block for this folder; on a disk without locks nobody is kept out.

    Args:
        folder: exists.
        file: the path of the lock file where folders have no locks; its folder exists.
        wait: called while another program is in the block, again and again: returns to try once more, or raises.

    Raises:
        Problem: the lock file is a link, or it or the folder cannot be opened.
    """
    taken = _locked(folder if LOCKS_FOLDERS else file, wait)
    try:
        yield
    finally:
        os.close(taken)
        if not LOCKS_FOLDERS:
            with contextlib.suppress(OSError):  # another program has it open and locks it next
                file.unlink()


def _locked(path: Path, wait: Callable[[], None]) -> int:
    while True:
        try:
            opened = os.open(path, os.O_RDONLY) if LOCKS_FOLDERS else writable(path)
        except OSError as error:
            raise files.explain(error, path) from error
        try:
            if _lock(opened) and _is_at(opened, path):
                return opened
            wait()
        except BaseException:
            os.close(opened)
            raise
        os.close(opened)


def _lock(opened: int) -> bool:
    try:
        return locks.lock(opened)
    except OSError:  # a disk without locks
        return True


def _is_at(opened: int, path: Path) -> bool:
    """Whether what is locked is still at that path: whoever had it before may have removed it since."""
    try:
        return os.path.samestat(os.fstat(opened), path.stat())
    except OSError:
        return False
