"""Charts of the class vectors that a loss compares embeddings with: similarities, lengths, angles."""

import torch
from torch import Tensor
from torch.nn import functional as F

from workbench.charts import Chart, Marks
from workbench.losses.shared.linear_logits import LinearLogits
from workbench.numerals import minus

BINS = 40
MOST_CLASSES, MOST_IMAGES = 512, 2048


def shares(title: str, values: Tensor, low: float, high: float) -> Marks:
    """A histogram of [n] values from `low` to `high`: fractions that sum to 1, at the middle of each bin."""
    counts = torch.histc(values.float().cpu(), BINS, low, high)
    centres = low + (torch.arange(BINS) + 0.5) * (high - low) / BINS
    return Marks(title, "bars", tuple(centres.tolist()), tuple((counts / counts.sum().clamp_min(1)).tolist()))


@torch.no_grad()
def class_vector_charts(linear: LinearLogits, embeddings: Tensor, labels: Tensor) -> list[Chart]:
    """Charts of what the softmax of a classifier compares, measured on the probe.

    Args:
        linear: how logits are computed from embeddings and class vectors.
        embeddings: [n, d]; the first 2048 are measured.
        labels: [n], positions of their class vectors.

    Returns:
        Similarities of pairs of class vectors (of the first 512 classes), angles of embeddings to their own and to the
        nearest other class vector, and lengths of both with the temperature that these imply.
    """
    z = linear.embeddings(embeddings[:MOST_IMAGES])
    theta, _ = linear.classifier()
    unit, directions, own = F.normalize(z), F.normalize(theta), labels[: len(z), None].to(z.device)
    between = (directions[:MOST_CLASSES] @ directions[:MOST_CLASSES].T)[_pairs(len(directions), theta.device)]
    cosines = unit @ directions.T
    angles = {"own class": _degrees(cosines.gather(1, own))}
    if len(theta) > 1:
        angles["nearest other"] = _degrees(cosines.scatter(1, own, -2.0).amax(1))
    lengths = {"embeddings": z.norm(dim=1), "class vectors": theta.norm(dim=1)}
    longest = max(float(length.max()) for length in lengths.values()) or 1.0
    product = float(lengths["embeddings"].mean() * lengths["class vectors"].mean())
    mean = {name: float(angle.mean()) for name, angle in angles.items()}
    return [
        Chart(
            "Similarity of class vectors, share of pairs", "cosine", (shares("pairs", between, -1.0, 1.0),),
            minus(f"Mean {float(between.mean()):.3f}; {-1 / (len(theta) - 1):.3f} for a regular simplex.")
            if len(between) else "",
        ),
        Chart(
            "Angles to class vectors, share of images", "degrees",
            tuple(shares(name, angle, 0.0, 180.0) for name, angle in angles.items()),
            "Means: " + ", ".join(f"{name} {angle:.0f}°" for name, angle in mean.items()) + ".",
        ),
        Chart(
            "Lengths, share", "length",
            tuple(shares(name, length, 0.0, longest) for name, length in lengths.items()),
            f"Temperature of the logits, 1 / (|z| |w|): {1 / product:.3g}." if product > 0 else "All logits are 0.",
        ),
    ]  # fmt: skip


def _pairs(classes: int, device: torch.device) -> tuple[Tensor, Tensor]:
    first, second = torch.triu_indices(min(classes, MOST_CLASSES), min(classes, MOST_CLASSES), 1, device=device)
    return first, second


def _degrees(cosines: Tensor) -> Tensor:
    return torch.rad2deg(torch.acos(cosines.flatten().clamp(-1, 1)))
