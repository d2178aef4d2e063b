"""Time and trustworthiness of maps, through the real analysis process.

    python tests/benchmarks/map_speed.py [--embeddings FILE.npy] [--count 10000] [--width 128] [--rounds 3] [--plain]

Prints the seconds of a first map in a fresh process (cold), of the warm-up, and of further maps (warm); in brackets the
seconds of processor time of all its threads. Without a file, embeddings are drawn around 50 class centres. --plain also
fits umap-learn by itself and compares trustworthiness.
To see what the very first start on a machine costs, name an empty folder in NUMBA_CACHE_DIR.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np
import psutil


class Analysis:
    """The analysis process and its pipes."""

    def __init__(self) -> None:
        command = [sys.executable, "-m", "workbench.projection.server"]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def work(self) -> float:
        """Seconds of processor time so far."""
        times = psutil.Process(self._process.pid).cpu_times()
        return times.user + times.system

    def ask(self, **request: Any) -> tuple[float, dict[str, Any]]:
        """Seconds until the answer, and the answer."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        started = perf_counter()
        self._process.stdin.write(json.dumps({"id": 1, **request}) + "\n")
        self._process.stdin.flush()
        while (answer := json.loads(self._process.stdout.readline()))["event"] == "progress":
            pass
        if answer["event"] == "error":
            raise SystemExit(answer["what"])
        return perf_counter() - started, answer

    def close(self) -> None:
        self._process.communicate()


def drawn(count: int, width: int) -> np.ndarray:
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(50, width))
    return (0.5 * centres[rng.integers(0, 50, count)] + rng.normal(size=(count, width))).astype(np.float32)


def plain(embeddings: np.ndarray) -> None:
    """umap-learn with default settings, the same seed and metric."""
    import umap

    from workbench.projection.trust import trust
    from workbench.projection.vectors import prepared

    started, before = perf_counter(), process_time()
    points = umap.UMAP(metric="cosine", random_state=0, n_jobs=1).fit_transform(embeddings)
    seconds, work = perf_counter() - started, process_time() - before
    found = trust(prepared(embeddings, "cosine"), points)
    assert found is not None
    print(f"{'plain umap-learn':22} {seconds:6.2f} s ({work:6.2f})   trustworthiness {found.trustworthiness:.4f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--embeddings", type=Path)
    for name, default in (("count", 10_000), ("width", 128), ("rounds", 3)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--plain", action="store_true")
    args = parser.parse_args()
    embeddings = (
        np.load(args.embeddings, allow_pickle=False) if args.embeddings else drawn(args.count, args.width)
    )  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "embeddings.npy"
        np.save(path, embeddings)
        request = {"op": "project_arrays", "embeddings": str(path), "out": folder}
        print(f"{embeddings.shape[0]} x {embeddings.shape[1]}")
        for name, steps in (("cold", ["umap"]), ("after warm-up", ["warm", "pca", *["umap"] * args.rounds])):
            analysis = Analysis()
            for step in steps:
                before = analysis.work() if step != "umap" or name != "cold" else 0.0
                seconds, answer = analysis.ask(**({"op": "warm"} if step == "warm" else {**request, "method": step}))
                trusted = answer.get("trustworthiness")
                told = "" if trusted is None else f"   trustworthiness {trusted:.4f}"
                work = analysis.work() - before
                print(f"{name + ', ' + step:22} {seconds:6.2f} s ({work:6.2f}){told}", flush=True)
            analysis.close()
    if args.plain:
        plain(embeddings)


if __name__ == "__main__":
    main()
