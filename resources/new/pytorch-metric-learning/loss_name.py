"""LossTitle, of pytorch-metric-learning: a file for a plug-in folder (`workbench plugins add FOLDER`)."""

from pytorch_metric_learning import losses, miners
from torch import Tensor

from workbench.losses.batch_loss import BatchLoss
from workbench.params import Params, param
from workbench.registry import register


class LossNameParams(Params):
    margin: float = param(0.05, ge=0, le=2, symbol="m", help="How much nearer a positive must be than a negative.")


@register(
    "loss", "loss_name", title="LossTitle", params=LossNameParams, needs_pairs=True,
    batch="classes × images, two or more of each", source="Name the paper; computed by pytorch-metric-learning",
)  # fmt: skip
class LossName(BatchLoss[LossNameParams]):
    """Triplet loss over the triplets of a miner: both are yours to replace."""

    def __init__(self, params: LossNameParams, *, num_classes: int, embedding_dim: int) -> None:
        super().__init__(params, num_classes=num_classes, embedding_dim=embedding_dim)
        self.miner = miners.TripletMarginMiner(margin=params.margin, type_of_triplets="all")
        self.loss = losses.TripletMarginLoss(margin=params.margin)  # one with weights is trained with the network

    def forward_checked(self, embeddings: Tensor, labels: Tensor) -> Tensor:
        return self.loss(embeddings, labels, self.miner(embeddings, labels))
