"""NT-Xent (SimCLR): learns without classes, from two augmented views of each image."""

from workbench.losses.published import UNNAMED
from workbench.losses.search_space import NETWORK_RATE, between
from workbench.losses.supcon import SupCon, SupConParams
from workbench.params import param
from workbench.registry import register


class NTXentParams(SupConParams):
    """Parameters of NT-Xent."""

    temperature: float = param(0.5, gt=0, le=10, symbol="τ", help="Cosines are divided by this value.")


@register(
    "loss", "nt_xent", title="NT-Xent (SimCLR)", params=NTXentParams, of_images=True,
    family="Pairs and triplets", formula="mean_a −log(exp(s_ap / τ) / Σ_{i≠a} exp(s_ai / τ)), p the other view of a",
    source="Chen et al. 2020 (SimCLR), Eq. 1 and Algorithm 1",
    batch="two views of each image; no classes",
    defaults={}, defaults_source=f"{UNNAMED}; τ = 0.5: Chen et al. 2020, for CIFAR-10",
    search=NETWORK_RATE | {"temperature": between(0.05, 1, "Chen et al. 2020 compare 0.05 to 1", log=True)},
)  # fmt: skip
class NTXent(SupCon):
    """Mean over views of minus the log softmax of the image's other view, over cosine / τ to all other views.

    It is the supervised contrastive loss with images in place of classes: with more than two views, it takes the mean
    over the other views. The classes of the images are used in evaluation only.
    """
