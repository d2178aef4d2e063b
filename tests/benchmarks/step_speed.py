"""A training step of this code against one of an earlier checkout: processor time, in turns, one thread each.

    git worktree add FOLDER b301d7e
    OMP_NUM_THREADS=1 python tests/benchmarks/step_speed.py FOLDER [--steps 12] [--rounds 15]

A process for each checkout trains a few steps each time it is asked to, one after the other in a random order: conv4 at
28 px with a batch of 64 and squeezenet1_0 at 64 px with 16. Prints the medians of a step's processor time, and of the
ratios of a round.
"""

import argparse
import os
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from time import process_time

import numpy as np
import torch

NETWORKS = {"conv4": (28, 1, 64), "squeezenet1_0": (64, 3, 16)}  # side, channels, batch
ROOT = Path(__file__).resolve().parents[2]


class Order:
    """Random batches."""

    def __init__(self, batch: int, steps: int) -> None:
        self.steps_per_epoch, self._batch = steps, batch

    def batches(self, epoch: int) -> list[np.ndarray]:
        rng = np.random.default_rng(epoch)
        return [rng.integers(0, 256, self._batch) for _ in range(self.steps_per_epoch)]


def trained(name: str, steps: int) -> Callable[[], float]:
    """A function that trains so many steps with the workbench of the current folder; its seconds for one."""
    from workbench.backbones.model import build_model
    from workbench.config import EmbeddingParams, TrainingParams
    from workbench.control import Control
    from workbench.datasets.batches.augment import Shift, ShiftParams
    from workbench.losses import build_loss
    from workbench.training.feed import Feed
    from workbench.training.optimisers import build_optimiser, build_schedule
    from workbench.training.trainer import Parts, train

    side, channels, batch = NETWORKS[name]
    cpu, labels = torch.device("cpu"), np.arange(256) % 10
    pixels = np.random.default_rng(0).integers(0, 255, (256, side, side, channels), np.uint8)
    feed = Feed(pixels, np.arange(256), labels, cpu)
    torch.manual_seed(0)
    model = build_model(name, {}, EmbeddingParams(dim=64), channels)
    model.to(memory_format=torch.channels_last)  # type: ignore[call-overload]  # as both have it
    loss = build_loss("ce", num_classes=10, embedding_dim=64)
    settings = TrainingParams(optimiser="sgd", lr=1e-3)
    optimiser = build_optimiser(settings, model, loss)
    parts = Parts(model, loss, optimiser, build_schedule(settings, optimiser, 1_000_000), cpu)
    batches = feed.training(Order(batch, steps), Shift(ShiftParams()), 0)
    epoch = 0

    def work() -> float:
        nonlocal epoch
        epoch += 1
        since = process_time()
        train(
            parts, batches, epochs=epoch, steps_per_epoch=steps, control=Control(), emit=lambda event: None
        )  # fmt: skip
        return (process_time() - since) / steps

    return work


def serve(steps: int) -> None:
    """The process of one checkout: a line names a network; its seconds for a step are the answer."""
    torch.set_num_threads(1)
    work = {name: trained(name, steps) for name in NETWORKS}
    for line in sys.stdin:
        print(work[line.strip()](), flush=True)


def asked(process: "subprocess.Popen[str]", name: str) -> float:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(name + "\n")
    process.stdin.flush()
    return float(process.stdout.readline())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=Path, nargs="?")
    parser.add_argument("--steps", type=int, default=12, help="of a turn")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.serve:
        serve(args.steps)
        return
    trees = {"now": ROOT, "before": args.before.resolve()}
    command = [sys.executable, __file__, "--serve", "--steps", str(args.steps)]
    processes = {
        name: subprocess.Popen(
            command, cwd=tree, env=os.environ | {"PYTHONPATH": str(tree), "OMP_NUM_THREADS": "1"},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )
        for name, tree in trees.items()
    }  # fmt: skip
    print(f"load {os.getloadavg()[0]:.1f}")
    for network in NETWORKS:
        seconds: dict[str, list[float]] = {name: [] for name in trees}
        for turn in range(args.rounds + 1):
            for name in random.sample(list(trees), 2):
                spent = asked(processes[name], network)
                if turn:  # the first one is warm-up
                    seconds[name].append(spent)
        now, before = (1000 * np.array(seconds[name]) for name in trees)
        low, middle, high = np.percentile(now / before, [25, 50, 75])
        print(
            f"{network:14} now {np.median(now):6.1f} ms, before {np.median(before):6.1f} ms; "
            f"ratio of a round {middle:.3f} (quartiles {low:.3f} to {high:.3f})"
        )
    for process in processes.values():
        process.communicate()
    print(f"load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
