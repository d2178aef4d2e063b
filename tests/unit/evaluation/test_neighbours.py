"""Neighbours: what is left out, what wins a tie, what memory holds, and what is refused."""

import numpy as np
import pytest
import torch

from workbench.evaluation.neighbours import Gallery, nearest
from workbench.problem import Problem


def test_the_query_is_left_out_by_identity_even_among_its_copies():
    vectors = np.array([[1.0, 0], [1, 0], [1, 0], [0, 1]])
    rows, similarities = nearest(vectors, vectors, 2, own=np.arange(4))
    assert rows.tolist() == [[1, 2], [0, 2], [0, 1], [0, 1]]
    assert similarities[0].tolist() == [1, 1]


def test_ties_go_to_the_lower_id_also_at_the_last_rank_kept():
    copies = np.tile([[0.3, 0.4, 0.5]], (50, 1))
    ids = np.random.default_rng(0).permutation(50)
    for distance in ("cosine", "l2"):
        rows, _ = nearest(np.array([[1.0, 2, 3]]), copies, 7, distance, ids=ids)
        assert ids[rows[0]].tolist() == list(range(7))


@pytest.fixture
def uneven(monkeypatch):
    """Sets how unlike the columns of a matrix product are rounded: kernels differ from machine to machine."""
    real, rng = torch.mm, np.random.default_rng(5)

    def set_error(size, least=0):
        def product(left, right):
            found = real(left, right)
            return found * (1 - size * torch.from_numpy(rng.uniform(least, 1, found.shape[1])))

        monkeypatch.setattr(torch, "mm", product)

    return set_error


def test_copies_tie_however_the_matrix_kernel_rounds(uneven):
    rng = np.random.default_rng(1)
    vectors = rng.normal(size=(103, 7)).astype(np.float32)
    vectors[50:100] = vectors[:50]
    uneven(1e-7)
    for distance in ("cosine", "l2"):
        rows, similarities = nearest(rng.normal(size=(31, 7)), vectors, 103, distance)
        place = np.argsort(rows, axis=1)
        np.testing.assert_array_equal(place[:, 50:100], place[:, :50] + 1)  # the copy comes right after
        by_row = np.take_along_axis(similarities, place, axis=1)
        np.testing.assert_array_equal(by_row[:, 50:100], by_row[:, :50])


@pytest.mark.parametrize(
    ("query", "gallery", "distance"),
    [
        ([1, 1], np.outer(range(1, 40), [1, 1]), "cosine"),
        ([1, 0], np.outer(range(1, 40), [1, 1]), "cosine"),
        ([1, 0], np.outer(range(1, 40), [0, 1]), "cosine"),
        ([1, 7], [[6, 7], [-4, 7], [1, 12], [1, 2], [4, 11], [4, 3], [5, 10], [5, 4], [-2, 11], [-3, 4]], "l2"),
    ],
    ids=["same direction", "45 degrees", "90 degrees", "circle"],
)
def test_equal_distances_tie_however_the_matrix_kernel_rounds(query, gallery, distance, uneven):
    uneven(4e-16, least=-1)
    rows, _ = nearest(np.tile(query, (9, 1)), np.array(gallery), len(gallery), distance)
    np.testing.assert_array_equal(rows, np.tile(np.arange(len(gallery)), (9, 1)))


@pytest.mark.parametrize(("distance", "similarity"), [("cosine", 1), ("l2", 0)])
def test_what_is_the_same_but_for_rounding_has_no_distance(distance, similarity, uneven):
    uneven(4e-15)
    query = np.array([[0.1, 0.7, 0.3]])
    gallery = np.tile(query, (28, 1)) + np.tile(
        np.array([[0, 0, 0], [0, 2e-16, 0], [3e-17, 0, 0], [0, 0, 1e-16]]), (7, 1)
    )
    rows, similarities = nearest(query, gallery, 28, distance)
    assert rows.tolist() == [list(range(28))]
    assert (similarities == similarity).all()


def test_distances_are_right_in_both_metrics():
    rng = np.random.default_rng(2)
    queries, gallery = rng.normal(size=(5, 8)), rng.normal(size=(30, 8)) * rng.uniform(0.1, 9, (30, 1))
    rows, found = nearest(queries, gallery, 30, "l2")
    np.testing.assert_allclose(-found, np.linalg.norm(queries[:, None] - gallery[rows], axis=2), rtol=1e-6)
    rows, found = nearest(queries, gallery, 30, "cosine")
    unit = gallery / np.linalg.norm(gallery, axis=1, keepdims=True)
    wanted = np.einsum("qd,qkd->qk", queries / np.linalg.norm(queries, axis=1, keepdims=True), unit[rows])
    np.testing.assert_allclose(found, wanted, atol=1e-7)
    assert (np.diff(wanted, axis=1) <= 1e-9).all()


def test_one_far_point_does_not_blur_the_near_ones():
    gallery = np.array([[1e6], [0.002], [0.001], [0.003]])
    assert nearest(np.array([[0.0]]), gallery, 3, "l2")[0].tolist() == [[2, 1, 3]]


def test_vectors_of_any_length_have_a_direction():
    gallery = np.array([[1e-30, 0], [0, 1e30], [0, 0]])
    rows, similarities = nearest(np.array([[0.0, 1e-200]]), gallery, 3)
    assert rows.tolist() == [[1, 0, 2]]
    assert similarities.tolist() == [[1, 0, 0]]


def test_k_is_cut_to_the_gallery():
    vectors = np.eye(3)
    assert nearest(vectors, vectors, 99)[0].shape == (3, 3)
    assert nearest(vectors, vectors, 99, own=np.arange(3))[0].shape == (3, 2)
    assert nearest(vectors, vectors, 0)[0].shape == (3, 0)


def test_a_block_stays_within_its_bytes():
    vectors = np.random.default_rng(3).normal(size=(2_000, 4))
    blocks = [keys.shape for _, keys in Gallery(vectors).blocks(vectors, block_bytes=100_000)]
    assert all(rows * columns * 8 <= 100_000 for rows, columns in blocks)
    assert sum(rows for rows, _ in blocks) == 2_000


@pytest.mark.parametrize(
    ("embeddings", "said"),
    [
        (np.array([[1.0, np.nan], [0, 1]]), "1 of 2 embeddings"),
        (np.array([[np.inf, 1.0]]), "NaN or infinity"),
        (np.zeros((0, 4)), "at least one row"),
        (np.zeros((4, 0)), "at least one row"),
        (np.zeros(4), "table"),
    ],
)
def test_what_cannot_be_searched_is_said(embeddings, said):
    with pytest.raises(Problem, match=said):
        Gallery(embeddings)


def test_wrong_ids_and_distances_are_said():
    with pytest.raises(Problem, match="same sample id"):
        Gallery(np.eye(3), np.array([1, 2, 1]))
    with pytest.raises(Problem, match="sample ids"):
        Gallery(np.eye(3), np.arange(4))
    with pytest.raises(Problem, match="no distance named 'dot'"):
        Gallery(np.eye(3), None, "dot")


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
def test_a_gpu_finds_the_same_neighbours():
    vectors = np.random.default_rng(4).integers(-3, 4, size=(500, 6)).astype(np.float32)
    for distance in ("cosine", "l2"):
        for k in (5, 499):
            own = np.arange(500)
            here, there = (nearest(vectors, vectors, k, distance, device, own=own) for device in ("cpu", "cuda"))
            np.testing.assert_array_equal(here[0], there[0])
