"""Distance-weighted sampling of negatives: all distances on the sphere are drawn about equally often.

Not pytorch-metric-learning's DistanceWeightedMiner: this returns counts of pairs, not lists of triplets (margin.py).
"""

import torch
from torch import Tensor

NEAREST, FARTHEST = 0.5, 1.4  # distances between which the weights follow 1 / q


def times_drawn(apart: Tensor, negative: Tensor, wanted: Tensor, dim: int, training: bool) -> Tensor:
    """How often each negative is drawn; [n, n], rows add up to `wanted` where a negative nearer than 1.4 exists.

    Args:
        apart: [n, n] distances on the unit sphere, without a gradient.
        negative: [n, n] bool.
        wanted: [n] int64, negatives for each anchor.
        dim: d of the embeddings, on which the density of distances depends.
        training: draw by torch's global generator; else the expectation.

    Source:
        Wu et al. 2017, Section 4.1: weights 1 / q(D), q(D) ~ D^(d-2) (1 - D^2 / 4)^((d-3) / 2), cut at 0.5 and 1.4.
    """
    clamped = apart.clamp(NEAREST, FARTHEST)
    log_density = (max(dim, 2) - 2) * clamped.log() + (max(dim, 2) - 3) / 2 * (1 - clamped.square() / 4).log()
    reachable = negative & (apart < FARTHEST) & (wanted > 0)[:, None]
    has_reachable = reachable.any(1)
    weights = (-log_density).masked_fill(~reachable, -torch.inf)
    shares = torch.where(has_reachable[:, None], weights, 0.0).softmax(1) * has_reachable[:, None]
    if not training:
        return shares * wanted[:, None]
    if shares.device.type == "cuda":
        return drawn_without_reading(shares, wanted)
    times = torch.zeros_like(shares)
    rows = has_reachable.nonzero()[:, 0]
    most = int(wanted.max()) if len(rows) else 0
    if most:
        of_rows = shares[rows]
        drawn = torch.multinomial(of_rows, most, replacement=True)
        times[rows] = _counted(drawn, wanted[rows], torch.zeros_like(of_rows))
    return times


def drawn_without_reading(shares: Tensor, wanted: Tensor) -> Tensor:
    """How often each column is drawn by its share of the row, [n, n]; 0 in rows of zeros. No number is read.

    It is for a GPU, which `multinomial` and a choice of rows would wait for. The CPU does not draw so, because its runs
    would not be those of earlier versions.

    Args:
        shares: [n, n], 0 or more; rows add up to 1 or 0.
        wanted: [n] int64, draws from each row.
    """
    edges = shares.cumsum(1)
    drawn = torch.searchsorted(edges, (1 - torch.rand_like(shares)) * edges[:, -1:]).clamp_max_(len(shares) - 1)
    return _counted(drawn, wanted, torch.zeros_like(shares)).mul_(shares > 0)


def _counted(drawn: Tensor, wanted: Tensor, zeros: Tensor) -> Tensor:
    """How often each column occurs among the first `wanted` of its row of `drawn`."""
    counts = (torch.arange(drawn.shape[1], device=drawn.device) < wanted[:, None]).to(zeros.dtype)
    return zeros.scatter_add_(1, drawn, counts)
