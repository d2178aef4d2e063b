"""Image files below a folder: link loops are met once, pipes are never opened, odd names are kept apart."""

import os
import stat
from collections.abc import Iterator

from workbench.datasets.images import ENDINGS, display_name
from workbench.progress import Progress

TELL_EVERY = 1000  # entries
Problems = list[tuple[str, str]]


def find_images(root: str | os.PathLike[str], problems: Problems, progress: Progress) -> list[str]:
    """Relative, posix paths of all image files, sorted, as `images.display_name` shows them.

    Hidden files and folders are passed over. A folder that a link leads to is read like any other, but only once, and
    under its own place when it has one below the root.

    Args:
        root: where to look.
        problems: gets (path, reason) for whatever cannot be used.
        progress: told every thousand entries; may raise Cancelled.
    """
    base = os.fsencode(root)
    paths: list[str] = []
    for number, (path, reason) in enumerate(_walk(base), start=1):
        if number % TELL_EVERY == 0:
            progress("Looking for images", number, 0)
        if reason:
            problems.append((path, reason))
        elif path:
            paths.append(path)
    return sorted(paths)


def _walk(base: bytes) -> Iterator[tuple[str, str]]:
    """(path, "") of an image, (path, reason) of what cannot be used, ("", "") of anything else that was looked at."""
    folders, links, seen = [base], list[bytes](), set[tuple[int, int]]()
    while folders or links:
        folder = folders.pop() if folders else links.pop()  # links last: a real folder keeps its own name
        try:
            facts = os.stat(folder)
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError as error:
            yield _shown(folder, base), f"cannot be opened ({error.strerror})"
            continue
        if (facts.st_dev, facts.st_ino) in seen:
            yield _shown(folder, base), "was already visited (a link loop?)"
            continue
        seen.add((facts.st_dev, facts.st_ino))
        for entry in entries:
            try:
                if entry.name.startswith(b"."):
                    yield "", ""
                elif entry.is_dir():
                    (links if entry.is_symlink() else folders).append(entry.path)
                else:
                    yield _judged(entry, base)
            except OSError as error:
                yield _shown(entry.path, base), f"cannot be opened ({error.strerror})"


def _judged(entry: os.DirEntry[bytes], base: bytes) -> tuple[str, str]:
    if not entry.name.lower().endswith(tuple(ending.encode() for ending in ENDINGS)):
        return "", ""
    regular = stat.S_ISREG(entry.stat().st_mode)
    return _shown(entry.path, base), "" if regular else "is not a regular file"


def _shown(path: bytes, base: bytes) -> str:
    return display_name(os.path.relpath(path, base)).replace(os.sep, "/")
