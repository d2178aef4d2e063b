"""Two stages on a long-tailed half: the linear probe learns from what the encoder saw, and from nothing else."""

import numpy as np
import pytest
from PIL import Image

from workbench.config import Choice, EmbeddingParams, EvaluationParams, RunConfig, TrainingParams
from workbench.control import Control
from workbench.evaluation import retrieval_metrics
from workbench.events import Evaluated
from workbench.problem import Problem
from workbench.running import evaluator
from workbench.running.building import load_data
from workbench.running.engine import Engine


def test_the_probe_of_a_long_tailed_half_sees_the_kept_images_only(monkeypatch, tmp_path):
    learned = []
    probe = evaluator.linear_probe

    def noted(train, train_labels, *rest):
        learned.append(train_labels)
        return probe(train, train_labels, *rest)

    monkeypatch.setattr(evaluator, "linear_probe", noted)
    config = RunConfig(
        device="cpu", dataset=Choice(name="digits", params={"image_size": 8}),
        backbone=Choice(name="conv4", params={"width": 8}), split=Choice(name="random"),
        sampler=Choice(name="long_tailed", params={"ratio": 20.0}),
        loss=Choice(name="psce", params={"prototypes": "simplex"}), augmentation=Choice(name="shift"),
        embedding=EmbeddingParams(dim=10, layers="two", batch_norm=False),
        training=TrainingParams(epochs=1, batch_size=32, views=2),
        evaluation=EvaluationParams(linear_probe=True, nmi=True, untrained=False),
    )  # fmt: skip
    heard = []
    engine = Engine(config, load_data(config, lambda *words: None), tmp_path, Control(), heard.append)
    engine.run()
    counts = np.bincount(learned[0])
    assert counts.tolist() == engine.sampler.kept.tolist()
    assert 18 < counts[0] / counts[-1] < 25
    (evaluated,) = [event for event in heard if isinstance(event, Evaluated)]
    assert 0.3 < evaluated.metrics["linear/top-1"] <= evaluated.metrics["linear/top-5"] <= 1
    assert 0.2 < evaluated.metrics["NMI"] <= 1


@pytest.mark.parametrize(("distance", "other"), [("cosine", "l2"), ("l2", "cosine")])
@pytest.mark.parametrize(
    ("loss", "split", "classifies"), [("ce", "random", True), ("ce", "classes", False), ("supcon", "random", False)]
)
def test_one_evaluation_has_both_distances_and_the_classifier_s_accuracy(
    distance, other, loss, split, classifies, tmp_path
):  # fmt: skip
    config = RunConfig(
        device="cpu", dataset=Choice(name="digits", params={"image_size": 8}),
        backbone=Choice(name="conv4", params={"width": 8}),
        split=Choice(name=split), loss=Choice(name=loss), sampler=Choice(name="classes_images"),
        training=TrainingParams(epochs=1, batch_size=16), evaluation=EvaluationParams(
            distance=distance, other_distance=True, probe_size=0, untrained=False)
    )  # fmt: skip
    heard = []
    engine = Engine(config, load_data(config, lambda *words: None), tmp_path, Control(), heard.append)
    metrics = engine.evaluator.evaluate(0)
    (found,) = [event for event in heard if isinstance(event, Evaluated)]
    for name, prefix in ((distance, ""), (other, f"{other}/")):
        wanted = retrieval_metrics(found.embeddings, found.labels, distance=name)
        for metric in ("recall@1", "recall@8", "P@R", "MAP@R"):
            assert metrics[f"{prefix}{metric}"] == pytest.approx(wanted[metric], abs=1e-3)
    assert ("classifier/top-1" in metrics) == classifies
    if classifies:
        weight, bias = (each.detach().numpy() for each in engine.parts.loss.parameters())
        named = (found.embeddings @ weight.T + bias).argmax(1)
        assert metrics["classifier/top-1"] == pytest.approx((named == found.labels).mean())


def test_a_probe_of_classes_that_are_not_trained_is_refused_before_the_training(tmp_path):
    for number in range(8):
        (folder := tmp_path / ("train" if number < 4 else "test") / f"class-{number // 2}").mkdir(
            parents=True, exist_ok=True
        )
        Image.new("RGB", (16, 16), (30 * number, 0, 0)).save(folder / f"{number}.png")
    config = RunConfig(
        device="cpu", dataset=Choice(name="folder", params={"folder": str(tmp_path), "image_size": 16}),
        split=Choice(name="official"), training=TrainingParams(batch_size=2),
        evaluation=EvaluationParams(linear_probe=True, probe_size=0),
    )  # fmt: skip
    with pytest.raises(Problem, match="needs all classes of the test set") as raised:
        Engine(config, load_data(config, lambda *words: None), tmp_path, Control(), lambda event: None)
    assert raised.value.field == "evaluation.linear_probe"
