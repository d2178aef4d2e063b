"""What exact retrieval of a million samples among a million costs, from smaller sets: the work grows with the square.

    python tests/benchmarks/exact_cost.py [--counts 25000 50000 100000] [--width 64] [--neighbours 100]

Drawn embeddings as million.py's, 50 of each class. Prints seconds and processor seconds of all retrieval metrics, each
sample a query among all others, and what the last two sizes say of 1,000,000.
"""

import argparse
import os
from time import perf_counter, process_time

import numpy as np
from million import drawn

from workbench.evaluation.retrieval import retrieve

OF_A_CLASS, MILLION = 50, 1_000_000


def cost(count: int, width: int, neighbours: int) -> tuple[float, float]:
    """Seconds by the clock, and of processor time."""
    vectors, labels = drawn(count, width, count // OF_A_CLASS)
    began, worked = perf_counter(), process_time()
    retrieve(vectors, labels, np.arange(count), k=neighbours)
    return perf_counter() - began, process_time() - worked


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--counts", type=int, nargs="+", default=[25_000, 50_000, 100_000])
    parser.add_argument("--width", type=int, default=64)
    parser.add_argument("--neighbours", type=int, default=100)
    args = parser.parse_args()
    cost(2_000, args.width, args.neighbours)  # libraries are loaded
    costs = []
    for count in args.counts:
        costs.append(cost(count, args.width, args.neighbours))
        clock, worked = costs[-1]
        pairs = count * (count - 1)
        print(
            f"{count:9,} x {args.width}: {clock:7.1f} s, {worked:7.1f} s of processor time, "
            f"{1e9 * worked / pairs:.2f} ns a pair, {1000 * worked / count:.2f} ms a query", flush=True,
        )  # fmt: skip
    (smaller, larger), (before, last) = args.counts[-2:], costs[-2:]
    for name, at in (("by the clock", 0), ("of processor time", 1)):
        # a n + b n^2 through both
        slope = (last[at] / larger - before[at] / smaller) / (larger - smaller)
        whole = MILLION * (last[at] / larger + slope * (MILLION - larger))
        print(f"1,000,000 {name}: about {whole / 60:.0f} minutes")
    print(f"load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
