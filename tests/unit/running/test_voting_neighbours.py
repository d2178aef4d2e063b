"""What the ten nearest vote for does not depend on how many neighbours a run keeps."""

from workbench.config import Choice, EmbeddingParams, EvaluationParams, RunConfig, TrainingParams
from workbench.control import Control
from workbench.evaluation.quality import quality
from workbench.evaluation.retrieval import retrieve
from workbench.events import Evaluated
from workbench.running.building import load_data
from workbench.running.engine import Engine


def test_a_run_that_keeps_one_neighbour_lets_ten_vote(tmp_path):
    config = RunConfig(
        device="cpu", backbone=Choice(name="conv4", params={"width": 8}), split=Choice(name="random"),
        embedding=EmbeddingParams(dim=8),
        training=TrainingParams(epochs=1, batch_size=256),
        evaluation=EvaluationParams(probe_size=0, untrained=False, neighbours=1),
    )  # fmt: skip
    heard = []
    Engine(config, load_data(config, lambda *words: None), tmp_path, Control(), heard.append).run()
    (event,) = [event for event in heard if isinstance(event, Evaluated)]
    assert event.neighbours.shape == event.similarities.shape == (len(event.sample_ids), 1)
    ten = retrieve(event.embeddings, event.labels, event.sample_ids, k=10)
    expected = quality(event.embeddings, event.labels, event.sample_ids, ten)
    for metric in ("kNN@10", "hubness"):
        assert event.metrics[metric] == expected[metric]
    assert event.metrics["kNN@10"] != event.metrics["recall@1"], "one neighbour would have voted"
