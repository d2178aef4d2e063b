"""MNIST and its family: four idx files, gzip-compressed or not, in a folder or an archive."""

import gzip
import math
import struct
from hashlib import blake2b
from pathlib import Path

import numpy as np

from workbench.datasets.image_set import ImageSet
from workbench.datasets.reading.data_folder import find_place
from workbench.datasets.reading.fields import side_of_square, stored_at
from workbench.datasets.reading.published import AGAIN, Counts, count_differences
from workbench.files.archive_names import archives_named
from workbench.files.unreadable import refusing
from workbench.params import Params
from workbench.problem import Problem
from workbench.progress import Progress
from workbench.registry import register

IMAGES, LABELS = 2051, 2049  # magic numbers: unsigned bytes in three dimensions, and in one
HALVES = {"train": "train", "test": "t10k"}
COUNTS = Counts(10, 70_000, halves=(("train", 60_000), ("test", 10_000)))  # of all three
LARGEST = 256 << 20  # bytes, unpacked; the published ones have 47 MB


class IdxParams(Params):
    """Where the IDX files are stored."""

    folder: str = stored_at(
        "With train-images-idx3-ubyte, train-labels-idx1-ubyte and t10k-...; an archive is unpacked once."
    )
    image_size: int = side_of_square(28, originals=28)


@register(
    "dataset", "mnist", title="MNIST", params=IdxParams, source="LeCun et al. 1998, idx files",
    markers=["mnist/train-images*", "MNIST/raw/train-images*", *archives_named("mnist", "MNIST")],
    may_be_mirrored=False,
)  # fmt: skip
def mnist(params: IdxParams, *, progress: Progress) -> ImageSet:
    """70,000 handwritten digits of 28 x 28 pixels, with an official split."""
    return _read("mnist", params, [str(digit) for digit in range(10)], progress)


@register(
    "dataset", "fashion_mnist", title="Fashion-MNIST", params=IdxParams, source="Xiao et al. 2017, idx files",
    markers=[
        "fashion*/train-images*", "FashionMNIST/raw/train-images*",
        *archives_named("fashion-mnist", "fashion_mnist", "fashionmnist", "FashionMNIST", "Fashion-MNIST"),
    ],
)  # fmt: skip
def fashion_mnist(params: IdxParams, *, progress: Progress) -> ImageSet:
    """70,000 grey pictures of clothes in 10 classes, with an official split."""
    names = ["T-shirt", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot"]
    return _read("fashion_mnist", params, names, progress)


@register(
    "dataset", "kmnist", title="KMNIST", params=IdxParams, source="Clanuwat et al. 2018, idx files",
    markers=["kmnist*/train-images*", "KMNIST/raw/train-images*", *archives_named("kmnist", "KMNIST")],
    may_be_mirrored=False,
)  # fmt: skip
def kmnist(params: IdxParams, *, progress: Progress) -> ImageSet:
    """70,000 handwritten Japanese characters in 10 classes, with an official split."""
    return _read("kmnist", params, ["o", "ki", "su", "tsu", "na", "ha", "ma", "ya", "re", "wo"], progress)


def _read(name: str, params: IdxParams, class_names: list[str], progress: Progress) -> ImageSet:
    folder = find_place(params.folder, _names(f"{HALVES['train']}-images-idx3-ubyte"), name, progress)
    images, labels = [], []
    for done, prefix in enumerate(HALVES.values()):
        progress(f"Reading {name}", done, len(HALVES))
        half_images, named = _half(folder, prefix, name, len(class_names))
        images.append(half_images)
        labels.append(named)
    if images[0].shape[1:] != images[1].shape[1:]:
        raise Problem(
            f"The training images in {folder} are {_sides(images[0])} px and the test images {_sides(images[1])} px.",
            kept="Nothing was started.",
            todo="Use files of one download.",
        )
    pixels, every = np.concatenate(images), np.concatenate(labels)
    progress(f"Reading {name}", len(HALVES), len(HALVES))
    halves = [half for half, part in zip(HALVES, images, strict=True) for _ in range(len(part))]
    return ImageSet(
        name=name,
        root=None,
        paths=[f"{half}/{row:05}.png" for half, part in zip(HALVES, images, strict=True) for row in range(len(part))],
        labels=every,
        class_names=class_names,
        channels=1,
        image_size=params.image_size,
        read=lambda row: pixels[row],
        official=halves,
        unlike_published=count_differences(name, COUNTS, len(np.unique(every)), len(pixels), halves),
        content=blake2b(pixels.data, digest_size=16).hexdigest(),
    )


def _half(folder: Path, prefix: str, name: str, classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Images uint8 [n, h, w] and labels int64 [n] of one half. Raises Problem naming the file."""
    image_file = _find(folder, f"{prefix}-images-idx3-ubyte")
    label_file = _find(folder, f"{prefix}-labels-idx1-ubyte")
    images, named = read_idx(image_file, IMAGES), read_idx(label_file, LABELS)
    if len(images) != len(named):
        raise Problem(
            f"{image_file} holds {len(images):,} images and {label_file.name} {len(named):,} labels.",
            kept="Nothing was started.",
            todo="Use files of one download.",
        )
    if not images.size:
        raise Problem(f"{image_file} holds no images.", kept="Nothing was started.", todo=AGAIN)
    if named.max() >= classes:
        raise Problem(
            f"{label_file} holds the label {named.max()}; {name} has {classes} classes.",
            kept="Nothing was started.",
            todo=AGAIN,
        )
    return images, named.astype(np.int64)


def _sides(images: np.ndarray) -> str:
    return f"{images.shape[1]} x {images.shape[2]}"


def _find(folder: Path, name: str) -> Path:
    for known in _names(name):
        if (folder / known).is_file():
            return folder / known
    raise Problem(
        f"{folder} holds no {name} or {name}.gz.", kept="Nothing was started.", todo="Choose the folder of its files."
    )


def _names(name: str) -> tuple[str, ...]:
    """The file as it is published, and as unpackers and mirrors rename it."""
    renamed = name.replace("-idx", ".idx")
    return name, f"{name}.gz", renamed, f"{renamed}.gz"


def read_idx(path: Path, magic: int) -> np.ndarray:
    """An idx file of unsigned bytes, [n] or [n, h, w].

    Raises:
        Problem: wrong magic number, truncated, longer than it says, or a gzip file that is damaged.
    """
    data = _unpacked(path)
    start = 4 + 4 * (magic & 255)
    if len(data) < start:
        raise _damaged(path, f"is truncated: it has {len(data)} bytes")
    number, *shape = struct.unpack_from(f">{start // 4}I", data)
    if number != magic:
        raise Problem(
            f"{path} is not an idx file of this kind: its magic number is {number}, not {magic}.",
            kept="Nothing was started.",
            todo="Check that the file has the right name.",
        )
    stated, there = math.prod(shape), len(data) - start
    if stated != there:
        raise _damaged(
            path,
            f"is {'truncated' if there < stated else 'too long'}: "
            f"its header announces {stated:,} bytes, it has {there:,}",
        )
    return np.frombuffer(data, np.uint8, offset=start).reshape(shape)


def _unpacked(path: Path) -> bytes:
    with (
        refusing(lambda why: _damaged(path, f"is damaged or truncated ({why})")),
        gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file,
    ):
        data = file.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise _damaged(path, f"holds over {LARGEST >> 20} MiB")
    return data


def _damaged(path: Path, what: str) -> Problem:
    return Problem(f"{path} {what}.", kept="Nothing was started.", todo=AGAIN)
