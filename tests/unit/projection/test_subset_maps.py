"""Maps of some samples, and maps that the classes pull: through the analysis process's own functions."""

import numpy as np
import pytest

from tests.ui.small_run import blobs, store_run
from workbench.problem import Problem
from workbench.progress import quiet
from workbench.projection.chain import Wanted
from workbench.projection.maps import make_map
from workbench.projection.params import UmapParams, in_words
from workbench.projection.server import project, project_epochs
from workbench.projection.subset import among, mark, rows_of, said_of, sample_by_class
from workbench.reports.content.gathering import map_of
from workbench.workspace import Workspace
from workbench.workspace.measured.stored_maps import Measured, kept_neighbours, store_map

LABELS = np.repeat(np.arange(3), 10)


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
        shown = map_of(workspace, workspace.run(run.run_id), workspace.evaluation(run.evaluations[0]))
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


@pytest.mark.parametrize(
    ("sizes", "most"), [((50, 30, 1), 20), ((7, 7, 7), 10), ((1, 1, 98), 3), ((400, 3, 2, 1), 100)]
)
def test_a_sample_has_so_many_points_in_the_proportions_of_the_classes_and_one_of_each(sizes, most):
    rng = np.random.default_rng(1)
    labels = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    ids = rng.choice(10**9, len(labels), replace=False)
    rows = sample_by_class(ids, labels, most, seed=3)
    assert len(rows) == most
    assert (np.diff(rows) > 0).all()
    found, every = np.bincount(labels[rows], minlength=len(sizes)), np.array(sizes)
    assert (found >= 1).all()
    assert (np.abs(found - (1 + (every - 1) * (most - len(sizes)) / (len(labels) - len(sizes)))) < 1).all()
    order = rng.permutation(len(labels))
    again = sample_by_class(ids[order], labels[order], most, seed=3)
    assert set(ids[order][again]) == set(ids[rows]), "whatever the order of the rows"
    assert sample_by_class(ids, labels, len(ids), seed=3).tolist() == list(range(len(ids)))


def test_another_seed_draws_another_sample_and_too_many_classes_are_told():
    ids, labels = np.arange(1_000), np.arange(1_000) % 10
    assert sample_by_class(ids, labels, 100, 0).tolist() != sample_by_class(ids, labels, 100, 1).tolist()
    with pytest.raises(Problem, match=r"9 points cannot stand for 10 classes") as told:
        sample_by_class(ids, labels, 9, 0)
    assert "10 or more" in str(told.value)


def test_what_is_shown_is_said_whether_all_some_or_a_sample():
    ids, placed = np.arange(6), np.array([True, True, False, True, False, False])
    assert said_of({}, ids, np.ones(6, bool)) == "6 of 6 test images"
    assert said_of({"points_at_most": 3}, ids, placed) == "3 of 6 test images, stratified by class"
    assert said_of({"points_at_most": 3, "only": mark([0, 1, 3])}, ids, placed) == "3 of 6 test images"
    isolated = {"points_at_most": 3, "only": mark([0, 1, 2, 3])}
    assert said_of(isolated, ids, placed) == "3 of the isolated test images, stratified by class"


@pytest.mark.parametrize("method", ["umap", "tsne"])
def test_a_sample_is_mapped_with_its_own_neighbours_and_comes_back_the_same(tmp_path, method):
    with Workspace(tmp_path / "space", create=True) as workspace:
        run = store_run(workspace, LABELS, embeddings=[blobs(LABELS, 0.3, 0), blobs(LABELS, 0.2, 0)])
        asked = {"workspace": str(workspace.path), "method": method, "seed": 2, "most": 18}
        first, second = (project({**asked, "evaluation": each}, quiet)["projection"] for each in run.evaluations)
        placed = [np.isfinite(workspace.coordinates(number)[0]).all(1) for number in (first, second)]
        rows = sample_by_class(run.ids, LABELS, 18, 2)
        assert np.flatnonzero(placed[0]).tolist() == np.flatnonzero(placed[1]).tolist() == rows.tolist()
        kept = kept_neighbours(workspace, first)
        assert np.isfinite(kept).tolist() == placed[0].tolist()
        _, _, table = workspace.embeddings(run.evaluations[0])
        alone = make_map(table[rows], workspace.proxies(run.evaluations[0])[0], method, {}, seed=2)
        points, proxies = workspace.coordinates(first)
        np.testing.assert_array_equal(points[rows], alone.points)
        np.testing.assert_array_equal(proxies, alone.proxies)
        np.testing.assert_array_equal(kept[rows], alone.kept)
        assert workspace.projections(run.evaluations[1])[0].start_id == first, "one chain over the epochs"
        again = project_epochs({**asked, "evaluation": run.evaluations[0]}, quiet)
        assert (again["projections"], again["made"]) == ([first, second], 0)
        if method == "umap":
            shown = map_of(workspace, workspace.run(run.run_id), workspace.evaluation(run.evaluations[1]))
            assert "18 of 30 test images, stratified by class" in shown.caption
            assert len(shown.points) == len(shown.labels) == 18
            assert np.isfinite(shown.points).all()


def test_a_map_stored_before_there_were_samples_still_fits(tmp_path):
    with Workspace(tmp_path / "space", create=True) as workspace:
        run = store_run(workspace, LABELS)
        params = UmapParams().model_dump()
        points = np.zeros((30, 2), np.float32)
        store_map(workspace, run.evaluations[0], "umap", params, 0, points, None, {}, Measured())
        (made,) = workspace.projections(run.evaluations[0])
        assert Wanted("umap", {}, 0).fits(made)
        assert not Wanted("umap", {}, 0, most=20).fits(made)


@pytest.mark.parametrize("most", [0, 200_001])
def test_a_limit_out_of_range_is_told(most):
    with pytest.raises(Problem, match="1 to 200,000 points"):
        project({"workspace": "", "evaluation": 1, "method": "umap", "most": most}, quiet)


def test_the_parameters_of_a_map_are_words_for_a_reader():
    params = {"n_neighbors": 15, "min_dist": 0.1, "metric": "l2", "target_weight": 0.0, "points_at_most": 20_000}
    assert in_words(params) == "15 neighbours, minimum distance 0.1, Euclidean"
    assert in_words({"perplexity": 30.0, "metric": "cosine", "only": "a1"}) == "perplexity 30.0, cosine"
    assert in_words({"target_weight": 0.5}) == "supervised by class with weight 0.5"
