"""Query / gallery evaluation against a naive loop, in the order given."""

import numpy as np
import pytest

from workbench.evaluation.retrieval import retrieval_metrics, retrieve
from workbench.problem import Problem


@pytest.mark.parametrize("distance", ["cosine", "l2"])
def test_queries_search_the_gallery_only(distance):
    rng = np.random.default_rng(3)
    vectors, labels, ids = rng.normal(size=(60, 6)), rng.integers(0, 8, 60), rng.permutation(1000)[:60]
    is_query = rng.random(60) < 0.4
    found = retrieve(vectors, labels, ids, k=5, distance=distance, is_query=is_query)
    gallery = np.flatnonzero(~is_query)
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    for row in range(60):
        others = gallery[gallery != row]
        gap = ((vectors[others] - vectors[row]) ** 2).sum(1) if distance == "l2" else 1 - unit[others] @ unit[row]
        ranked = others[np.argsort(gap)]
        assert found.neighbours[row].tolist() == ids[ranked[:5]].tolist()
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
