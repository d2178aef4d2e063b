"""Finds image files below a folder: link loops are followed once, pipes never opened, odd names kept different."""

import os
import stat
from collections.abc import Iterator

from workbench.datasets.images import ENDINGS, display_name
from workbench.progress import Progress

TELL_EVERY = 1000  # entries
IMAGE_ENDINGS = tuple(ending.encode() for ending in ENDINGS)
Problems = list[tuple[str, str]]


def find_images(root: str | os.PathLike[str], problems: Problems, progress: Progress) -> list[str]:
    """Relative, posix paths of all image files, sorted, as `images.display_name` shows them.

    Hidden files and folders are skipped. A linked folder is read like any other, but only once, and under its real path
    if that is below the root. Only paths are stored: finding ten million files in one folder takes little more memory
    than their paths.

    Args:
        root: where to look.
        problems: gets (path, reason) of unusable entries, sorted.
        progress: called every thousand entries; may raise Cancelled.
    """
    base = os.fsencode(root)
    paths: list[str] = []
    unusable: Problems = []
    for number, (path, reason) in enumerate(_walk(base), start=1):
        if number % TELL_EVERY == 0:
            progress("Looking for images", number, 0)
        if reason:
            unusable.append((path, reason))
        elif path:
            paths.append(path)
    paths.sort()
    problems += sorted(unusable)
    return paths


def _walk(base: bytes) -> Iterator[tuple[str, str]]:
    """(path, "") of an image, (path, reason) of an unusable entry, ("", "") of any other entry."""
    folders, links, seen = [base], list[bytes](), set[tuple[int, int]]()
    while folders or links:
        folder = folders.pop() if folders else links.pop()  # links last: a real folder keeps its own path
        try:
            facts = os.stat(folder)
            entries = os.scandir(folder)
        except OSError as error:
            yield _shown(folder, base), f"cannot be opened ({error.strerror})"
            continue
        with entries:
            if (facts.st_dev, facts.st_ino) in seen:
                yield _shown(folder, base), "was already visited (a link loop?)"
                continue
            seen.add((facts.st_dev, facts.st_ino))
            inner: list[tuple[bytes, bool]] = []
            yield from _looked_at(entries, "" if folder == base else f"{_shown(folder, base)}/", inner)
        for path, linked in sorted(inner):
            (links if linked else folders).append(path)


def _looked_at(
    entries: Iterator[os.DirEntry[bytes]], prefix: str, inner: list[tuple[bytes, bool]]
) -> Iterator[tuple[str, str]]:
    """As `_walk`, for one folder; `inner` gets the folders in it, and whether each is a link.

    Args:
        prefix: the folder's relative path with a final slash; empty for the root.
    """
    while True:
        try:
            entry = next(entries, None)
        except OSError as error:
            yield prefix.rstrip("/") or ".", f"cannot be read to its end ({error.strerror})"
            return
        if entry is None:
            return
        try:
            if entry.name.startswith(b"."):
                yield "", ""
            elif entry.is_dir():
                inner.append((entry.path, entry.is_symlink()))
            elif not entry.name.lower().endswith(IMAGE_ENDINGS):
                yield "", ""
            else:
                regular = entry.is_file(follow_symlinks=False) or stat.S_ISREG(entry.stat().st_mode)
                yield prefix + display_name(entry.name), "" if regular else "is not a regular file"
        except OSError as error:
            yield prefix + display_name(entry.name), f"cannot be opened ({error.strerror})"


def _shown(path: bytes, base: bytes) -> str:
    return display_name(os.path.relpath(path, base)).replace(os.sep, "/")
