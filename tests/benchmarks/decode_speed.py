"""Decoding photographs by one and by several threads, and torchvision's decoder beside Pillow's.

    python tests/benchmarks/decode_speed.py FOLDER [--side 128] [--images 3030] [--rounds 3]

FOLDER holds one folder per class, such as Caltech-101's. The numbers of cores take turns; medians are told. A turn with
one core has the whole process on it, the thread that hashes and writes included. Every thread reads, decodes, resizes
and, with --form encoded, encodes again, as a run does before its first step. Told beside it: the processor time of a
turn, the most that two cores could win by it, and two processes that decode and nothing else.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from statistics import median
from time import perf_counter, process_time

import numpy as np
from torch.nn import functional as F
from torchvision.io import ImageReadMode, decode_image, read_file

from workbench.datasets import kept_images
from workbench.datasets.image_set import ImageSet
from workbench.datasets.images import picture, square
from workbench.datasets.keeping import Wanted, keep
from workbench.progress import quiet


def image_set(folder: Path, side: int, most: int) -> ImageSet:
    paths = sorted(str(path.relative_to(folder)) for path in folder.rglob("*.jpg"))[:most]
    labels = np.zeros(len(paths), np.int64)
    return ImageSet("made", folder, paths, labels, ["all"], 3, side, lambda row: picture(folder / paths[row], 3, side))


def decoding(images: ImageSet, form: Wanted, cores: set[int]) -> tuple[float, float]:
    """Seconds to decode all on these cores, from nothing to a whole cache; by the clock, and of processor time."""
    whole = os.sched_getaffinity(0)
    _run_on(cores)
    try:
        with tempfile.TemporaryDirectory() as cache:
            since, used = perf_counter(), process_time()
            keep(images, Path(cache), form, False, quiet)
            return perf_counter() - since, process_time() - used
    finally:
        _run_on(whole)


def _run_on(cores: set[int]) -> None:
    """Have every thread of this process, and those to come, on these cores. Linux alone can do it."""
    for thread in os.listdir("/proc/self/task"):
        os.sched_setaffinity(int(thread), cores)


def in_processes(folder: Path, side: int, most: int) -> float:
    """Seconds for two processes that decode half of the images each and keep nothing; without their start."""
    command = [sys.executable, __file__, str(folder), "--side", str(side), "--images", str(most), "--half"]
    halves = [subprocess.Popen([*command, str(half)], stdout=subprocess.PIPE, text=True) for half in (0, 1)]
    return max(float(half.communicate()[0]) for half in halves)


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
    parser.add_argument("--beyond", type=int, help="threads more than cores; the product's number by default")
    parser.add_argument("--half", type=int, choices=(0, 1), help=argparse.SUPPRESS)
    args = parser.parse_args()
    images = image_set(args.folder, args.side, args.images)
    if args.beyond is not None:
        kept_images.THREADS_BEYOND_CORES = args.beyond
    if args.half is not None:
        images = replace(images, paths=images.paths[args.half :: 2], labels=images.labels[args.half :: 2])
        print(reading(images, lambda path: square(picture(path, 3, args.side), args.side, 3)))
        return
    cores = sorted(os.sched_getaffinity(0))
    numbers = list(dict.fromkeys((1, min(2, len(cores)), len(cores))))
    readers: dict[str, Callable[[Path], object]] = {
        "Pillow": lambda path: square(picture(path, 3, args.side), args.side, 3),
        "torchvision.io": lambda path: by_torchvision(path, args.side),
    }
    taken: dict[str, list[float]] = {}
    used: dict[int, list[float]] = {}
    for turn in range(args.rounds):
        for number in numbers if turn % 2 else reversed(numbers):
            seconds, processor = decoding(images, args.form, set(cores[:number]))
            taken.setdefault(f"cores: {number}", []).append(seconds)
            used.setdefault(number, []).append(processor)
        name = "two processes, decoding alone"
        taken.setdefault(name, []).append(in_processes(args.folder, args.side, args.images))
        for name, read in readers.items():
            taken.setdefault(f"{name}, one after another", []).append(reading(images, read))
    for name, rounds in taken.items():
        print(f"{name:30} {len(images.paths) / median(rounds):7.0f} img/s")
    one, two = median(used[1]), median(used[numbers[1]])
    print(f"2 cores against 1 by the clock: {median(taken['cores: 1']) / median(taken['cores: 2']):.2f}")
    print(f"processor time: {one:.2f} s on one core, {two:.2f} s on two, which allows {2 * one / two:.2f}")
    print(f"load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
