"""A run whose distance is hyperbolic is measured, searched and exported by it alone."""

import numpy as np
import pytest
import torch

from workbench.config import Choice, EmbeddingParams, EvaluationParams, RunConfig, TrainingParams
from workbench.control import Control
from workbench.entries import catalog
from workbench.exchange.formats import export_run
from workbench.losses.hyperbolic import ball_distances
from workbench.running import launch, trained_network
from workbench.running.building import load_data
from workbench.running.engine import Engine
from workbench.running.facts.remarks import engine_notes
from workbench.running.search.image_search import OwnImage, search
from workbench.workspace import Workspace

CURVATURE, RADIUS = 0.001, 100.0


def config(distance, **loss):
    return RunConfig(
        device="cpu", loss=Choice(name="hyperbolic", params={"curvature": CURVATURE, "radius": RADIUS} | loss),
        backbone=Choice(name="conv4", params={"width": 8}), sampler=Choice(name="classes_images"),
        split=Choice(name="classes", params={"validation": 0.4}),
        embedding=EmbeddingParams(dim=8, batch_norm=False), training=TrainingParams(epochs=1, batch_size=12),
        evaluation=EvaluationParams(distance=distance, untrained=False, other_distance=True, store_training=True),
    )  # fmt: skip


def trained(workspace, distance):
    run_id = launch.prepare_run(config(distance), workspace)
    launch.make_job(workspace, run_id, Control()).start().join()
    assert workspace.run(run_id).status == "done"
    return run_id, workspace.evaluations(run_id)[-1]


@pytest.fixture(scope="module")
def space(tmp_path_factory):
    """A workspace with a run by cosine and the same run by hyperbolic distance."""
    place = tmp_path_factory.mktemp("hyperbolic") / "space"
    with Workspace(place, create=True) as workspace:
        trained(workspace, "cosine")
        trained(workspace, "hyperbolic")
    return place


@pytest.fixture
def workspace(space):
    with Workspace(space) as opened:
        yield opened


def scores(apart, labels):
    """Recall@1 and MAP@R by loops over a table of distances."""
    first, precisions = [], []
    for row in range(len(labels)):
        order = [int(other) for other in np.argsort(apart[row], kind="stable") if other != row]
        right = labels[order] == labels[row]
        r = int(right.sum())
        first.append(right[0])
        precisions.append(sum(right[: rank + 1].mean() for rank in range(r) if right[rank]) / r)
    return np.mean(first), np.mean(precisions)


def test_metrics_are_those_of_the_loss_and_the_points_are_stored(workspace):
    by_cosine, hyperbolic = (workspace.evaluations(run)[-1] for run in (1, 2))
    ids, labels, raw = workspace.embeddings(by_cosine.id)
    same_ids, _, points = workspace.embeddings(hyperbolic.id)
    np.testing.assert_array_equal(ids, same_ids)
    apart = ball_distances(torch.from_numpy(np.array(raw)).double(), CURVATURE, RADIUS).numpy()
    lengths = np.linalg.norm(points.astype(np.float64), axis=1)
    assert lengths.max() < 1
    assert np.ptp(lengths) > 0.01, "of one length the test would say nothing"
    recall, map_at_r = scores(apart, labels)
    assert hyperbolic.distance == "hyperbolic"
    assert hyperbolic.metrics["recall@1"] == pytest.approx(recall, abs=1e-12)
    assert hyperbolic.metrics["MAP@R"] == pytest.approx(map_at_r, abs=1e-6)
    assert by_cosine.metrics["hyperbolic/MAP@R"] == pytest.approx(hyperbolic.metrics["MAP@R"], abs=1e-6)
    assert abs(by_cosine.metrics["MAP@R"] - hyperbolic.metrics["MAP@R"]) > 0.01
    assert hyperbolic.metrics["cosine/MAP@R"] == by_cosine.metrics["MAP@R"]
    assert hyperbolic.metrics["l2/MAP@R"] == by_cosine.metrics["l2/MAP@R"]
    assert "hyperbolic/MAP@R" not in hyperbolic.metrics
    assert hyperbolic.metrics["validation/MAP@R"] != by_cosine.metrics["validation/MAP@R"], "it chooses the best epoch"


def test_an_image_of_the_run_finds_itself_and_the_runs_neighbours(workspace):
    evaluation = workspace.evaluations(2)[-1]
    queries = workspace.queries(evaluation.id)
    pictures = workspace.pictures(workspace.run(2).dataset_id)
    for row in (3, 40):
        sample = int(queries.sample_ids[row])
        pixels = pictures.thumbnail(sample)
        (answer,) = search(workspace, 2, [OwnImage("mine", pixels)], k=4, epoch="last")
        assert answer.neighbours[0].sample_id == sample
        assert answer.neighbours[0].similarity == pytest.approx(0, abs=1e-2)
        near = workspace.neighbours(2, sample, evaluation.id)[:3]
        assert [found.sample_id for found in answer.neighbours[1:]] == [found.sample_id for found in near]
        assert [found.similarity for found in answer.neighbours[1:]] == pytest.approx(
            [found.similarity for found in near], abs=1e-3
        )


@pytest.mark.filterwarnings("ignore:The given buffer is not writable:UserWarning")  # torch 2.11 about its own reader
def test_the_exported_network_gives_points_in_the_ball(workspace, tmp_path):
    export_run(workspace, 2, ["torch"], tmp_path)
    network = trained_network.trained(workspace, 2)
    side = network.prepared.side
    images = np.random.default_rng(0).integers(0, 256, (3, side, side), dtype=np.uint8)
    loaded = torch.export.load(tmp_path / "model.pt2").module()
    given = loaded(torch.from_numpy(images[:, None] / np.float32(255)))
    np.testing.assert_allclose(given.numpy(), network.embed(list(images)), atol=1e-5)
    assert given.norm(dim=1).max() < 1
    assert "hyperbolic distance arcosh(1 + 2 |x - y|^2" in (tmp_path / "model-note.txt").read_text("utf-8")


@pytest.mark.parametrize(("distance", "curvature"), [("cosine", 0.1), ("hyperbolic", 0.1), ("cosine", 0.0)])
def test_a_run_by_another_distance_than_the_paper_is_told_before_it_starts(tmp_path, distance, curvature):
    run = config(distance, curvature=curvature)
    engine = Engine(run, load_data(run, lambda *words: None), tmp_path, Control(), lambda event: None)
    notes = dict(engine_notes(engine)).get("the metrics", "")
    assert notes.startswith("are by cosine, and the paper of this loss searches by hyperbolic distance") == (
        (distance, curvature) == ("cosine", 0.1)
    )


def test_only_a_loss_with_a_ball_is_evaluated_by_hyperbolic_distance():
    known = catalog.current()
    assert config("hyperbolic").check(known) == {}
    flat = config("hyperbolic", curvature=0.0).check(known)
    assert "set loss.curvature above 0" in flat["evaluation.distance"]
    other = config("hyperbolic").model_copy(update={"loss": Choice(name="triplet")})
    assert "has no points in the Poincaré ball" in other.check(known)["evaluation.distance"]
    folds = config("hyperbolic").model_copy(update={"split": Choice(name="mlrc")})
    assert "joined points are not in the Poincaré ball" in folds.check(known)["evaluation.distance"]
