"""Both products that the first pass may take give the neighbours of the float64 pass."""

from threading import Event
from time import sleep

import numpy as np
import pytest
import torch

from tests.waits import HANG
from workbench import jobs
from workbench.evaluation import two_pass
from workbench.evaluation.neighbours import Gallery
from workbench.evaluation.retrieval import retrieve

COUNT, DIM, NEAR = 700, 24, 9


@pytest.mark.parametrize("onednn", [True, False])
@pytest.mark.parametrize("distance", ["cosine", "l2"])
@pytest.mark.parametrize("copies", [False, True])
@pytest.mark.parametrize("chunk", [64, 4])  # of 64 there are too few here to choose among
def test_two_passes_find_what_one_finds(monkeypatch, onednn, distance, copies, chunk):
    monkeypatch.setattr(two_pass, "CHUNK", chunk)
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


@pytest.mark.parametrize("chunk", [64, 4])
def test_candidates_that_were_found_rightly_need_no_pass_in_float64(monkeypatch, chunk):
    monkeypatch.setattr(two_pass, "CHUNK", chunk)
    vectors, own = np.random.default_rng(3).normal(size=(COUNT, DIM)), np.arange(COUNT)
    gallery = Gallery(vectors, distance="l2")
    exact = torch.cat([gallery.smallest(keys, NEAR).clone() for _, keys in gallery.blocks(vectors, own)])

    def again(*asked):
        raise AssertionError("a pass in float64")

    monkeypatch.setattr(Gallery, "blocks_of", again)
    for block in two_pass.TwoPass(gallery, vectors, own).blocks(NEAR):
        assert torch.equal(gallery.places_of(block.best), gallery.places_of(exact[block.part]))


@pytest.mark.parametrize("distance", ["cosine", "l2"])
@pytest.mark.parametrize("spread", [0.0, 1e-6])
def test_ranks_among_nearly_equal_samples_are_those_of_one_pass(monkeypatch, distance, spread):
    monkeypatch.setattr(two_pass, "RANKED", 30 * COUNT)
    rng = np.random.default_rng(3)
    vectors = np.ones(DIM) + spread * rng.normal(size=(COUNT, DIM))
    gallery, own = Gallery(vectors, distance=distance), np.arange(COUNT)
    search = two_pass.TwoPass(gallery, vectors, own)
    exact = torch.cat([keys.sort(1).values for _, keys in gallery.blocks(vectors, own)])
    for block in search.blocks(NEAR):
        rows = torch.arange(len(block.best))
        for rank in (NEAR, COUNT // 2):
            found = search.rank_of(block, rows, exact[block.part][:, rank - 1])
            assert (found - rank).abs().max() <= (COUNT // 50 if spread else 0), (
                "float64 rounds two products differently"
            )


@pytest.mark.parametrize("scale", [1e-23, 1e-21, 6e18, 2e19, 1e30])
def test_distances_that_float32_cannot_hold_take_one_pass(monkeypatch, scale):
    rng = np.random.default_rng(3)
    labels = np.arange(1200) % 60
    vectors = (rng.normal(size=(60, 4))[labels] + rng.normal(size=(1200, 4))) * scale
    found = retrieve(vectors, labels, np.arange(1200), k=5, distance="l2")
    monkeypatch.setattr(two_pass, "WORTHWHILE", 10**9)
    wanted = retrieve(vectors, labels, np.arange(1200), k=5, distance="l2")
    for name in ("ap", "first_hit", "neighbours"):
        np.testing.assert_array_equal(getattr(found, name), getattr(wanted, name))


@pytest.mark.parametrize("precision", ["none", "tf32", "ieee"])
def test_the_precision_of_products_is_as_it_was(precision):
    products = torch.backends.cuda.matmul
    before = products.fp32_precision
    products.fp32_precision = precision
    try:
        with two_pass.without_tf32():
            assert products.fp32_precision == "ieee"
        assert products.fp32_precision == precision
    finally:
        products.fp32_precision = before


def test_the_precision_is_as_it_was_after_two_threads():
    products = torch.backends.cuda.matmul
    before = products.fp32_precision
    first_is_inside, first_ended = Event(), Event()

    def second():
        assert first_is_inside.wait(HANG)
        with two_pass.without_tf32():
            assert products.fp32_precision == "ieee"
            first_ended.wait(HANG)

    products.fp32_precision = "tf32"
    try:
        with jobs.meanwhile(second) as ended:
            with two_pass.without_tf32():
                first_is_inside.set()
                sleep(0.2)  # the second is inside now, unless it waits
                assert products.fp32_precision == "ieee"
            first_ended.set()
            ended()
        assert products.fp32_precision == "tf32"
    finally:
        products.fp32_precision = before
