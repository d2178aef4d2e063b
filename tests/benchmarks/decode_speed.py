"""Decoding photographs by one and by several threads, and torchvision's decoder beside Pillow's.

    python tests/benchmarks/decode_speed.py FOLDER [--side 128] [--images 3030] [--rounds 3]

FOLDER holds one folder per class, such as Caltech-101's. The numbers of threads take turns; medians are told. Every
thread reads, decodes, resizes and, with --form encoded, encodes again, as a run does before its first step.
"""

import argparse
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter

import numpy as np
from torch.nn import functional as F
from torchvision.io import ImageReadMode, decode_image, read_file

from workbench import jobs
from workbench.datasets.image_set import ImageSet
from workbench.datasets.images import load, square
from workbench.datasets.keeping import Wanted, keep
from workbench.progress import quiet


def image_set(folder: Path, side: int, most: int) -> ImageSet:
    paths = sorted(str(path.relative_to(folder)) for path in folder.rglob("*.jpg"))[:most]
    labels = np.zeros(len(paths), np.int64)
    return ImageSet("made", folder, paths, labels, ["all"], 3, side, lambda row: load(folder / paths[row], 3, side))


def decoding(images: ImageSet, form: Wanted, threads: int) -> float:
    """Seconds to decode all by so many threads, from nothing to a whole cache."""
    real = jobs.cores
    jobs.cores = lambda: threads
    try:
        with tempfile.TemporaryDirectory() as cache:
            since = perf_counter()
            keep(images, Path(cache), form, False, quiet)
            return perf_counter() - since
    finally:
        jobs.cores = real


def reading(images: ImageSet, read: Callable[[Path], object]) -> float:
    """Seconds to read all by one thread, one after another."""
    assert images.root is not None
    since = perf_counter()
    for path in images.paths:
        read(images.root / path)
    return perf_counter() - since


def by_torchvision(path: Path, side: int) -> np.ndarray:
    """Decoded whole by torchvision, the short side to `side` px with antialiasing: [3, h, w] uint8."""
    image = decode_image(read_file(str(path)), ImageReadMode.RGB)
    scale = side / min(image.shape[1:])
    size = [max(side, round(length * scale)) for length in image.shape[1:]]
    resized = F.interpolate(image[None].float(), size, mode="bicubic", antialias=True)
    return resized[0].clamp(0, 255).byte().numpy()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--side", type=int, default=128)
    parser.add_argument("--images", type=int, default=3030)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--form", default="pixels", choices=("pixels", "encoded"))
    args = parser.parse_args()
    images = image_set(args.folder, args.side, args.images)
    numbers = list(dict.fromkeys((1, 2, jobs.cores())))
    readers: dict[str, Callable[[Path], object]] = {
        "Pillow": lambda path: square(load(path, 3, args.side), args.side, 3),
        "torchvision.io": lambda path: by_torchvision(path, args.side),
    }
    taken: dict[str, list[float]] = {}
    for _ in range(args.rounds):
        for threads in numbers:
            taken.setdefault(f"{threads} threads", []).append(decoding(images, args.form, threads))
        for name, read in readers.items():
            taken.setdefault(f"{name}, one after another", []).append(reading(images, read))
    for name, seconds in taken.items():
        print(f"{name:30} {len(images.paths) / median(seconds):7.0f} img/s")
    print(f"2 threads against 1: {median(taken['1 threads']) / median(taken['2 threads']):.2f}")


if __name__ == "__main__":
    main()
