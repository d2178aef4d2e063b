"""t-SNE maps in this process: few points, seeds, proxies, neighbours, and being stopped."""

import numpy as np
import pytest

from workbench.control import Cancelled
from workbench.files import packages
from workbench.problem import Problem
from workbench.progress import quiet
from workbench.projection.exact import Exact
from workbench.projection.maps import make_map
from workbench.projection.params import TsneParams
from workbench.projection.vectors import prepared

pytest.importorskip("openTSNE", reason='openTSNE has no wheel for this machine: pip install ".[tsne]"')
from workbench.projection import tsne_map as module


@pytest.fixture(scope="module")
def blobs():
    """90 points in 3 tight classes, their labels and their centres."""
    rng = np.random.default_rng(0)
    centres, labels = rng.normal(size=(3, 8)), np.arange(90) % 3
    return (centres[labels] + 0.1 * rng.normal(size=(90, 8))).astype(np.float32), labels, centres.astype(np.float32)


def quickly(vectors, proxies=None, metric="l2", seed=0, progress=quiet):
    params = TsneParams(metric=metric, perplexity=8)
    stars = None if proxies is None else prepared(proxies, metric)
    return module.tsne_map(prepared(vectors, metric), stars, params, seed, progress, iterations=(60, 60))


@pytest.mark.parametrize("metric", ["cosine", "l2"])
def test_few_and_flat_points_have_a_place(metric):
    tables = [np.random.default_rng(count).normal(size=(count, 5)) for count in (1, 2, 4, 5, 14)]
    tables += [np.ones((12, 5)), np.zeros((12, 5)), np.repeat(np.eye(2), 9, axis=0), np.arange(12.0)[:, None]]
    for table in tables:
        points, stars = quickly(table, table[:1] + 1, metric)
        assert points.shape == (len(table), 2)
        assert np.isfinite(points).all()
        assert np.isfinite(stars).all()


def test_classes_lie_apart_and_proxies_lie_in_their_class(blobs):
    vectors, labels, centres = blobs
    found = make_map(vectors, 3 * centres, "tsne", {"perplexity": 8})
    means = np.stack([found.points[labels == each].mean(0) for each in range(3)])
    spread = np.linalg.norm(found.points - means[labels], axis=1).mean()
    to_means = np.linalg.norm(found.proxies[:, None] - means, axis=2)
    assert to_means.argmin(1).tolist() == [0, 1, 2]
    assert to_means.min(1).max() < 2 * spread < np.sort(to_means, axis=1)[:, 1].min()
    assert found.trust.trustworthiness > 0.9
    assert found.params == {"perplexity": 8, "metric": "cosine"}
    assert "openTSNE" in found.versions


def test_a_seed_gives_one_map_and_proxies_move_nothing(blobs):
    vectors, _, centres = blobs
    one, stars = quickly(vectors, centres, seed=4)
    np.testing.assert_allclose(one.min(0) + one.max(0), 0, atol=1e-4)
    np.testing.assert_array_equal(one, quickly(vectors, seed=4)[0])
    np.testing.assert_array_equal(stars, quickly(vectors, centres, seed=4)[1])
    assert not np.array_equal(one, quickly(vectors, seed=5)[0])


def test_every_stage_is_told_and_any_can_end_the_work(blobs):
    told = []
    quickly(blobs[0], blobs[2], progress=lambda *what: told.append(what))
    assert list(dict.fromkeys(text for text, _, _ in told)) == [
        "Searching neighbours", "Optimising layout", "Placing class vectors"
    ]  # fmt: skip
    assert all(0 <= done <= total for _, done, total in told)
    laid = [done for text, done, _ in told if text == "Optimising layout"]
    assert laid == sorted(laid)
    assert laid[-1] == 120

    def stop(text, done, total):
        if text == "Optimising layout" and done > 70:
            raise Cancelled

    with pytest.raises(Cancelled):
        quickly(blobs[0], progress=stop)


def test_neighbours_are_exact_and_never_the_point_itself():
    vectors = np.random.default_rng(2).normal(size=(90, 4)).astype(np.float32)
    vectors[30:60] = vectors[0]  # more copies than neighbours: faiss need not name the point itself
    rows, distances = module.ExactNeighbours(vectors, Exact(vectors), 8).build()
    assert (rows != np.arange(90)[:, None]).all()
    exact = np.linalg.norm(vectors[:, None].astype(np.float64) - vectors, axis=2)
    np.fill_diagonal(exact, np.inf)
    np.testing.assert_allclose(distances, np.sort(exact, axis=1)[:, :8], atol=2e-3)


def test_too_many_points_are_refused(monkeypatch):
    monkeypatch.setattr(module, "MOST_POINTS", 10)
    with pytest.raises(Problem, match="t-SNE of 11 points"):
        module.tsne_map(np.zeros((11, 2), np.float32), None, TsneParams(), 0)


def test_a_machine_without_open_tsne_is_told_what_to_install(blobs, monkeypatch):
    monkeypatch.setattr(packages, "find_spec", lambda name: None)
    with pytest.raises(Problem, match=r"t-SNE needs openTSNE: install the extra tsne with pip \(page Install\)\."):
        make_map(blobs[0], None, "tsne", {})
