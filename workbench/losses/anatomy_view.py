"""The anatomy of the loss that is trained, as named numbers for the curves: PCE, parts of Table 2, information."""

from math import nan

import torch
from torch import Tensor
from torch.nn import functional as F

from workbench.losses.anatomy import PartsOfLoss, mutual_information, parts_of_logits, pce, tightness_contrastive
from workbench.losses.batch import in_double
from workbench.losses.contract import Loss

PAIRS = 512  # images whose n x n pairs are measured
DEAREST = 1_000_000_000  # K d^3 above which the eigenvalues for PCE would slow training down
OF_PAIRS = ("contrastive", "snca", "ms")


@torch.no_grad()
def anatomy(loss: Loss, embeddings: Tensor, labels: Tensor) -> dict[str, float]:
    """What a loss does to embeddings, in nats except for lambda; NaN for what is undefined at this step.

    Args:
        loss: the loss being trained. If it has `linear_logits`, the quantities of a classifier are measured on the
            vectors that it compares: at unit length if it normalises them, with its scale in theta. If it has logits
            of another kind, CE and its parts are measured on those.
        embeddings: [n, d] of the probe; pairs are formed among the first 512 of them, evenly spread.
        labels: [n] int64, in [0, K).

    Returns:
        By name: "anatomy/METHOD/tightness" and "/contrastive" for the methods of Table 2 that can be measured,
        "anatomy/ce", "anatomy/pce" and "anatomy/lambda" with a classifier, "anatomy/seen/scale" if that normalises or
        scales, "anatomy/information/..." and "anatomy/entropy/...".

    Source:
        Boudiaf et al. 2020, Table 2, Eq. 1, 6, 10 and 24.
    """
    exact = in_double(embeddings)
    labels = labels.to(exact.device)
    chosen = torch.linspace(0, len(exact) - 1, min(PAIRS, len(exact)), device=exact.device).long()
    few, few_labels = exact[chosen], labels[chosen]
    values: dict[str, float] = {}
    for method in (*OF_PAIRS, "spce"):
        of = (few, few_labels) if method in OF_PAIRS else (exact, labels)
        values |= _named(method, tightness_contrastive(method, *of))
    seen = loss.linear_logits()
    logits: Tensor | None
    if seen is not None:
        z, (theta, bias) = seen.embeddings(exact), seen.classifier()
        logits = F.linear(z, theta, bias)
        values |= _with_classifier(z, labels, theta, bias)
        if not seen.plain:
            values["anatomy/seen/scale"] = seen.scale
    elif (logits := _logits(loss, embeddings)) is not None:
        values |= _of_ce(parts_of_logits(logits, labels))
    information = mutual_information(few, few_labels, None if logits is None else logits[chosen])
    return values | {
        "anatomy/information/generative": information.generative,
        "anatomy/information/discriminative": information.discriminative,
        "anatomy/entropy/labels": information.entropy_labels,
        "anatomy/entropy/embeddings": information.entropy_embeddings,
        "anatomy/entropy/within": information.entropy_within,
    }


def _with_classifier(z: Tensor, labels: Tensor, theta: Tensor, bias: Tensor | None) -> dict[str, float]:
    values = _named("center", tightness_contrastive("center", z, labels, weight=theta, bias=bias))
    values |= _of_ce(tightness_contrastive("ce", z, labels, weight=theta, bias=bias))
    if len(theta) * z.shape[1] ** 3 > DEAREST:
        return values | {"anatomy/pce": nan, "anatomy/lambda": nan}
    pairwise = pce(z, labels, theta, bias)
    return values | {
        "anatomy/pce": pairwise.value,
        "anatomy/lambda": pairwise.lam,
        "anatomy/pce/tightness": pairwise.tightness,
        "anatomy/pce/contrastive": pairwise.contrastive,
    }


def _of_ce(parts: PartsOfLoss) -> dict[str, float]:
    return _named("ce", parts) | {"anatomy/ce": parts.value}


def _named(method: str, parts: PartsOfLoss) -> dict[str, float]:
    return {f"anatomy/{method}/tightness": parts.tightness, f"anatomy/{method}/contrastive": parts.contrastive}


def _logits(loss: Loss, embeddings: Tensor) -> Tensor | None:
    """Logits of the loss in evaluation mode, float64, if it has any; its mode is restored."""
    training = loss.training
    loss.eval()
    logits = loss.logits(embeddings)
    loss.train(training)
    return None if logits is None else in_double(logits)
