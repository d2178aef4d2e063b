"""SPCE as a training loss: cross-entropy whose class weights are the batch's own hard means."""

from torch import Tensor

from workbench.losses import anatomy
from workbench.losses.batch import full_precision
from workbench.losses.contract import Loss
from workbench.losses.published import UNNAMED
from workbench.losses.search_space import NETWORK_RATE, one_of
from workbench.params import NoParams
from workbench.registry import register


@register(
    "loss", "spce", title="Simplified pairwise CE (SPCE)", params=NoParams, needs_pairs=True,
    family="Classification", formula="mean −log softmax_y(z · c_k), c_k = Σ_{i in k} z_i / n",
    source="Boudiaf et al. 2020, Section 5.1", batch="classes × images: class means are taken over the batch",
    defaults={}, defaults_source=f"{UNNAMED}: Boudiaf et al. 2020 measure it and train with CE, Section 5.2",
    # Its logits contain |z|^2 / n: pretrained features saturate its softmax; batch-norm and a larger n prevent it.
    measured={
        "caltech": {
            "embedding.batch_norm": True, "sampler.images_per_class": 8, "training.batch_size": 128,
            "training.lr": 1e-3, "training.backbone_lr": 0.0,
        }
    },
    search=NETWORK_RATE | {
        "embedding.batch_norm": one_of(True, False, source="Boudiaf et al. 2020, Section 6.3"),
        "sampler.images_per_class": one_of(4, 8, source="Class means of more images: `measured`"),
    },
)  # fmt: skip
class SPCE(Loss):
    """Pairwise loss that behaves like cross-entropy; it has no parameters.

    Its logits contain each image's product with itself, |z|^2 / n: long embeddings saturate the softmax, unit length
    leaves it flat. Batch-norm on the embedding (|z|^2 is then about d) with n of d / 4 or more avoids both.
    """

    def __init__(self, params: NoParams, *, num_classes: int, embedding_dim: int) -> None:
        super().__init__()
        self.num_classes = num_classes

    def forward(self, embeddings: Tensor, labels: Tensor) -> Tensor:
        with full_precision(embeddings):
            return anatomy.spce(embeddings, labels, self.num_classes)
