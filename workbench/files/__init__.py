"""Files that are complete or missing, never half written: atomic writes and hashes."""

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path
from typing import BinaryIO

from workbench.files import parts
from workbench.problem import Problem

# Windows knows neither flag but O_BINARY; a pipe without a writer is opened at once, and found to be none of ours.
NOT_WAITING = sum(getattr(os, name, 0) for name in ("O_NONBLOCK", "O_CLOEXEC", "O_BINARY"))


@contextlib.contextmanager
def atomic_write(path: Path) -> Iterator[BinaryIO]:
    """Write another file beside `path`, then rename it; on any failure the old file stays and nothing is left behind.

    Raises:
        Problem: the disk is full, or the place cannot be written.
    """
    parts.remove_dead(path.parent, path.name)
    try:
        with parts.whole_file(path) as file:
            yield file
        sync_folder(path.parent)
    except OSError as error:
        raise explain(error, path) from error


def make_folder(path: Path) -> None:
    """Make a folder, with those above it, where it is missing. Raises Problem as `atomic_write`."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise explain(error, path) from error
    except (ValueError, RecursionError) as error:  # a NUL in the name, or too many nested folders
        raise Problem(f"{str(path)[:200]!r} is not a valid name of a folder.", kept="Nothing was written.") from error


def typed_path(text: str | Path) -> Path:
    """A path as a person typed it, its home folder in place of ~ or ~user; that of an unknown user stays as written.

    Path.expanduser raises RuntimeError there, as for the first letters of a path that is still being typed.
    """
    return Path(os.path.expanduser(text))


def check_place(path: Path) -> None:
    """Raise Problem where a file is to be written and a folder, a device, a pipe or a socket lies, or a link to one."""
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):  # nothing is there, or it is said when it is written
        return
    if not stat.S_ISREG(mode) or _is_stream(path):
        kind = "a folder" if stat.S_ISDIR(mode) else "a device, a pipe or a socket"
        raise Problem(
            f"{path} is {kind}, not a file.", kept="It is unchanged, and nothing was written.", todo="Name a file."
        )


def _is_stream(path: Path) -> bool:
    """Whether a path is an open stream of a process, also one that goes to a file: the new file would replace its name
    for every program."""
    name = os.path.abspath(path)
    return os.name == "posix" and (name.startswith(("/dev/std", "/dev/fd/", "/proc/")))


@contextlib.contextmanager
def chosen_file(path: Path) -> Iterator[BinaryIO]:
    """As `atomic_write`, of a file that a person chose, which takes the place of no device; raises as `check_place`."""
    check_place(path)
    with atomic_write(path) as file:
        yield file


@contextlib.contextmanager
def named_file(path: Path) -> Iterator[BinaryIO]:
    """As `chosen_file`, of one that is named on the command line: its folder is made where it is missing.

    Raises:
        Problem: as `make_folder` and `chosen_file`.
    """
    make_folder(path.parent)
    with chosen_file(path) as file:
        yield file


class NoSpace(Problem):
    """A disk has no room for what was to be written."""


def explain(error: OSError, path: Path) -> Problem:
    """The Problem for a file that could not be written; of one in an unfinished folder it names the folder's name."""
    path = parts.whole_of(path)
    kept = "What was there before is unchanged."
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        todo = "Free some space and try again."
        return NoSpace(f"There is no space left to write {path}.", kept=kept, todo=todo)
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        what, todo = (
            f"{path} may not be written.",
            "Choose a folder where you may write, or close the program that has it open.",
        )
    else:
        what, todo = f"{path} could not be written ({error.strerror or error}).", "Try another place."
    return Problem(what, kept=kept, todo=todo)


def small_content(path: Path, largest: int) -> bytes:
    """The content of a small file that the user may have put anywhere; links are followed, pipes are not waited for.

    Raises:
        ValueError: it is larger than `largest` bytes.
        OSError: it is missing, no regular file, or cannot be read.
    """
    with _opened(path) as file:
        content = file.read(largest + 1)
    if len(content) > largest:
        raise ValueError(f"it is over {largest >> 10:,} KiB")
    return content


def digest(path: Path) -> str:
    """The file's blake2b hash, 16 bytes, as hexadecimal text. Raises OSError, also for a pipe or a folder."""
    with _opened(path) as file:
        return digest_of(file)


def digest_of(file: BinaryIO) -> str:
    """As `digest`, of an open file from where it is."""
    checksum = blake2b(digest_size=16)
    while block := file.read(1 << 20):
        checksum.update(block)
    return checksum.hexdigest()


def sync_folder(folder: Path) -> None:
    """Make a new name in this folder survive a power cut, where the system can."""
    if os.name != "posix":
        return
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def _opened(path: Path) -> BinaryIO:
    """A regular file, or one that a link names, open for reading. Raises OSError."""
    descriptor = os.open(path, os.O_RDONLY | NOT_WAITING)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "it is not a file", str(path))
    return os.fdopen(descriptor, "rb")
