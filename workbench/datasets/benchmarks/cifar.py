"""CIFAR-10 and CIFAR-100 as published: the Python version, read without executing its pickle, or the binary one."""

from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np

from workbench.datasets.image_set import ImageSet
from workbench.datasets.reading.data_folder import find_place
from workbench.datasets.reading.fields import side_of_square, stored_at
from workbench.datasets.reading.pickled_arrays import NotPlain, read_pickled
from workbench.datasets.reading.published import AGAIN, Counts, count_differences, lines_of
from workbench.files.archive_names import archives_named
from workbench.files.unreadable import refusing
from workbench.params import Params
from workbench.problem import Problem
from workbench.progress import Progress
from workbench.registry import register

SIDE = 32  # px
HALVES = ("train", 50_000), ("test", 10_000)  # images of each
LARGEST = 256 << 20  # bytes of one file; the largest published one has 155 MB


class CifarParams(Params):
    """Where CIFAR-10 or CIFAR-100 is stored."""

    folder: str = stored_at("The Python or the binary version; an archive is unpacked once.")
    image_size: int = side_of_square(32, originals=32)


@dataclass(frozen=True, slots=True)
class Layout:
    """The file layout of one of the two sets."""

    name: str
    train: tuple[str, ...]
    test: tuple[str, ...]
    meta: str
    labels: str  # key of the labels, and of the names with "_names" (CIFAR-100: fine labels)
    names: str
    binary_train: tuple[str, ...]
    binary_test: tuple[str, ...]
    binary_meta: str
    label_bytes: int  # before the pixels of a binary record; the last one is the label
    counts: Counts


TEN = Layout(
    "cifar10", tuple(f"data_batch_{n}" for n in range(1, 6)), ("test_batch",), "batches.meta", "labels", "label_names",
    tuple(f"data_batch_{n}.bin" for n in range(1, 6)), ("test_batch.bin",), "batches.meta.txt", 1,
    Counts(10, 60_000, HALVES),
)  # fmt: skip
HUNDRED = Layout(
    "cifar100", ("train",), ("test",), "meta", "fine_labels", "fine_label_names",
    ("train.bin",), ("test.bin",), "fine_label_names.txt", 2, Counts(100, 60_000, HALVES),
)  # fmt: skip


@register(
    "dataset", "cifar10", title="CIFAR-10", params=CifarParams, source="Krizhevsky 2009, as published",
    markers=["cifar-10-*/batches.meta*", *archives_named("cifar-10-")],
)  # fmt: skip
def cifar10(params: CifarParams, *, progress: Progress) -> ImageSet:
    """60,000 colour pictures of 32 x 32 pixels in 10 classes; for CIFAR-10-LT choose the long-tailed sampler."""
    return _read(TEN, params, progress)


@register(
    "dataset", "cifar100", title="CIFAR-100", params=CifarParams, source="Krizhevsky 2009, as published",
    markers=["cifar-100-*/meta", "cifar-100-*/fine_label_names.txt", *archives_named("cifar-100-")],
)  # fmt: skip
def cifar100(params: CifarParams, *, progress: Progress) -> ImageSet:
    """60,000 colour pictures of 32 x 32 pixels in 100 classes; for CIFAR-100-LT choose the long-tailed sampler."""
    return _read(HUNDRED, params, progress)


def _read(layout: Layout, params: CifarParams, progress: Progress) -> ImageSet:
    try:
        root, binary = find_place(params.folder, (layout.meta,), layout.name, progress), False
    except Problem as python_version:
        try:
            root, binary = find_place(params.folder, (layout.binary_meta,), layout.name, progress), True
        except Problem:
            raise python_version from None
    names = _names(root, layout, binary)
    pixels: list[np.ndarray] = []
    labels: list[np.ndarray] = []
    paths: list[str] = []
    halves: list[str] = []
    parts = (layout.binary_train, layout.binary_test) if binary else (layout.train, layout.test)
    read = _binary if binary else _python
    for half, files in zip(("train", "test"), parts, strict=True):
        for done, name in enumerate(files):
            progress(f"Reading {layout.name}", done, len(files))
            images, named = read(root / name, layout, len(names))
            first = sum(path.startswith(half) for path in paths)
            paths += [f"{half}/{row:05}.png" for row in range(first, first + len(images))]
            halves += [half] * len(images)
            pixels.append(images)
            labels.append(named)
    whole = np.concatenate(pixels)
    return ImageSet(
        name=layout.name,
        root=None,
        paths=paths,
        labels=np.concatenate(labels),
        class_names=names,
        channels=3,
        image_size=params.image_size,
        read=lambda row: whole[row],
        official=halves,
        unlike_published=count_differences(layout.name, layout.counts, len(names), len(whole), halves),
        content=blake2b(whole.data, digest_size=16).hexdigest(),
    )


def _names(root: Path, layout: Layout, binary: bool) -> list[str]:
    if binary:
        return [" ".join(words) for _, words in lines_of(root / layout.binary_meta, None)]
    content = _unpickled(root / layout.meta)
    names = content.get(layout.names)
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise _damaged(root / layout.meta, f"holds no {layout.names}")
    return names


def _python(path: Path, layout: Layout, classes: int) -> tuple[np.ndarray, np.ndarray]:
    content = _unpickled(path)
    data, labels = content.get("data"), content.get(layout.labels)
    if not isinstance(data, np.ndarray) or data.dtype != np.uint8 or data.ndim != 2 or data.shape[1] != 3 * SIDE**2:
        raise _damaged(path, "holds no table of 3,072 bytes per image")
    if not isinstance(labels, list) or not all(isinstance(label, int) for label in labels):
        raise _damaged(path, f"holds no {layout.labels}")
    return _checked(path, data, np.array(labels, np.int64), classes)


def _binary(path: Path, layout: Layout, classes: int) -> tuple[np.ndarray, np.ndarray]:
    data = np.frombuffer(_bytes(path), np.uint8)
    width = layout.label_bytes + 3 * SIDE**2
    if not len(data) or len(data) % width:
        raise _damaged(path, f"has {len(data):,} bytes, which is not a whole number of records of {width:,}")
    records = data.reshape(-1, width)
    return _checked(
        path, records[:, layout.label_bytes :], records[:, layout.label_bytes - 1].astype(np.int64), classes
    )


def _checked(path: Path, data: np.ndarray, labels: np.ndarray, classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Images [n, 32, 32, 3] and labels [n]."""
    if len(data) != len(labels):
        raise _damaged(path, f"holds {len(data):,} images and {len(labels):,} labels")
    if len(labels) and not 0 <= labels.min() <= labels.max() < classes:
        raise _damaged(path, f"holds the label {labels.max()}, but there are {classes} class names")
    return np.ascontiguousarray(data.reshape(-1, 3, SIDE, SIDE).transpose(0, 2, 3, 1)), labels


def _unpickled(path: Path) -> dict[str, Any]:
    try:
        content = read_pickled(_bytes(path))
    except NotPlain as error:
        raise _damaged(path, f"is not a CIFAR file ({error})") from None
    if not isinstance(content, dict):
        raise _damaged(path, "is not a CIFAR file")
    return content


def _bytes(path: Path) -> bytes:
    with refusing(lambda why: _damaged(path, f"cannot be read ({why})")):
        if path.stat().st_size > LARGEST:
            raise _damaged(path, f"is over {LARGEST >> 20} MiB")
        return path.read_bytes()


def _damaged(path: Path, what: str) -> Problem:
    return Problem(f"{path} {what}.", kept="Nothing was started.", todo=AGAIN)
