"""A loss whose paper searches by a distance of its own is measured by it, too."""

import numpy as np
import pytest
import torch

from workbench.config import Choice, EmbeddingParams, EvaluationParams, RunConfig, TrainingParams
from workbench.control import Control
from workbench.evaluation.retrieval import retrieval_metrics
from workbench.events import Evaluated
from workbench.losses import build_loss
from workbench.losses.hyperbolic import ball_distances
from workbench.running.building import load_data
from workbench.running.engine import Engine


@pytest.mark.parametrize("curvature", [0.1, 0.0])
def test_a_run_is_measured_by_the_hyperbolic_distance(tmp_path, curvature):
    config = RunConfig(
        device="cpu", backbone=Choice(name="conv4", params={"width": 8}),
        loss=Choice(name="hyperbolic", params={"curvature": curvature}),
        sampler=Choice(name="classes_images"), split=Choice(name="random"),
        embedding=EmbeddingParams(dim=8, batch_norm=False), training=TrainingParams(epochs=1, batch_size=40),
        evaluation=EvaluationParams(every=1, probe_size=0, untrained=False, other_distance=True),
    )  # fmt: skip
    heard = []
    Engine(config, load_data(config, lambda *words: None), tmp_path, Control(), heard.append).run()
    (event,) = [event for event in heard if isinstance(event, Evaluated)]
    assert {"l2/MAP@R", "l2/recall@1"} <= set(event.metrics)
    if not curvature:
        assert not [name for name in event.metrics if name.startswith("hyperbolic/")]
        return
    apart = ball_distances(torch.from_numpy(event.embeddings).double(), curvature, 2.3).numpy()
    np.fill_diagonal(apart, np.inf)
    first = np.mean(event.labels[apart.argmin(1)] == event.labels)
    assert event.metrics["hyperbolic/recall@1"] == pytest.approx(first, abs=2 / len(apart))
    assert 0 < event.metrics["hyperbolic/MAP@R"] <= 1


def test_points_in_the_ball_are_as_far_apart_as_the_loss_says():
    embeddings = torch.randn(40, 5, dtype=torch.float64, generator=torch.Generator().manual_seed(0)) * 3
    loss = build_loss("hyperbolic", num_classes=4, embedding_dim=5, curvature=0.5, radius=2.0)
    name, points = loss.own_distance(embeddings)
    labels = np.arange(40) % 4
    assert name == "hyperbolic"
    apart = ball_distances(embeddings, 0.5, 2.0).numpy()
    np.fill_diagonal(apart, np.inf)
    right = np.mean(labels[apart.argmin(1)] == labels)
    assert retrieval_metrics(points.numpy(), labels, distance="hyperbolic")["recall@1"] == right
