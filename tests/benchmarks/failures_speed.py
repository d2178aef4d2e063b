"""Time of explaining the failed queries of one evaluation, on random embeddings and neighbours.

    python tests/benchmarks/failures_speed.py [--count 60502] [--width 512] [--neighbours 100] [--classes 11316]
        [--proxies 100]

Prints seconds of each question that the Retrieval page asks. Almost every query fails, which is the most work.
"""

import argparse
import resource
import sys
from collections.abc import Callable
from time import perf_counter
from typing import TypeVar

import numpy as np

from workbench.results import failures, mistakes
from workbench.results.stored import Stored

Answer = TypeVar("Answer")


def random_evaluation(count: int, width: int, neighbours: int, classes: int, proxies: int) -> Stored:
    """An evaluation whose neighbours are random, so that no search is needed."""
    rng = np.random.default_rng(0)
    labels = np.sort(rng.integers(0, classes, count))
    near = rng.integers(0, count - 1, (count, neighbours)).astype(np.int32)
    near += near >= np.arange(count, dtype=np.int32)[:, None]
    r = (np.bincount(labels)[labels] - 1).astype(np.int32)
    first_hit = np.where(r > 0, np.where(labels[near[:, 0]] == labels, 1, 5), 0).astype(np.int32)
    embeddings = rng.normal(size=(count, width)).astype(np.float32)
    ids = np.sort(rng.choice(2**52, count, replace=False))
    vectors = rng.normal(size=(proxies, width)) if proxies else None
    return Stored(
        ids, labels, embeddings, near, first_hit, r, "cosine", vectors, np.arange(proxies) if proxies else None
    )


def timed(title: str, work: Callable[[], Answer]) -> Answer:
    """Call a function and print how long it took."""
    started = perf_counter()
    answer = work()
    print(f"{title:24} {perf_counter() - started:6.2f} s")
    return answer


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    numbers = (("count", 60_502), ("width", 512), ("neighbours", 100), ("classes", 11_316), ("proxies", 100))
    for name, default in numbers:
        parser.add_argument(f"--{name}", type=int, default=default)
    args = parser.parse_args()
    stored = random_evaluation(args.count, args.width, args.neighbours, args.classes, args.proxies)
    print(f"{args.count} x {args.width}, {args.classes} classes, {len(stored.failed)} failed queries")
    found = timed("causes", lambda: failures.find_causes(stored))
    timed("confusions", lambda: mistakes.confusions(stored))
    hubs = mistakes.intruding_hubs(found.occurrences, 500)
    timed(f"victims of {len(hubs)} hubs", lambda: mistakes.victims(stored, hubs))
    timed("missed, of one query", lambda: mistakes.missed(stored, int(stored.failed[0]), 0))
    ids, hits = stored.sample_ids, stored.first_hit
    timed("won and lost", lambda: mistakes.changes(ids, hits, ids, np.roll(hits, 1)))
    print(found.counts())
    scale = 2**20 if sys.platform == "darwin" else 2**10
    print(f"{'peak memory':24} {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / scale:6.0f} MB")


if __name__ == "__main__":
    main()
