"""What a loss costs, forward and backward, against pytorch-metric-learning's version or the bare formula.

    python tests/benchmarks/loss_cost.py [--losses triplet ...] [--rounds 15] [--device cpu]

Batches of 128 and 512, embeddings of 128 and 512 numbers, 100 classes and 11,318. Both versions take turns in one
process, in which the labels are known to be in range as they are in training; prints the medians in ms and their ratio
as Markdown.
"""

import argparse
from collections.abc import Callable
from statistics import median
from time import perf_counter

import torch
from pytorch_metric_learning import losses as pml
from pytorch_metric_learning import miners
from torch import Tensor, nn
from torch.nn import functional as F

from workbench.losses import build_loss
from workbench.losses.batch import labels_in_range

SIZES = [(128, 128), (128, 512), (512, 128), (512, 512)]
CLASSES = (100, 11_318)
Peer = Callable[[int, int], Callable[[Tensor, Tensor], Tensor]]


def wrapped(make: Callable[[int, int], nn.Module]) -> Peer:
    return make


def mined(make: Callable[[int, int], nn.Module], miner: nn.Module) -> Peer:
    def built(classes: int, dim: int) -> Callable[[Tensor, Tensor], Tensor]:
        loss = make(classes, dim)
        return lambda z, y: loss(z, y, miner(z, y))

    return built


def bare_ce(classes: int, dim: int) -> Callable[[Tensor, Tensor], Tensor]:
    layer = nn.Linear(dim, classes)
    return lambda z, y: F.cross_entropy(layer(F.dropout(z, 0.5)), y, label_smoothing=0.1)


def bare_psce(classes: int, dim: int) -> Callable[[Tensor, Tensor], Tensor]:
    prototypes = torch.randn(classes, dim)
    return lambda z, y: F.cross_entropy(z @ prototypes.T, y)


PEERS: dict[str, Peer] = {
    "ce": bare_ce,
    "psce": bare_psce,
    "triplet": mined(lambda *_: pml.TripletMarginLoss(0.2), miners.TripletMarginMiner(0.2, "semihard")),
    "lifted": wrapped(lambda *_: pml.GeneralizedLiftedStructureLoss()),
    "npairs": wrapped(lambda *_: pml.NPairsLoss()),
    "angular": wrapped(lambda *_: pml.AngularLoss(40)),
    "margin": mined(lambda *_: pml.MarginLoss(), miners.DistanceWeightedMiner()),
    "contrastive": wrapped(lambda *_: pml.ContrastiveLoss()),
    "contrastive_positive_margin": wrapped(lambda *_: pml.ContrastiveLoss(0.3, 0.8)),
    "multi_similarity": mined(lambda *_: pml.MultiSimilarityLoss(), miners.MultiSimilarityMiner()),
    "supcon": wrapped(lambda *_: pml.SupConLoss()),
    "nca": wrapped(lambda *_: pml.NCALoss(8)),
    "snca": wrapped(lambda *_: pml.NCALoss(8)),
    "proxy_nca": wrapped(pml.ProxyNCALoss),
    "proxy_anchor": wrapped(pml.ProxyAnchorLoss),
    "soft_triple": wrapped(lambda classes, dim: pml.SoftTripleLoss(classes, dim)),
}


OWN = {"psce": {"prototypes": "random"}}  # repelling ones are made once per run, in seconds to a minute


def seconds(loss: Callable[[Tensor, Tensor], Tensor], z: Tensor, y: Tensor) -> float:
    z = z.detach().requires_grad_()
    since = perf_counter()
    loss(z, y).backward()
    if z.is_cuda:
        torch.cuda.synchronize()
    return perf_counter() - since


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--losses", nargs="*", default=list(PEERS))
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--device", default="cpu")
    args = parser.parse_args()
    print("| loss | n | d | K | Workbench, ms | peer, ms | ratio |\n|---|---|---|---|---|---|---|")
    for name in args.losses:
        for (n, d), classes in ((size, classes) for size in SIZES for classes in CLASSES):
            if name == "soft_triple" and classes > 1000:
                continue  # ten centres for 11,318 classes: the peer's n x C x centres tensor alone takes 2 GB
            y = (torch.arange(n, device=args.device) // 4) % classes
            z = torch.randn(n, d, device=args.device)
            own = build_loss(name, num_classes=classes, embedding_dim=d, **OWN.get(name, {})).to(args.device).train()
            peer = PEERS[name](classes, d)
            if isinstance(peer, nn.Module):
                peer.to(args.device)
            taken: tuple[list[float], list[float]] = ([], [])
            for turn in range(args.rounds + 2):
                for into, loss in zip(taken, (own, peer), strict=True):
                    spent = seconds(loss, z, y)
                    if turn > 1:  # the first two warm up
                        into.append(spent)
            ours, theirs = (1000 * median(each) for each in taken)
            print(f"| {name} | {n} | {d} | {classes:,} | {ours:.2f} | {theirs:.2f} | {ours / theirs:.2f} |", flush=True)


if __name__ == "__main__":
    with labels_in_range():
        main()
