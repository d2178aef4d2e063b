"""The base class of losses that compare the samples of a batch."""

from typing import Generic, TypeVar

from torch import Tensor

from workbench.losses.batch import checked_batch, full_precision, keep_nan
from workbench.losses.contract import Loss
from workbench.params import Params

OwnParams = TypeVar("OwnParams", bound=Params)


class BatchLoss(Loss, Generic[OwnParams]):
    """A loss of a whole batch. A subclass implements `forward_checked`, which gets a checked batch, without autocast.

    The value is NaN if an embedding is not finite.
    """

    def __init__(self, params: OwnParams, *, num_classes: int, embedding_dim: int) -> None:
        super().__init__()
        self.params, self.num_classes = params, num_classes

    def forward_checked(self, embeddings: Tensor, labels: Tensor) -> Tensor:
        """The loss, a scalar, of embeddings [n, d] float32 or float64 and labels [n] int64 in [0, K)."""
        raise NotImplementedError

    def forward(self, embeddings: Tensor, labels: Tensor) -> Tensor:
        embeddings, labels = checked_batch(embeddings, labels, self.num_classes)
        with full_precision(embeddings):
            return keep_nan(self.forward_checked(embeddings, labels), embeddings)
