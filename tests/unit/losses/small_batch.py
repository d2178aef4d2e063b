"""A small batch, and the losses of its size: for tests against equations written out in loops."""

import torch

from workbench.losses import build_loss

N, D, K = 12, 5, 3


def drawn(n=N):
    """Embeddings [n, D] float64 and labels [n] of K classes."""
    generator = torch.Generator().manual_seed(0)
    return torch.randn(n, D, generator=generator, dtype=torch.float64), torch.arange(n) % K


def loss_of(name, **params):
    """A loss in training, the same at each call."""
    torch.manual_seed(0)
    return build_loss(name, num_classes=K, embedding_dim=D, **params)


def evaluated(name, **params):
    """As `loss_of`, in evaluation."""
    return loss_of(name, **params).eval()


def unit(z):
    """Every row at length one."""
    return [row / row.norm() for row in z]


def positives(y, a):
    """Rows of the anchor's class but the anchor."""
    return [i for i in range(len(y)) if i != a and y[i] == y[a]]


def negatives(y, a):
    """Rows of other classes than the anchor's."""
    return [i for i in range(len(y)) if y[i] != y[a]]
