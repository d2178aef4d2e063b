"""Both products that the first pass may take give the neighbours of the float64 pass."""

import numpy as np
import pytest
import torch

from workbench.evaluation import two_pass
from workbench.evaluation.neighbours import Gallery

COUNT, DIM, NEAR = 700, 24, 9


@pytest.mark.parametrize("onednn", [True, False])
@pytest.mark.parametrize("distance", ["cosine", "l2"])
@pytest.mark.parametrize("copies", [False, True])
def test_two_passes_find_what_one_finds(monkeypatch, onednn, distance, copies):
    if onednn and not two_pass.ONEDNN:
        pytest.skip("this torch lends no oneDNN product")
    monkeypatch.setattr(two_pass, "ONEDNN", onednn)
    monkeypatch.setattr(two_pass, "BLOCK", 100 * COUNT)  # several blocks, the last one shorter
    rng = np.random.default_rng(3)
    vectors = rng.normal(size=(COUNT, DIM)) * rng.uniform(0.5, 3, size=(COUNT, 1))
    if copies:
        vectors[50:80] = vectors[10]
    gallery, own = Gallery(vectors, distance=distance), np.arange(COUNT)
    assert two_pass.pays(gallery, NEAR)
    search = two_pass.TwoPass(gallery, vectors, own)
    exact = torch.cat([gallery.smallest(keys, NEAR).clone() for _, keys in gallery.blocks(vectors, own)])
    for block in search.blocks(NEAR):
        assert len(block.best) <= 100
        assert torch.equal(gallery.places_of(block.best), gallery.places_of(exact[block.part]))
        rows = torch.arange(len(block.best))
        ranks = search.rank_of(block, rows, exact[block.part][:, NEAR - 1])
        assert ranks.tolist() == [NEAR] * len(rows)
