"""MNIST and its family: four idx files in a folder, gzip-compressed or not."""

import gzip
import struct
import zlib
from pathlib import Path

import numpy as np

from workbench.datasets.image_set import ImageSet
from workbench.datasets.pixels import Progress
from workbench.params import Params, param
from workbench.problem import Problem
from workbench.registry import register

IMAGES, LABELS = 2051, 2049  # magic numbers: unsigned bytes in three dimensions, and in one
HALVES = {"train": "train", "test": "t10k"}
LARGEST = 4 << 30  # bytes, unpacked


class IdxParams(Params):
    folder: str = param(
        "", path="folder", help="Folder with train-images-idx3-ubyte, train-labels-idx1-ubyte and t10k-..."
    )
    image_size: int = param(
        28, ge=8, le=256, label="Image size", unit="px", help="Side of the images; the originals have 28."
    )


@register("dataset", "mnist", title="MNIST", params=IdxParams, source="LeCun et al. 1998, idx files")
def mnist(params: IdxParams, *, progress: Progress) -> ImageSet:
    """70,000 handwritten digits of 28 x 28 pixels, with an official split."""
    return _read("mnist", params, [str(digit) for digit in range(10)], progress)


@register("dataset", "fashion_mnist", title="Fashion-MNIST", params=IdxParams, source="Xiao et al. 2017, idx files")
def fashion_mnist(params: IdxParams, *, progress: Progress) -> ImageSet:
    """70,000 grey pictures of clothes in 10 classes, with an official split."""
    names = ["T-shirt", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot"]
    return _read("fashion_mnist", params, names, progress)


@register("dataset", "kmnist", title="KMNIST", params=IdxParams, source="Clanuwat et al. 2018, idx files")
def kmnist(params: IdxParams, *, progress: Progress) -> ImageSet:
    """70,000 handwritten Japanese characters in 10 classes, with an official split."""
    return _read("kmnist", params, ["o", "ki", "su", "tsu", "na", "ha", "ma", "ya", "re", "wo"], progress)


def _read(name: str, params: IdxParams, class_names: list[str], progress: Progress) -> ImageSet:
    if not params.folder:
        raise Problem(
            f"No folder is chosen for {name}.", kept="Nothing was started.", todo="Choose the folder of its files."
        )
    folder = Path(params.folder)
    images, labels, official = [], [], []
    for done, (half, prefix) in enumerate(HALVES.items()):
        progress(f"Reading {name}", done, len(HALVES))
        image_file = _find(folder, f"{prefix}-images-idx3-ubyte")
        label_file = _find(folder, f"{prefix}-labels-idx1-ubyte")
        found, named = read_idx(image_file, IMAGES), read_idx(label_file, LABELS)
        if len(found) != len(named):
            raise Problem(
                f"{image_file.name} holds {len(found):,} images and {label_file.name} {len(named):,} labels.",
                kept="Nothing was started.",
                todo="Use files of one download.",
            )
        if len(named) and named.max() >= len(class_names):
            raise Problem(f"{label_file} holds the label {named.max()}; {name} has {len(class_names)} classes.")
        images.append(found)
        labels.append(named.astype(np.int64))
        official += [half] * len(found)
    pixels = np.concatenate(images)
    paths = [f"{half}/{row:05}.png" for half, found in zip(HALVES, images, strict=True) for row in range(len(found))]
    return ImageSet(
        name, None, paths, np.concatenate(labels), class_names, 1, params.image_size, lambda row: pixels[row], official
    )


def _find(folder: Path, name: str) -> Path:
    for path in (folder / name, folder / f"{name}.gz", folder / name.replace("-idx", ".idx")):
        if path.is_file():
            return path
    raise Problem(
        f"{folder} holds no {name} or {name}.gz.", kept="Nothing was started.", todo="Choose the right folder."
    )


def read_idx(path: Path, magic: int) -> np.ndarray:
    """An idx file of unsigned bytes, [n] or [n, h, w].

    Raises:
        Problem: wrong magic number, cut short, longer than it says, or a gzip file that is damaged.
    """
    try:
        data = _unpacked(path)
    except (OSError, EOFError, zlib.error) as error:
        raise Problem(f"{path} is damaged or cut short ({error}).", todo="Get it again.") from None
    dimensions = magic & 255
    if len(data) < 4 + 4 * dimensions:
        raise Problem(f"{path} is cut short: it has {len(data)} bytes.", todo="Get it again.")
    found, *shape = struct.unpack_from(f">{1 + dimensions}I", data)
    if found != magic:
        raise Problem(
            f"{path} is no idx file of this kind: its magic number is {found}, not {magic}.", todo="Check its name."
        )
    told, there = int(np.prod(shape, dtype=object)), len(data) - 4 - 4 * dimensions
    if told != there:
        raise Problem(
            f"{path} is cut short or too long: it tells of {told:,} bytes and holds {there:,}.", todo="Get it again."
        )
    return np.frombuffer(data, np.uint8, offset=4 + 4 * dimensions).reshape(shape)


def _unpacked(path: Path) -> bytes:
    if path.suffix != ".gz":
        return path.read_bytes()
    with gzip.open(path) as file:
        data = file.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise OSError("it unpacks to over 4 GiB")
    return data
