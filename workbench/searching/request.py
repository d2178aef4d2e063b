"""What the window and the command line ask of a gallery: what it is, its nearest, its index."""

from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from workbench.problem import Problem
from workbench.progress import Progress, quiet
from workbench.searching.building import build_index
from workbench.searching.exact import exact_nearest
from workbench.searching.index import NOTE as INDEX_NOTE
from workbench.searching.index import Index, IndexNote, has_index, open_index
from workbench.workspace.galleries import INDEX, NOTE, Gallery, open_gallery

Plain = dict[str, Any]


@dataclass(slots=True)
class Opened:
    """A gallery with its index, where it has a whole one."""

    gallery: Gallery
    index: Index | None
    note: IndexNote | None
    why: str  # why its index cannot be used; empty without one
    state: tuple[int, ...]  # of the files when it was opened


class Searcher:
    """Keeps the last gallery open: a second query of it opens nothing."""

    def __init__(self) -> None:
        self._opened: dict[Path, Opened] = {}

    def describe(self, folder: Path) -> Plain:
        """Facts of the gallery in a run's folder, and of its index. Raises Problem."""
        opened = self._open(folder)
        note, of_index = opened.gallery.note, opened.note
        return {
            "count": note.count, "dim": note.dim, "distance": note.distance, "kind": str(opened.gallery.vectors.dtype),
            "labels": note.labels is not None, "why": opened.why,
            "index": None if of_index is None else of_index.model_dump(exclude={"files", "gallery"}),
        }  # fmt: skip

    def build(self, folder: Path, progress: Progress) -> Plain:
        """Build the index and describe all of it. Raises Problem; Cancelled by `progress`."""
        gallery = self._open(folder).gallery
        self._opened.clear()
        build_index(gallery, progress)
        return self.describe(folder)

    def search(self, folder: Path, row: int, k: int, exact: bool, progress: Progress = quiet) -> Plain:
        """The nearest of a gallery row: through the index, or compared with all.

        Returns:
            "rows", "similarities", "classes", "right" (empty without labels), "class_name" of the query, "seconds",
            "exact", and "missed": of an exact search, how many the index would not have shown; None without one.

        Raises:
            Problem: there is no such row, or no index that could be used.
        """
        opened = self._open(folder)
        gallery = opened.gallery
        if not 0 <= row < gallery.note.count:
            raise Problem(f"There is no row {row + 1:,}: there are {gallery.note.count:,}.")
        if opened.index is None and not exact:
            raise Problem(
                f"There is no index to search through{': ' + opened.why if opened.why else ''}.",
                todo="Build it, or search exactly.",
            )
        began, query, missed = perf_counter(), gallery.vectors[row], None
        if exact:
            asked = gallery.vectors[row : row + 1]
            rows, similarities = exact_nearest(gallery, asked, k, np.array([row]), progress)[0]
            seconds = perf_counter() - began
            if opened.index is not None:
                missed = len(set(rows.tolist()) - set(opened.index.nearest(query, k, row)[0].tolist()))
        else:
            assert opened.index is not None
            rows, similarities = opened.index.nearest(query, k, row)
            seconds = perf_counter() - began
        labels = gallery.labels
        return {
            "row": row, "rows": rows.tolist(), "similarities": similarities.tolist(), "exact": exact, "missed": missed,
            "classes": [gallery.class_name(near) for near in rows.tolist()] if labels is not None else [],
            "right": [] if labels is None else (labels[rows] == labels[row]).tolist(),
            "class_name": gallery.class_name(row), "seconds": seconds,
        }  # fmt: skip

    def _open(self, folder: Path) -> Opened:
        state = _state(folder)
        known = self._opened.get(folder)
        if known is None or known.state != state:
            self._opened.clear()
            known = self._opened[folder] = _opened(folder, state)
        return known


def _opened(folder: Path, state: tuple[int, ...]) -> Opened:
    gallery = open_gallery(folder)
    if not has_index(folder):
        return Opened(gallery, None, None, "", state)
    try:
        return Opened(gallery, *open_index(gallery), "", state)
    except Problem as problem:
        return Opened(gallery, None, None, str(problem), state)


def _state(folder: Path) -> tuple[int, ...]:
    """Changes when the gallery or its index does."""
    state: list[int] = []
    for path in (folder / NOTE, folder / INDEX / INDEX_NOTE):
        try:
            facts = path.stat()
            state += [facts.st_ino, facts.st_size, facts.st_mtime_ns]
        except OSError:
            state += [0, 0, 0]
    return tuple(state)
