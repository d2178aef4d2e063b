"""Seconds and the highest memory of each step of `label`, on synthetic embeddings; the network is not measured.

python -m tests.benchmarks.label_speed --labelled 60000 --new 10000 --dim 512
"""

import argparse
import resource
from collections.abc import Callable
from time import perf_counter
from typing import TypeVar

import numpy as np

from workbench.labelling.groups import cut_of, groups
from workbench.labelling.nearest import labelled, nearest, threshold
from workbench.labelling.typical import typical_first
from workbench.results.stored import Stored

Result = TypeVar("Result")
OF_CLASS = 10  # images
SPREAD = 1.6  # of a class, where the centres of classes have 1


def timed(step: str, work: Callable[[], Result]) -> Result:
    """What the work returns; prints its seconds and the highest memory of the process so far (Linux: KiB)."""
    since = perf_counter()
    result = work()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{step:32} {perf_counter() - since:7.1f} s   {peak:7,.0f} MiB at most so far", flush=True)
    return result


def images(count: int, dim: int, seed: int) -> np.ndarray:
    """Embeddings [n, d] float32 of OF_CLASS images a class."""
    random = np.random.default_rng(seed)
    centres = random.standard_normal((-(-count // OF_CLASS), dim), dtype=np.float32)
    noise = random.standard_normal((count, dim), dtype=np.float32)
    noise *= SPREAD
    noise += centres[np.arange(count) // OF_CLASS]
    return noise


def main() -> None:
    """Measure all steps, with no image of a known class: the longest case."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--labelled", type=int, default=60_000)
    parser.add_argument("--new", type=int, default=10_000)
    parser.add_argument("--dim", type=int, default=512)
    asked = parser.parse_args()
    labels = np.arange(asked.labelled) // OF_CLASS
    r = np.full(asked.labelled, OF_CLASS - 1, np.int32)
    stored = timed(
        "Making the embeddings",
        lambda: Stored(
            np.arange(asked.labelled), labels, images(asked.labelled, asked.dim, 0),
            np.empty((asked.labelled, 0), np.int64), r * 0, r,
        ),
    )  # fmt: skip
    new = images(asked.new, asked.dim, 1)
    among = timed("Arranging the labelled images", lambda: labelled(stored))
    limit = timed("Measuring the threshold", lambda: threshold(stored, among, 0.01))
    by = timed("Comparing", lambda: nearest(new, np.full(len(new), -1), among))
    print(f"{(by.similarity < limit.similarity).mean():.1%} of the new images would be given no class; all are taken")
    place = timed("Choosing what to label first", lambda: typical_first(new, stored.distance, by.similarity))
    cut = timed("Choosing the cut", lambda: cut_of(stored))
    group = timed("Grouping", lambda: groups(new, stored.distance, cut))
    print(f"{group.max():,} groups, {(group == 0).sum():,} images alone, {(place > 0).sum():,} ordered")


if __name__ == "__main__":
    main()
