"""Finds image files below a folder: link loops are followed once, pipes never opened, odd names kept different."""

import os
import stat
from collections.abc import Iterator

from workbench.datasets.images.loader import ENDINGS, display_name
from workbench.datasets.images.path_table import PathCollector, PathTable
from workbench.progress import Progress

TELL_EVERY = 1000  # entries
IMAGE_ENDINGS = tuple(ending.encode() for ending in ENDINGS)
UNREAD = (b".heic", b".heif", b".avif", b".jxl", b".jp2", b".dng", b".cr2", b".cr3", b".nef", b".arw")
NOT_READ = "is an image of a format that is not read: save it as JPEG or PNG"
Problems = list[tuple[str, str]]


def find_images(
    root: str | os.PathLike[str], problems: Problems, progress: Progress, hidden: list[bytes] | None = None
) -> PathTable:
    """Relative, posix paths of all image files, sorted, as `images.display_name` shows them.

    Hidden files and folders are skipped. A linked folder is read like any other, but only once, and under its real path
    if that is below the root. Only names are stored, about 20 bytes a file: ten million take 0.2 GB.

    Args:
        root: where to look.
        problems: gets (path, reason) of unusable entries, sorted.
        progress: called every thousand entries; may raise Cancelled.
        hidden: gets the relative paths of the folders that were skipped because their names begin with a dot.
    """
    skipped: list[bytes] = [] if hidden is None else hidden
    collected, unusable = PathCollector(), Problems()
    prefix, names = "", list[str]()  # of the folder that is being read
    for number, (inside, name, reason) in enumerate(_walk(os.fsencode(root), skipped), start=1):
        if number % TELL_EVERY == 0:
            progress("Looking for images", number, 0)
        if inside != prefix:
            collected.add(prefix, names)
            prefix, names = inside, []
        if reason:
            unusable.append(((inside + name).rstrip("/") or ".", reason))
        elif name:
            names.append(name)
    collected.add(prefix, names)
    problems += sorted(unusable)
    return collected.table()


def holds_images(folder: bytes, progress: Progress) -> bool:
    """Whether there is an image below a folder. `progress` is called every thousand entries; may raise Cancelled."""
    for number, (_, name, reason) in enumerate(_walk(folder, []), start=1):
        if name and not reason:
            return True
        if number % TELL_EVERY == 0:
            progress("Looking for images", number, 0)
    return False


def missing(path: str | os.PathLike[str]) -> str:
    """Why a listed file is none that can be read, after "but": "not on disk"; empty if it is there."""
    try:
        return "" if stat.S_ISREG(os.stat(path).st_mode) else "is no file"
    except (FileNotFoundError, NotADirectoryError, ValueError):  # ValueError: a zero byte in its name
        return "not on disk"
    except OSError as error:
        return f"cannot be opened ({error.strerror})"


def _walk(base: bytes, hidden: list[bytes]) -> Iterator[tuple[str, str, str]]:
    """(prefix, name, reason) of each entry, folder by folder.

    The prefix is its folder's relative path with a final slash, empty for the root; the name is empty for a folder that
    cannot be read and for what is no image; the reason says why an entry cannot be used, and is empty for images.
    `hidden` gets the relative paths of hidden folders.
    """
    folders, links, seen = [base], list[bytes](), set[tuple[int, int]]()
    while folders or links:
        folder = folders.pop() if folders else links.pop()  # links last: a real folder keeps its own path
        try:
            facts = os.stat(folder)
            entries = os.scandir(folder)
        except OSError as error:
            yield _prefix(folder, base), "", f"cannot be opened ({error.strerror})"
            continue
        with entries:
            if (facts.st_dev, facts.st_ino) in seen:
                yield _prefix(folder, base), "", "is a link to a folder that is read already, or a loop of links"
                continue
            seen.add((facts.st_dev, facts.st_ino))
            inner: list[tuple[bytes, bool]] = []
            skipped: list[bytes] = []
            yield from _looked_at(entries, _prefix(folder, base), inner, skipped)
            hidden += [os.path.relpath(path, base) for path in skipped]
        for path, linked in sorted(inner):
            (links if linked else folders).append(path)


def _looked_at(
    entries: Iterator[os.DirEntry[bytes]], prefix: str, inner: list[tuple[bytes, bool]], hidden: list[bytes]
) -> Iterator[tuple[str, str, str]]:
    """As `_walk`, for one folder; `inner` gets the folders in it, and whether each is a link, `hidden` the hidden."""
    while True:
        try:
            entry = next(entries, None)
        except OSError as error:
            yield prefix, "", f"cannot be read to its end ({error.strerror})"
            return
        if entry is None:
            return
        try:
            if entry.name.startswith(b"."):
                if entry.is_dir(follow_symlinks=False):
                    hidden.append(entry.path)
                yield prefix, "", ""
            elif entry.is_dir():
                inner.append((entry.path, entry.is_symlink()))
            elif not entry.name.lower().endswith(IMAGE_ENDINGS):
                unread = entry.name.lower().endswith(UNREAD)
                yield prefix, *((display_name(entry.name), NOT_READ) if unread else ("", ""))
            else:
                regular = entry.is_file(follow_symlinks=False) or stat.S_ISREG(entry.stat().st_mode)
                yield prefix, display_name(entry.name), "" if regular else "is not a regular file"
        except OSError as error:
            yield prefix, display_name(entry.name), f"cannot be opened ({error.strerror})"


def _prefix(folder: bytes, base: bytes) -> str:
    """The relative path of a folder as it is shown, with a final slash; empty for the base itself."""
    return "" if folder == base else display_name(os.path.relpath(folder, base)).replace(os.sep, "/") + "/"
