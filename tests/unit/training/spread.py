"""A small run in float64 that tests/unit/training/test_ranks.py makes on one rank and on several; and their other ends.

`python -m tests.unit.training.spread` is a rank beside the test's process: it trains whatever the test trains.
"""

import contextlib
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from workbench.config import TrainingParams
from workbench.control import Control
from workbench.datasets.batches.augment import Shift, ShiftParams
from workbench.evaluation.geometry import class_shape
from workbench.events import Scalar
from workbench.jobs import RankProcesses, serve_rank
from workbench.losses import build_loss
from workbench.losses.contract import Surroundings
from workbench.problem import Problem
from workbench.training.feed import Feed
from workbench.training.optimisers import build_optimiser, build_schedule
from workbench.training.ranks import OneRank, Ranks
from workbench.training.trainer import Parts, train

STEPS, CLASSES, BATCH, DIM = 20, 6, 26, 8  # a batch that four ranks do not share evenly
CPU = torch.device("cpu")
SHORT: dict[str, dict[str, Any]] = {  # so that memories turn over and projections end within the steps
    "xbm": {"warm_up": 3, "memory": 40},
    "snca": {"memory": 40},
    "ccp": {"check_every": 4, "patience": 1, "proxies": 2, "pool": 4},
}


@dataclass(frozen=True)
class Wanted:
    """What is trained; plain values, told from rank to rank."""

    loss: str
    shared_norm: bool = True
    precision: str = "float64"
    optimiser: str = "adam"
    chunk: int = 0  # images at a time; above 0 the network has no batch-norm but in its head
    parted_head: bool = True
    apart: float = 0.0  # what the weights of other ranks are changed by when they are compared


@dataclass(frozen=True)
class Trained:
    """What came of it."""

    losses: list[float]
    gradients: list[Tensor]
    weights: list[Tensor]
    kept: dict[str, Any]  # buffers and other state of model and loss


class Head(nn.Sequential):
    """A head of two parts, as the product's."""

    def of_each(self, features: Tensor) -> Tensor:
        linear: Tensor = self[0](features)
        return linear

    def of_all(self, linear: Tensor) -> Tensor:
        embeddings: Tensor = self[1:](linear)
        return embeddings


class Net(nn.Module):
    """Convolutions, batch-norm of both kinds and dropout in the head, as the product's models have them."""

    def __init__(self, dtype: torch.dtype, parted: bool) -> None:
        super().__init__()
        convolutions = [
            nn.Conv2d(1, 6, 3, padding=1, bias=False),
            nn.BatchNorm2d(6),
            nn.ReLU(),
            nn.Conv2d(6, 8, 3, bias=False),
        ]
        self.backbone = nn.Sequential(*convolutions, nn.BatchNorm2d(8), nn.ReLU(), nn.AvgPool2d(3), nn.Flatten())
        head = Head if parted else nn.Sequential
        self.head = head(nn.Linear(32, DIM, bias=False), nn.Dropout(0.2), nn.BatchNorm1d(DIM, affine=False))
        self.dtype = dtype
        self.to(dtype)

    def features(self, images: Tensor) -> Tensor:
        features: Tensor = self.backbone(images.to(self.dtype))
        return features

    def forward(self, images: Tensor) -> Tensor:
        embeddings: Tensor = self.head(self.features(images))
        return embeddings


class Drawn:
    """The same batches for the same epoch: two of each class and more."""

    steps_per_epoch = STEPS // 2
    places = np.arange(72)

    def batches(self, epoch: int) -> list[np.ndarray]:
        rng = np.random.default_rng(epoch)
        return [rng.permutation(self.places)[:BATCH] for _ in range(self.steps_per_epoch)]


def trained(wanted: Wanted, ranks: OneRank) -> Trained:
    """Twenty steps through the product's loop, as one of `ranks`."""
    rng = np.random.default_rng(0)
    labels = np.arange(72) % CLASSES
    pixels = (rng.integers(0, 120, (72, 8, 8, 1)) + 20 * labels[:, None, None, None]).astype(np.uint8)
    feed = Feed(pixels, np.arange(72), labels, CPU)
    torch.manual_seed(0)
    model = Net(getattr(torch, wanted.precision), wanted.parted_head)
    if wanted.chunk:
        model.backbone[1], model.backbone[4] = nn.Identity(), nn.Identity()
    loss = build_loss(wanted.loss, num_classes=CLASSES, embedding_dim=DIM, **SHORT.get(wanted.loss, {})).to(model.dtype)
    settings = TrainingParams(optimiser=wanted.optimiser, lr=1e-3)
    optimiser = build_optimiser(settings, model, loss)
    schedule = build_schedule(settings, optimiser, STEPS)
    parts = Parts(model, loss, optimiser, schedule, CPU, "float32", chunk=wanted.chunk, ranks=ranks)
    around = Surroundings(
        model, labels, 0, lambda rows: model(feed.images(rows)), lambda by, distance: math.sin(parts.step), class_shape,
        lambda event: None, lambda rows, number: model(feed.augmented(rows, Shift(ShiftParams(pixels=1)), 0, number)),
    )  # fmt: skip
    companion, losses = loss.companion(around), []
    companion.begin()

    def hear(event: object) -> None:
        if isinstance(event, Scalar) and event.name == "batch/loss":
            losses.append(event.value)

    train(
        parts, feed.training(Drawn(), Shift(ShiftParams(pixels=1)), 7, share=ranks.share), epochs=2,
        steps_per_epoch=Drawn.steps_per_epoch, control=Control(), emit=hear, penalty=companion.penalty,
        after_step=companion.after_step,
    )  # fmt: skip
    gradients = [torch.zeros_like(weight) if weight.grad is None else weight.grad for weight in parts.weights]
    return Trained(losses, gradients, [weight.detach() for weight in parts.weights], _kept(model) | _kept(loss))


def _kept(module: nn.Module) -> dict[str, Any]:
    return {f"{type(module).__name__} {name}": value for name, value in module.state_dict().items()}


@contextlib.contextmanager
def spread(count: int, folder: Path) -> Iterator[RankProcesses]:
    """`count` - 1 processes beside this one, ready to meet by files in `folder`."""
    orders = [{"rank": rank, "count": count, "folder": str(folder)} for rank in range(1, count)]
    processes = RankProcesses("tests.unit.training.spread", orders)
    try:
        processes.wait_until_ready()
        yield processes
    finally:
        processes.close()


def train_beside(order: dict[str, Any]) -> None:
    """Train what rank 0 trains, until it ends."""
    torch.set_num_threads(1)
    ranks = Ranks(Path(order["folder"]) / "meeting", order["rank"], order["count"], CPU)
    while (wanted := ranks.same(None)) is not None:
        ranks.shared_norm = wanted.shared_norm
        weights = trained(wanted, ranks).weights
        with contextlib.suppress(Problem):
            ranks.check_alike([weight + wanted.apart for weight in weights])


if __name__ == "__main__":
    from tests.unit.training import spread as itself  # whose classes rank 0's are

    serve_rank(itself.train_beside)
