"""What a loss does, measured on a batch: simplified and full pairwise cross-entropy, and the parts of Table 2."""

from dataclasses import dataclass
from math import isnan, nan

import torch
from torch import Tensor
from torch.nn import functional as F

from workbench.losses.batch import checked_batch, distances, pair_masks, sums_at

SMALLEST_LAMBDA = 1e-8  # below this, terms in 1 / lambda are rounding noise, and PCE is undefined


def spce(embeddings: Tensor, labels: Tensor, num_classes: int) -> Tensor:
    """Simplified pairwise cross-entropy: CE whose class weights are the batch itself.

    The weight of class k is ``(1/n) * sum of embeddings with label k``: divided by the number
    of samples n, not by the size of the class. Cost O(nKd); no n x n matrix is formed.

    Args:
        embeddings: [n, d] float, any scale; not normalised here.
        labels: [n] whole numbers, in [0, num_classes).
        num_classes: K, at least 1. Classes absent from the batch get the zero vector.

    Returns:
        Scalar in nats, differentiable, averaged over the n samples.

    Raises:
        TypeError: if embeddings or labels are not tensors.
        ValueError: if the batch is empty, the lengths differ or a label is out of range.

    Source:
        Boudiaf et al. 2020, Section 5.1.
    """
    if not hasattr(num_classes, "__index__") or num_classes < 1:
        raise ValueError(f"num_classes must be a whole number of at least 1: got {num_classes!r}")
    embeddings, labels = checked_batch(embeddings, labels, num_classes)
    n = len(embeddings)
    hard_means = sums_at(labels, embeddings, num_classes) / n
    return F.cross_entropy(embeddings @ hard_means.T, labels)


@dataclass(frozen=True, slots=True)
class PCE:
    """Pairwise cross-entropy at one step, in nats; if it is undefined, NaN with a `reason`."""

    value: float
    lam: float  # lambda of Eq. 24: the smallest eigenvalue of any A_k
    tightness: float
    contrastive: float
    reason: str = ""


@torch.no_grad()
def pce(embeddings: Tensor, labels: Tensor, weight: Tensor, bias: Tensor | None = None) -> PCE:
    """Pairwise cross-entropy behind CE, in float64.

    Args:
        embeddings: [n, d]; n should exceed d, or lambda is 0.
        labels: [n] int64, in [0, K).
        weight: [K, d], the classifier's.
        bias: [K] or None; it enters the probabilities p_ik only.

    Raises:
        ValueError: as `spce`.

    Source:
        Boudiaf et al. 2020, Eq. 10 and, for lambda, Eq. 24. Cost: K eigen-decompositions of d x d.
    """
    z, labels = checked_batch(embeddings, labels, len(weight))
    z = z.double()
    _check_weight(weight, z)
    logits = z @ weight.double().T + (0 if bias is None else bias.double())
    n, p = len(z), logits.softmax(1)  # [n, K]
    spread = p - p.square()
    lam = min(torch.linalg.eigvalsh((z * spread[:, k : k + 1]).T @ z / n)[0].item() for k in range(p.shape[1]))
    if lam < SMALLEST_LAMBDA:
        return PCE(nan, lam, nan, nan, f"lambda is {lam:.2g}: PCE is undefined at this step")
    soft_means = p.T @ z / n  # [K, d]
    sums = z.new_zeros(p.shape[1], z.shape[1]).index_add_(0, labels, z)
    tightness = -sums.square().sum().item() / (2 * lam * n**2)
    apart = (z @ soft_means.T / lam).logsumexp(1).mean().item()
    contrastive = apart - soft_means.square().sum().item() / (2 * lam)
    return PCE(tightness + contrastive, lam, tightness, contrastive)


@dataclass(frozen=True, slots=True)
class PartsOfLoss:
    """The tightness part and the contrastive part of a loss (Table 2), whose sum is the loss."""

    tightness: float
    contrastive: float

    @property
    def value(self) -> float:
        """The sum of the two parts: the loss itself."""
        return self.tightness + self.contrastive


