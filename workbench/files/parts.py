"""Unfinished files and folders: their writer locks them, so that those of killed programs can be recognised.

The system frees a lock when its process ends, however it ends. Windows has no locks on folders: there an unfinished
folder is kept as long as any process has its writer's number.
"""

import contextlib
import os
import re
import shutil
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path
from time import sleep
from typing import BinaryIO

from workbench.files import locks
from workbench.files.room import with_reason

POSIX = os.name == "posix"
TRIES, PAUSE = 20, 0.05  # of a replacement that another program holds up, and the seconds between two of them
NAME = re.compile(r"\.(?P<of>.+)\.(?P<pid>\d+)-[0-9a-f]{8}\.part", re.DOTALL)


def part_of(path: Path) -> Path:
    """The path of the unfinished file: no two writers share it, in one process or in several."""
    return path.with_name(f".{path.name}.{os.getpid()}-{uuid.uuid4().hex[:8]}.part")


def whole_of(path: Path) -> Path:
    """The file or folder that is made where `path` is an unfinished one, or in an unfinished one; else `path`."""
    for made in (*reversed(path.parents), path):
        named = NAME.fullmatch(made.name)
        if named:
            return made.with_name(named["of"])
    return path


@contextlib.contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """A new file that replaces `path` at the end, flushed to the disk; on an error nothing of it is left."""
    part, file = _new_file(path)
    try:
        with file:
            yield file
            file.flush()
            os.fsync(file.fileno())
            if POSIX:
                part.replace(path)  # while it is locked
        if not POSIX:
            _replace(part, path)  # Windows does not move open files
    except OSError as error:  # while the part still takes the room
        raise with_reason(error, path) from None
    finally:
        with contextlib.suppress(OSError):
            part.unlink()


def _replace(part: Path, path: Path) -> None:
    """Windows does not replace a file either while another program reads it, which is soon over. Raises OSError."""
    for _ in range(TRIES):
        with contextlib.suppress(PermissionError):
            part.replace(path)
            return
        sleep(PAUSE)
    part.replace(path)


def _new_file(path: Path) -> tuple[Path, BinaryIO]:
    while True:
        part = part_of(path)
        file = part.open("xb")
        if _locked(file.fileno()) and part.exists():  # else another program removed it before it was locked
            return part, file
        file.close()


@contextlib.contextmanager
def part_folder(path: Path, mode: int = 0o777) -> Iterator[Path]:
    """A new, locked, empty folder beside `path`; what remains of it afterwards is removed. Raises OSError."""
    while True:
        part = part_of(path)
        part.mkdir(mode, parents=True)
        opened = os.open(part, os.O_RDONLY) if POSIX else None
        if opened is None or (_locked(opened) and part.exists()):
            break
        os.close(opened)
    try:
        yield part
    finally:
        shutil.rmtree(part, ignore_errors=True)
        if opened is not None:
            os.close(opened)


def remove_dead(folder: Path, of: str = "", *, own: bool = False) -> None:
    """Remove what killed programs left unfinished in `folder`; with `of`, only for the file or folder of that name.

    A part that a living process writes is never removed, and neither is one that cannot be checked. With `own` only
    what belongs to this user is looked at.
    """
    with contextlib.suppress(OSError):
        for entry in list(os.scandir(folder)):
            named = NAME.fullmatch(entry.name)
            if named and of in ("", named["of"]) and (not own or _is_own(entry)):
                _remove_if_dead(Path(entry.path), int(named["pid"][:9]))


def _is_own(entry: "os.DirEntry[str]") -> bool:
    return sys.platform == "win32" or entry.stat(follow_symlinks=False).st_uid == os.getuid()


def _remove_if_dead(part: Path, pid: int) -> None:
    with contextlib.suppress(OSError):
        opened = os.open(part, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
        try:
            if not _dead(opened, pid):
                return
            if part.is_dir():
                shutil.rmtree(part, ignore_errors=True)
            elif POSIX:
                part.unlink()
        finally:
            os.close(opened)
        if not POSIX:
            part.unlink(missing_ok=True)  # Windows does not remove open files


def _locked(opened: int) -> bool:
    try:
        return not POSIX or locks.lock(opened)
    except OSError:  # a file system without locks: none of its parts is ever removed
        return True


def _dead(opened: int, pid: int) -> bool:
    """Whether the writer of a part has ended. Raises OSError on a file system without locks."""
    if POSIX:
        return locks.lock(opened)
    import psutil

    return not psutil.pid_exists(pid)
