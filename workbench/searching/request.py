"""Requests of the window and the command line to a gallery: its facts, its nearest rows, its index."""

from pathlib import Path
from time import perf_counter

import numpy as np

from workbench.problem import Problem
from workbench.progress import Progress, quiet
from workbench.searching.building import build_index
from workbench.searching.exact import exact_nearest
from workbench.searching.facts import Opened, Plain, described, opened, state_of


class Searcher:
    """Searches galleries and keeps the last one open, so that a second query of it opens nothing."""

    def __init__(self) -> None:
        self._folder: Path | None = None
        self._state: tuple[int, ...] = ()
        self._gallery: Opened | None = None

    def make_ready(self, folder: Path) -> None:
        """Open a gallery and, where it has an index, search once: the first query then waits for less."""
        if self._open(folder).index is not None:
            self.search(folder, 0, 1, exact=False)

    def build(self, folder: Path, progress: Progress) -> Plain:
        """Build the index and describe all of it. Raises Problem; Cancelled by `progress`."""
        gallery = self._open(folder).gallery
        self._gallery = None
        build_index(gallery, progress)
        return described(folder)

    def search(self, folder: Path, row: int, k: int, exact: bool, progress: Progress = quiet) -> Plain:
        """The nearest of a gallery row: through the index, or compared with all.

        Returns:
            "row" as asked; "rows" of the nearest, best first, with "similarities", "classes" and "right" (both empty
            without labels); "class_name" of the query; "seconds"; "exact"; and "missed": how many rows of an exact
            search the index would not have found, None without both.

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
        state = state_of(folder)
        if self._gallery is None or (folder, state) != (self._folder, self._state):
            self._gallery = None
            self._gallery, self._folder, self._state = opened(folder), folder, state
        return self._gallery