@torch.no_grad()
def tightness_contrastive(
    method: str,
    embeddings: Tensor,
    labels: Tensor,
    *,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    margin: float = 1.0,
    sigma: float = 0.1,
    alpha: float = 2.0,
    beta: float = 50.0,
    base: float = 0.5,
) -> PartsOfLoss:
    """The two parts of a loss on a batch, in float64; this may be another loss than the one that is trained.

    Args:
        method: "center", "contrastive", "snca", "ms", "spce" or "ce"; "center" and "ce" need `weight`.
        embeddings: [n, d]; contrastive, SNCA and MS use them at unit length.
        labels: [n] int64.
        weight: [K, d] of a linear classifier.
        bias: [K] or None.
        margin: m of the contrastive loss.
        sigma: temperature of SNCA.
        alpha: of MS, for positives.
        beta: of MS, for negatives.
        base: m of MS.

    Raises:
        ValueError: the method is unknown, or needs `weight` and it is None.

    Source:
        Boudiaf et al. 2020, Table 2; SPCE in Section 5.1; CE as T = -mean theta_y z, E = mean log-sum-exp.
    """
    z, labels = checked_batch(embeddings, labels)
    z = z.double()
    positive, negative = pair_masks(labels)
    match method:
        case "spce":
            own = z.new_zeros(int(labels.max()) + 1, z.shape[1]).index_add_(0, labels, z) / len(z)
            logits = z @ own.T
            return parts_of_logits(logits, labels)
        case "ce" | "center":
            if weight is None:
                raise ValueError(f"the parts of {method!r} need the classifier's weight")
            _check_weight(weight, z)
            logits = z @ weight.double().T + (0 if bias is None else bias.double())
            if method == "ce":
                return parts_of_logits(logits, labels)
            return PartsOfLoss(_center(z, labels).item(), F.cross_entropy(logits, labels).item())
        case "contrastive":
            apart = distances(F.normalize(z))
            pull = torch.where(positive, apart.square(), 0.0).sum() / len(z)
            push = torch.where(negative, (margin - apart).clamp_min(0).square(), 0.0).sum() / len(z)
            return PartsOfLoss(pull.item(), push.item())
        case "snca":
            cosines = F.normalize(z) @ F.normalize(z).T / sigma
            has_positives = positive.any(1)  # an anchor without positives has no SNCA
            near = cosines.masked_fill(~positive, -torch.inf).logsumexp(1)[has_positives].mean()
            return PartsOfLoss(
                -near.item(),
                cosines.masked_fill(~(positive | negative), -torch.inf).logsumexp(1)[has_positives].mean().item(),
            )
        case "ms":
            cosines = F.normalize(z) @ F.normalize(z).T
            pull = _log1p_sum_exp(-alpha * (cosines - base), positive).mean() / alpha
            push = _log1p_sum_exp(beta * (cosines - base), negative).mean() / beta
            return PartsOfLoss(pull.item(), push.item())
    raise ValueError(f"there are no parts for {method!r}: center, contrastive, snca, ms, spce or ce")


@dataclass(frozen=True, slots=True)
class MutualInformation:
    """Estimates, in nats: generative H(Z) - H(Z|Y), discriminative H(Y) - CE (NaN without logits)."""

    generative: float
    discriminative: float
    entropy_labels: float  # H(Y)
    entropy_embeddings: float  # H(Z), Eq. 6, up to a constant
    entropy_within: float  # H(Z|Y), its within-class average


@torch.no_grad()
def mutual_information(embeddings: Tensor, labels: Tensor, logits: Tensor | None = None) -> MutualInformation:
    """The generative and the discriminative estimate of the mutual information of embeddings and labels, in nats.

    Args:
        embeddings: [n, d].
        labels: [n] int64.
        logits: [n, K] of the classifier, or None.

    Raises:
        ValueError: as `spce`.

    Source:
        Boudiaf et al. 2020, Eq. 1 and the entropy estimator of Eq. 6 over pairs i != j. Pairs of equal embeddings, as
        copies of an image have, are left out: one alone would make the entropy minus infinity.
    """
    z, labels = checked_batch(embeddings, labels)
    z = z.double()
    counts = torch.bincount(labels).double()
    shares = counts[counts > 0] / len(labels)
    h_y = -(shares * shares.log()).sum().item()
    whole = _entropy(z)
    within, weighed = 0.0, 0.0
    for label in labels.unique():
        own = z[labels == label]
        entropy = _entropy(own)
        if not isnan(entropy):
            within += len(own) * entropy
            weighed += len(own)
    within = within / weighed if weighed else nan
    ce = nan if logits is None else F.cross_entropy(logits.double(), labels).item()
    return MutualInformation(whole - within, h_y - ce, h_y, whole, within)


def _entropy(z: Tensor) -> float:
    """Eq. 6 without its constant: d times the mean logarithm of the squared distances; NaN if no two points differ."""
    squared = torch.pdist(z).square()
    return z.shape[1] * squared[squared > 0].log().mean().item()


def parts_of_logits(logits: Tensor, labels: Tensor) -> PartsOfLoss:
    """CE's parts from logits [n, K]: T = -mean of the own class's, E = mean log-sum-exp; they add up to CE, in nats."""
    own = logits.gather(1, labels[:, None]).mean()
    return PartsOfLoss(-own.item(), logits.logsumexp(1).mean().item())


def _check_weight(weight: Tensor, z: Tensor) -> None:
    """Raises ValueError for what is no weight of a linear classifier of these embeddings."""
    if not isinstance(weight, Tensor) or weight.ndim != 2 or weight.shape[1] != z.shape[1]:
        shape = list(getattr(weight, "shape", ()))
        raise ValueError(f"weight must be a tensor [K, {z.shape[1]}]: got {type(weight).__name__} {shape}")


def _center(z: Tensor, labels: Tensor) -> Tensor:
    _, class_index = labels.unique(return_inverse=True)
    counts = torch.bincount(class_index).double()
    means = z.new_zeros(len(counts), z.shape[1]).index_add_(0, class_index, z) / counts[:, None]
    return (z - means[class_index]).square().sum() / 2


def _log1p_sum_exp(exponents: Tensor, chosen: Tensor) -> Tensor:
    masked = exponents.masked_fill(~chosen, -torch.inf)
    return torch.cat([masked, masked.new_zeros(len(masked), 1)], 1).logsumexp(1)
