"""An index of a gallery: its rows by cluster, each number in a byte; the nearest are compared again, exactly.

It consists of plain arrays beside the gallery, mapped into memory: opening is free, executes nothing, and needs no
faiss (whose files can crash a program that reads them). A search reads some clusters, nearest centroid first.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from workbench.problem import Problem
from workbench.workspace.measured.arrays import read_array
from workbench.workspace.measured.galleries import INDEX, Gallery, StoredFile, Whole, read_note
from workbench.workspace.paths import inside, is_file, regular

NOTE = "note.json"
CENTROIDS, STARTS, ROWS, CODES, STEPS = "centroids", "starts", "rows", "codes", "steps"
AT_ONCE = 2048  # codes made numbers together: they stay in the processor's cache
AGAIN = 4  # times as many as wanted are compared again, exactly
LEAST_AGAIN = 200
Share = Annotated[float, Field(ge=0, le=1)]


class Recall(BaseModel):
    """Share of the exact k nearest that a search through the index gives, with its 95% interval."""

    model_config = ConfigDict(frozen=True)
    k: Annotated[int, Field(ge=1)]
    mean: Share
    low: Share
    high: Share


class IndexNote(BaseModel):
    """What was built, of what, and how good it is."""

    model_config = ConfigDict(frozen=True, extra="ignore")
    form: Literal[1] = 1
    gallery: str  # hash of the embeddings
    lists: Annotated[int, Field(ge=1, le=2**24)]
    probed: Annotated[int, Field(ge=1)]  # lists that a query looks into
    queries: Whole  # that recall was measured on
    seed: int
    recalls: list[Recall]
    files: dict[str, StoredFile]
    seconds: Annotated[float, Field(ge=0)]  # that it took
    created: str


@dataclass(frozen=True, slots=True, eq=False)
class Lists:
    """The arrays of an index."""

    centroids: np.ndarray  # [l, d] float32
    starts: np.ndarray  # [l + 1] int64: places in `rows` and `codes` where the lists begin, and the end
    rows: np.ndarray  # [n] int32, gallery rows list by list
    codes: np.ndarray  # [n, d] uint8, in the order of `rows`
    steps: np.ndarray  # [2, d] float32: a number is steps[0] + code * steps[1]


class Index:
    """Searches a gallery. Read-only, for one thread at a time."""

    def __init__(self, gallery: Gallery, lists: Lists, probed: int) -> None:
        self._gallery, self.lists, self.probed = gallery, lists, probed
        self._l2 = gallery.note.distance == "l2"
        self._numbers = np.empty((AT_ONCE, gallery.note.dim), np.float32)

    def nearest(
        self, query: np.ndarray, k: int, own: int | None = None, probed: int | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Rows [<= k] int64 and similarities [<= k] float64 of the nearest that are found, best first; ties by row.

        Args:
            query: [d]. k: at least 1.
            own: the gallery row that is the query itself and is left out.
            probed: lists that are looked into; by default as many as the index was made for.

        Raises:
            Problem: the index names rows that the gallery does not have.
        """
        asked = self._gallery.comparable(query[None])[0]
        places, scores = self._scanned(asked, probed or self.probed)
        wanted = max(LEAST_AGAIN, AGAIN * k) + (own is not None)
        if len(scores) > wanted:
            picked = np.argpartition(scores, -wanted)[-wanted:]
            places = places[picked]
        rows = np.sort(self.lists.rows[places].astype(np.int64))
        if len(rows) and (rows[0] < 0 or rows[-1] >= self._gallery.note.count):
            raise Problem("The index is damaged: it names rows that are not there.", todo="Build it again.")
        return best_of(self._gallery, query, rows, k, own)

    def _scanned(self, query: np.ndarray, probed: int) -> tuple[np.ndarray, np.ndarray]:
        """Places [m] in the lists looked into, and their rough scores [m], higher is nearer."""
        lists = self.lists
        near = lists.centroids @ query
        if self._l2:
            near = 2 * near - np.einsum("ij,ij->i", lists.centroids, lists.centroids)
        chosen = np.argpartition(near, -probed)[-probed:] if probed < len(near) else np.arange(len(near))
        spans = [(int(lists.starts[at]), int(lists.starts[at + 1])) for at in np.sort(chosen)]
        total = sum(end - start for start, end in spans)
        places, scores, done = np.empty(total, np.int64), np.empty(total, np.float32), 0
        for start, end in spans:
            places[done : done + end - start] = np.arange(start, end)
            for first in range(start, end, AT_ONCE):
                codes = lists.codes[first : min(end, first + AT_ONCE)]
                scores[done : done + len(codes)] = self._scores(codes, query)
                done += len(codes)
        return places, scores

    def _scores(self, codes: np.ndarray, query: np.ndarray) -> np.ndarray:
        low, step = self.lists.steps
        numbers = self._numbers[: len(codes)]
        np.copyto(numbers, codes)
        if not self._l2:
            return np.asarray(numbers @ (step * query))  # what all have in common is left out
        numbers *= step
        numbers += low - query
        return np.asarray(-np.einsum("ij,ij->i", numbers, numbers))


def best_of(
    gallery: Gallery, query: np.ndarray, rows: np.ndarray, k: int, own: int | None
) -> tuple[np.ndarray, np.ndarray]:
    """The k nearest of some rows [m] int64, compared exactly: rows and similarities, best first; ties by row."""
    rows = rows if own is None else rows[rows != own]
    similarities = gallery.similarities(query, rows)
    order = np.lexsort((rows, -similarities))[:k]
    return rows[order], similarities[order]


def has_index(folder: Path) -> bool:
    """Whether a run's folder holds an index."""
    return is_file(folder / INDEX / NOTE)


def open_index(gallery: Gallery) -> tuple[Index, IndexNote]:
    """The index beside a gallery.

    Raises:
        Problem: it is missing, of other embeddings, or not as it was written.
    """
    folder = inside(gallery.folder, INDEX)
    note = read_note(regular(folder / NOTE), IndexNote)
    if note.gallery != gallery.note.vectors.blake2b:
        raise Problem("The index was built of other embeddings.", kept="It was not used.", todo="Build it again.")
    dim, count = gallery.note.dim, gallery.note.count
    shapes: dict[str, tuple[tuple[int, ...], type]] = {
        CENTROIDS: ((note.lists, dim), np.float32), STARTS: ((note.lists + 1,), np.int64), ROWS: ((count,), np.int32),
        CODES: ((count, dim), np.uint8), STEPS: ((2, dim), np.float32),
    }  # fmt: skip
    arrays = {name: _array(folder, name, note, *form) for name, form in shapes.items()}
    lists = Lists(**arrays)
    starts = lists.starts
    if starts[0] != 0 or starts[-1] != count or (np.diff(starts) < 0).any():
        raise _wrong(f"{STARTS}.npy")
    if not (np.isfinite(lists.steps).all() and np.isfinite(lists.centroids).all()):
        raise _wrong(f"{STEPS}.npy or {CENTROIDS}.npy")
    return Index(gallery, lists, note.probed), note


def _array(folder: Path, name: str, note: IndexNote, shape: tuple[int, ...], kind: type) -> np.ndarray:
    path = regular(folder / f"{name}.npy")
    array = read_array(path)
    stored = note.files.get(path.name)
    if array.shape != shape or array.dtype != kind or stored is None or path.stat().st_size != stored.bytes:
        raise _wrong(path.name)
    return array


def _wrong(name: str) -> Problem:
    return Problem(f"The index is damaged: {name} is not what was written.", kept="The embeddings are kept.",
                   todo="Build it again.")  # fmt: skip
