"""Trainer against the bare loop: the same model, data and steps, in turns in one process.

    python tests/benchmarks/trainer_speed.py [--model conv4|resnet50] [--side 28] [--batch 64] [--steps 150]

Prints images per second of each round and the ratio of the medians. No probe, no evaluation: only the loop.
"""

import argparse
from statistics import median
from time import perf_counter

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from workbench.backbones.model import build_model
from workbench.config import EmbeddingParams, TrainingParams
from workbench.control import Control
from workbench.losses import build_loss
from workbench.training import device as devices
from workbench.training.feed import Feed
from workbench.training.optimisers import build_optimiser, build_schedule
from workbench.training.trainer import Parts, train


class Order:
    """The same batches again and again."""

    def __init__(self, images: int, batch: int, steps: int) -> None:
        self.steps_per_epoch, self._images, self._batch = steps, images, batch

    def batches(self, epoch: int) -> list[np.ndarray]:
        rng = np.random.default_rng(epoch)
        return [rng.integers(0, self._images, self._batch) for _ in range(self.steps_per_epoch)]


class Unchanged:
    def __call__(self, images: Tensor, generator: torch.Generator) -> Tensor:
        return images

    def evaluate(self, images: Tensor) -> Tensor:
        return images


def make(args: argparse.Namespace, where: torch.device) -> tuple[nn.Module, nn.Module, torch.optim.Optimizer]:
    torch.manual_seed(0)
    model = build_model(args.model, {}, EmbeddingParams(dim=100), args.channels).to(where)
    loss = build_loss("ce", num_classes=10, embedding_dim=100).to(where)
    if where.type == "cuda":
        model.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    return model, loss, build_optimiser(TrainingParams(optimiser="sgd"), model, loss)


def bare(args: argparse.Namespace, feed: Feed, order: Order, where: torch.device) -> float:
    """A loop as one writes it by hand, with the same autocast and memory format; images per second."""
    model, loss, optimiser = make(args, where)
    model.train()
    pixels = torch.cat([(images * 255).round().byte() for images in feed.in_order(256)])
    since = perf_counter()
    for index in order.batches(1):
        at = torch.from_numpy(index).to(where)
        images = pixels[at].float().div_(255)
        if where.type == "cuda":
            images = images.contiguous(memory_format=torch.channels_last)
        with devices.autocast(where, "auto"):
            value = loss(model(images), feed.labels[at])
        optimiser.zero_grad(set_to_none=True)
        value.backward()
        optimiser.step()
    value.item()
    return args.batch * args.steps / (perf_counter() - since)


def trainer(args: argparse.Namespace, feed: Feed, order: Order, where: torch.device) -> float:
    """The same through the Trainer; images per second."""
    model, loss, optimiser = make(args, where)
    parts = Parts(model, loss, optimiser, build_schedule(TrainingParams(), optimiser, args.steps), where)
    batches = feed.training(order, Unchanged(), seed=0)
    since = perf_counter()
    train(parts, batches, epochs=1, steps_per_epoch=args.steps, control=Control(), emit=lambda event: None)
    return args.batch * args.steps / (perf_counter() - since)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", default="conv4")
    parser.add_argument("--side", type=int, default=28)
    parser.add_argument("--channels", type=int, default=1)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--steps", type=int, default=150)
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    where = devices.choose("auto")
    rng = np.random.default_rng(0)
    pixels = rng.integers(0, 255, (512, args.side, args.side, args.channels), np.uint8)
    feed = Feed(pixels, np.arange(512), rng.integers(0, 10, 512), where)
    order = Order(512, args.batch, args.steps)
    F.relu(torch.zeros(1, device=where))
    bare(args, feed, order, where)  # warm
    found: dict[str, list[float]] = {"bare": [], "trainer": []}
    for turn in range(args.rounds):
        for name, loop in (
            (("bare", bare), ("trainer", trainer)) if turn % 2 else (("trainer", trainer), ("bare", bare))
        ):
            found[name].append(loop(args, feed, order, where))
    print(
        f"{args.model} {args.side}x{args.side}, batch {args.batch}, {args.steps} steps, {args.rounds} rounds, {where}"
    )
    for name, speeds in found.items():
        print(f"{name:8} img/s  min {min(speeds):9.1f}  median {median(speeds):9.1f}  max {max(speeds):9.1f}")
    print(f"ratio of medians {median(found['trainer']) / median(found['bare']):.4f}")


if __name__ == "__main__":
    main()
