"""Throughput of several ranks on as many cores against one rank on one core, turn by turn.

    python tests/benchmarks/ranks.py [--ranks 2] [--model conv4] [--side 28] [--batch 128] [--steps 40] [--rounds 5]

Each rank has one thread. Prints images per second of each round, the ratio of the medians and the load of the machine,
which decides what they are worth: two ranks wait for each other whenever another program takes one of their cores. The
ratio by processor time leaves other programs out: it is what free cores give, but for waits on messages.
"""

import argparse
import os
import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import Any

import numpy as np
import torch

from workbench.backbones.model import build_model
from workbench.config import EmbeddingParams, TrainingParams
from workbench.control import Control
from workbench.datasets.augment import Shift, ShiftParams
from workbench.jobs import RankProcesses, serve_rank
from workbench.losses import build_loss
from workbench.training import lines
from workbench.training.feed import Feed
from workbench.training.optimisers import build_optimiser, build_schedule
from workbench.training.ranks import OneRank, Ranks
from workbench.training.trainer import Parts, train

CPU = torch.device("cpu")


class Order:
    """Random batches of images."""

    def __init__(self, images: int, batch: int, steps: int) -> None:
        self.steps_per_epoch, self.places, self._batch = steps, np.arange(images), batch

    def batches(self, epoch: int) -> list[np.ndarray]:
        rng = np.random.default_rng(epoch)
        return [rng.integers(0, len(self.places), self._batch) for _ in range(self.steps_per_epoch)]


def speed(args: dict[str, Any], ranks: OneRank) -> tuple[float, float]:
    """Images per second, and per second of this rank's processor time, of the loop without its first two steps."""
    rng = np.random.default_rng(0)
    pixels = rng.integers(0, 255, (512, args["side"], args["side"], args["channels"]), np.uint8)
    labels = np.arange(512) % 10
    feed = Feed(pixels, np.arange(512), labels, CPU)
    torch.manual_seed(0)
    model = build_model(args["model"], {}, EmbeddingParams(dim=64), args["channels"])
    model.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    loss = build_loss(args["loss"], num_classes=10, embedding_dim=64)
    settings = TrainingParams(optimiser="sgd", lr=1e-3)
    optimiser = build_optimiser(settings, model, loss)
    parts = Parts(model, loss, optimiser, build_schedule(settings, optimiser, args["steps"]), CPU, ranks=ranks)
    since = [0.0, 0.0]

    def start_clock(step: int) -> None:
        if step == 2:
            since[:] = perf_counter(), process_time()

    train(
        parts, feed.training(Order(512, args["batch"], args["steps"]), Shift(ShiftParams()), 0, share=ranks.share),
        epochs=1, steps_per_epoch=args["steps"], control=Control(), emit=lambda event: None, after_step=start_clock,
    )  # fmt: skip
    images = args["batch"] * (args["steps"] - 2)
    return images / (perf_counter() - since[0]), images / (process_time() - since[1])


def beside(order: dict[str, Any]) -> None:
    """Another rank: trains whenever rank 0 does."""
    torch.set_num_threads(1)
    lines.LOOKING = order["looking"]
    ranks = Ranks(Path(order["folder"]) / "meeting", order["rank"], order["ranks"], CPU)
    while ranks.same(False):
        speed(order, ranks)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--model", default="conv4")
    parser.add_argument("--loss", default="supcon")
    parser.add_argument("--side", type=int, default=28)
    parser.add_argument("--channels", type=int, default=1)
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--looking", type=float, default=lines.LOOKING, help="seconds a rank looks for an answer awake")
    args = vars(parser.parse_args())
    torch.set_num_threads(1)
    lines.LOOKING = args["looking"]
    speeds: dict[int, list[tuple[float, float]]] = {1: [], args["ranks"]: []}
    print(f"load before {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    with tempfile.TemporaryDirectory() as folder:
        orders = [args | {"folder": folder, "rank": rank} for rank in range(1, args["ranks"])]
        processes = RankProcesses("tests.benchmarks.ranks", orders)
        try:
            processes.wait_until_ready()
            ranks = Ranks(Path(folder) / "meeting", 0, args["ranks"], CPU)
            for turn in range(args["rounds"]):
                for count in (1, args["ranks"]) if turn % 2 else (args["ranks"], 1):
                    if count > 1:
                        ranks.same(True)
                    speeds[count].append(speed(args, ranks if count > 1 else OneRank()))
                print("  ".join(f"{count} rank(s) {values[-1][0]:8.1f} img/s" for count, values in speeds.items()))
            ranks.same(False)
            ranks.leave()
        finally:
            processes.close()
    print(f"load after {os.getloadavg()[0]:.1f}; {args['model']}, {args['loss']}, batch {args['batch']}")
    for kind, name in enumerate(("by the clock", "by processor time")):
        one, several = ([values[kind] for values in speeds[count]] for count in (1, args["ranks"]))
        ratios = [other / alone for alone, other in zip(one, several, strict=True)]
        ratio = median(several) / median(one)
        print(f"{name}: ratio of medians {ratio:.2f}, of single rounds {min(ratios):.2f} to {max(ratios):.2f}")


if __name__ == "__main__":
    if "RANK" in os.environ:
        serve_rank(beside)
    main()
