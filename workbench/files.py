"""Files that are whole or not there: atomic writes and hashes."""

import contextlib
import errno
import os
import uuid
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path
from typing import BinaryIO

from workbench.problem import Problem


@contextlib.contextmanager
def atomic_write(path: Path) -> Iterator[BinaryIO]:
    """Write beside `path`, then move into place; on any failure the old file stays and nothing is left behind.

    Raises:
        Problem: the disk is full, or the place cannot be written.
    """
    part = part_of(path)
    try:
        with part.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
        sync_folder(path.parent)
    except OSError as error:
        _remove(part)
        raise explain(error, path) from error
    except BaseException:
        _remove(part)
        raise


def explain(error: OSError, path: Path) -> Problem:
    """The sentence for a file that could not be written."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        what, todo = f"There is no space left to write {path}.", "Free some space and try again."
    elif error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        what, todo = (
            f"{path} may not be written.",
            "Choose a folder where you may write, or close the program that holds it.",
        )
    else:
        what, todo = f"{path} could not be written ({error.strerror or error}).", "Try another place."
    return Problem(what, kept="What was there before is unchanged.", todo=todo)


def digest(path: Path) -> str:
    """The file's blake2b hash, 16 bytes, as hexadecimal text."""
    with path.open("rb") as file:
        found = blake2b(digest_size=16)
        while block := file.read(1 << 20):
            found.update(block)
    return found.hexdigest()


def part_of(path: Path) -> Path:
    """Where the unfinished file lies: no two writers share it, in one process or in several."""
    return path.with_name(f".{path.name}.{os.getpid()}-{uuid.uuid4().hex[:8]}.part")


def _remove(part: Path) -> None:
    with contextlib.suppress(OSError):
        part.unlink()


def sync_folder(folder: Path) -> None:
    """Make the new name last through a power cut, where the system can."""
    if os.name != "posix":
        return
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
