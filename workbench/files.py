"""Files that are whole or not there: atomic writes, hashes, and archives that stay inside their folder."""

import contextlib
import errno
import os
import re
import shutil
import uuid
import zipfile
import zlib
from collections.abc import Callable, Iterator
from hashlib import blake2b
from pathlib import Path
from typing import BinaryIO

from workbench.problem import Problem

LARGEST_ARCHIVE = 64 << 30  # bytes, unpacked
MOST_FILES = 2_000_000
BOMB = 200  # times smaller than its contents: no honest archive of images
DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError)  # all that zipfile raises for a bad archive


@contextlib.contextmanager
def atomic_write(path: Path) -> Iterator[BinaryIO]:
    """Write beside `path`, then move into place; on any failure the old file stays and nothing is left behind.

    Raises:
        Problem: the disk is full, or the place cannot be written.
    """
    part = _part(path)
    try:
        with part.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
        _sync_folder(path.parent)
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


def check_archive(archive: zipfile.ZipFile, place: Path) -> None:
    """Refuse an archive before anything of it is used.

    Raises:
        Problem: an entry that leaves the folder, a link, a password, a bomb, or too much of it.
    """
    total = 0
    entries = archive.infolist()
    if len(entries) > MOST_FILES:
        raise _refused(place, f"it holds more than {MOST_FILES:,} files")
    for entry in entries:
        name = entry.filename
        parts = name.replace("\\", "/").split("/")
        if name.startswith(("/", "\\")) or ".." in parts or re.match("[A-Za-z]:", name):
            raise _refused(place, f"its entry {name!r} leaves the folder")
        if (entry.external_attr >> 16) & 0o170000 == 0o120000:
            raise _refused(place, f"its entry {name!r} is a link")
        if entry.flag_bits & 1:
            raise _refused(place, "it has a password")
        if entry.file_size > 1 << 20 and entry.file_size > BOMB * max(1, entry.compress_size):
            raise _refused(place, f"its entry {name!r} unpacks to {entry.file_size:,} bytes")
        total += entry.file_size
    if total > LARGEST_ARCHIVE:
        raise _refused(place, f"it unpacks to {total:,} bytes")


def safe_unzip(place: Path, folder: Path, progress: Callable[[str, int, int], None]) -> None:
    """Unpack a zip file into a new or empty folder: all of it, or nothing. `progress` may raise to give up.

    Raises:
        Problem: as `check_archive`; the archive is damaged, the folder holds something, or the disk is full.
    """
    part = _part(folder)
    try:
        with zipfile.ZipFile(place) as archive:
            check_archive(archive, place)
            entries = archive.infolist()
            for done, entry in enumerate(entries, start=1):
                archive.extract(entry, part)
                progress(f"Unpacking {place.name}", done, len(entries))
        part.mkdir(parents=True, exist_ok=True)  # an archive may be empty
        if folder.exists():
            folder.rmdir()
        part.rename(folder)
    except DAMAGED as error:
        raise _refused(place, str(error)) from None
    except OSError as error:
        raise explain(error, folder) from error
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _refused(place: Path, why: str) -> Problem:
    return Problem(
        f"The archive {place} is refused: {why}.", kept="Nothing of it was unpacked.", todo="Use another file."
    )


def _part(path: Path) -> Path:
    """Where the unfinished file lies: no two writers share it, in one process or in several."""
    return path.with_name(f".{path.name}.{os.getpid()}-{uuid.uuid4().hex[:8]}.part")


def _remove(part: Path) -> None:
    with contextlib.suppress(OSError):
        part.unlink()


def _sync_folder(folder: Path) -> None:
    """Make the new name last through a power cut, where the system can."""
    if os.name != "posix":
        return
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
