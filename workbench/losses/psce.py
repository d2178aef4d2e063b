"""Prototype softmax cross-entropy (PSCE): fixed prototypes in place of a classifier's weights."""

from pathlib import Path
from typing import Literal

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from workbench.charts import Chart, Marks
from workbench.entries.dimensions import nearest, refusal
from workbench.files.unreadable import lines_of, refusing
from workbench.losses.batch import checked_batch, full_precision, in_double, on_sphere
from workbench.losses.contract import Loss
from workbench.losses.prototypes import canonical, repelling, simplex, uniform
from workbench.losses.published import PSCE_PAPER, TWO_VIEWS
from workbench.losses.search_space import NETWORK_RATE, one_of
from workbench.losses.shared.linear_logits import LinearLogits
from workbench.numerals import significant
from workbench.params import Params, param
from workbench.problem import Problem
from workbench.registry import register


class PSCEParams(Params):
    """Parameters of the losses with fixed prototypes."""

    prototypes: Literal["auto", "canonical", "simplex", "repelling", "random", "file"] = param(
        "auto",
        symbol="P",
        help="auto: simplex where D is at least C - 1, else repelling. canonical: D = C; repelling: D < C - 1.",
    )
    file: str = param(
        "", path="file", help="CSV or .npy of the prototypes [C, D], row by class; for prototypes = file."
    )
    normalised: bool = param(
        False, label="Unit length", help="Ablation: embeddings at unit length, as other losses do."
    )
    without_own_class: bool = param(
        False, label="Without own class", help="Ablation: leave the true class out of the denominator, as PSC does."
    )
    seed: int = param(0, ge=0, le=2**31 - 1, help="Seed of repelling and random prototypes.")


DIMENSIONS = {  # smallest and largest D - C; from D = C - 1 on, repelling prototypes would become the simplex
    "of": "prototypes", "canonical": [0, 0], "simplex": [-1, None], "repelling": [None, -2],
}  # fmt: skip


@register(
    "loss", "psce", title="Prototype softmax cross-entropy (PSCE)", params=PSCEParams,
    family="Classification", formula="mean −log softmax_y(z · p_k), p_k fixed",
    needs_pairs=False, source="Prototype softmax cross entropy, Eq. 7; prototypes of Section 4.5",
    batch="any; the paper: two views of each image", dimensions=DIMENSIONS,
    spans={"of": "prototypes", "auto": -1, "simplex": -1},
    defaults={"cifar10": TWO_VIEWS | {"embedding.dim": 10}, "cifar100": TWO_VIEWS | {"embedding.dim": 100}},
    defaults_source=f"{PSCE_PAPER}; D = C in Section 4.5, where auto takes the simplex of PSCE_s",
    search=NETWORK_RATE | {
        "normalised": one_of(False, True, source="Bytyqi et al. 2023 (PSCE), ablation"),
        "embedding.batch_norm": one_of(True, False, source="Without: D above C - 1 is not swamped (`spans`)"),
    },
)  # fmt: skip
class PSCE(Loss):
    """Mean over the batch of -log softmax of z P^T at the true class; no bias, no temperature, P is fixed.

    With canonical prototypes it equals softmax cross-entropy on the raw outputs. Without the own class in the
    denominator it may be negative.
    """

    prototypes: Tensor

    def __init__(self, params: PSCEParams, *, num_classes: int, embedding_dim: int) -> None:
        super().__init__()
        self.params, self.num_classes = params, num_classes
        self.register_buffer("prototypes", chosen_prototypes(params, num_classes, embedding_dim))

    def logits(self, embeddings: Tensor) -> Tensor:
        """z P^T, [n, C], of embeddings [n, D]."""
        prototypes = self.prototypes  # read once: a step takes a tenth of a millisecond
        with full_precision(embeddings):
            embeddings = embeddings.to(prototypes.dtype)
            return (on_sphere(embeddings) if self.params.normalised else embeddings) @ prototypes.T

    def forward(self, embeddings: Tensor, labels: Tensor) -> Tensor:
        embeddings, labels = checked_batch(embeddings, labels, self.num_classes)
        return self._value(self.logits(embeddings), labels)

    def _value(self, logits: Tensor, labels: Tensor) -> Tensor:
        if not self.params.without_own_class:
            return F.cross_entropy(logits, labels)
        return without_own_class(logits, labels)

    def linear_logits(self) -> LinearLogits:
        """What the softmax is taken over."""
        return LinearLogits(self.prototypes, unit_embeddings=self.params.normalised)

    def class_proxies(self) -> tuple[Tensor, Tensor]:
        """Prototypes [C, D] and their classes [C]."""
        return self.prototypes, torch.arange(len(self.prototypes))

    def spread(self) -> float:
        """Largest minus smallest distance between two prototypes (Table 8); 0 with one class."""
        apart = torch.pdist(in_double(self.prototypes))
        return (apart.max() - apart.min()).item() if len(apart) else 0.0

    def charts(self, embeddings: Tensor, labels: Tensor) -> list[Chart]:
        """How far apart the prototypes are (Table 8), and how long the embeddings have become."""
        apart = torch.pdist(in_double(self.prototypes[:512])).float().cpu()
        kind, dim = self.params.prototypes, embeddings.shape[1]
        note = f"Largest minus smallest distance: {significant(self.spread())} ({kind} prototypes, D = {dim})."
        lengths = embeddings.norm(dim=1).float().cpu()
        return [
            Chart("Distances between prototypes", "distance", (_histogram("pairs", apart),), note),
            Chart("Length of embeddings on the probe", "length", (_histogram("embeddings", lengths),)),
        ]


