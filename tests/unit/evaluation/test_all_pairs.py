"""Neighbours from half of the table of pairs are those of the float64 pass, with every product and in every tile."""

import numpy as np
import pytest
import torch

from workbench.evaluation import all_pairs, retrieval, two_pass
from workbench.evaluation.neighbours import Gallery

COUNT, DIM = 900, 24
STEEP = 34  # bfloat16 rounds one over its root up by 2^-9 and a little


@pytest.fixture(autouse=True)
def small_tiles(monkeypatch):
    """Several blocks of several tiles, the last ones shorter."""
    monkeypatch.setattr(all_pairs, "SIDE", 200)
    monkeypatch.setattr(all_pairs, "ROWS", 64)


def problem(seed, copies=0.0, spread=1.0):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 250, COUNT)
    vectors = rng.normal(size=(250, DIM))[labels] + spread * rng.normal(size=(COUNT, DIM))
    vectors *= rng.uniform(0.5, 2, size=(COUNT, 1))
    twins = rng.random(COUNT) < copies
    vectors[twins] = vectors[rng.integers(0, COUNT, int(twins.sum()))]
    return vectors, labels, rng.permutation(10 * COUNT)[:COUNT]


@pytest.fixture
def multiplied(monkeypatch):
    """The number formats of the products that were made, in their order."""
    formats, product = [], all_pairs.Product
    monkeypatch.setattr(all_pairs, "Product", lambda table, *how: formats.append(table.dtype) or product(table, *how))
    return formats


def searched(monkeypatch, gallery, depths, half):
    """All blocks, and the gallery rows left; with bfloat16 wherever it is allowed, or nowhere."""
    if half and not all_pairs.HALF:
        pytest.skip("this processor does not multiply bfloat16")
    monkeypatch.setattr(all_pairs, "HALF", half)
    pairs = all_pairs.AllPairs(gallery, depths)
    blocks = list(pairs.blocks())
    return blocks, np.concatenate(pairs.left), pairs


@pytest.mark.parametrize("half", [False, True])
@pytest.mark.parametrize("distance", ["cosine", "l2"])
@pytest.mark.parametrize("copies", [0.0, 0.3])
def test_each_sample_has_its_own_depth_of_exact_neighbours(monkeypatch, multiplied, half, distance, copies):
    vectors, _, ids = problem(1, copies)
    depths = np.random.default_rng(2).integers(0, 20, COUNT)
    gallery = Gallery(vectors, ids, distance)
    blocks, left, _ = searched(monkeypatch, gallery, depths, half)
    assert multiplied[-1] == (torch.bfloat16 if half and distance == "cosine" else torch.float32)
    exact = torch.cat([gallery.smallest(keys, 20).clone() for _, keys in gallery.blocks(vectors, np.arange(COUNT))])
    done = np.concatenate([block.part for block in blocks])
    assert sorted([*done, *left]) == list(range(COUNT))
    assert len(done) > COUNT / 2
    for block in blocks:
        for row, keys in zip(block.part, block.best, strict=True):
            depth = depths[row]
            assert gallery.places_of(keys[:depth]).tolist() == gallery.places_of(exact[row, :depth]).tolist()
            assert set(gallery.places_of(keys[depth:]).tolist()) <= {gallery.place[row]}


@pytest.mark.parametrize("half", [False, True])
def test_ranks_are_exact_or_left(monkeypatch, half):
    vectors, _, ids = problem(3)
    gallery = Gallery(vectors, ids)
    blocks, _, pairs = searched(monkeypatch, gallery, np.full(COUNT, 3), half)
    exact = torch.cat([keys.clone() for _, keys in gallery.blocks(vectors, np.arange(COUNT))]).sort(1).values
    wanted = np.random.default_rng(4).integers(0, COUNT - 1, COUNT)
    ranked = 0
    for block in blocks:
        pairs.left.clear()
        keys = exact[torch.from_numpy(block.part), torch.from_numpy(wanted[block.part])]
        keys = pairs.keys_of(block, torch.arange(len(keys)), gallery.places_of(keys)[:, None])[:, 0]
        ranks = pairs.rank_of(block, torch.arange(len(keys)), keys).numpy()
        known = ~np.isin(block.part, np.concatenate(pairs.left))
        ranked += known.sum()
        assert np.array_equal(ranks[known], wanted[block.part][known] + 1)
        assert known[wanted[block.part] < 3].all()  # what lies among the neighbours asked for is always known
    assert 0 < ranked < COUNT


