"""The anatomy of whatever loss is trained, as named numbers for the curves: PCE, parts of Table 2, information."""

from math import nan

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from workbench.losses.anatomy import mutual_information, pce, tightness_contrastive

PAIRS = 512  # images whose n x n pairs are looked at
DEAREST = 1_000_000_000  # K d^3 from which the eigenvalues behind PCE would hold up training
OF_PAIRS = ("contrastive", "snca", "ms")
OF_CLASSIFIER = ("center", "ce")


def classifier_of(loss: nn.Module, num_classes: int) -> tuple[Tensor, Tensor | None] | None:
    """Weight [K, d] and bias [K] of the loss's classifier, or its proxies where each class has one; else None."""
    linear = getattr(loss, "classifier", None)
    if isinstance(linear, nn.Linear):
        return linear.weight.detach(), linear.bias.detach() if linear.bias is not None else None
    proxies_of = getattr(loss, "class_proxies", None)
    if proxies_of is None:
        return None
    proxies, labels = proxies_of()
    if len(proxies) != num_classes or len(labels.unique()) != num_classes:
        return None
    return proxies.detach()[labels.argsort().to(proxies.device)], None


@torch.no_grad()
def anatomy(loss: nn.Module, embeddings: Tensor, labels: Tensor, num_classes: int) -> dict[str, float]:
    """What a loss does to embeddings, in nats but for lambda; NaN where something is undefined at this step.

    Args:
        loss: the loss being trained; its classifier or proxies are used where it has any.
        embeddings: [n, d] of the probe; pairs are formed among the first 512 of them, evenly spread.
        labels: [n] int64, in [0, K).
        num_classes: K.

    Returns:
        By name: "anatomy/METHOD/tightness" and "/contrastive" for the methods of Table 2 that can be measured,
        "anatomy/ce", "anatomy/pce" and "anatomy/lambda" with a classifier, "anatomy/information/..." and
        "anatomy/entropy/...".

    Source:
        Boudiaf et al. 2020, Table 2, Eq. 1, 6, 10 and 24.
    """
    chosen = torch.linspace(0, len(embeddings) - 1, min(PAIRS, len(embeddings)), device=embeddings.device).long()
    few, few_labels = embeddings[chosen], labels[chosen]
    classifier = classifier_of(loss, num_classes)
    found: dict[str, float] = {}
    for method in (*OF_PAIRS, "spce"):
        of = (few, few_labels) if method in OF_PAIRS else (embeddings, labels)
        parts = tightness_contrastive(method, *of)
        found |= {f"anatomy/{method}/tightness": parts.tightness, f"anatomy/{method}/contrastive": parts.contrastive}
    logits = None
    if classifier is not None:
        weight, bias = classifier
        logits = F.linear(embeddings, weight.to(embeddings), None if bias is None else bias.to(embeddings))
        found |= _with_classifier(embeddings, labels, weight, bias)
    information = mutual_information(few, few_labels, None if logits is None else logits[chosen])
    return found | {
        "anatomy/information/generative": information.generative,
        "anatomy/information/discriminative": information.discriminative,
        "anatomy/entropy/labels": information.entropy_labels,
        "anatomy/entropy/embeddings": information.entropy_embeddings,
        "anatomy/entropy/within": information.entropy_within,
    }


def _with_classifier(embeddings: Tensor, labels: Tensor, weight: Tensor, bias: Tensor | None) -> dict[str, float]:
    found: dict[str, float] = {}
    for method in OF_CLASSIFIER:
        parts = tightness_contrastive(method, embeddings, labels, weight=weight, bias=bias)
        found |= {f"anatomy/{method}/tightness": parts.tightness, f"anatomy/{method}/contrastive": parts.contrastive}
        if method == "ce":
            found["anatomy/ce"] = parts.value
    if len(weight) * embeddings.shape[1] ** 3 > DEAREST:
        return found | {"anatomy/pce": nan, "anatomy/lambda": nan}
    pairwise = pce(embeddings, labels, weight, bias)
    return found | {
        "anatomy/pce": pairwise.value,
        "anatomy/lambda": pairwise.lam,
        "anatomy/pce/tightness": pairwise.tightness,
        "anatomy/pce/contrastive": pairwise.contrastive,
    }
