"""Prototypes that get no gradient: canonical, simplex and repelling, and running class means."""

from functools import lru_cache

import torch
from torch import Tensor
from torch.nn import functional as F

from workbench.losses.batch import sums_at

STEPS = 1000
AT_ONCE = 1024  # prototypes


def canonical(num_classes: int) -> Tensor:
    """Unit vectors [C, C]. Raises ValueError unless C is an integer from 1. Source: PSCE_c of prototype softmax CE."""
    _refuse_no_number(num_classes=num_classes)
    if num_classes < 1:
        raise ValueError(f"prototypes need at least one class: got {num_classes}")
    return torch.eye(num_classes)


def simplex(num_classes: int, dim: int) -> Tensor:
    """Prototypes [C, D] of unit length, every two at the distance sqrt(2C / (C - 1)).

    Args:
        num_classes: C, at least 2.
        dim: D, at least C - 1; further dimensions are zero. With D = C the rows are sqrt(C / (C - 1)) (I - 1/C).

    Raises:
        ValueError: fewer than two classes, too few dimensions, or numbers that are not integers.

    Source:
        Prototype softmax cross entropy, PSCE_s.
    """
    _refuse_no_number(num_classes=num_classes, dim=dim)
    if num_classes < 2:
        raise ValueError(f"a simplex needs 2 classes or more: got {num_classes}")
    if dim < num_classes - 1:
        raise ValueError(f"a simplex of {num_classes} classes needs {num_classes - 1} dimensions or more: got {dim}")
    c = num_classes
    scale: float = (c / (c - 1)) ** 0.5
    centred = scale * (torch.eye(c, dtype=torch.float64) - 1 / c)
    if dim == c:
        return centred.float()
    flat: Tensor = torch.linalg.svd(centred).Vh[: c - 1]  # an orthonormal basis of the C - 1 dimensions that it spans
    return F.pad(centred @ flat.T, (0, dim - (c - 1))).float()


def follow_class_means(means: Tensor, embeddings: Tensor, labels: Tensor, kept: float) -> None:
    """Update running class means [C, D], in place, by this batch's means; `kept` (0..1) is the weight of the old.

    Args:
        embeddings: [n, D] detached, all of one length. labels: [n] int64; other classes keep their means.
    """
    places = torch.arange(len(labels), device=labels.device)
    of_class = labels.new_empty(len(means)).scatter_(0, labels, places)[labels]  # one place of its class for each
    sums = sums_at(of_class, embeddings, len(embeddings))
    means[labels] = kept * means[labels] + (1 - kept) * F.normalize(sums).to(means.dtype)[of_class]


def repelling(num_classes: int, dim: int, seed: int = 0) -> Tensor:
    """Prototypes [C, D] of unit length that repel each other on the sphere, for D < C - 1.

    On the circle (D = 2) the result is known: they are evenly spaced, rotated and ordered by the seed. In one dimension
    they stay at 1 or -1, as the seed draws them. Otherwise, with more than 1,024 classes, every step moves 1,024 of
    them, drawn by the seed: all pairs would take hours.

    Raises:
        ValueError: no class, no dimension, or numbers that are not integers.

    Source:
        Prototype softmax cross entropy, the case D < C - 1; energy: the sum of inverse squared distances.
    """
    _refuse_no_number(num_classes=num_classes, dim=dim)
    if num_classes < 1 or dim < 1:
        raise ValueError(f"prototypes need classes and dimensions: got {num_classes} and {dim}")
    with torch.device("cpu"):  # kept for all callers: also for one that builds elsewhere, as without numbers
        return _repelling(num_classes, dim, seed).clone()


@lru_cache(maxsize=2)  # seconds, at every check, start and load of the same run
def _repelling(num_classes: int, dim: int, seed: int) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    if dim == 2:  # neighbours on a circle that once came too near separate too slowly: 100 points never converged
        turn, order = torch.rand(1, generator=generator), torch.randperm(num_classes, generator=generator)
        angles = 2 * torch.pi * (order.double() / num_classes + turn)
        return torch.stack([angles.cos(), angles.sin()], 1).float()
    points = torch.randn(num_classes, dim, dtype=torch.float64, generator=generator)
    points = F.normalize(points).requires_grad_()
    if num_classes == 1 or dim == 1:  # nothing repels one point, and a sphere of two points has no way to move on
        return points.detach().float()
    optimiser = torch.optim.Adam([points], lr=0.05)
    for step in range(STEPS):
        for group in optimiser.param_groups:
            group["lr"] = 0.05 * (1 - step / STEPS)
        moved = points
        if num_classes > AT_ONCE:
            moved = points[torch.randperm(num_classes, generator=generator)[:AT_ONCE]]
        energy = torch.pdist(F.normalize(moved)).square().clamp_min(1e-9).reciprocal().sum()
        optimiser.zero_grad()
        energy.backward()
        optimiser.step()
    return F.normalize(points.detach()).float()


def uniform(num_classes: int, dim: int, seed: int = 0) -> Tensor:
    """Prototypes [C, D] of unit length in random directions.

    Raises:
        ValueError: no class, no dimension, or numbers that are not integers.

    Source:
        Prototype softmax cross entropy, the random prototypes of Table 7.
    """
    _refuse_no_number(num_classes=num_classes, dim=dim)
    if num_classes < 1 or dim < 1:
        raise ValueError(f"prototypes need classes and dimensions: got {num_classes} and {dim}")
    return F.normalize(torch.randn(num_classes, dim, generator=torch.Generator().manual_seed(seed)))


def _refuse_no_number(**numbers: int) -> None:
    """Raises ValueError for an argument that is no whole number."""
    for name, number in numbers.items():
        if not hasattr(number, "__index__"):
            raise ValueError(f"{name} must be a whole number: got {number!r}")
