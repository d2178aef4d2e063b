"""Query / gallery evaluation against a naive loop, in the order given."""

import numpy as np
import pytest

from workbench.evaluation.retrieval import retrieval_metrics, retrieve
from workbench.problem import Problem


def gaps_to(others, one, distance):
    """Squared distances, one minus cosines, or hyperbolic distances in the Poincaré ball, from the equations."""
    squared = ((others - one) ** 2).sum(1)
    if distance == "hyperbolic":
        return np.arccosh(1 + 2 * squared / ((1 - (others**2).sum(1)) * (1 - one @ one)))
    return squared if distance == "l2" else 1 - others @ one / np.linalg.norm(others, axis=1) / np.linalg.norm(one)


@pytest.mark.parametrize("distance", ["cosine", "l2", "hyperbolic"])
def test_queries_search_the_gallery_only(distance):
    rng = np.random.default_rng(3)
    vectors, labels, ids = 0.3 * rng.normal(size=(60, 6)), rng.integers(0, 8, 60), rng.permutation(1000)[:60]
    vectors /= np.maximum(1, np.linalg.norm(vectors, axis=1, keepdims=True) / 0.99)
    is_query = rng.random(60) < 0.4
    found = retrieve(vectors, labels, ids, k=5, distance=distance, is_query=is_query)
    gallery = np.flatnonzero(~is_query)
    for row in range(60):
        others = gallery[gallery != row]
        gaps = gaps_to(vectors[others], vectors[row], distance)
        ranked = others[np.argsort(gaps)]
        assert found.neighbours[row].tolist() == ids[ranked[:5]].tolist()
        nearest = np.sort(gaps)[:5]
        wanted = {"cosine": 1 - nearest, "l2": -np.sqrt(nearest), "hyperbolic": -nearest}[distance]
        assert found.similarities[row] == pytest.approx(wanted, abs=1e-6)
        hits = labels[ranked] == labels[row]
        r = int(hits.sum()) if is_query[row] else 0
        assert found.r[row] == r
        if r:
            ap = sum(hits[: j + 1].mean() for j in range(r) if hits[j]) / r
            assert found.ap[row] == pytest.approx(ap, abs=1e-6)
            assert found.first_hit[row] == 1 + int(hits.argmax())
        else:
            assert np.isnan(found.ap[row])
            assert found.first_hit[row] == 0
    whole = retrieval_metrics(
        vectors[is_query], labels[is_query], distance=distance, gallery=(vectors[~is_query], labels[~is_query])
    )
    assert whole == pytest.approx(found.metrics, nan_ok=True)


@pytest.mark.parametrize("fill", [True, False])
def test_one_side_alone_is_refused(fill):
    with pytest.raises(Problem, match="at least one query"):
        retrieve(np.eye(4), np.zeros(4), np.arange(4), is_query=np.full(4, fill))


def test_hyperbolic_distances_need_points_in_the_ball():
    with pytest.raises(Problem, match="not inside the ball"):
        retrieve(np.eye(4), np.zeros(4), np.arange(4), distance="hyperbolic")


def test_all_among_themselves_are_ranked_by_the_hyperbolic_distance_however_many():
    rng = np.random.default_rng(5)
    vectors = rng.normal(size=(900, 4))
    vectors *= rng.random((900, 1)) ** 0.1 / np.linalg.norm(vectors, axis=1, keepdims=True)  # most near the edge
    found = retrieve(vectors, np.arange(900) // 2, np.arange(900), k=3, distance="hyperbolic")
    for row in range(0, 900, 50):
        gaps = gaps_to(vectors, vectors[row], "hyperbolic")
        gaps[row] = np.inf
        assert found.neighbours[row].tolist() == np.argsort(gaps)[:3].tolist()
