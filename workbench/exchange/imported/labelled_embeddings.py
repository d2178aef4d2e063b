"""Reads embeddings, labels and images of another program, checks that they fit each other, and makes a data set."""

import os
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path, PurePosixPath

import numpy as np

from workbench import files
from workbench.config import IMPORTED
from workbench.datasets.image_set import ImageSet
from workbench.datasets.images.loader import load
from workbench.exchange.imported.named_arrays import KEPT
from workbench.exchange.imported.tables import image_array, read_embeddings, read_words
from workbench.problem import Problem
from workbench.progress import Progress

LARGEST_SIDE = 256  # px, of images that come as an array
LEAST_SIDE = 8


@dataclass(frozen=True, slots=True, eq=False)
class LabelledEmbeddings:
    """Embeddings with a label, and perhaps an image, for each row."""

    vectors: np.ndarray  # [n, d] float32, finite
    images: ImageSet  # n samples; `image_size` 0 if there are no images


def read(
    embeddings: Path, labels: Path | None, images: Path | None, image_size: int, progress: Progress
) -> LabelledEmbeddings:
    """Read and check everything; nothing is written.

    Args:
        embeddings, labels: files as in tables.py; without `labels` the embeddings' table has a column label.
        images: a folder in which the column path of either table starts; or .npy as in `tables.image_array`; or None.
        image_size: px; side of the squares that images of a folder are shown as.
        progress: called while reading; may raise Cancelled.

    Raises:
        Problem: a file that cannot be used; rows that differ in number; numbers that are not finite; an empty label;
            one class only, or no class with two samples; images that are missing.
    """
    table = read_embeddings(embeddings, progress)
    words = table if labels is None else read_words(labels)
    if table.vectors is None:
        raise Problem(f"{embeddings} holds no column of numbers.", kept=KEPT, todo="Choose the file of embeddings.")
    if "label" not in words.words:
        raise Problem(
            f"{embeddings} has no labels.", kept=KEPT,
            todo="Name a second file with a label for each row: `--labels FILE`, or the field Labels in the window.",
        )  # fmt: skip
    vectors, named = table.vectors, words.words["label"]
    _same_length(len(vectors), embeddings, len(named), words.path, "label")
    _finite(vectors, embeddings)
    numbers, classes = numbered(named, words.path)
    paths = words.words.get("path") or table.words.get("path")
    if paths is not None:
        _same_length(len(vectors), embeddings, len(paths), words.path, "path")
    return LabelledEmbeddings(vectors, image_set(numbers, classes, paths, images, image_size, progress))


def _same_length(count: int, embeddings: Path, others: int, file: Path, word: str) -> None:
    if count != others:
        raise Problem(
            f"{embeddings.name} holds {count:,} embeddings, but {file.name} {others:,} {word}s.", kept=KEPT,
            todo=f"Give one {word} for each embedding, in the same order.",
        )  # fmt: skip


def _finite(vectors: np.ndarray, file: Path) -> None:
    bad = np.flatnonzero(~np.isfinite(vectors).all(1))
    if len(bad):
        raise Problem(
            f"{file}: {len(bad):,} of {len(vectors):,} embeddings hold NaN or infinite numbers, the first in row "
            f"{bad[0] + 1:,}.",
            kept=KEPT,
            todo="Leave these rows out, with their labels.",
        )


def numbered(named: list[str], file: Path) -> tuple[np.ndarray, list[str]]:
    """Labels as numbers [n] int64 and K class names: whole numbers in their order, text by the alphabet.

    Raises:
        Problem: an empty label, one class only, or no class with two samples; it names `file`.
    """
    empty = next((row for row, name in enumerate(named, 1) if not name.strip()), 0)
    if empty:
        raise Problem(f"{file}: row {empty:,} has no label.", kept=KEPT, todo="Fill it in.")
    distinct = set(named)
    whole = all(name.removeprefix("-").isdecimal() and len(name) < 19 for name in distinct)
    classes = sorted(distinct, key=lambda name: (int(name), name)) if whole else sorted(distinct)
    number_of = {name: number for number, name in enumerate(classes)}
    numbers = np.array([number_of[name] for name in named], np.int64)
    if len(classes) == 1:
        raise Problem(
            f"All {len(named):,} labels of {file.name} are the same, {classes[0]}.", kept=KEPT,
            todo="Retrieval needs two classes or more.",
        )  # fmt: skip
    if np.bincount(numbers).max(initial=0) < 2:
        raise Problem(
            f"No class of {file.name} has two samples.", kept=KEPT, todo="Nothing could be retrieved: add samples."
        )
    return numbers, classes


