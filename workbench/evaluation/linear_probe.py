"""How well frozen features separate known classes: by a linear classifier and by nearest neighbours."""

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from workbench.problem import Problem

EPOCHS, BATCH, LR = 30, 256, 1e-2
NEIGHBOURS = 20
ROWS = 1024  # queries at once


def linear_probe(
    train: np.ndarray, train_labels: np.ndarray, test: np.ndarray, test_labels: np.ndarray, seed: int = 0
) -> dict[str, float]:
    """Top-1, top-5 and kNN accuracy on frozen features, as fractions (stage 2 of two-stage training).

    A linear softmax classifier with bias is trained with Adam for 30 epochs, with a cosine schedule to 0, on features
    standardised by the training set. kNN: the vote of the 20 nearest training images by cosine, weighted by
    similarity.

    Args:
        train: [n, f] finite features of the training set. train_labels: [n] int.
        test: [m, f] finite. test_labels: [m] int; every class must occur in the training set.
        seed: of the order of the batches.

    Returns:
        {"linear/top-1", "linear/top-5" (from six classes on), "kNN"}.

    Raises:
        Problem: no rows, or a test class that the training set does not have.
    """
    if not len(train) or not len(test):
        raise Problem("A linear probe needs training and test images.")
    classes, y = np.unique(train_labels, return_inverse=True)
    if not np.isin(test_labels, classes).all():
        raise Problem(
            "A linear probe needs the classes of the test set in the training set.",
            todo="Use the official or a random split, or switch the linear probe off.",
        )
    mean, std = train.mean(0), train.std(0) + 1e-6
    x, z = (torch.from_numpy(((half - mean) / std).astype(np.float32)) for half in (train, test))
    targets, truth = torch.from_numpy(y), torch.from_numpy(np.searchsorted(classes, test_labels))
    classifier = _fitted(x, targets, len(classes), seed)
    with torch.no_grad():
        ranked = classifier(z).topk(min(5, len(classes)), 1).indices == truth[:, None]
    accuracies = {"linear/top-1": ranked[:, 0].float().mean().item()}
    if len(classes) > 5:
        accuracies["linear/top-5"] = ranked.any(1).float().mean().item()
    return accuracies | {"kNN": _knn(x, targets, z, truth, len(classes))}


def _fitted(x: torch.Tensor, y: torch.Tensor, classes: int, seed: int) -> nn.Linear:
    """The classifier; starts at zero and touches no global random state."""
    classifier: nn.Linear = nn.utils.skip_init(nn.Linear, x.shape[1], classes)
    nn.init.zeros_(classifier.weight)
    nn.init.zeros_(classifier.bias)
    generator = torch.Generator().manual_seed(seed)
    optimiser = torch.optim.Adam(classifier.parameters(), lr=LR)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, EPOCHS)
    for _ in range(EPOCHS):
        for part in torch.randperm(len(x), generator=generator).split(BATCH):
            optimiser.zero_grad()
            F.cross_entropy(classifier(x[part]), y[part]).backward()
            optimiser.step()
        schedule.step()
    return classifier


def _knn(x: torch.Tensor, y: torch.Tensor, z: torch.Tensor, truth: torch.Tensor, classes: int) -> float:
    gallery, right = F.normalize(x), 0
    for start in range(0, len(z), ROWS):
        near = (F.normalize(z[start : start + ROWS]) @ gallery.T).topk(min(NEIGHBOURS, len(x)), 1)
        votes = torch.zeros(len(near.values), classes).scatter_add_(1, y[near.indices], near.values.clamp_min(0))
        right += int((votes.argmax(1) == truth[start : start + ROWS]).sum())
    return right / len(z)
