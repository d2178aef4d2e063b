"""The interface of every loss: its value, and optional reports and actions. The defaults do nothing."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import torch
from torch import Tensor, nn

from workbench.charts import Chart
from workbench.events import Emit
from workbench.losses.shared.class_vectors import class_vector_charts
from workbench.losses.shared.linear_logits import LinearLogits
from workbench.problem import Problem


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a companion may use of its run. Places are row numbers of the training set, [r] int64."""

    model: nn.Module  # what is trained
    labels: np.ndarray  # [n] int64, class 0..K-1 of every place; each class occurs
    seed: int
    embed: Callable[[np.ndarray], Tensor]
    """Places -> embeddings [r, d] by a forward pass through `model`, in its current train or eval mode and with
    gradients if they are enabled."""
    validate: Callable[[Callable[[Tensor], Tensor], Literal["cosine", "l2"]], float]
    """The current MAP@R, a fraction; the model and every random state stay as they were. It is measured on the held-out
    classes if there are any, else on some training images, whose embeddings are passed through the given function and
    compared by the given distance; never on the test set."""
    class_shape: Callable[[np.ndarray, np.ndarray], tuple[float, float]]
    """(embeddings [n, d], labels [n]) -> mean covering radius of the classes and mean distance between them
    (`evaluation.geometry.class_shape`)."""
    emit: Emit
    embed_augmented: Callable[[np.ndarray, int], Tensor]
    """As `embed`, of images that are augmented as in training; what is drawn depends on the number and the seed."""


class Companion:
    """The part of a loss that the training loop calls. This base class does nothing.

    There is one object per run, and only the run's thread uses it.
    """

    def begin(self) -> None:
        """Called before the first step, also of a resumed run."""

    def penalty(self) -> Tensor | None:
        """A scalar that is added to the loss of a step, or None."""
        return None

    def after_step(self, step: int) -> None:
        """Called with the number of optimiser steps done."""

    def state_dict(self) -> dict[str, Any]:
        """Tensors and plain values from which another object continues bit for bit; part of the checkpoint."""
        return {}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restore `state_dict()`. Raises KeyError or ValueError if the state is that of a different run."""


class Loss(nn.Module):
    """A module (embeddings [n, d], labels [n] of any integer type in [0, K)) -> scalar.

    It is built as Loss(params, num_classes=K, embedding_dim=d). The engine uses whatever a subclass overrides; no other
    file needs to name the subclass.
    """

    proxy_lr_multiplier: float = 1.0
    """Learning-rate factor of the loss's own parameters."""

    if TYPE_CHECKING:  # torch says Any

        def __call__(self, embeddings: Tensor, labels: Tensor) -> Tensor: ...

    def logits(self, embeddings: Tensor) -> Tensor | None:
        """Scores [n, K] of embeddings [n, d], if the loss classifies; probe CE and training accuracy use them."""
        return None

    def linear_logits(self) -> LinearLogits | None:
        """How logits are computed from embeddings and one vector per class; None if they are not. For the anatomy."""
        return None

    def class_proxies(self) -> tuple[Tensor, Tensor] | None:
        """Vectors [p, d] that represent classes, which the map draws as stars, and their classes [p] int64."""
        return None

    def own_distance(self, embeddings: Tensor) -> tuple[Literal["hyperbolic"], Tensor] | None:
        """The distance by which the loss's paper searches, if it is neither cosine nor Euclidean, with points [n, d].

        Points of "hyperbolic" are in the Poincaré ball of radius 1. An evaluation can measure by it, alone or beside
        its own. They may not depend on parameters that are trained: those of a new image are taken from a new loss.
        """
        return None

    def charts(self, embeddings: Tensor, labels: Tensor) -> Sequence[Chart]:
        """Charts of the method on the probe's embeddings, for the Method panel and the report.

        By default those of the class vectors, if the loss has `linear_logits`.
        """
        linear = self.linear_logits()
        return () if linear is None else class_vector_charts(linear, embeddings, labels)

    def skip_warm_up(self) -> None:
        """Skip the loss's own warm-up, if it has one: a range test has few steps."""

    def companion(self, surroundings: Surroundings) -> Companion:
        """The object that the training loop calls for this loss."""
        return Companion()


def points_in_ball(loss: Loss, embeddings: np.ndarray) -> np.ndarray:
    """Points [n, d] float32 in the Poincaré ball of radius 1 of embeddings [n, d], by the loss's `own_distance`.

    Raises:
        Problem: the loss has no hyperbolic distance.
    """
    own = loss.own_distance(torch.from_numpy(embeddings).double())
    if own is None:
        raise Problem(
            "The loss has no points in the Poincaré ball, so embeddings cannot be compared by hyperbolic distance.",
            todo="Choose cosine or L2.",
            field="evaluation.distance",
        )
    return own[1].float().numpy()
