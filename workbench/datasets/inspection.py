"""Inspects a data set before training: its images and classes, its faults, and its copies."""

from dataclasses import dataclass, field
from hashlib import blake2b
from typing import NamedTuple

import numpy as np
from PIL import Image

from workbench.datasets.cache.encoded_images import EncodedImages
from workbench.datasets.image_set import ImageSet
from workbench.datasets.images.loader import FORMATS, on_disk
from workbench.datasets.split import Split, notes
from workbench.progress import Progress

SHOWN = 60  # images of the sample sheet
MEASURED = 2000  # files whose size is read
TELL_EVERY = 500  # images
BLOCK = 1 << 16  # images whose hashes are looked up at once
LAST = 512  # last bytes of an encoded image, which are compared first


class Copy(NamedTuple):
    """An image whose pixels another image has, too."""

    path: str  # in the data set
    half: str  # "train", "held out" or "test"; "" in none
    class_name: str


@dataclass(frozen=True, slots=True, eq=False)
class Inspection:
    """What the data dialog shows."""

    images: int
    side: int  # px of the decoded squares
    halves: tuple[str, ...]  # "train", "held out", "test"
    counts: np.ndarray  # [K, halves] int64: images of each class
    class_names: list[str]
    sheet: list[tuple[str, str, np.ndarray]]  # (path, class, uint8 [h, w, 3])
    sizes: np.ndarray  # [m, 2] width and height of some original files; empty for sets without files
    problems: list[tuple[str, str]]
    unlike_published: list[tuple[str, str]]  # (name, difference) of counts
    copies: list[list[Copy]]  # groups of images with the same pixels
    notes: list[tuple[str, str]] = field(default_factory=list)  # (subject, remark); nothing is left out because of them
    left_out: int = 0  # entries of the data set; one of `problems` may stand for many
    unit: str = "file"  # what such an entry is called: "file", "row" or "sample"

    @property
    def shared(self) -> int:
        """Test images whose exact copy is among the training images."""
        return sum(
            sum(copy.half == "test" for copy in group)
            for group in self.copies
            if any(copy.half == "train" for copy in group)
        )

    @property
    def of_two_classes(self) -> int:
        """Groups of copies whose images have different labels."""
        return sum(len({copy.class_name for copy in group}) > 1 for group in self.copies)


def inspect(
    image_set: ImageSet, pixels: np.ndarray | EncodedImages, split: Split, seed: int, progress: Progress
) -> Inspection:
    """Read every decoded image once; `progress` may raise to cancel.

    Args:
        image_set: the decoded set. pixels: its images, as squares or encoded, in its order. split: of its rows.
        seed: of the sample sheet.
    """
    parts = {"train": split.train, "held out": split.validation, "test": split.test}
    halves = tuple(name for name, rows in parts.items() if rows is not None)
    classes = len(image_set.class_names)
    counts = [np.bincount(image_set.labels[rows], minlength=classes) for rows in parts.values() if rows is not None]
    half_of = np.full(len(image_set.paths), "", dtype=object)
    for name, rows in parts.items():
        if rows is not None:
            half_of[rows] = name
    shown = np.random.default_rng(seed).permutation(len(image_set.paths))[:SHOWN]

    def class_of(row: int) -> str:
        return image_set.class_names[int(image_set.labels[row])]

    return Inspection(
        images=len(image_set.paths),
        side=image_set.image_size,
        halves=halves,
        counts=np.stack(counts, axis=1),
        class_names=image_set.class_names,
        sheet=[(image_set.paths[row], class_of(row), _coloured(pixels[row])) for row in shown],
        sizes=_sizes(image_set, progress),
        problems=list(image_set.problems),
        left_out=image_set.left_out,
        unit=image_set.unit,
        unlike_published=list(image_set.unlike_published),
        copies=[
            [Copy(image_set.paths[row], str(half_of[row]), class_of(row)) for row in group]
            for group in copies(pixels, progress)
        ],
        notes=notes(image_set, split),
    )


