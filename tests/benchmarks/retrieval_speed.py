"""Time and memory of one evaluation, from embeddings to metrics and neighbours.

    python tests/benchmarks/retrieval_speed.py [--count 10000] [--width 100] [--classes 10] [--threads 1] [--rounds 3]
        [--device cpu|cuda] [--reference]

Prints seconds for both metrics, for a gallery where every sample has a copy, and for classes of two; with --reference
also those of pytorch-metric-learning's AccuracyCalculator (its faiss search and its float32) and the differences.
"""

import argparse
import resource
import sys
from collections.abc import Callable
from time import perf_counter

import numpy as np
import torch

from workbench.evaluation import retrieve


def best_of(rounds: int, work: Callable[[], object]) -> float:
    """Seconds of the fastest of some rounds."""
    times = []
    for _ in range(rounds):
        started = perf_counter()
        work()
        times.append(perf_counter() - started)
    return min(times)


def peak_megabytes() -> float:
    scale = 2**20 if sys.platform == "darwin" else 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / scale


def reference(vectors: np.ndarray, labels: np.ndarray) -> dict[str, float]:
    """pytorch-metric-learning's metrics of unit vectors."""
    from pytorch_metric_learning.utils.accuracy_calculator import AccuracyCalculator

    wanted = ("precision_at_1", "r_precision", "mean_average_precision_at_r")
    calculator = AccuracyCalculator(include=wanted, k="max_bin_count", device=torch.device("cpu"))
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return calculator.get_accuracy(torch.from_numpy(unit), torch.from_numpy(labels))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (("count", 10_000), ("width", 100), ("classes", 10), ("threads", 1), ("rounds", 3)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--reference", action="store_true")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    rng = np.random.default_rng(0)
    labels = rng.integers(0, args.classes, args.count)
    vectors = rng.normal(size=(args.count, args.width)) + 0.3 * rng.normal(size=(args.classes, args.width))[labels]
    vectors = vectors.astype(np.float32)
    copies = np.concatenate([vectors[: (args.count + 1) // 2]] * 2)[: args.count]
    ids = rng.permutation(args.count)
    cases = {
        "cosine": (vectors, labels, "cosine"),
        "l2": (vectors, labels, "l2"),
        "cosine, all copies": (copies, labels, "cosine"),
        "cosine, classes of two": (vectors, np.arange(args.count) // 2, "cosine"),
    }
    print(f"{args.count} x {args.width}, {args.classes} classes, {args.threads} threads, {args.device}")
    before = peak_megabytes()
    for name, (table, classes, distance) in cases.items():
        seconds = best_of(
            args.rounds,
            lambda: retrieve(table, classes, ids, distance=distance, device=args.device),  # noqa: B023
        )
        print(f"{name:24} {seconds:6.2f} s")
    print(f"{'memory above the start':24} {peak_megabytes() - before:6.0f} MB")
    if args.reference:
        found = retrieve(vectors, labels, ids).metrics
        started = perf_counter()
        theirs = reference(vectors, labels)
        print(f"{'reference':24} {perf_counter() - started:6.2f} s")
        for ours, name in (("P@1", "precision_at_1"), ("P@R", "r_precision"), ("MAP@R", "mean_average_precision_at_r")):
            print(f"{'difference in ' + ours:24} {abs(found[ours] - theirs[name]):.1e}")


if __name__ == "__main__":
    main()