@pytest.mark.parametrize("distance", ["cosine", "l2"])
@pytest.mark.parametrize("spread", [1.0, 1e-7, 0.0])
def test_retrieval_is_that_of_one_pass(monkeypatch, distance, spread):
    """With classes shrunk to one point almost everything is left, and found all the same."""
    vectors, labels, ids = problem(5, copies=0.2, spread=spread)
    found = retrieval.retrieve(vectors, labels, ids, k=10, distance=distance)
    assert all_pairs.pairs_up(Gallery(vectors, ids, distance), np.full(COUNT, 10))
    monkeypatch.setattr(two_pass, "WORTHWHILE", 10**9)
    exact = retrieval.retrieve(vectors, labels, ids, k=10, distance=distance)
    assert np.array_equal(found.neighbours, exact.neighbours)
    assert np.array_equal(found.first_hit, exact.first_hit)
    assert np.array_equal(found.ap, exact.ap, equal_nan=True)


def test_equal_samples_are_all_left(monkeypatch):
    blocks, left, _ = searched(monkeypatch, Gallery(np.ones((COUNT, 4))), np.full(COUNT, 5), half=False)
    assert not blocks
    assert sorted(left) == list(range(COUNT))


def test_too_many_candidates_are_not_begun(monkeypatch):
    gallery = Gallery(np.random.default_rng(0).normal(size=(COUNT, 3)))
    assert all_pairs.pairs_up(gallery, np.full(COUNT, 5))
    monkeypatch.setattr(all_pairs, "HELD", 5 * COUNT)
    assert not all_pairs.pairs_up(gallery, np.full(COUNT, 5))


def test_samples_too_near_for_bfloat16_take_float32(monkeypatch, multiplied):
    rng = np.random.default_rng(0)
    vectors = 1 + 0.02 * rng.normal(size=(COUNT, DIM))
    searched(monkeypatch, Gallery(vectors), np.full(COUNT, 5), half=True)
    assert multiplied[-1] == torch.float32


@pytest.mark.parametrize("half", [False, True])
@pytest.mark.parametrize("distance", ["cosine", "l2"])
def test_no_gap_is_off_by_more_than_its_error(monkeypatch, half, distance):
    """Forty samples are all but equal, and bfloat16 makes a product of just over 1 + 2^-8, so 1 + 2^-7, of them."""
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(COUNT, STEEP))
    vectors[:40] = 1 + 1e-5 * rng.normal(size=(40, STEEP))
    gallery = Gallery(vectors, distance=distance)
    blocks, _, pairs = searched(monkeypatch, gallery, np.full(COUNT, 30), half)
    compared = 0
    for block in blocks:
        row, column = torch.nonzero(block.gaps.isfinite(), as_tuple=True)
        exact = gallery.gaps_in(pairs.keys_of(block, row, block.places[row, column][:, None]))[:, 0]
        off = (block.gaps[row, column] - exact).abs()
        assert (off <= block.errors[row]).all()
        compared += len(off)
    assert compared > 30 * COUNT / 2


def test_the_error_of_a_short_vector_is_that_of_its_distances_to_long_ones(monkeypatch):
    rng = np.random.default_rng(6)
    vectors = rng.normal(size=(COUNT, DIM))
    vectors *= (1000 + 0.01 * rng.random(COUNT))[:, None] / np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors[::100] = 1e-3 * rng.normal(size=(9, DIM))
    gallery = Gallery(vectors, distance="l2")
    blocks, _, pairs = searched(monkeypatch, gallery, np.full(COUNT, 20), half=False)
    compared = 0
    for block in blocks:
        for row in np.flatnonzero(block.part % 100 == 0).tolist():
            column = torch.nonzero(block.gaps[row].isfinite())[:, 0]
            exact = gallery.gaps_in(pairs.keys_of(block, torch.tensor([row]), block.places[row, column][None]))[0]
            assert ((block.gaps[row, column] - exact).abs() <= block.errors[row]).all()
            compared += 1
    assert compared == 9
