"""How much batches that threads prepare in advance slow down a step that leaves the processor idle (JPEG crops).

    OMP_NUM_THREADS=1 python tests/benchmarks/feed_cost.py [--step 0.5] [--batch 64] [--side 224] [--rounds 3]

The step sleeps, as a loop that waits for its GPU does; the cost is the time between two steps as a share of one. Turns
are taken with flip and without. Also prints the wait for the first batch of an epoch that follows another, if each
epoch is made alone and if it is begun while the one before it ends, how long a batch takes by itself, and the load of
the machine.
"""

import argparse
import contextlib
import os
import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter, sleep

import numpy as np
import torch
from PIL import Image

from workbench.datasets.batches.augment import CropFlip, CropFlipParams
from workbench.datasets.cache.encoded_images import Encoded, EncodedImages
from workbench.training.feed import Feed

IMAGES = 256


class Drawn:
    """Random batches."""

    places = np.arange(IMAGES)

    def __init__(self, batch: int, steps: int) -> None:
        self.steps_per_epoch, self._batch = steps, batch

    def batches(self, epoch: int) -> list[np.ndarray]:
        rng = np.random.default_rng(epoch)
        return [rng.integers(0, IMAGES, self._batch) for _ in range(self.steps_per_epoch)]


def photographs(folder: Path, side: int) -> EncodedImages:
    """Smooth noise of 4:3 as encoded images, about as long to decode as photographs."""
    form, rng, facts = Encoded(side, 3), np.random.default_rng(0), []
    with (folder / "made.jpegs").open("w+b") as file:
        file.write(form.head(IMAGES))
        for _ in range(IMAGES):
            small = Image.fromarray(rng.integers(0, 255, (side // 8, side // 6, 3), np.uint8))
            payload, entry = form.kept(np.asarray(small.resize((side * 4 // 3, side), Image.Resampling.BICUBIC)))
            file.write(payload)
            facts.append(entry)
        form.finish(file, np.array(facts))
    return form.opened(folder / "made.jpegs", IMAGES)


def between_steps(feed: Feed, crops: CropFlip, args: argparse.Namespace, epochs: int) -> list[list[float]]:
    """Seconds between two steps of each of two epochs; with `epochs` the second begins while the first ends."""
    waits, order = [], Drawn(args.batch, args.steps)
    with contextlib.closing(feed.training(order, crops, seed=0, epochs=epochs)) as batches:
        for epoch in (1, 2):
            waits.append([])
            since = perf_counter()
            for images, _ in batches(epoch, 0):
                waits[-1].append(perf_counter() - since)
                assert images.dtype == torch.float32
                sleep(args.step)
                since = perf_counter()
    return waits


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--step", type=float, default=0.5)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--side", type=int, default=224)
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        encoded = photographs(Path(folder), round(args.side / 0.875))
        rows = np.arange(IMAGES)
        feed = Feed(encoded, rows, rows % 10, torch.device("cpu"))
        waits: dict[str, list[float]] = {}
        first: dict[str, list[float]] = {}
        for _ in range(args.rounds):
            for name, flip in (("crops", False), ("crops and flip", True)):
                crops = CropFlip(CropFlipParams(crops_of="whole", crop=0.875, flip=flip))
                for begun, epochs in (("alone", 0), ("while one ends", 2)):
                    one, two = between_steps(feed, crops, args, epochs)
                    waits.setdefault(name, []).extend([*one[2:], *two[2:]])  # the first two fill the queue
                    first.setdefault(begun, []).append(two[0])
        since = perf_counter()
        for row in rows[: args.batch]:
            encoded.crop(int(row), (0, 0, 200, 200), args.side)
        alone = perf_counter() - since
    for name, seconds in waits.items():
        print(
            f"{name:15} {1000 * median(seconds):6.1f} ms between steps (longest {1000 * max(seconds):.1f}): "
            f"{median(seconds) / args.step:.4f} of a step of {args.step:g} s"
        )
    for begun, seconds in first.items():
        print(f"first batch of the second epoch, begun {begun}: {1000 * median(seconds):.1f} ms (n = {len(seconds)})")
    print(f"a batch of {args.batch} by one thread {alone:.3f} s; {feed.threads} threads; load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
