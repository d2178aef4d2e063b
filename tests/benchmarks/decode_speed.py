"""Decoding photographs by one core and by two, and what two unrelated processes reach.

    python tests/benchmarks/decode_speed.py FOLDER [--side 128] [--images 3030] [--rounds 5] [--form pixels]
                                            [--times 1] [--by threads | processes]

FOLDER holds one folder per class, such as Caltech-101's. A round has four turns in a random order, each on the same
images: the product on one core and on two (reading, decoding, resizing, hashing and writing a whole cache, the threads
included), and one and two bare processes that read, decode and resize and keep nothing. What another program or the
machine's host takes in a moment hits all four alike. Of a few hundred images the start and the last write, during which
cores are idle, are a noticeable part: 3,030 are measured. --times N reads each file N times, as N files. Threads and
processes are the product's two ways: it takes processes for 4,000 files and more on six cores and more. Prints
medians of the ratios of a round, with their quartiles: two cores against one, the same of bare processes, which is the
most that this machine gives, and the one by the other.
"""

import argparse
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter, process_time

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))  # a bare machine has only the repository

from workbench import jobs
from workbench.datasets.cache import decode_processes, kept_images
from workbench.datasets.cache.keeping import Wanted, keep
from workbench.datasets.image_set import ImageSet
from workbench.datasets.images.image_files import ImageFiles
from workbench.datasets.images.loader import square
from workbench.progress import quiet


def image_set(folder: Path, side: int, most: int, times: int = 1) -> ImageSet:
    paths = sorted(str(path.relative_to(folder)) for path in folder.rglob("*.jpg"))
    paths = paths[:: max(1, len(paths) // most)][:most]
    paths = ["./" * time + path for path in paths for time in range(times)]  # other names of the same files
    return ImageSet(
        "made", folder, paths, np.zeros(len(paths), np.int64), ["all"], 3, side, ImageFiles(folder, paths, 3, side)
    )


def decoding(images: ImageSet, form: Wanted, cores: set[int]) -> tuple[float, float]:
    """Seconds to decode all on these cores, from nothing to a whole cache; by the clock, and of processor time."""
    whole = os.sched_getaffinity(0)
    run_on(cores)
    try:
        with tempfile.TemporaryDirectory() as cache:
            since, used = perf_counter(), process_time()
            keep(images, Path(cache), form, False, quiet)
            return perf_counter() - since, process_time() - used
    finally:
        run_on(whole)


def run_on(cores: set[int]) -> None:
    """Bind all present and future threads of this process to these cores; works only on Linux."""
    for thread in os.listdir("/proc/self/task"):
        os.sched_setaffinity(int(thread), cores)


class BareProcesses:
    """Processes that decode a share of the images each time they are asked to, each on a core of its own."""

    def __init__(self, args: argparse.Namespace, cores: list[int]) -> None:
        command = [
            sys.executable,
            __file__,
            str(args.folder),
            "--side",
            str(args.side),
            "--images",
            str(args.images),
            "--times",
            str(args.times),
        ]
        self._processes = [
            subprocess.Popen(
                [*command, "--bare", str(core)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
            )
            for core in cores
        ]

    def decoding(self, count: int) -> float:
        """Seconds in which so many of the processes decode all images together."""
        working = self._processes[:count]
        since = perf_counter()
        for rank, process in enumerate(working):
            assert process.stdin is not None
            process.stdin.write(f"{rank} {count}\n")
        for process in working:
            assert process.stdout is not None
            process.stdout.readline()
        return perf_counter() - since

    def close(self) -> None:
        for process in self._processes:
            process.communicate()


def serve_bare(images: ImageSet, core: int) -> None:
    """One of the processes: a line "RANK COUNT" asks for every COUNTth image from RANK on."""
    run_on({core})
    for line in sys.stdin:
        rank, count = map(int, line.split())
        for row in range(rank, len(images.paths), count):
            square(images.read(row), images.image_size, images.channels)
        print("done", flush=True)


@contextmanager
def bare_processes(args: argparse.Namespace, cores: list[int]) -> Iterator[BareProcesses]:
    processes = BareProcesses(args, cores)
    try:
        yield processes
    finally:
        processes.close()


def told(name: str, ratios: np.ndarray) -> None:
    low, middle, high = np.percentile(ratios, [25, 50, 75])
    print(f"{name:58} {middle:.2f} (quartiles {low:.2f} to {high:.2f})")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--side", type=int, default=128)
    parser.add_argument("--images", type=int, default=3030, help="of a turn")
    parser.add_argument("--times", type=int, default=1, help="how often each image is decoded")
    parser.add_argument("--by", default="threads", choices=("threads", "processes"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--form", default="pixels", choices=("pixels", "encoded"))
    parser.add_argument("--beyond", type=int, help="threads more than cores; the product's number by default")
    parser.add_argument("--bare", type=int, help=argparse.SUPPRESS)
    args = parser.parse_args()
    images = image_set(args.folder, args.side, args.images, args.times)
    if args.bare is not None:
        serve_bare(images, args.bare)
        return
    if args.beyond is not None:
        kept_images.THREADS_BEYOND_CORES = args.beyond
    kept_images.decoders = lambda files, cores: (
        jobs.BytePool(decode_processes.MODULE, [], cores) if args.by == "processes" else None
    )
    first, second = sorted(os.sched_getaffinity(0))[:2]
    taken: dict[str, list[float]] = {name: [] for name in ("one", "two", "one bare", "two bare", "one's", "two's")}
    with bare_processes(args, [first, second]) as bare:
        bare.decoding(2)  # warm: modules, and the files in memory
        decoding(images, args.form, {first, second})
        print(f"load {os.getloadavg()[0]:.1f}")
        order = ["one", "two", "one bare", "two bare"]
        for _ in range(args.rounds):
            for turn in random.sample(order, len(order)):
                if turn.endswith("bare"):
                    taken[turn].append(bare.decoding(1 if turn == "one bare" else 2))
                    continue
                seconds, processor = decoding(images, args.form, {first} if turn == "one" else {first, second})
                taken[turn].append(seconds)
                taken[f"{turn}'s"].append(processor)
    of = {name: np.array(values) for name, values in taken.items()}
    for name in order:
        print(f"{name:10} {len(images.paths) / np.median(of[name]):7.0f} img/s")
    threads, machine = of["one"] / of["two"], of["one bare"] / of["two bare"]
    told("two cores against one, a whole cache", threads)
    told("two bare processes against one: this machine's own", machine)
    told("the first by the second", threads / machine)
    told("allowed by processor time, were two cores never idle", 2 * of["one's"] / of["two's"])
    print(f"load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
