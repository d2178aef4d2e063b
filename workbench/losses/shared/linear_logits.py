"""How a loss computes logits from embeddings and one vector for each class, for measuring what it compares."""

from dataclasses import dataclass

from torch import Tensor
from torch.nn import functional as F

from workbench.losses.batch import bounded, in_double


@dataclass(frozen=True, slots=True)
class LinearLogits:
    """Logits scale * <z_i, w_k> + b_k, of embeddings and class vectors, normalised, bounded or neither."""

    weight: Tensor  # [K, d], class vectors in the order of the classes
    bias: Tensor | None = None  # [K]
    unit_embeddings: bool = False
    unit_weight: bool = False
    scale: float = 1.0
    bounded: bool = False  # embeddings and class vectors longer than 1 are divided by their length

    def embeddings(self, embeddings: Tensor) -> Tensor:
        """z of [n, d] embeddings as the loss multiplies them, float64 (as `in_double`)."""
        z = in_double(embeddings.detach())
        if self.bounded:
            return bounded(z)
        return F.normalize(z) if self.unit_embeddings else z

    def classifier(self) -> tuple[Tensor, Tensor | None]:
        """theta [K, d] with the scale in it, and the bias; float64 (as `in_double`). Logits are theta z + b."""
        weight = in_double(self.weight.detach())
        if self.unit_weight:
            weight = F.normalize(weight)
        theta = self.scale * (bounded(weight) if self.bounded else weight)
        return theta, None if self.bias is None else in_double(self.bias.detach())

    @property
    def plain(self) -> bool:
        """Whether embeddings and class vectors are compared without normalisation or scale."""
        return not self.unit_embeddings and not self.unit_weight and not self.bounded and self.scale == 1