def chosen_prototypes(params: PSCEParams, num_classes: int, dim: int) -> Tensor:
    """The prototypes [C, D] that the parameters name. Raises Problem if that kind does not exist in this shape."""
    if said := refusal(DIMENSIONS, params.prototypes, num_classes, dim):
        fits = nearest(DIMENSIONS, params.prototypes, num_classes, dim)
        size = f"Set the embedding's size to {fits}, or choose" if fits else "Choose"
        raise Problem(said, todo=f"{size} other prototypes.", field="embedding.dim")
    match params.prototypes:
        case "canonical":
            return canonical(num_classes)
        case "simplex" if num_classes < 2:
            raise Problem("A simplex needs two classes or more.", todo="Choose repelling.", field="loss.prototypes")
        case "simplex":
            return simplex(num_classes, dim)
        case "random":
            return uniform(num_classes, dim, params.seed)
        case "file":
            return from_file(params.file, num_classes, dim)
        case "auto" if num_classes > 1 and dim >= num_classes - 1:
            return simplex(num_classes, dim)
    return repelling(num_classes, dim, params.seed)


def from_file(path: str, num_classes: int, dim: int) -> Tensor:
    """Prototypes [C, D] from the user's file. Raises Problem: unreadable, of another shape, or not finite."""
    with refusing(lambda why: Problem(f"The prototypes {path!r} cannot be read ({why}).", field="loss.file")):
        if Path(path).suffix.lower() == ".npy":
            prototypes = np.load(path, mmap_mode="r", allow_pickle=False)
        else:
            with open(path, encoding="utf-8") as file:
                prototypes = np.loadtxt(lines_of(file), delimiter=",", ndmin=2, max_rows=num_classes + 1)
        prototypes = np.asarray(prototypes, np.float32)
    if prototypes.shape != (num_classes, dim):
        raise Problem(
            f"The prototypes {path} have the shape {list(prototypes.shape)}; {num_classes} classes and embeddings of "
            f"{dim} dimensions need [{num_classes}, {dim}].",
            field="loss.file",
        )
    if not np.isfinite(prototypes).all():
        raise Problem(f"The prototypes {path} hold a value that is not a number.", field="loss.file")
    return torch.from_numpy(prototypes)


def without_own_class(logits: Tensor, labels: Tensor) -> Tensor:
    """Mean of log sum_{k != y} exp - own logit; 0 with one class."""
    if logits.shape[1] == 1:
        return logits.sum() * 0
    own = labels[:, None]
    others = logits.scatter(1, own, torch.finfo(logits.dtype).min / 4).logsumexp(1)
    return (others - logits.gather(1, own)[:, 0]).mean()


def _histogram(title: str, values: Tensor) -> Marks:
    if not len(values):
        return Marks(title, "bars", (), ())
    low, high = values.min().item(), values.max().item()
    if high - low < 1e-6:
        low, high = low - 0.5, high + 0.5
    counts = torch.histc(values, 40, low, high)
    centres = low + (torch.arange(40) + 0.5) * (high - low) / 40
    return Marks(title, "bars", tuple(centres.tolist()), tuple(counts.tolist()))
