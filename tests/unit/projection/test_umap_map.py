"""UMAP maps in this process: sizes that have no neighbourhood, seeds, proxies, and being stopped."""

import gzip
import os

import faiss
import numpy as np
import pytest
import torch

from workbench.control import Cancelled
from workbench.problem import Problem
from workbench.projection import umap_map as module
from workbench.projection.exact import Exact
from workbench.projection.maps import make_map
from workbench.projection.params import UmapParams
from workbench.projection.vectors import prepared


@pytest.fixture(scope="module")
def blobs():
    """300 points in 6 tight classes, their labels and their centres."""
    rng = np.random.default_rng(0)
    centres, labels = rng.normal(size=(6, 16)), np.arange(300) % 6
    return centres[labels] + 0.1 * rng.normal(size=(300, 16)), labels, centres


@pytest.mark.parametrize("count", [1, 2, 3, 4, 14])
@pytest.mark.parametrize("metric", ["cosine", "l2"])
def test_few_points(count, metric):
    vectors = np.random.default_rng(count).normal(size=(count, 5))
    found = make_map(vectors, vectors[:2], "umap", {"metric": metric})
    assert found.points.shape == (count, 2)
    assert found.proxies.shape == (min(count, 2), 2)
    assert np.isfinite(found.points).all()
    assert np.isfinite(found.proxies).all()
    assert (found.trust is None) == (count < 3)


@pytest.mark.skipif("OMP_NUM_THREADS" not in os.environ, reason="torch may have as many threads as it likes")
def test_the_suite_trains_on_as_few_threads_after_a_map_as_before(blobs):
    """With two on a busy core, the runs of all tests that follow take ten times as long."""
    make_map(blobs[0], None, "umap", {})
    assert torch.get_num_threads() == int(os.environ["OMP_NUM_THREADS"])


@pytest.mark.parametrize(
    "vectors",
    [
        np.ones((40, 5)),
        np.zeros((40, 5)),
        np.repeat(np.eye(2), 30, axis=0),
        np.repeat(np.random.default_rng(0).normal(size=(4, 5)), 25, axis=0),
        np.arange(40.0)[:, None],
    ],
    ids=["constant", "zero", "two places", "four places", "a line"],
)
@pytest.mark.parametrize("metric", ["cosine", "l2"])
def test_copies_and_flat_data(vectors, metric):
    found = make_map(vectors, vectors[:1] + 1, "umap", {"metric": metric})
    assert np.isfinite(found.points).all()
    assert np.isfinite(found.proxies).all()


def test_classes_lie_apart_and_proxies_lie_in_their_class(blobs):
    vectors, labels, centres = blobs
    found = make_map(vectors, 3 * centres, "umap", {}, seed=1)
    means = np.stack([found.points[labels == each].mean(0) for each in range(6)])
    spread = np.linalg.norm(found.points - means[labels], axis=1).mean()
    to_means = np.linalg.norm(found.proxies[:, None] - means, axis=2)
    assert to_means.argmin(1).tolist() == list(range(6))
    assert to_means.min(1).max() < 2 * spread < np.sort(to_means, axis=1)[:, 1].min()
    assert found.trust.trustworthiness > 0.9
    assert found.params == {"n_neighbors": 15, "min_dist": 0.1, "metric": "cosine", "target_weight": 0.0}


def test_a_seed_gives_one_map_and_proxies_move_nothing(blobs):
    vectors, _, centres = blobs
    one = make_map(vectors, centres, "umap", {}, seed=4)
    np.testing.assert_array_equal(one.points, make_map(vectors, None, "umap", {}, seed=4).points)
    np.testing.assert_array_equal(one.proxies, make_map(vectors, centres, "umap", {}, seed=4).proxies)
    assert not np.array_equal(one.points, make_map(vectors, None, "umap", {}, seed=5).points)


