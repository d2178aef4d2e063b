"""What each loss is measured against: pytorch-metric-learning's version, or the bare formula where there is none.

A bare formula is written as its equation reads, without checks, and does the same mathematics: the same pairs, the
same memory, the same gradient.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise

import torch
from pytorch_metric_learning import distances, miners
from pytorch_metric_learning import losses as pml
from torch import Tensor, nn
from torch.nn import functional as F

Make = Callable[[int, int], nn.Module]


class Bare(nn.Module):
    """A formula over tensors (parameters, or buffers by `fixed`) as a module, as a training loop has it."""

    def __init__(self, formula: Callable[..., Tensor], *trained: Tensor, fixed: tuple[Tensor, ...] = ()) -> None:
        super().__init__()
        self.formula, self.count = formula, len(fixed)
        self.trained = nn.ParameterList(trained)
        for number, tensor in enumerate(fixed):
            self.register_buffer(f"fixed{number}", tensor)

    def forward(self, z: Tensor, y: Tensor) -> Tensor:
        fixed = (self.get_buffer(f"fixed{number}") for number in range(self.count))
        return self.formula(z, y, *self.trained, *fixed)


class Mined(nn.Module):
    def __init__(self, loss: nn.Module, miner: nn.Module) -> None:
        super().__init__()
        self.loss, self.miner = loss, miner

    def forward(self, z: Tensor, y: Tensor) -> Tensor:
        value: Tensor = self.loss(z, y, self.miner(z, y))
        return value


def pairs_of(y: Tensor) -> tuple[Tensor, Tensor]:
    same = y[:, None] == y
    itself = torch.eye(len(y), dtype=torch.bool, device=y.device)
    return same & ~itself, ~same


def mean_where(values: Tensor, chosen: Tensor) -> Tensor:
    return torch.where(chosen, values, 0.0).sum() / chosen.sum()


def ce(z: Tensor, y: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    return F.cross_entropy(F.linear(F.dropout(z, 0.5), weight, bias), y, label_smoothing=0.1)


def center(z: Tensor, y: Tensor, weight: Tensor, bias: Tensor, centres: Tensor) -> Tensor:
    return F.cross_entropy(F.linear(z, weight, bias), y) + 0.005 * (z - centres[y]).square().sum(1).mean()


def psce(z: Tensor, y: Tensor, prototypes: Tensor) -> Tensor:
    return F.cross_entropy(z @ prototypes.T, y)


def psc(z: Tensor, y: Tensor, prototypes: Tensor) -> Tensor:
    logits = F.normalize(z) @ F.normalize(prototypes).T / 0.1
    own = F.one_hot(y, len(prototypes)).bool()
    return (logits.masked_fill(own, -torch.inf).logsumexp(1) - logits[own]).mean()


def spce(classes: int) -> Callable[[Tensor, Tensor], Tensor]:
    return lambda z, y: F.cross_entropy(z @ (F.one_hot(y, classes).to(z.dtype).T @ z / len(z)).T, y)


def npairs(z: Tensor, y: Tensor) -> Tensor:
    alike = z @ z.T
    positive, negative = pairs_of(y)
    others = alike.masked_fill(~negative, -1e30).logsumexp(1, keepdim=True)
    return mean_where(F.softplus(others - alike), positive) + 0.002 * z.square().sum(1).mean()


def nca(z: Tensor, y: Tensor) -> Tensor:
    unit = F.normalize(z)
    return neighbours(-8 * (2 - 2 * unit @ unit.T), *pairs_of(y))


def neighbours(closeness: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
    own = closeness.masked_fill(~positive, -1e30).logsumexp(1)
    every = closeness.masked_fill(~(positive | negative), -1e30).logsumexp(1)
    return mean_where(every - own, positive.any(1))


class SNCA(nn.Module):
    """SNCA with a queue of the last 1,024 embeddings, as in Workbench."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.kept, self.labels, self.at = torch.zeros(1024, dim), torch.full((1024,), -1), 0

    def forward(self, z: Tensor, y: Tensor) -> Tensor:
        unit = F.normalize(z)
        kept, labels = self.kept.to(z.device, copy=True), self.labels.to(z.device, copy=True)
        positive, negative = pairs_of(y)
        same = y[:, None] == labels
        alike = torch.cat([unit @ unit.T, unit @ kept.T], 1) / 0.1
        value = neighbours(alike, torch.cat([positive, same], 1), torch.cat([negative, ~same], 1))
        places = (self.at + torch.arange(len(y))) % 1024
        self.kept[places], self.labels[places] = unit.detach().to(self.kept), y.to(self.labels)
        self.at += len(y)
        return value


