"""The training set's embeddings are stored where they are asked for, and read again with the evaluation."""

import numpy as np
import pytest

from workbench.config import Choice, EmbeddingParams, EvaluationParams, RunConfig, TrainingParams
from workbench.control import Control
from workbench.results.stored import read_stored
from workbench.running.launch import make_job, prepare_run
from workbench.workspace import Workspace


@pytest.mark.parametrize("asked", [False, True])
def test_a_run_stores_its_training_half_if_asked(tmp_path, asked):
    config = RunConfig(
        device="cpu", backbone=Choice(name="conv4", params={"width": 8}), split=Choice(name="classes"),
        embedding=EmbeddingParams(dim=8),
        training=TrainingParams(epochs=1, batch_size=256),
        evaluation=EvaluationParams(probe_size=0, untrained=False, store_training=asked),
    )  # fmt: skip
    with Workspace(tmp_path / "space", create=True) as workspace:
        run_id = prepare_run(config, workspace)
        make_job(workspace, run_id, Control()).start().join()
        (evaluation,) = workspace.evaluations(run_id)
        stored = read_stored(workspace, evaluation.id)
        if not asked:
            assert stored.training is None
            return
        assert stored.training is not None
        samples = workspace.samples(workspace.run(run_id).dataset_id)
        assert not set(stored.training.sample_ids) & set(stored.sample_ids)
        assert len(stored.training.sample_ids) + len(stored.sample_ids) == len(samples.ids)
        assert stored.training.embeddings.shape == (len(stored.training.sample_ids), 8)
        assert stored.training.embeddings.dtype == np.float32
        assert not set(stored.training.labels.tolist()) & set(stored.labels.tolist()), "classes are disjoint"
