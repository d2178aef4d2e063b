"""Search-only embeddings: arrays in the run's folder, mapped into memory and never read completely.

A run with a gallery has no evaluation: metrics of all its samples would need a search for each of them.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b
from io import BytesIO
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from workbench import files
from workbench.names import visible_name
from workbench.problem import Problem
from workbench.progress import Progress
from workbench.workspace.measured import arrays
from workbench.workspace.paths import is_file, regular

NOTE, VECTORS, LABELS, INDEX = "gallery.json", "gallery.npy", "gallery-labels.npy", "gallery-index"
MOST_ROWS = 2**31 - 1
LONGEST_NOTE = 64 << 20  # bytes; class names are in it
BLOCK_BYTES = 16 << 20  # read and written at once
KEPT = "Nothing was imported."
Whole = Annotated[int, Field(ge=0, le=2**62)]
Form = TypeVar("Form", bound=BaseModel)


class StoredFile(BaseModel):
    """Size and hash of a file when it was written."""

    model_config = ConfigDict(frozen=True)
    bytes: Whole
    blake2b: str


class Note(BaseModel):
    """Facts on a gallery that its arrays do not contain."""

    model_config = ConfigDict(frozen=True, extra="ignore")
    form: Literal[1] = 1
    count: Annotated[int, Field(ge=1, le=MOST_ROWS)]
    dim: Annotated[int, Field(ge=1, le=2**20)]
    distance: Literal["cosine", "l2"]
    vectors: StoredFile
    labels: StoredFile | None = None
    class_names: list[str] | None = None  # by label; None: a label is its own name


@dataclass(frozen=True, slots=True, eq=False)
class Gallery:
    """An open gallery, which is read into memory only on demand."""

    folder: Path  # the run's
    note: Note
    vectors: np.ndarray  # [n, d] float16 or float32, a read-only map
    labels: np.ndarray | None  # [n] int64, a read-only map

    def blocks(self) -> Iterator[tuple[int, np.ndarray]]:
        """All rows in order: first row, and vectors [m, d] float32 by `comparable`."""
        rows = rows_at_once(self.note.dim)
        for start in range(0, self.note.count, rows):
            yield start, self.comparable(self.vectors[start : start + rows])

    def comparable(self, vectors: np.ndarray) -> np.ndarray:
        """Vectors [m, d] as float32, normalised for cosine; a zero vector stays zero."""
        numbers = np.asarray(vectors, np.float32)
        if self.note.distance == "l2":
            return numbers
        lengths = np.sqrt(np.einsum("ij,ij->i", numbers, numbers, dtype=np.float64))
        return np.asarray(numbers / np.where(lengths > 0, lengths, 1).astype(np.float32)[:, None])

    def similarities(self, query: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Cosine, or minus the Euclidean distance, of a query [d] to rows [m]: [m] float64."""
        near, asked = np.asarray(self.vectors[rows], np.float64), np.asarray(query, np.float64)
        if self.note.distance == "l2":
            return np.asarray(-np.linalg.norm(near - asked, axis=1))
        lengths = np.linalg.norm(near, axis=1) * np.linalg.norm(asked)
        return np.asarray(near @ asked / np.where(lengths > 0, lengths, 1))

    def class_name(self, row: int) -> str:
        """The name of a row's class; empty without labels."""
        if self.labels is None:
            return ""
        label, names = int(self.labels[row]), self.note.class_names
        return visible_name(names[label]) if names is not None and 0 <= label < len(names) else str(label)


def stored_files(folder: Path) -> list[tuple[Path, str]]:
    """The arrays of a run's gallery with their hashes; none if it has no gallery.

    Raises:
        Problem: its note cannot be read.
    """
    if not has_gallery(folder):
        return []
    note = read_note(regular(folder / NOTE), Note)
    named = {VECTORS: note.vectors, LABELS: note.labels}
    return [(folder / name, stored.blake2b) for name, stored in named.items() if stored is not None]


