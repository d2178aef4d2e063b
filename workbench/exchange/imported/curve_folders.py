"""Where curves lie: the folders of a tree with event files of TensorBoard or with tables of curves."""

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from workbench.datasets.images import loader
from workbench.exchange.imported import curve_tables
from workbench.exchange.imported.event_files import MARK
from workbench.exchange.imported.named_arrays import KEPT
from workbench.names import visible_name
from workbench.problem import Problem
from workbench.progress import Progress

MOST_RUNS = 1_000  # folders with curves
MOST_ENTRIES = 200_000  # files and folders that are looked at
MOST_LOOKED_INTO, MOST_LOOKED_AT = 50, 1_000  # folders, and entries of each, in a short look
MOST_NAMED = 3  # folders and files that cannot be opened, in a sentence
MOST_OPENED = 20  # tables in a short look
SETTINGS = "hparams.yaml"  # what Lightning writes beside the curves of a run


@dataclass(frozen=True, slots=True)
class CurveFolder:
    """A folder right in which there are event files, or tables of curves."""

    path: Path
    name: str  # its path below the folder that was searched, with "/"; that folder's own name for itself
    events: tuple[str, ...]  # names of its event files, which begin with the moment in which each was made
    tables: tuple[Path, ...]  # by name; none beside event files
    is_root: bool
    size: int  # bytes of these files


@dataclass(slots=True)
class CurveTree:
    """What a search found: the folders by name, and how many files beside their curves are not read."""

    folders: list[CurveFolder]
    unreadable: list[str] = field(default_factory=list)  # folders and tables that cannot be opened
    settings: int = 0  # files SETTINGS
    passed_over: int = 0  # tables beside event files

    def remarks(self) -> list[str]:
        """Sentences on the files that are not read."""
        said = []
        if self.unreadable:
            named = ", ".join(map(visible_name, self.unreadable[:MOST_NAMED]))
            rest = len(self.unreadable) - MOST_NAMED
            said.append(f"Not read, as it cannot be opened: {named}{f' and {rest:,} more' if rest > 0 else ''}.")
        if self.settings:
            said.append(f"Not read: {SETTINGS} ({self.settings:,}); an imported run has only curves.")
        if self.passed_over:
            said.append(f"Not read: tables beside event files ({self.passed_over:,}).")
        return said


def curve_folders(root: Path, progress: Progress) -> CurveTree:
    """The folders with curves in `root` and below it; links are not followed.

    Args:
        root: an absolute path.
        progress: called for each folder and table; may raise Cancelled.

    Raises:
        Problem: more than MOST_ENTRIES files and folders, or MOST_RUNS folders or tables with curves.
    """
    tree, seen, tables_seen = CurveTree([]), 0, 0

    def pass_over(error: OSError) -> None:
        tree.unreadable.append(str(error.filename))

    for folder, within, names in os.walk(root, onerror=pass_over):
        within.sort()
        seen += len(within) + len(names)
        progress("Looking for curves", 0, 0)
        if seen > MOST_ENTRIES:
            raise _too_many(root, f"{MOST_ENTRIES:,} files and folders")
        path = Path(folder)
        events = tuple(sorted(name for name in names if MARK in name))
        tables = list[Path]()
        for name in sorted(names):
            if name.lower().endswith(curve_tables.ENDINGS):
                progress("Looking for curves", 0, 0)
                if curve_tables.is_curve_table(path / name):
                    tables.append(path / name)
                elif not _opens(path / name):
                    tree.unreadable.append(str(path / name))
        if not events and not tables:
            continue
        tree.settings += SETTINGS in names
        if events:
            tree.passed_over += len(tables)
            tables = []
        tables_seen += len(tables)
        size = sum(_size(file) for file in (*(path / name for name in events), *tables))
        name = root.name if path == root else path.relative_to(root).as_posix()
        tree.folders.append(CurveFolder(path, name, events, tuple(tables), path == root, size))
        if max(len(tree.folders), tables_seen) > MOST_RUNS:
            raise _too_many(root, f"{MOST_RUNS:,} runs")
    tree.folders.sort(key=lambda folder: folder.name)
    return tree


def has_event_files(root: Path) -> bool:
    """Whether there is an event file in the folder, or in the first folders below it: a short look at names."""
    return any(MARK in entry.name and not entry.is_dir(follow_symlinks=False) for entry in _first_entries(root))


def first_tables(root: Path) -> list[Path]:
    """Up to MOST_OPENED tables in the folder and the first folders below it: a short look at names.

    None where images are among them: a folder of images may have a table beside it, and is a data set.
    """
    tables = list[Path]()
    for entry in _first_entries(root):
        ending = os.path.splitext(entry.name)[1].lower()
        if ending in loader.ENDINGS:
            return []
        if ending in curve_tables.ENDINGS and len(tables) < MOST_OPENED:
            tables.append(Path(entry.path))
    return tables


def _first_entries(root: Path) -> Iterator[os.DirEntry[str]]:
    """Some entries of a folder and of the first folders below it; links are not followed."""
    folders = [root]
    for folder in folders:  # the list grows
        with contextlib.suppress(OSError), os.scandir(folder) as entries:
            for entry in islice(entries, MOST_LOOKED_AT):
                if entry.is_dir(follow_symlinks=False) and len(folders) < MOST_LOOKED_INTO:
                    folders.append(folder / entry.name)
                yield entry


def _opens(path: Path) -> bool:
    """Whether a file can be opened; anything but a file counts as if."""
    try:
        if path.is_file():
            path.open("rb").close()
    except OSError:
        return False
    return True


def _size(path: Path) -> int:
    try:
        return path.lstat().st_size
    except OSError:
        return 0


def _too_many(root: Path, what: str) -> Problem:
    return Problem(
        f"{root} holds more than {what}.", kept=KEPT,
        todo="Name a folder with fewer of them: one project, or one run.",
    )  # fmt: skip
