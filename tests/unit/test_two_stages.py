"""Two stages on a long-tailed half: the linear probe learns from what the encoder saw, and from nothing else."""

import numpy as np

from workbench import engine as engines
from workbench.config import Choice, EmbeddingParams, EvaluationParams, RunConfig, TrainingParams
from workbench.control import Control
from workbench.events import Evaluated


def test_the_probe_of_a_long_tailed_half_sees_the_kept_images_only(monkeypatch, tmp_path):
    learned = []
    probe = engines.linear_probe

    def noted(train, train_labels, *rest):
        learned.append(train_labels)
        return probe(train, train_labels, *rest)

    monkeypatch.setattr(engines, "linear_probe", noted)
    config = RunConfig(
        device="cpu", split=Choice(name="random"), sampler=Choice(name="long_tailed", params={"ratio": 20.0}),
        loss=Choice(name="psce", params={"prototypes": "simplex"}), augmentation=Choice(name="shift"),
        embedding=EmbeddingParams(dim=10, layers="two", batch_norm=False),
        training=TrainingParams(epochs=1, batch_size=32, views=2),
        evaluation=EvaluationParams(linear_probe=True, nmi=True, untrained=False),
    )  # fmt: skip
    heard = []
    engine = engines.Engine(config, engines.load_data(config, lambda *words: None), tmp_path, Control(), heard.append)
    engine.run()
    counts = np.bincount(learned[0])
    assert counts.tolist() == engine.sampler.kept.tolist()
    assert 18 < counts[0] / counts[-1] < 25
    (evaluated,) = [event for event in heard if isinstance(event, Evaluated)]
    assert 0.3 < evaluated.metrics["linear/top-1"] <= evaluated.metrics["linear/top-5"] <= 1
    assert 0.2 < evaluated.metrics["NMI"] <= 1
