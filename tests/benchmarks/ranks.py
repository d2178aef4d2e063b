"""Throughput of several ranks on as many cores against one rank on one core, in turns.

    python -m tests.benchmarks.ranks [--ranks 2] [--model conv4] [--params model=vit_small_patch16_224]
        [--side 28] [--channels 1] [--batch 128] [--steps 20] [--rounds 9] [--local-norm]

Each rank has one thread. A round has three turns in a random order: one rank on one core; all ranks together; and as
many runs that have nothing to do with each other, each with its share of the batch, which is the most that this machine
gives in that moment. What another program or the machine's host takes hits all three alike. Prints the medians of the
ratios of a round with their quartiles: ranks against one, unrelated runs against one, and the one by the other; and
what a step of this rank waits for the others. The ratio by processor time leaves other programs out: it is what free
cores give, but for waits on messages.
"""

import argparse
import os
import random
import tempfile
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np
import torch

from workbench.backbones.model import build_model
from workbench.config import EmbeddingParams, TrainingParams
from workbench.control import Control
from workbench.datasets.batches.augment import Shift, ShiftParams
from workbench.jobs import RankProcesses, serve_rank
from workbench.losses import build_loss
from workbench.training import lines
from workbench.training import ranks as training_ranks
from workbench.training.feed import Feed
from workbench.training.optimisers import build_optimiser, build_schedule
from workbench.training.ranks import OneRank, Ranks
from workbench.training.trainer import Parts, train

CPU = torch.device("cpu")
TOGETHER, APART, OVER = 1, 2, 0  # commands to the other ranks
waits: list[float] = []  # seconds of each exchange with the other ranks


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
    model = build_model(args["model"], args["params"], EmbeddingParams(dim=64), args["channels"])
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
    """Another rank: trains whenever rank 0 does, with it or for itself."""
    torch.set_num_threads(1)
    lines.LOOKING_LONG = order["looking"]
    ranks = Ranks(
        Path(order["folder"]) / "meeting", order["rank"], order["ranks"], CPU, shared_norm=not order["local_norm"]
    )
    while (turn := ranks.same(OVER)) != OVER:
        several(order, ranks, turn)


def several(args: dict[str, Any], ranks: Ranks, turn: int) -> tuple[float, float]:
    """Images per second of all ranks, and per second of this rank's processor time, as one run or as unrelated ones."""
    if turn == TOGETHER:
        return speed(args, ranks)
    clock, processor = speed(args | {"batch": args["batch"] // ranks.count}, OneRank())
    clocks = ranks.whole(torch.tensor([clock]), [1] * ranks.count)
    return float(clocks.sum()), processor * ranks.count


def alone(args: dict[str, Any]) -> tuple[float, float]:
    """The same of one rank on one core, where the system can have it there."""
    if not hasattr(os, "sched_setaffinity"):
        return speed(args, OneRank())
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})
    try:
        return speed(args, OneRank())
    finally:
        os.sched_setaffinity(0, cores)


class TimedLines(lines.Lines):
    """Lines between ranks that add their waiting times to `waits`."""

    def of_each(self, own: torch.Tensor) -> torch.Tensor:
        since = perf_counter()
        parts = super().of_each(own)
        waits.append(perf_counter() - since)
        return parts

    def meet(self) -> None:
        since = perf_counter()
        super().meet()
        waits.append(perf_counter() - since)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--model", default="conv4")
    parser.add_argument("--params", nargs="*", default=[], metavar="NAME=VALUE", help="of the backbone")
    parser.add_argument("--local-norm", action="store_true", help="each rank normalises its share by itself")
    parser.add_argument("--loss", default="supcon")
    parser.add_argument("--side", type=int, default=28)
    parser.add_argument("--channels", type=int, default=1)
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument(
        "--looking", type=float, default=lines.LOOKING_LONG, help="most seconds that a rank looks for an answer"
    )
    args = vars(parser.parse_args())
    args["params"] = dict(pair.split("=", 1) for pair in args["params"])
    torch.set_num_threads(1)
    lines.LOOKING_LONG = args["looking"]
    training_ranks.Lines = TimedLines  # type: ignore[misc]
    taken: dict[str, list[tuple[float, float]]] = {"one": [], "together": [], "apart": []}
    waited: list[float] = []
    print(f"load before {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    with tempfile.TemporaryDirectory() as folder:
        orders = [args | {"folder": folder, "rank": rank} for rank in range(1, args["ranks"])]
        processes = RankProcesses("tests.benchmarks.ranks", orders)
        try:
            processes.wait_until_ready()
            ranks = Ranks(Path(folder) / "meeting", 0, args["ranks"], CPU, shared_norm=not args["local_norm"])
            for turn in range(args["rounds"] + 1):
                for name in random.sample(list(taken), len(taken)):
                    waits.clear()
                    kind = {"one": OVER, "together": TOGETHER, "apart": APART}[name]
                    value = alone(args) if name == "one" else several(args, ranks, ranks.same(kind))
                    if turn:  # the first one is warm-up
                        taken[name].append(value)
                        waited += [sum(waits) / args["steps"]] if name == "together" else []
            ranks.same(OVER)
            ranks.leave()
        finally:
            processes.close()
    print(f"load after {os.getloadavg()[0]:.1f}; {args['model']}, {args['loss']}, batch {args['batch']}")
    speeds = {name: np.array(values) for name, values in taken.items()}
    step = 1000 * args["batch"] / np.median(speeds["together"][:, 0])
    print(f"a step of all ranks {step:.1f} ms, of which this one waited {1000 * np.median(waited):.1f} ms")
    for kind, title in enumerate(("by the clock", "by processor time")):
        of = {name: values[:, kind] for name, values in speeds.items()}
        print("; ".join(f"{name} {np.median(of[name]):.1f} img/s" for name in of) + f" {title}")
        told(f"{args['ranks']} ranks against one", of["together"] / of["one"])
        told(f"{args['ranks']} unrelated runs of a share against one", of["apart"] / of["one"])
        told("the first by the second", of["together"] / of["apart"])


def told(name: str, ratios: np.ndarray) -> None:
    low, middle, high = np.percentile(ratios, [25, 50, 75])
    print(f"  {name:44} {middle:.2f} (quartiles {low:.2f} to {high:.2f})")


if __name__ == "__main__":
    if "RANK" in os.environ:
        serve_rank(beside)
    main()
