"""Two passes give what one float64 pass gives: the same neighbours, keys and ranks, whatever float32 rounds away."""

import numpy as np
import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st

from workbench.evaluation import retrieval, two_pass
from workbench.evaluation.neighbours import Gallery
from workbench.evaluation.two_pass import TwoPass, pays


def problem(seed, n=420, d=6, classes=120, copies=0.0, spread=1.0, scale=1.0):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, classes, n)
    vectors = rng.normal(size=(classes, d))[labels] * scale + spread * rng.normal(size=(n, d))
    twins = rng.random(n) < copies
    vectors[twins] = vectors[rng.integers(0, n, int(twins.sum()))]
    return vectors, labels, rng.permutation(10 * n)[:n]


@given(
    seed=st.integers(0, 2**32), copies=st.sampled_from([0.0, 0.1, 0.6]), spread=st.sampled_from([1e-3, 0.3, 1.0]),
    scale=st.sampled_from([0.0, 1.0, 100.0]), distance=st.sampled_from(["cosine", "l2"]), k=st.sampled_from([0, 1, 7]),
)  # fmt: skip
def test_two_passes_are_one(seed, copies, spread, scale, distance, k):
    vectors, labels, ids = problem(seed, copies=copies, spread=spread, scale=scale)
    found = []
    for worth in (two_pass.WORTHWHILE, 10**9):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(two_pass, "WORTHWHILE", worth)
            found.append(retrieval.retrieve(vectors, labels, ids, k=k, distance=distance))
    first, second = found
    assume(pays(Gallery(vectors, ids, distance), max(k, int(first.r.max()))))  # else one pass was taken twice
    assert np.array_equal(first.neighbours, second.neighbours)
    assert np.array_equal(first.first_hit, second.first_hit)
    assert np.array_equal(first.ap, second.ap, equal_nan=True)
    assert first.metrics == pytest.approx(second.metrics, nan_ok=True)


@pytest.mark.parametrize("distance", ["cosine", "l2"])
def test_rows_that_float32_cannot_settle_are_searched_again(monkeypatch, distance):
    """All but equal samples: float32 sees ties, float64 an order."""
    rng = np.random.default_rng(0)
    vectors = np.ones((500, 8)) + 1e-9 * rng.normal(size=(500, 8))
    again = []
    search = Gallery.blocks_of
    gallery = Gallery(vectors, None, distance)
    with monkeypatch.context() as patch:
        patch.setattr(Gallery, "blocks_of", lambda self, rows, own: again.append(len(rows)) or search(self, rows, own))
        blocks = list(TwoPass(gallery, vectors, np.arange(500)).blocks(3))
    assert sum(again) == 500
    ((_, keys),) = gallery.blocks(vectors, np.arange(500))
    assert torch.equal(torch.cat([block.best for block in blocks]), gallery.smallest(keys, 3))


def test_queries_of_a_gallery_of_their_own():
    vectors, labels, ids = problem(3)
    is_query = np.arange(len(ids)) % 5 == 0
    found = retrieval.retrieve(vectors, labels, ids, k=4, is_query=is_query)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(two_pass, "WORTHWHILE", 10**9)
        plain = retrieval.retrieve(vectors, labels, ids, k=4, is_query=is_query)
    assert np.array_equal(found.neighbours, plain.neighbours)
    assert np.array_equal(found.first_hit, plain.first_hit)


@pytest.mark.parametrize("chunk", [1, 3, 64])
def test_any_chunk_finds_the_same_candidates(monkeypatch, chunk):
    monkeypatch.setattr(two_pass, "CHUNK", chunk)
    vectors, labels, ids = problem(5, n=700)
    found = retrieval.retrieve(vectors, labels, ids, k=3)
    monkeypatch.setattr(two_pass, "WORTHWHILE", 10**9)
    assert np.array_equal(found.neighbours, retrieval.retrieve(vectors, labels, ids, k=3).neighbours)