def test_a_layout_starts_from_an_earlier_map(blobs):
    vectors, _, _ = blobs
    before = make_map(vectors, None, "umap", {}, seed=1).points
    again = make_map(vectors, None, "umap", {}, seed=1, before=before).points
    size = np.linalg.norm(before - before.mean(0), axis=1).mean()
    assert np.linalg.norm(again - before, axis=1).mean() < 0.5 * size
    before[:20] = np.nan  # samples that the earlier map had not
    found = make_map(vectors, None, "umap", {}, seed=1, before=before)
    assert np.isfinite(found.points).all()
    assert found.trust.trustworthiness > 0.9


def test_places_that_are_missing_come_from_the_neighbours():
    before = np.array([[0, 0], [2, 0], [np.nan] * 2, [np.nan] * 2], np.float32)
    rows = np.array([[0, 1], [1, 0], [2, 1], [3, 2]])
    np.testing.assert_allclose(module.filled(before, rows), [[-1, 0], [1, 0], [1, 0], [0, 0]])


def test_every_stage_is_told_and_any_can_end_the_work(blobs):
    told = []
    make_map(blobs[0], blobs[2], "umap", {}, progress=lambda *what: told.append(what))
    stages = list(dict.fromkeys(text for text, _, _ in told))
    assert stages == [
        "Loading UMAP", "Searching neighbours", "Weighting neighbours", "Optimising layout", "Placing class vectors",
        "Measuring trustworthiness",
    ]  # fmt: skip
    assert all(0 <= done <= total for _, done, total in told)

    def stop(text, done, total):
        if text == "Optimising layout":
            raise Cancelled

    with pytest.raises(Cancelled):
        make_map(blobs[0], None, "umap", {}, progress=stop)


def test_neighbours_are_exact_and_start_with_the_point_itself():
    vectors = prepared(np.random.default_rng(2).normal(size=(90, 4)), "cosine")
    vectors[30:60] = vectors[0]  # more copies than neighbours: faiss need not name the point itself
    rows, distances = module.with_self_first(*Exact(vectors).others(7), "cosine")
    assert (rows[:, 0] == np.arange(90)).all()
    assert all(len(set(row)) == 8 for row in rows.tolist())
    wanted = np.sort(1 - vectors.astype(np.float64) @ vectors.T, axis=1)[:, :8]
    np.testing.assert_allclose(distances, wanted, atol=1e-6)


def test_the_layout_and_the_kept_neighbours_share_one_search(blobs, monkeypatch):
    asked = []
    search = faiss.IndexFlatL2.search
    monkeypatch.setattr(faiss.IndexFlatL2, "search", lambda index, x, k: asked.append(k) or search(index, x, k))
    for few_or_many, k in ((5, 16), (30, 30)):
        asked.clear()
        made = make_map(blobs[0], blobs[2], "umap", {"n_neighbors": few_or_many})
        assert asked == [k, few_or_many]  # the points' own, then the proxies'
        assert made.kept.shape == (300,)


def test_too_many_points_are_refused(monkeypatch):
    monkeypatch.setattr(module, "MOST_POINTS", 10)
    with pytest.raises(Problem, match="UMAP of 11 points"):
        module.umap_map(np.zeros((11, 2), np.float32), None, UmapParams(), 0)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:n_jobs value 1 overridden:UserWarning")
def test_as_trustworthy_as_plain_umap_learn(real_data):
    """Real digits, 5,000 x 50; umap-learn compiles its own neighbour search first, hence slow."""
    import umap

    from workbench.projection.trust import trust

    with gzip.open(real_data / "mnist" / "t10k-images-idx3-ubyte.gz") as file:
        pixels = np.frombuffer(file.read(), np.uint8)[16 : 16 + 5_000 * 784]
    table = pixels.reshape(5_000, 784).astype(np.float64)
    table = (table - table.mean(0)) @ np.linalg.svd(table - table.mean(0), full_matrices=False)[2][:50].T
    ours = make_map(table, None, "umap", {"metric": "l2"}, seed=0)
    theirs = umap.UMAP(random_state=0).fit_transform(table.astype(np.float32))
    assert ours.trust.trustworthiness == pytest.approx(trust(table, theirs).trustworthiness, abs=0.005)