def image_set(
    numbers: np.ndarray,
    classes: list[str],
    paths: list[str] | None,
    images: Path | np.ndarray | None,
    size: int,
    progress: Progress,
) -> ImageSet:
    """A data set of labels [n] and the images of `read`, or of pixels as `tables.image_array` returns them.

    Without `paths`, samples are called by their row.

    Raises:
        Problem: images that are missing, lie outside their folder, or are as many as the labels are not.
    """
    plain = [_relative(path) for path in paths] if paths else [f"row/{row:07}" for row in range(1, len(numbers) + 1)]
    if images is None:
        return ImageSet(IMPORTED, None, plain, numbers, classes, 3, 0, no_image)
    if isinstance(images, np.ndarray):
        return _of_pixels(plain, numbers, classes, images, files.digest_of(BytesIO(images.tobytes())))
    if os.path.isdir(images):
        if not paths:
            raise Problem(
                f"Which image of {images} belongs to which embedding is not known.", kept=KEPT,
                todo="Give the labels as a table with the columns path and label.",
            )  # fmt: skip
        _check_images(images, plain)
        return ImageSet(
            IMPORTED, images, plain, numbers, classes, 3, size, lambda row: load(images / plain[row], 3, size)
        )
    if not os.path.exists(images):
        raise Problem(f"There is no file or folder {images}.", kept=KEPT, todo="Choose it again.")
    if images.suffix.lower() != ".npy":
        raise Problem(f"{images} is neither a folder nor a .npy file.", kept=KEPT, todo="Choose one of them.")
    pixels = image_array(images)
    _same_length(len(numbers), Path("The table"), len(pixels), images, "image")
    progress(f"Reading {images.name}", 0, 0)
    return _of_pixels(plain, numbers, classes, pixels, files.digest(images))


def _of_pixels(paths: list[str], numbers: np.ndarray, classes: list[str], pixels: np.ndarray, content: str) -> ImageSet:
    channels = 3 if pixels.ndim == 4 and pixels.shape[3] == 3 else 1
    side = max(LEAST_SIDE, min(LARGEST_SIDE, *pixels.shape[1:3]))
    return ImageSet(
        IMPORTED, None, paths, numbers, classes, channels, side, lambda row: np.array(pixels[row]), content=content
    )


def _relative(written: str) -> str:
    """A path below the folder of images, posix. Raises Problem when it is empty or leaves that folder."""
    path = PurePosixPath(written.replace("\\", "/"))
    if not path.parts or path.is_absolute() or ".." in path.parts or ":" in path.parts[0]:
        raise Problem(
            f"The path {written!r} does not lie in a folder of images.", kept=KEPT,
            todo="Write paths from that folder on, such as cats/1.jpg.",
        )  # fmt: skip
    return str(path)


def _check_images(folder: Path, paths: list[str]) -> None:
    missing = [path for path in paths if not os.path.isfile(folder / path)]
    if missing:
        raise Problem(
            f"{len(missing):,} of {len(paths):,} images are not in {folder}, the first is {missing[0]}.", kept=KEPT,
            todo="Choose the folder from which the paths start.",
        )  # fmt: skip


def no_image(row: int) -> np.ndarray:
    """Reads an image of a set without images: raises Problem."""
    raise Problem("These embeddings were imported without images.")


def rows_of(decoded: ImageSet, table: LabelledEmbeddings) -> np.ndarray:
    """Rows [m] int64 of `table` whose images could be decoded, in the order of `decoded`."""
    row_of: dict[str, int] = {path: row for row, path in enumerate(table.images.paths)}
    return np.array([row_of[path] for path in decoded.paths], np.int64)