def ice(z: Tensor, y: Tensor) -> Tensor:
    unit = F.normalize(z)
    with torch.no_grad():
        positive, negative = pairs_of(y)
        alike = 64 * unit @ unit.T
        among = alike.masked_fill(~negative, -1e30)
        others = among.logsumexp(1, keepdim=True)
        missed = (others - torch.logaddexp(alike, others)).masked_fill(~positive, -1e30)
        share = (positive.any(1) & negative.any(1))[:, None] / (2 * len(y))
        difference = (among.softmax(1) * negative - missed.softmax(1) * positive) * share
        value = mean_where(F.softplus(others - alike), positive)
    surrogate = (difference * (unit.detach() @ unit.T)).sum()
    return value + surrogate - surrogate.detach()


def kcl(z: Tensor, y: Tensor) -> Tensor:
    own, every = drawn_positives(F.normalize(z), y)
    return (every - own).mean()


def drawn_positives(unit: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    alike = unit @ unit.T / 0.1
    positive, negative = pairs_of(y)
    every = alike.masked_fill(~(positive | negative), -1e30).logsumexp(1)
    chance = torch.rand(positive.shape, device=unit.device).masked_fill(~positive, -1.0)
    positive = positive & torch.zeros_like(positive).scatter_(1, chance.topk(7, 1).indices, True)
    return torch.where(positive, alike, 0.0).sum(1) / positive.sum(1), every


def tsc(z: Tensor, y: Tensor, targets: Tensor, means: Tensor) -> Tensor:
    unit = F.normalize(z)
    with torch.no_grad():
        present, place = y.unique(return_inverse=True)
        sums = torch.zeros(len(present), z.shape[1], device=z.device).index_add_(0, place, unit)
        means[present] = 0.9 * means[present] + 0.1 * F.normalize(sums)
    own, every = drawn_positives(unit, y)
    return (every - own).mean() + (every - (unit * targets[y]).sum(1) / 0.1).mean() / 7


class RankMI(nn.Module):
    """Trains network and embeddings in turn, with negatives drawn by distance, as Workbench does."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        sizes = [1, 128, 128, 128, 128, 1]
        layers = [layer for pair in pairwise(sizes) for layer in (nn.Linear(*pair), nn.ReLU())][:-1]
        self.network, self.line = nn.Sequential(*layers), nn.Parameter(torch.tensor([2.0, -2.0]))
        self.dim, self.steps = dim, 0

    def forward(self, z: Tensor, y: Tensor) -> Tensor:
        self.steps += 1
        of_network = bool(self.steps % 2)
        for weight in self.parameters():
            weight.requires_grad_(of_network)
        unit = F.normalize(z.detach() if of_network else z)
        positive, negative = pairs_of(y)
        squared = (2 - 2 * unit @ unit.T).clamp_min(1e-7)
        apart = squared.sqrt()
        with torch.no_grad():
            at = apart.clamp(0.5, 1.4)
            log_density = (self.dim - 2) * at.log() + (self.dim - 3) / 2 * (1 - at.square() / 4).log()
            shares = (-log_density).masked_fill(~(negative & (apart < 1.4)), -torch.inf).softmax(1)
            wanted = positive.sum(1)
            drawn = torch.multinomial(shares, int(wanted.max()), replacement=True)
            counts = (torch.arange(drawn.shape[1], device=z.device) < wanted[:, None]).to(z.dtype)
            times = torch.zeros_like(shares).scatter_add_(1, drawn, counts)
        near, far, weights = apart[positive], apart[times > 0], times[times > 0]
        together = torch.cat([near, far])
        v = self.network(together[:, None])[:, 0] + self.line[0] + self.line[1] * together
        pull, push = F.logsigmoid(v[: len(near)]), F.logsigmoid(-v[len(near) :])
        return -(pull.mean() + (weights * push).sum() / weights.sum())


def soft_triple(z: Tensor, y: Tensor, centres: Tensor) -> Tensor:
    """PML's computation, with the merging term of Eq. 9, which PML leaves out by default."""
    unit = F.normalize(centres, dim=2)
    cosines = (F.normalize(z) @ unit.flatten(0, 1).T).view(len(z), *centres.shape[:2])
    scores = ((cosines * 10).softmax(2) * cosines).sum(2)
    margin = torch.zeros_like(scores)
    margin[torch.arange(len(y), device=y.device), y] = 0.01
    first, second = torch.triu_indices(centres.shape[1], centres.shape[1], 1, device=z.device)
    apart = (2 - 2 * (unit @ unit.transpose(1, 2))[:, first, second]).clamp_min(1e-5).sqrt()
    return F.cross_entropy(20 * (scores - margin), y) + 0.1 * apart.mean()


def contrastive_cosine(z: Tensor, y: Tensor) -> Tensor:
    unit = F.normalize(z)
    alike, same = unit @ unit.T, y[:, None] == y
    return ((1 - alike)[same & (alike < 1 - 1e-5)].sum() + alike[~same & (alike > 0.5)].sum()) / len(z)


def adaface(z: Tensor, y: Tensor, proxies: Tensor, mean: Tensor, deviation: Tensor) -> Tensor:
    lengths = z.detach().norm(dim=1).clamp(1e-3, 100)
    mean.lerp_(lengths.mean(), 0.01)
    deviation.lerp_(lengths.std(), 0.01)
    quality = (0.333 * (lengths - mean) / (deviation + 1e-3)).clamp(-1, 1)[:, None]
    cosines = (F.normalize(z) @ F.normalize(proxies).T).clamp(-1 + 1e-3, 1 - 1e-3)
    own = F.one_hot(y, len(proxies)).bool()
    turned = (cosines.acos() - 0.4 * quality * own).clamp(1e-3, torch.pi - 1e-3).cos()
    return F.cross_entropy(64 * (turned - (0.4 + 0.4 * quality) * own), y)


def ranks(alike: Tensor, y: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Soft ranks of positives among all and among positives, and the number of positives of each image."""
    positive, negative = pairs_of(y)
    first, second = positive.nonzero(as_tuple=True)
    above = ((alike[first] - alike[first, second][:, None]) / 0.01).sigmoid()
    own = (above * positive[first]).sum(1) + 0.5
    return own + (above * negative[first]).sum(1), own, positive.sum(1)[first]


def smooth_ap(z: Tensor, y: Tensor) -> Tensor:
    unit = F.normalize(z)
    every, own, count = ranks(unit @ unit.T, y)
    return 1 - (own / every / count).sum() / len(y)


def recall_at_k(z: Tensor, y: Tensor) -> Tensor:
    unit = F.normalize(z)
    every, _, count = ranks(unit @ unit.T, y)
    at = torch.tensor([1.0, 2.0, 4.0, 8.0, 16.0], device=z.device)
    return 1 - ((at - every[:, None]).sigmoid().mean(1) / count).sum() / len(y)


def threshold_consistent(z: Tensor, y: Tensor) -> Tensor:
    unit = F.normalize(z)
    alike = unit @ unit.T
    positive, negative = pairs_of(y)
    every, own, count = ranks(alike, y)
    near, far = 0.9 - alike, alike - 0.5
    margins = mean_where(near, positive & (near >= 0)) + far[negative & (far >= 0)].sum() / max(
        1, int((negative & (far >= 0)).sum())
    )
    return 1 - (own / every / count).sum() / len(y) + margins


def hyperbolic(z: Tensor, y: Tensor) -> Tensor:
    lengths = z.norm(dim=1, keepdim=True)
    points = z / lengths * (0.1**0.5 * lengths.clamp_max(2.3)).tanh()
    squares = points.square().sum(1)
    between = (squares[:, None] + squares - 2 * points @ points.T).clamp_min(1e-6)
    apart = (1 + 2 * between / ((1 - squares)[:, None] * (1 - squares))).arccosh() / 0.1**0.5 / 0.2
    positive, negative = pairs_of(y)
    others = (-apart).masked_fill(~negative, -1e30).logsumexp(1, keepdim=True)
    return mean_where(F.softplus(torch.where(positive, others + apart, -torch.inf)), positive)


class CCP(nn.Module):
    def __init__(self, classes: int, dim: int) -> None:
        super().__init__()
        euclidean = distances.LpDistance(normalize_embeddings=False)
        self.pairs = pml.ContrastiveLoss(0.2652, 0.5409, distance=euclidean)
        self.proxies = nn.Parameter(torch.randn(8 * classes, dim) / dim**0.5)
        self.register_buffer("classes", torch.arange(classes).repeat_interleave(8))

    def forward(self, z: Tensor, y: Tensor) -> Tensor:
        rows, columns = (each / each.norm(dim=1, keepdim=True).clamp_min(1) for each in (self.proxies, z))
        value: Tensor = self.pairs(rows, self.classes, ref_emb=columns, ref_labels=y)
        return value


PML: dict[str, Make] = {
    "norm_ce": lambda classes, dim: pml.NormalizedSoftmaxLoss(classes, dim),
    "triplet": lambda *_: Mined(pml.TripletMarginLoss(0.2), miners.TripletMarginMiner(0.2, "semihard")),
    "lifted": lambda *_: pml.GeneralizedLiftedStructureLoss(),
    "angular": lambda *_: pml.AngularLoss(40),
    "margin": lambda *_: Mined(pml.MarginLoss(), miners.DistanceWeightedMiner()),
    "contrastive": lambda *_: pml.ContrastiveLoss(),
    "contrastive_positive_margin": lambda *_: pml.ContrastiveLoss(0.3, 0.8),
    "multi_similarity": lambda *_: Mined(pml.MultiSimilarityLoss(), miners.MultiSimilarityMiner()),
    "supcon": lambda *_: pml.SupConLoss(),
    "nt_xent": lambda *_: pml.SupConLoss(temperature=0.5),  # with images in place of classes
    "proxy_nca": lambda classes, dim: pml.ProxyNCALoss(classes, dim),
    "proxy_anchor": lambda classes, dim: pml.ProxyAnchorLoss(classes, dim),
    "xbm": lambda _, dim: pml.CrossBatchMemory(pml.ContrastiveLoss(), dim, 2048),
    "ccp": CCP,
    "arcface": lambda classes, dim: pml.ArcFaceLoss(classes, dim),
    "cosface": lambda classes, dim: pml.CosFaceLoss(classes, dim),
    "sub_center_arcface": lambda classes, dim: pml.SubCenterArcFaceLoss(num_classes=classes, embedding_size=dim),
    "circle": lambda *_: pml.CircleLoss(),
}
BARE: dict[str, Make] = {
    "ce": lambda classes, dim: Bare(ce, torch.zeros(classes, dim), torch.zeros(classes)),
    "center": lambda k, dim: Bare(center, torch.randn(k, dim) / (3 * dim) ** 0.5, torch.zeros(k), torch.zeros(k, dim)),
    "psce": lambda classes, dim: Bare(psce, fixed=(F.normalize(torch.randn(classes, dim)),)),
    "psc": lambda classes, dim: Bare(psc, torch.randn(classes, dim)),
    "spce": lambda classes, _: Bare(spce(classes)),
    "npairs": lambda *_: Bare(npairs),
    "nca": lambda *_: Bare(nca),
    "snca": lambda _, dim: SNCA(dim),
    "ice": lambda *_: Bare(ice),
    "kcl": lambda *_: Bare(kcl),
    "tsc": lambda k, dim: Bare(tsc, fixed=(F.normalize(torch.randn(k, dim)), torch.zeros(k, dim))),
    "rankmi": lambda _, dim: RankMI(dim),
    "soft_triple": lambda classes, dim: Bare(soft_triple, torch.randn(classes, 10, dim)),
    "contrastive_cosine": lambda *_: Bare(contrastive_cosine),
    "adaface": lambda classes, dim: Bare(
        adaface, torch.randn(classes, dim), fixed=(torch.tensor(20.0), torch.tensor(100.0))
    ),
    "smooth_ap": lambda *_: Bare(smooth_ap),
    "recall_at_k": lambda *_: Bare(recall_at_k),
    "threshold_consistent": lambda *_: Bare(threshold_consistent),
    "hyperbolic": lambda *_: Bare(hyperbolic),
}


@dataclass(frozen=True)
class Less:
    """A version that does less than ours on the same batch, and what makes the work equal, where something does."""

    make: Make
    why: str
    equal: str = ""  # what is done to make it equal
    params: dict[str, object] = field(default_factory=dict)  # ours are these then
    pairs: bool = False  # it gets twice the images then, one pair of each class: n x n products, as ours has


LESS: dict[str, Less] = {
    "npairs": Less(
        lambda *_: pml.NPairsLoss(), "one pair of each class only", "2n images, one pair of each class", pairs=True
    ),
    "nca": Less(lambda *_: pml.NCALoss(8), "probabilities, not logarithms: rows that underflow are left out"),
    "soft_triple": Less(
        lambda classes, dim: pml.SoftTripleLoss(classes, dim), "no merging of centres (Eq. 9)",
        "ours without merging, too", params={"merging": 0.0},
    ),
}  # fmt: skip