def copies(images: np.ndarray | EncodedImages, progress: Progress) -> list[list[int]]:
    """Groups of rows that are equal byte for byte, of squares [n, S, S, C] or of encoded images, largest first.

    Only images whose middle lines, or last bytes, are equal are read completely (and one in hundreds of ten million,
    by chance), so a large cache need not be read.
    """
    suspects = _suspects(images, progress)
    by_hash: dict[bytes, list[int]] = {}
    for done, row in enumerate(suspects):
        if done % TELL_EVERY == 0:
            progress("Comparing images that look alike", done, len(suspects))
        by_hash.setdefault(blake2b(_all(images, int(row)), digest_size=16).digest(), []).append(int(row))
    return sorted((rows for rows in by_hash.values() if len(rows) > 1), key=len, reverse=True)


def _suspects(images: np.ndarray | EncodedImages, progress: Progress) -> np.ndarray:
    """Rows [m] int64, ascending, of images whose parts have the hash of another's.

    Four bytes of a hash are kept for each image, of which there may be millions: in ten million some 20,000 meet others
    by chance.
    """
    hashes = np.empty(len(images), np.uint32)
    for row in range(len(images)):
        if row % TELL_EVERY == 0:
            progress("Looking for copies", row, len(images))
        hashes[row] = int.from_bytes(blake2b(_part(images, row), digest_size=4).digest(), "little")
    hashes_sorted = np.sort(hashes)
    repeated = hashes_sorted[1:][hashes_sorted[1:] == hashes_sorted[:-1]]
    del hashes_sorted
    if not len(repeated):
        return np.empty(0, np.int64)
    rows = []
    for start in range(0, len(hashes), BLOCK):  # places in `repeated` take eight bytes for each hash
        block = hashes[start : start + BLOCK]
        places = np.minimum(np.searchsorted(repeated, block), len(repeated) - 1)
        rows.append(start + np.flatnonzero(repeated[places] == block))
    return np.concatenate(rows)


def _part(images: np.ndarray | EncodedImages, row: int) -> bytes:
    if isinstance(images, EncodedImages):
        return images.encoded(row, LAST)
    return bytes(images[row, images.shape[1] // 2].tobytes())


def _all(images: np.ndarray | EncodedImages, row: int) -> bytes:
    return images.encoded(row) if isinstance(images, EncodedImages) else bytes(images[row].tobytes())


def shared_images(pixels: np.ndarray | EncodedImages, split: Split, progress: Progress) -> tuple[int, int]:
    """Test images whose exact copy is among the training images, and queries whose copy is in the gallery."""
    groups = copies(pixels, progress)
    trained, searched, queries = (np.zeros(len(pixels), bool) for _ in range(3))  # a byte a row: there may be millions
    trained[split.train] = searched[split.test] = True
    if split.is_query is not None:
        queries[split.test[split.is_query]] = True
    return _copied(groups, searched, trained), _copied(groups, queries, searched & ~queries)


def _copied(groups: list[list[int]], these: np.ndarray, those: np.ndarray) -> int:
    """How many of these rows have a copy among those; both [n] bool."""
    return sum(int(these[group].sum()) for group in groups if those[group].any())


def _sizes(image_set: ImageSet, progress: Progress) -> np.ndarray:
    """Width and height of up to 2,000 files, evenly spread; read from their headers."""
    if image_set.root is None:
        return np.empty((0, 2), np.int64)
    rows = np.unique(np.linspace(0, len(image_set.paths) - 1, MEASURED).astype(int))
    sizes = []
    for done, row in enumerate(rows):
        if done % TELL_EVERY == 0:
            progress("Reading sizes", done, len(rows))
        try:
            with Image.open(on_disk(image_set.root, image_set.paths[row]), formats=FORMATS) as image:
                sizes.append(image.size)
        except OSError:
            continue  # it was decoded before and is missing now: the next inspection lists it as left out
    return np.array(sizes, np.int64).reshape(-1, 2)


def _coloured(picture: np.ndarray) -> np.ndarray:
    return np.array(np.broadcast_to(picture, (*picture.shape[:2], 3)))
