"""Whether a disk has room left, where a library does not say why it could not write."""

import errno
import os
import shutil
from pathlib import Path

SCARCE = 4 << 20  # bytes free, below which an error without a reason is a full disk


def is_full(folder: Path, scarce: int = SCARCE) -> bool:
    """Whether the disk has fewer than `scarce` bytes left; False where that cannot be told."""
    try:
        return shutil.disk_usage(folder).free < scarce
    except OSError:
        return False


def with_reason(error: OSError, path: Path) -> OSError:
    """The error itself, or one that says that the disk of `path` is full: NumPy only says how much it wrote."""
    if error.errno is None and is_full(path.parent):
        return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
    return error
