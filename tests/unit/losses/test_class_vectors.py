"""Pictures of class vectors, against numbers by hand; every loss with one vector per class has them."""

import pytest
import torch

from workbench.losses import build_loss
from workbench.losses.shared.class_vectors import class_vector_charts
from workbench.losses.shared.linear_logits import LinearLogits


def mean(marks):
    return sum(x * y for x, y in zip(marks.x, marks.y, strict=True))


def test_similarities_angles_and_lengths_of_vectors_on_axes():
    weight = 3 * torch.eye(3)
    embeddings = torch.tensor([[2.0, 0.0, 0.0], [1.0, 1.0, 0.0]])
    pairs, angles, lengths = class_vector_charts(LinearLogits(weight), embeddings, torch.tensor([0, 2]))
    assert mean(pairs.marks[0]) == pytest.approx(0.0, abs=0.03)
    assert pairs.note == "Mean 0.000; −0.500 for a regular simplex."
    assert [marks.title for marks in angles.marks] == ["own class", "nearest other"]
    assert angles.note == "Means: own class 45°, nearest other 68°."
    assert mean(lengths.marks[1]) == pytest.approx(3.0, abs=0.05)
    assert f"{1 / (3 * (2 + 2**0.5) / 2):.3g}" in lengths.note


def test_an_untrained_classifier_has_no_temperature():
    *_, lengths = class_vector_charts(LinearLogits(torch.zeros(1, 2)), torch.ones(2, 2), torch.tensor([0, 0]))
    assert lengths.note == "All logits are 0."


@pytest.mark.parametrize("name", ["ce", "norm_ce", "arcface", "psc"])
def test_losses_with_class_vectors_draw_them(name):
    torch.manual_seed(0)
    loss = build_loss(name, num_classes=4, embedding_dim=8)
    titles = [chart.title for chart in loss.charts(torch.randn(12, 8), torch.arange(12) % 4)]
    assert "Angles to class vectors, share of images" in titles
