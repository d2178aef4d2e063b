"""PCA maps: variance, signs, and data with fewer directions than a map."""

import numpy as np
import pytest
from sklearn.decomposition import PCA

from workbench.problem import Problem
from workbench.projection import vectors as vectors_module
from workbench.projection.maps import make_map
from workbench.projection.pca import fit_pca
from workbench.projection.vectors import prepared


@pytest.mark.parametrize("shape", [(60, 7), (7, 60), (9, 9)])
def test_equals_scikit_learn_up_to_signs(shape):
    vectors = np.random.default_rng(0).normal(size=shape) * np.geomspace(5, 0.1, shape[1]) + 3
    found, wanted = fit_pca(vectors), PCA(2, svd_solver="full").fit(vectors)
    np.testing.assert_allclose(
        np.abs(found.transform(vectors)), np.abs(wanted.transform(vectors)), rtol=1e-4, atol=1e-5
    )
    np.testing.assert_allclose(found.share, wanted.explained_variance_ratio_, rtol=1e-9)
    assert (found.axes[np.abs(found.axes).argmax(0), [0, 1]] > 0).all()


@pytest.mark.parametrize("metric", ["cosine", "l2"])
def test_tables_of_many_blocks_equal_one_of_float64(metric, monkeypatch):
    monkeypatch.setattr(vectors_module, "BLOCK", 7)
    table = np.random.default_rng(5).normal(size=(53, 6)) * np.geomspace(4, 1, 6) + 1
    table[9] = 0
    table[20] *= 1e-200  # its square is nothing in float64
    wanted = table.copy()
    if metric == "cosine":
        wanted[20] *= 1e200
        wanted /= np.where(np.arange(53) == 9, 1, np.linalg.norm(wanted, axis=1))[:, None]
    vectors = prepared(table, metric)
    np.testing.assert_allclose(vectors, wanted, rtol=1e-6, atol=1e-30)
    found, centred = fit_pca(vectors), vectors.astype(np.float64) - vectors.mean(0, np.float64)
    left, lengths, _ = np.linalg.svd(centred, full_matrices=False)
    np.testing.assert_allclose(np.abs(found.transform(vectors)), np.abs(left[:, :2] * lengths[:2]), atol=1e-5)
    np.testing.assert_allclose(found.share, (lengths**2 / (lengths**2).sum())[:2], rtol=1e-9)


def test_a_mirrored_solver_would_change_nothing(monkeypatch):
    vectors = np.random.default_rng(1).normal(size=(30, 4))
    before = fit_pca(vectors).axes
    real = np.linalg.eigh
    monkeypatch.setattr(np.linalg, "eigh", lambda matrix: (real(matrix)[0], -real(matrix)[1]))
    np.testing.assert_array_equal(fit_pca(vectors).axes, before)


@pytest.mark.parametrize(
    "vectors",
    [
        np.ones((1, 5)),
        np.array([[1.0, 2], [1, 2]]),
        np.full((50, 8), 0.1),
        np.zeros((3, 4)),
    ],
    ids=["one", "two copies", "constant", "zero"],
)
def test_constant_embeddings_lie_at_the_origin(vectors):
    found = make_map(vectors, None, "pca", {"metric": "l2"})
    assert found.points.shape == (len(vectors), 2)
    assert (found.points == 0).all()


def test_a_line_and_a_single_column_have_a_flat_map():
    for vectors in (np.outer(np.arange(5.0), [3, 4]), 5 * np.arange(5.0)[:, None], np.array([[0.0, 0], [3, 4]])):
        points = make_map(vectors, None, "pca", {"metric": "l2"}).points
        np.testing.assert_allclose(np.diff(points[:, 0]), 5, rtol=1e-6)
        assert (points[:, 1] == 0).all()


def test_proxies_go_through_the_same_projection():
    vectors = np.random.default_rng(2).normal(size=(40, 6))
    found = make_map(vectors, vectors[5:8] * 9, "pca", {})  # cosine: their length does not matter
    np.testing.assert_allclose(found.proxies, found.points[5:8], atol=1e-6)
    assert found.params == {"metric": "cosine"}
    assert "numpy" in found.versions


@pytest.mark.parametrize(
    ("embeddings", "proxies", "method", "params", "said"),
    [
        (np.array([[np.nan, 1], [0, 1]]), None, "pca", {}, "1 of 2 embeddings contain NaN"),
        (np.eye(3), np.array([[np.inf, 0, 0]]), "pca", {}, "1 of 1 class vectors"),
        (np.eye(3), np.eye(4), "pca", {}, "4 dimensions, the embeddings 3"),
        (np.zeros((0, 3)), None, "pca", {}, "table of numbers"),
        (np.array([["a"]]), None, "pca", {}, "table of numbers"),
        (np.full((3, 2), 1e30), None, "pca", {"metric": "l2"}, "too large"),
        (np.eye(3), None, "isomap", {}, "no map method named 'isomap'"),
        (np.eye(3), None, "pca", {"metric": "dot"}, "metric: Must be one of"),
        (np.eye(3), None, "umap", {"n_neighbours": 5}, "n_neighbours"),
        (np.eye(3), None, "umap", {"n_neighbors": 1, "min_dist": 2}, "n_neighbors.*min_dist"),
    ],
)
def test_what_cannot_be_drawn_is_said(embeddings, proxies, method, params, said):
    with pytest.raises(Problem, match=said):
        make_map(embeddings, proxies, method, params)
