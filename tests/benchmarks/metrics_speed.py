"""All retrieval metrics against pytorch-metric-learning's AccuracyCalculator and a bare faiss search.

    python tests/benchmarks/metrics_speed.py [--small | --large] [--rounds 3]

Two problems: 30,000 x 128 with 5,600 classes, and 60,502 x 512 with 11,316 (the size of SOP's test set). Unit vectors
around random class centres, R@1 about 94%. Every contender runs in a fresh process, which prints its wall
time, processor time and peak memory above that of the embeddings; the three take turns, and medians are printed.
"""

import argparse
import json
import resource
import subprocess
import sys
from statistics import median
from time import perf_counter, process_time

import numpy as np

SIZES = {"30,000 x 128, 5,600 classes": (30_000, 128, 5_600), "60,502 x 512, 11,316 classes": (60_502, 512, 11_316)}
CONTENDERS = ("workbench", "AccuracyCalculator", "faiss")


def problem(n: int, d: int, classes: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    labels = np.concatenate([np.repeat(np.arange(classes), 2), rng.integers(0, classes, n - 2 * classes)])
    spread = {128: 0.8, 512: 0.5}[d]
    vectors = (spread * rng.normal(size=(classes, d)))[labels] + rng.normal(size=(n, d))
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32), labels


def peak_megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)


def work(name: str, vectors: np.ndarray, labels: np.ndarray) -> dict[str, float]:
    if name == "workbench":
        from workbench.evaluation import retrieval_metrics

        retrieval_metrics(vectors[:500], labels[:500] // 250)
        return timed(lambda: retrieval_metrics(vectors, labels)["MAP@R"])
    import faiss

    if name == "faiss":
        k = int(np.bincount(labels).max()) + 1
        index = faiss.IndexFlatIP(vectors.shape[1])
        index.add(vectors[:500])
        index.search(vectors[:500], k)
        index.reset()

        def search() -> float:
            index.add(vectors)
            index.search(vectors, k)
            return float("nan")

        return timed(search)
    import torch
    from pytorch_metric_learning.utils.accuracy_calculator import AccuracyCalculator

    wanted = ("precision_at_1", "r_precision", "mean_average_precision_at_r")
    calculator = AccuracyCalculator(include=wanted, k="max_bin_count", device=torch.device("cpu"))
    calculator.get_accuracy(torch.from_numpy(vectors[:500]), torch.from_numpy(labels[:500] // 250))
    x, y = torch.from_numpy(vectors), torch.from_numpy(labels)
    return timed(lambda: calculator.get_accuracy(x, y)["mean_average_precision_at_r"])


def timed(run) -> dict[str, float]:  # type: ignore[no-untyped-def]
    before, started, worked = peak_megabytes(), perf_counter(), process_time()
    value = run()
    seconds, processor = perf_counter() - started, process_time() - worked
    return {"seconds": seconds, "processor": processor, "megabytes": peak_megabytes() - before, "MAP@R": value}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--one", nargs=4)
    args = parser.parse_args()
    if args.one:
        name, *size = args.one
        print(json.dumps(work(name, *problem(*map(int, size)))))
        return
    columns = ("embeddings", "", "seconds", "to faiss", "processor", "to faiss", "memory, MB", "MAP@R")
    print(f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}")
    for title, size in list(SIZES.items())[1 if args.large else 0 : 1 if args.small else 2]:
        found: dict[str, list[dict[str, float]]] = {name: [] for name in CONTENDERS}
        for _ in range(args.rounds):
            for name in CONTENDERS:
                command = [sys.executable, __file__, "--one", name, *map(str, size)]
                said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
                found[name].append(json.loads(said.splitlines()[-1]))
        middle = {name: {key: median(each[key] for each in runs) for key in runs[0]} for name, runs in found.items()}
        for name, each in middle.items():
            share, worked = (each[key] / middle["faiss"][key] for key in ("seconds", "processor"))
            figures = (f"{each['seconds']:.1f}", f"{share:.2f}", f"{each['processor']:.1f}", f"{worked:.2f}")
            cells = (title, name, *figures, f"{each['megabytes']:.0f}", f"{each['MAP@R']:.6f}")
            print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
