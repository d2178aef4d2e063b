"""Neighbourhood component analysis: the probability that a soft neighbour is of the same class.

Not pytorch-metric-learning's NCALoss: it takes probabilities, not logarithms, and leaves out anchors that underflow.
"""

from torch import Tensor

from workbench.losses.batch import gram, mean_of, on_sphere, positive_pairs
from workbench.losses.batch_loss import BatchLoss
from workbench.losses.published import UNNAMED
from workbench.losses.search_space import AROUND, NETWORK_RATE, between
from workbench.losses.shared.log_sum_exp import log_sum_exp
from workbench.params import Params, param
from workbench.registry import register


class NCAParams(Params):
    """Parameters of NCA."""

    scale: float = param(8.0, gt=0, le=1000, symbol="s", help="Squared distances are multiplied by this value.")


@register(
    "loss", "nca", title="NCA", params=NCAParams, needs_pairs=True,
    family="Pairs and triplets", formula="mean_a −log(Σ_p exp(−s D_ap²) / Σ_{i≠a} exp(−s D_ai²))",
    source="Goldberger et al. 2004, Eq. 1, with the logarithm of Eq. 10; unit length as in later work",
    batch="classes × images, two or more of each", defaults={}, defaults_source=UNNAMED,
    search=NETWORK_RATE | {"scale": between(2, 32, AROUND, log=True)},
)  # fmt: skip
class NCA(BatchLoss[NCAParams]):
    """Minus the mean log probability of a neighbour of the same class, softmax over -s D^2 on the unit sphere.

    Anchors without a positive are left out; with none left the value is 0.
    """

    def forward_checked(self, embeddings: Tensor, labels: Tensor) -> Tensor:
        closeness = gram(on_sphere(embeddings, (2 * self.params.scale) ** 0.5))  # without -2 s, which is in both parts
        positive = positive_pairs(labels)
        missed = log_sum_exp(closeness) - log_sum_exp(closeness, positive)
        return mean_of(missed, positive.any(1))
