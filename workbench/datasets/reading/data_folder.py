"""Finds a data set: in the chosen folder, in one below it, or in an archive that is unpacked once."""

import os
from pathlib import Path

from workbench.entries.catalog import cache_folder
from workbench.files import archives, typed_path
from workbench.files.archive_names import ENDINGS, is_archive
from workbench.problem import Problem
from workbench.progress import Progress

NAMED = 3  # archives
DEEPEST = 3  # folders between the chosen place and the marker


def open_place(chosen: str, name: str, progress: Progress) -> Path:
    """The chosen folder; an archive is unpacked into the cache, once unless it changes.

    Raises:
        Problem: nothing chosen, no such path, or a bad archive. Also anything that `progress` raises.
    """
    if not chosen:
        raise Problem(f"No folder or archive is chosen for {name}.", kept="Nothing was started.", todo="Choose one.")
    path = typed_path(chosen).absolute()  # sentences name it in full
    if os.path.isfile(path):
        if not is_archive(path):
            raise Problem(
                f"{path} is neither a folder nor an archive (zip or tar).",
                kept="Nothing was started.",
                todo=f"Choose the folder or archive of {name}.",
            )
        return archives.unpacked(path, cache_folder() / "unpacked", progress)
    if not os.path.isdir(path):
        raise Problem(f"There is no folder or archive {path}.", kept="Nothing was started.", todo="Choose it again.")
    return path


def find_place(chosen: str, markers: tuple[str, ...], name: str, progress: Progress) -> Path:
    """The folder with one of the files `markers` (relative paths): the chosen one, or one up to three levels below.

    Args:
        chosen: a folder or an archive, as in `open_place`.
        markers: files of which one must exist, such as "images.txt"; the message names the first two.
        name: of the data set, for sentences.

    Raises:
        Problem: as `open_place`, or no marker there.
    """
    folder = open_place(chosen, name, progress)
    for depth in range(DEEPEST + 1):
        for marker in markers:
            paths = sorted(path for path in folder.glob("*/" * depth + marker) if path.is_file())
            if paths:
                return paths[0].parents[marker.count("/")]
    raise Problem(
        f"{typed_path(chosen).absolute()} holds no {' or '.join(markers[:2])}.{archives_said(folder)}",
        kept="Nothing was started.",
        todo=f"Choose the folder or archive of {name}.",
    )


def archives_said(folder: Path) -> str:
    """A sentence, after a blank, on archives in a folder, which may hold what is missing there; empty without any."""
    try:
        names = sorted(path.name for path in folder.iterdir() if is_archive(path) and path.is_file())
    except OSError:  # it may not be read
        return ""
    listed = ", ".join(names[:NAMED]) + (", ..." if names[NAMED:] else "")
    return f" Not unpacked: {listed}." if names else ""


def with_folder(parent: Path, folder: str, progress: Progress) -> Path:
    """Where `folder` is: in `parent`, or in an archive of its name there, which is unpacked once; else `parent`.

    Raises:
        Problem: a bad archive. Whatever `progress` raises.
    """
    if (parent / folder).is_dir():
        return parent
    for ending in ENDINGS:
        if (archive := parent / f"{folder}{ending}").is_file():
            return archives.unpacked(archive, cache_folder() / "unpacked", progress)
    return parent


def without_wrapping(folder: Path) -> Path:
    """Skip folders that contain only one folder, as archives often do.

    The last folder is never entered: it is the class where there is one class.
    """
    while len(inside := _seen(folder)) == 1 and inside[0].is_dir() and any(path.is_dir() for path in _seen(inside[0])):
        folder = inside[0]
    return folder


def _seen(folder: Path) -> list[Path]:
    """The entries of a folder that are not hidden."""
    return [Path(entry.path) for entry in os.scandir(folder) if not entry.name.startswith(".")]
