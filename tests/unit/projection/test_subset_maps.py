"""Maps of some samples, and maps that the classes pull: through the analysis process's own functions."""

import numpy as np
import pytest

from tests.ui.small_run import blobs, store_run
from workbench.problem import Problem
from workbench.projection.maps import make_map
from workbench.projection.server import project
from workbench.projection.subset import among, mark, rows_of
from workbench.reports.content import _map as report_map
from workbench.workspace import Workspace

LABELS = np.repeat(np.arange(3), 10)


def quiet(text, done, total):
    pass


def test_a_mark_is_of_the_set_and_not_of_its_order():
    assert mark([3, 1, 1]) == mark(np.array([1, 3]))
    assert mark([1, 3]) != mark([1, 4])
    assert len(mark([])) == 16


def test_rows_and_places():
    ids = np.array([5, 3, 9])
    assert rows_of(ids, None).tolist() == [0, 1, 2]
    assert rows_of(ids, [9, 5, 77]).tolist() == [0, 2]
    with pytest.raises(Problem, match="None of the isolated"):
        rows_of(ids, [1])
    every = among(np.ones((2, 2)), np.array([0, 2]), 3)
    assert np.isnan(every).all(1).tolist() == [False, True, False]


def test_some_samples_are_mapped_alone_and_stored_beside_the_map_of_all(tmp_path):
    with Workspace(tmp_path / "space", create=True) as workspace:
        run = store_run(workspace, LABELS, embeddings=[blobs(LABELS, 0.3, 0)])
        asked = {"workspace": str(workspace.path), "evaluation": run.evaluations[0], "method": "umap", "seed": 2}
        only = run.ids[[2, 4, 11, 12, 13, 25]].tolist()
        answer = project({**asked, "only": only}, quiet)
        points, proxies = workspace.coordinates(answer["projection"])
        assert np.flatnonzero(np.isfinite(points).all(1)).tolist() == [2, 4, 11, 12, 13, 25]
        assert proxies.shape == (3, 2)
        (stored,) = workspace.projections(run.evaluations[0])
        assert stored.params["only"] == mark(only)
        _, _, table = workspace.embeddings(run.evaluations[0])
        alone = make_map(table[[2, 4, 11, 12, 13, 25]], None, "umap", {}, seed=2)
        np.testing.assert_array_equal(points[np.isfinite(points).all(1)], alone.points)
        shown = report_map(workspace, workspace.run(run.run_id), workspace.evaluation(run.evaluations[0]))
        assert shown.caption.startswith("PCA"), "a report shows all images, not the isolated ones"


def test_classes_that_lie_in_one_another_are_pulled_apart_by_supervision_alone():
    rng = np.random.default_rng(0)
    table, labels = rng.normal(size=(120, 6)), np.arange(120) % 2

    def apart(params):
        found = make_map(table, None, "umap", params, labels=labels)
        means = [found.points[labels == each].mean(0) for each in (0, 1)]
        spread = np.mean([found.points[labels == each].std() for each in (0, 1)])
        return np.linalg.norm(means[0] - means[1]) / spread, found.points

    plain, points = apart({})
    np.testing.assert_array_equal(points, make_map(table, None, "umap", {}).points)
    assert plain < 0.5 < 1.5 < apart({"target_weight": 0.9})[0]
    with pytest.raises(Problem, match="needs the classes"):
        make_map(table, None, "umap", {"target_weight": 0.5})