def rows_at_once(dim: int) -> int:
    """Rows of a block of float32 numbers."""
    return max(1, BLOCK_BYTES // (4 * dim))


def has_gallery(folder: Path) -> bool:
    """Whether a run's folder holds a gallery."""
    return is_file(folder / NOTE)


def open_gallery(folder: Path) -> Gallery:
    """The gallery in a run's folder; checks the sizes of its files (`workbench doctor` checks their hashes).

    Raises:
        Problem: a file is missing, has another size or shape than when it was written, or is no plain array.
    """
    note = read_note(regular(folder / NOTE), Note)
    vectors = _array(folder / VECTORS, note.vectors)
    if vectors.shape != (note.count, note.dim) or vectors.dtype not in (np.float16, np.float32):
        raise damaged(folder / VECTORS, f"it holds {vectors.dtype} {list(vectors.shape)}")
    labels = None
    if note.labels is not None:
        labels = _array(folder / LABELS, note.labels)
        if labels.shape != (note.count,) or labels.dtype != np.int64:
            raise damaged(folder / LABELS, f"it holds {labels.dtype} {list(labels.shape)}")
    return Gallery(folder, note, vectors, labels)


def read_note(path: Path, form: type[Form]) -> Form:
    """Read a small JSON file. Raises Problem: missing, too long, or invalid."""
    try:
        if path.stat().st_size > LONGEST_NOTE:
            raise ValueError("it is too long")
        return form.model_validate(json.loads(path.read_bytes()))
    except FileNotFoundError:
        raise Problem(f"The file {path} is missing.", kept=arrays.KEPT, todo="Put it back.") from None
    except (OSError, ValueError, RecursionError) as error:
        raise damaged(path, str(error).partition("\n")[0]) from None


def damaged(path: Path, why: str) -> Problem:
    """The Problem for a file that differs from what was written."""
    return Problem(f"The file {path} is damaged: {why}.", kept=arrays.KEPT, todo="Import the embeddings again.")


def _array(path: Path, stored: StoredFile) -> np.ndarray:
    array = arrays.read_array(regular(path))
    size = path.stat().st_size
    if size != stored.bytes:
        raise damaged(path, f"it has {size:,} bytes, {stored.bytes:,} were written")
    return array


def write_gallery(
    folder: Path,
    vectors: np.ndarray,
    labels: np.ndarray | None,
    class_names: list[str] | None,
    distance: Literal["cosine", "l2"],
    progress: Progress,
) -> Note:
    """Copy embeddings block by block into a run's folder; the note, which marks it as a gallery, is written last.

    Args:
        vectors: [n, d] of numbers, perhaps a memory map; float16 and float32 are kept, others become float32.
        labels: [n] int64. class_names: by label; None if a label is its own name.
        progress: called with the rows so far; may raise Cancelled.

    Raises:
        Problem: numbers that are not finite, or a disk that cannot be written.
    """
    kind = vectors.dtype if vectors.dtype in (np.float16, np.float32) else np.dtype(np.float32)
    rows = rows_at_once(vectors.shape[1])

    def blocks() -> Iterator[np.ndarray]:
        for start in range(0, len(vectors), rows):
            progress("Copying the embeddings", start, len(vectors))
            with np.errstate(over="ignore"):
                block = np.ascontiguousarray(vectors[start : start + rows], kind)
            _finite(block, start)
            yield block

    of_vectors = write_array(folder / VECTORS, vectors.shape, kind, blocks())
    of_labels = None
    if labels is not None:
        of_labels = write_array(folder / LABELS, labels.shape, np.dtype(np.int64), iter([labels]))
    note = Note(
        count=len(vectors), dim=vectors.shape[1], distance=distance, vectors=of_vectors, labels=of_labels,
        class_names=class_names,
    )  # fmt: skip
    with files.atomic_write(folder / NOTE) as file:
        file.write(note.model_dump_json().encode())
    return note


def write_array(path: Path, shape: tuple[int, ...], kind: np.dtype[Any], blocks: Iterator[np.ndarray]) -> StoredFile:
    """Write a .npy file in blocks; returns its size and hash. Raises Problem if the disk cannot be written."""
    head = BytesIO()
    header = {"descr": np.lib.format.dtype_to_descr(kind), "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(head, header)
    checksum, size = blake2b(head.getvalue(), digest_size=16), len(head.getvalue())
    with files.atomic_write(path) as file:
        file.write(head.getvalue())
        for block in blocks:
            content = np.ascontiguousarray(block, kind).data.cast("B")
            file.write(content)
            checksum.update(content)
            size += len(content)
    return StoredFile(bytes=size, blake2b=checksum.hexdigest())


def _finite(block: np.ndarray, start: int) -> None:
    bad = np.flatnonzero(~np.isfinite(block).all(1))
    if len(bad):
        raise Problem(
            f"Row {start + int(bad[0]) + 1:,} of the embeddings holds NaN or infinite numbers.", kept=KEPT,
            todo="Leave such rows out, with their labels.",
        )  # fmt: skip
