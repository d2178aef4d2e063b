"""What every loss costs, forward and backward, against pytorch-metric-learning's version or the bare formula.

    OMP_NUM_THREADS=1 python tests/benchmarks/loss_cost.py [--losses triplet ...] [--rounds 15] [--device cpu] [--less]

Batches of 128 and 512, embeddings of 128 and 512 numbers, 100 classes and 11,318, four images of a class side by side.
With --less also against versions that do less on the same batch, and against these at equal work. Both versions take
turns in one process, in which the labels are known to be in range as they are in training; prints medians in ms and
their ratio as Markdown. With one thread processor time is measured, which other processes hardly disturb; with more,
time by the clock.
"""

import argparse
from dataclasses import dataclass, field
from itertools import product
from statistics import median
from time import perf_counter, process_time

import numpy as np
import torch
from loss_peers import BARE, LESS, PML, Make
from torch import Tensor, nn

from workbench.losses import build_loss, list_losses, tsc
from workbench.losses.batch import labels_in_range
from workbench.losses.prototypes import uniform
from workbench.losses.shared.pair_lists import keep_on_cpu

CASES = list(product((128, 512), (128, 512), (100, 11_318)))  # n, d, K
OWN: dict[str, dict[str, object]] = {
    "psce": {"prototypes": "random"},  # repelling ones are made once per run, in seconds to a minute
    "xbm": {"warm_up": 0},
}
FILLING = 18  # steps, after which every memory is full
LONGEST = 4.0  # seconds for one line


def seconds(loss: nn.Module, z: Tensor, y: Tensor) -> float:
    z = z.detach().requires_grad_()
    clock = process_time if not z.is_cuda and torch.get_num_threads() == 1 else perf_counter
    since = clock()
    value = loss(z, y)
    if value.requires_grad:
        value.backward()
    if z.is_cuda:
        torch.cuda.synchronize()
    return clock() - since


def built(name: str, classes: int, dim: int, params: dict[str, object]) -> nn.Module:
    loss = build_loss(name, num_classes=classes, embedding_dim=dim, **OWN.get(name, {}), **params)
    if name == "ccp":
        loss.place(torch.randn(8 * classes, dim) / dim**0.5)
    return loss


def made(name: str) -> Make:
    """Makes a loss as `built`, to be compared with another of its kind."""
    return lambda classes, dim: built(name, classes, dim, {})


def in_turns(losses: list[nn.Module], batches: list[tuple[Tensor, Tensor]], rounds: int, filling: int) -> list[float]:
    """Median ms of each; the order changes with every round. Losses that alternate count by the pair of steps."""
    for _ in range(filling):
        for loss, batch in zip(losses, batches, strict=True):
            seconds(loss, *batch)
    taken: list[list[float]] = [[] for _ in losses]
    begun = process_time()
    for turn in range(rounds):
        for place in range(len(losses)):
            which = (place + turn) % len(losses)
            loss, batch = losses[which], batches[which]
            taken[which].append((seconds(loss, *batch) + seconds(loss, *batch)) / 2)
        if turn >= 2 and process_time() - begun > LONGEST:
            break
    return [1000 * median(each) for each in taken]


@dataclass(frozen=True)
class Comparison:
    peer: str
    make: Make
    params: dict[str, object] = field(default_factory=dict)
    pairs: bool = False


def comparisons(name: str, less: bool) -> list[Comparison]:
    found = [Comparison("bare", BARE[name]) if name in BARE else Comparison("PML", PML[name])]
    if less and name in LESS:
        version = LESS[name]
        found.append(Comparison(f"PML: {version.why}", version.make))
        if version.equal:
            found.append(Comparison(f"PML, equal: {version.equal}", version.make, version.params, version.pairs))
    return found


def measured(name: str, against: Comparison, sizes: tuple[int, int, int], args: argparse.Namespace) -> list[float]:
    """Median ms of ours and of the peer."""
    n, dim, classes = sizes
    torch.manual_seed(0)
    batches = [batch_of(n, dim, classes, 4, args.device)]
    batches.append(batch_of(2 * n, dim, n, 2, args.device) if against.pairs else batches[0])
    losses = [built(name, classes, dim, against.params), against.make(classes, dim)]
    filling = FILLING if name in ("snca", "xbm") else 2
    return in_turns([each.to(args.device).train() for each in losses], batches, args.rounds, filling)


def batch_of(n: int, dim: int, classes: int, images: int, device: str) -> tuple[Tensor, Tensor]:
    """Embeddings, and labels whose values are on the CPU, too, as those of a feed."""
    labels = np.arange(n) // images % classes
    return torch.randn(n, dim, device=device), keep_on_cpu(torch.from_numpy(labels).to(device), labels)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--losses", nargs="*", default=list_losses())
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--less", action="store_true", help="also against versions that do less")
    args = parser.parse_args()
    tsc.repelling = uniform  # its targets are made once per run, in minutes
    print("| loss | peer | n | d | K | Workbench, ms | peer, ms | ratio |\n|---|---|---|---|---|---|---|---|")
    for name in args.losses:
        for against in comparisons(name, args.less):
            for n, dim, classes in CASES:
                ours, theirs = measured(name, against, (n, dim, classes), args)
                sizes = f"{n} | {dim} | {classes:,}"
                print(
                    f"| {name} | {against.peer} | {sizes} | {ours:.2f} | {theirs:.2f} | {ours / theirs:.2f} |",
                    flush=True,
                )


if __name__ == "__main__":
    with labels_in_range():
        main()
