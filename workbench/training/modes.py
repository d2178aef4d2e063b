"""Whether a network with loaded weights gives the same features in training mode as in evaluation mode."""

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from workbench.training.feed import Feed
from workbench.training.feed_contract import Augmentation

MOST = 64  # images that are compared
LEAST_AGREEMENT = 0.5  # mean cosine of features in the two modes of a network


def modes_differ(
    model: nn.Module, features: Callable[[Tensor], Tensor], feed: Feed, augmentation: Augmentation, batch: int
) -> str:
    """What to say of weights with which the two modes of a network give other features; empty where they agree.

    Training then follows the statistics of each batch, and evaluation those that came with the weights.

    Args:
        model: its running statistics and its mode are restored.
        features: the model's part before the embedding head.
        batch: images of a training step; no more are compared, so that memory for a step is enough.
    """
    agreement = mode_agreement(model, features, feed, augmentation, min(batch, MOST))
    if agreement >= LEAST_AGREEMENT:
        return ""
    return (
        f"give other features in training mode than in evaluation mode (cosine {agreement:.2f} on the same images): "
        "freeze batch-norm"
    )


@torch.no_grad()
def mode_agreement(
    model: nn.Module, features: Callable[[Tensor], Tensor], feed: Feed, augmentation: Augmentation, count: int
) -> float:
    """Mean cosine of the features of the same images with batch-norm in training and in evaluation mode, -1 to 1.

    `count` images are spread over the training set. Dropout and all other layers are in evaluation mode. A network
    without batch-norm that follows its batches has 1.
    """
    training = model.training
    batch_norm = nn.modules.batchnorm._BatchNorm
    norms = [layer for layer in model.train().modules() if isinstance(layer, batch_norm) and layer.training]
    if not norms:
        model.train(training)
        return 1.0
    state = {name: value.clone() for name, value in model.state_dict().items()}
    rows = np.unique(np.linspace(0, len(feed) - 1, min(len(feed), count)).astype(np.int64))
    images, by_mode = augmentation.evaluate(feed.images(rows)), list[Tensor]()
    for trained in (norms, []):
        model.eval()
        for norm in trained:
            norm.train()
        embedded = features(images).float()
        by_mode.append(embedded - embedded.mean(0))
    model.load_state_dict(state)
    model.train(training)
    return float(F.cosine_similarity(by_mode[0], by_mode[1]).mean())
