"""What a feed leaves of the interpreter to the training loop: Python's own work beside threads and beside processes.

    OMP_NUM_THREADS=1 python tests/benchmarks/feed_lock.py [--side 224] [--seconds 3] [--rounds 9]

A loop of Python on this thread counts, alone, beside one thread that makes crops of encoded images without a pause, and
beside a thread that has them made by one process, in a random order. Printed are the counts as a share of the loop
alone, medians of the rounds with quartiles, and the crops made meanwhile. A share below 1 is time in which the loop
waits for the interpreter, or for a core where the machine has fewer than two without work.
"""

import argparse
import os
import random
import tempfile
import threading
from contextlib import closing
from pathlib import Path
from time import perf_counter

import numpy as np
from feed_cost import IMAGES, photographs

from workbench.datasets.cache.crop_processes import CropProcesses
from workbench.datasets.cache.encoded_images import EncodedImages

TOGETHER = 16  # crops at a time, as a feed makes them


def crops_meanwhile(images: EncodedImages, by: CropProcesses | None, side: int, over: threading.Event) -> int:
    """Make crops until `over`; returns how many."""
    target, made = np.empty((TOGETHER, 3, side, side), np.uint8), 0
    rows, boxes = np.arange(TOGETHER), np.tile([2.0, 3.0, 2.0 + side, 3.0 + side], (TOGETHER, 1))
    while not over.is_set():
        if by is not None:
            by.fill(target, (rows + made) % IMAGES, boxes)
        else:
            for position, row in enumerate(rows):
                image = images.crop(int(row + made) % IMAGES, tuple(boxes[position].tolist()), side)
                target[position] = image.transpose(2, 0, 1)
        made += TOGETHER
    return made


def counted(seconds: float) -> float:
    """Turns of a loop of Python in a second."""
    end, turns, since = perf_counter() + seconds, 0, perf_counter()
    while perf_counter() < end:
        turns += 1
    return turns / (perf_counter() - since)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--side", type=int, default=224)
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--rounds", type=int, default=9)
    args = parser.parse_args()
    shares: dict[str, list[float]] = {"a thread": [], "a process": []}
    speeds: dict[str, list[float]] = {"a thread": [], "a process": []}
    with tempfile.TemporaryDirectory() as folder:
        images = photographs(Path(folder), round(args.side / 0.875))
        with closing(CropProcesses(Path(folder) / "made.jpegs", 1)) as apart:
            one = np.empty((1, 3, args.side, args.side), np.uint8)
            apart.fill(one, np.arange(1), np.array([[0.0, 0.0, 9.0, 9.0]]))  # it has started
            for _ in range(args.rounds):
                turns: dict[str, float] = {}
                for name in random.sample(["alone", *shares], 3):
                    over, made = threading.Event(), list[int]()
                    by = apart if name == "a process" else None
                    beside = threading.Thread(
                        target=lambda by=by, over=over, made=made: made.append(
                            crops_meanwhile(images, by, args.side, over)
                        )
                    )
                    if name != "alone":
                        beside.start()
                    turns[name] = counted(args.seconds)
                    over.set()
                    if name != "alone":
                        beside.join()
                        speeds[name].append(made[0] / args.seconds)
                for name, told in shares.items():
                    told.append(turns[name] / turns["alone"])
    for name, told in shares.items():
        low, middle, high = np.percentile(told, [25, 50, 75])
        print(
            f"beside {name:9} {middle:.3f} of the loop alone (quartiles {low:.3f} to {high:.3f}), "
            f"{np.median(speeds[name]):.0f} crops a second"
        )
    print(f"load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
