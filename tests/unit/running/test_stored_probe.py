"""Each evaluation stores the embeddings of the probe: the images of the training set on which CE is measured."""

import numpy as np
import pytest
import torch

from workbench import files
from workbench.config import Choice, EmbeddingParams, EvaluationParams, RunConfig, TrainingParams
from workbench.control import Control
from workbench.problem import Problem
from workbench.running.launch import make_job, prepare_run
from workbench.training.probe import probe_rows
from workbench.workspace import Workspace
from workbench.workspace.measured.evaluations import read_probe

SIZE = 40


def trained(workspace, **evaluation):
    config = RunConfig(
        device="cpu", dataset=Choice(name="digits", params={"image_size": 8}),
        backbone=Choice(name="conv4", params={"width": 8}),
        split=Choice(name="classes"), embedding=EmbeddingParams(dim=8), seed=3,
        training=TrainingParams(epochs=1, batch_size=256), evaluation=EvaluationParams(**evaluation),
    )  # fmt: skip
    run_id = prepare_run(config, workspace)
    make_job(workspace, run_id, Control()).start().join()
    return run_id, workspace.evaluations(run_id)


def test_the_probe_is_part_of_the_training_half_with_its_labels(tmp_path):
    with Workspace(tmp_path / "space", create=True) as workspace:
        run_id, (untrained, last) = trained(workspace, probe_size=SIZE, store_training=True)
        samples = workspace.samples(workspace.run(run_id).dataset_id)
        test = set(workspace.queries(last.id).sample_ids.tolist())
        half = np.array([number for number in samples.ids.tolist() if number not in test])
        before, after = read_probe(workspace, untrained.id), read_probe(workspace, last.id)
        np.testing.assert_array_equal(np.sort(after.sample_ids), np.sort(half[probe_rows(len(half), SIZE, 3)]))
        labels = dict(zip(samples.ids.tolist(), samples.labels.tolist(), strict=True))
        assert after.labels.tolist() == [labels[number] for number in after.sample_ids.tolist()]
        np.testing.assert_array_equal(before.sample_ids, after.sample_ids)
        assert np.abs(before.vectors - after.vectors).max() > 1e-3
        with np.load(workspace.file(run_id, f"training-{last.epoch}.npz")) as whole:
            places = {number: at for at, number in enumerate(whole["sample_ids"].tolist())}
            rows = [places[number] for number in after.sample_ids.tolist()]
            np.testing.assert_allclose(after.vectors, whole["vectors"][rows], atol=1e-5)


def test_a_run_without_a_probe_stores_none_and_trains_alike(tmp_path):
    with Workspace(tmp_path / "space", create=True) as workspace:
        (one, (*_, last)), (other, _) = (trained(workspace, probe_size=size) for size in (0, SIZE))
        assert read_probe(workspace, last.id) is None
        assert not list(workspace.folder(one).glob("probe-*"))
        states = [torch.load(workspace.file(number, "last.pt"), weights_only=True)["model"] for number in (one, other)]
        assert all(torch.equal(value, states[1][name]) for name, value in states[0].items())


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"labels": np.full(SIZE, -1)}, "labels are out of range"),
        ({"labels": np.zeros(SIZE - 1, np.int64)}, "holds 39 labels for 40"),
        ({"vectors": np.ones((SIZE, 7), np.float32)}, "its embeddings are float32"),
        ({"vectors": np.ones((SIZE, 8), np.int64)}, "its embeddings are int64"),
        (None, "is damaged"),
    ],
)
def test_a_probe_that_is_not_what_it_says_is_refused(tmp_path, change, said):
    """The hash of the first four is right: a workspace from elsewhere has the hashes of its own files."""
    with Workspace(tmp_path / "space", create=True) as workspace:
        run_id, (*_, last) = trained(workspace, probe_size=SIZE, untrained=False)
        path = workspace.file(run_id, f"probe-{last.epoch}.npz")
        with np.load(path) as stored:
            columns = dict(stored)
        np.savez(path, **(columns | (change or {"vectors": columns["vectors"] + 1})))
        if change is not None:
            with workspace.writing() as db:
                db.execute("update artefacts set blake2b = ? where path = ?", (files.digest(path), path.name))
        with pytest.raises(Problem, match=said):
            read_probe(workspace, last.id)
