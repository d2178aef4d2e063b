"""Paths in a workspace's rows and folders. A workspace may be hostile: no path in it may lead out of it."""

import contextlib
import errno
import os
import re
import shutil
import stat
from pathlib import Path
from typing import BinaryIO

from workbench import files
from workbench.entries.catalog import cache_folder
from workbench.files import parts
from workbench.problem import Problem

DATABASE = "workspace.db"  # in the folder of a workspace
LARGEST = 2**63 - 1  # of a number that SQLite stores
PUT_BACK = "Put the file or folder itself there."
# Follows no link, and does not wait for the other end of a pipe; Windows knows neither flag, but asks for binary files.
NOT_WAITING = sum(getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY"))
REPARSE = 0x400  # FILE_ATTRIBUTE_REPARSE_POINT: links and junctions of Windows


def default_workspace() -> Path:
    """The default workspace: WORKBENCH_WORKSPACE, or the folder Workbench in the home folder."""
    return Path(os.environ.get("WORKBENCH_WORKSPACE") or Path.home() / "Workbench")


def whole(value: object, what: str) -> int:
    """A number of the database that names a row or a folder. Raises Problem for anything but an integer in range."""
    if isinstance(value, int) and not isinstance(value, bool) and -LARGEST <= value <= LARGEST:
        return value
    raise Problem(
        f"The workspace names {what} {_shown(value)}, which is not a number.",
        kept="Nothing was read or changed for it.",
    )


def inside(folder: Path, name: str) -> Path:
    """The file or folder `name` below `folder`, which may be missing.

    Args:
        folder: trusted; may be a link.
        name: relative, with "/" between its parts.

    Raises:
        Problem: `name` is empty or absolute, has ".." or an invalid character, or one of its parts is a link or
            anything but a file or a folder (reading a pipe would never end).
    """
    relative = Path(name) if isinstance(name, str) and "\0" not in name else Path()
    if not relative.parts or relative.is_absolute() or relative.anchor or ".." in relative.parts:
        raise Problem(
            f"The workspace names the file {_shown(name)}, which is not in {folder}.", kept="It was not used."
        )
    path = folder
    for part in relative.parts:
        path = path / part
        _check(path)
    return path


def regular(path: Path) -> Path:
    """`path` itself, if it is missing or a regular file. Raises Problem for a link, a folder or a pipe."""
    facts = _check(path)
    if facts is not None and not stat.S_ISREG(facts.st_mode):
        raise Problem(f"{path} is not a file.", kept="It was not used.", todo=PUT_BACK)
    return path


def unshared(path: Path) -> Path:
    """As `regular`; a file with other names (hard links), as in a backup, is first replaced by a copy of its own.

    What is then written to it is in no file elsewhere.

    Raises:
        Problem: as `regular`, or the copy cannot be made.
    """
    regular(path)
    try:
        if path.exists() and path.stat().st_nlink > 1:
            with parts.whole_file(path) as own, opened(path) as shared:
                shutil.copyfileobj(shared, own)
                shutil.copymode(path, own.name)  # a private file stays private
    except OSError as error:
        raise files.explain(error, path) from error
    return path


def opened(path: Path) -> BinaryIO:
    """A regular file, open for reading; what is there when it is opened is checked, not only what was there before.

    Raises:
        Problem: as `regular`, also for a link or a pipe that has just taken the file's place.
        OSError: it is missing, or cannot be read.
    """
    regular(path)
    try:
        descriptor = os.open(path, os.O_RDONLY | NOT_WAITING)
    except OSError as error:
        if error.errno == errno.ELOOP:  # a link, refused by O_NOFOLLOW
            regular(path)
        raise
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise Problem(f"{path} is not a file.", kept="It was not used.", todo=PUT_BACK)
    return os.fdopen(descriptor, "rb")


def writable(path: Path, flags: int = 0, mode: int = 0o666) -> int:
    """The descriptor of a regular file, open for reading and writing; it is created if it is missing.

    Raises:
        Problem: as `regular`, also for a link that has just taken the file's place (not on Windows).
        OSError: it cannot be opened.
    """
    regular(path)
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | NOT_WAITING | flags, mode)
    except OSError as error:
        if error.errno == errno.ELOOP:
            regular(path)
        raise


def is_file(path: Path) -> bool:
    """Whether it is a regular file; a link is not."""
    try:
        return regular(path).exists()
    except Problem:
        return False


def write_from(path: Path, at: int, content: bytes) -> None:
    """Write bytes at a position of a file, which ends after them; creates the file if it is missing.

    Overwrites what a killed program wrote there, in no other name of the file (`unshared`). Raises Problem for a
    symbolic link, and if the disk refuses it.
    """
    try:
        with os.fdopen(writable(unshared(path)), "r+b") as file:
            file.truncate(at)
            file.seek(at)
            file.write(content)
    except OSError as error:
        raise files.explain(error, path) from error


def remove_folder(folder: Path, name: str) -> None:
    """Delete a folder with its content; links in it are removed, never followed. A missing folder is no error.

    It first gets the name of an unfinished one: what a kill leaves of it is then removed by `parts.remove_dead`.

    Raises:
        Problem: as `inside`.
    """
    path = inside(folder, name)
    if path.is_dir():
        with contextlib.suppress(OSError):  # Windows does not rename a folder of which a file is open
            path = path.rename(parts.part_of(path))
        shutil.rmtree(path, ignore_errors=True)


def pixel_cache(stored: str, workspace: Path) -> Path | None:
    """The file of decoded images that a data set names: in the workspace or in Workbench's cache, or None.

    Its name says which images it holds. A run of another machine names the file there; the same one may be here.
    """
    here = cache_folder() / "pixels" / re.split(r"[/\\]", stored)[-1]
    try:
        for path in (Path(stored).resolve(), here.resolve()):
            near = any(path.is_relative_to(folder.resolve()) for folder in (workspace, cache_folder()))
            if near and path.is_file():
                return path
    except (OSError, RuntimeError, ValueError):  # a loop of links, or an invalid name
        pass
    return None


def originals(root: str, paths: list[str]) -> list[Path]:
    """The image files of a data set. Raises Problem for a file that is not below its root."""
    for path in paths:
        if path[:1] in ("", "/", "\\") or ".." in path or ":" in path or "\0" in path:
            relative = Path(path) if "\0" not in path else Path("..")
            if relative.is_absolute() or relative.anchor or ".." in relative.parts or not relative.parts:
                raise Problem(
                    f"The data set names the image {_shown(path)}, which is not in its folder.", kept="It was not used."
                )
    folder = Path(root)
    return [folder / path for path in paths]


def _check(path: Path) -> os.stat_result | None:
    """The status of the file or folder, None if it does not exist. Raises Problem for a link and for any other kind."""
    try:
        facts = path.lstat()
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        why = (isinstance(error, OSError) and error.strerror) or error
        raise Problem(f"{_shown(str(path))} cannot be used ({why}).", kept="It was not used.") from None
    if stat.S_ISLNK(facts.st_mode) or getattr(facts, "st_file_attributes", 0) & REPARSE:
        raise Problem(
            f"{path} is a link, which a workspace does not follow.",
            kept="Neither the link nor what it names was changed.",
            todo=PUT_BACK,
        )
    if not (stat.S_ISREG(facts.st_mode) or stat.S_ISDIR(facts.st_mode)):
        raise Problem(f"{path} is neither a file nor a folder.", kept="It was not used.", todo=PUT_BACK)
    return facts


def _shown(value: object) -> str:
    """A value for a sentence: on one line, truncated."""
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:76]}…{text[-1]}"
