"""Facts on a gallery and its index: cheap to read, without faiss."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workbench.problem import Problem
from workbench.searching.index import NOTE as INDEX_NOTE
from workbench.searching.index import Index, IndexNote, has_index, open_index
from workbench.workspace.measured.galleries import INDEX, NOTE, Gallery, open_gallery

Plain = dict[str, Any]


@dataclass(slots=True)
class Opened:
    """A gallery with its index, where it has a whole one."""

    gallery: Gallery
    index: Index | None
    note: IndexNote | None
    why: str  # why its index cannot be used; empty without one


def opened(folder: Path) -> Opened:
    """Open the gallery in a run's folder, and its index. Raises Problem if the gallery cannot be opened."""
    gallery = open_gallery(folder)
    if not has_index(folder):
        return Opened(gallery, None, None, "")
    try:
        return Opened(gallery, *open_index(gallery), "")
    except Problem as problem:
        return Opened(gallery, None, None, str(problem))


def state_of(folder: Path) -> tuple[int, ...]:
    """Changes when the gallery or its index does."""
    state: list[int] = []
    for path in (folder / NOTE, folder / INDEX / INDEX_NOTE):
        try:
            facts = path.stat()
            state += [facts.st_ino, facts.st_size, facts.st_mtime_ns]
        except OSError:
            state += [0, 0, 0]
    return tuple(state)


def described(folder: Path) -> Plain:
    """Facts of the gallery in a run's folder, and of its index.

    Returns:
        "count", "dim", "distance", "kind" (of number), "labels" (whether there are any), "index" (as IndexNote, None
        without a whole one), "why" (it cannot be used; empty without one).

    Raises:
        Problem: the gallery cannot be opened.
    """
    opening = opened(folder)
    note = opening.gallery.note
    return {
        "count": note.count, "dim": note.dim, "distance": note.distance, "kind": str(opening.gallery.vectors.dtype),
        "labels": note.labels is not None, "why": opening.why,
        "index": None if opening.note is None else opening.note.model_dump(exclude={"files", "gallery"}),
    }  # fmt: skip
