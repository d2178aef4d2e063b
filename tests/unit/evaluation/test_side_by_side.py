"""Embeddings of several networks side by side, against what the definition says of each row."""

import numpy as np
import pytest

from workbench.evaluation import side_by_side as joining
from workbench.evaluation.side_by_side import side_by_side, spread

RNG = np.random.default_rng(0)
FIRST, SECOND = RNG.normal(size=(11, 3)).astype(np.float32), RNG.normal(size=(11, 5)).astype(np.float32)


@pytest.mark.parametrize("rows", [4096, 4])
def test_each_part_is_normalised_ordered_and_scaled_by_itself(monkeypatch, rows):
    monkeypatch.setattr(joining, "ROWS", rows)
    orders = [RNG.permutation(11), RNG.permutation(11)]
    joint = side_by_side([FIRST, SECOND], [True, False], orders, [1.0, 0.5])
    unit = FIRST.astype(np.float64) / np.linalg.norm(FIRST.astype(np.float64), axis=1, keepdims=True)
    np.testing.assert_allclose(joint, np.hstack([unit[orders[0]], 0.5 * SECOND.astype(np.float64)[orders[1]]]))
    assert joint.dtype == np.float64


def test_a_vector_of_zeros_stays_one():
    assert not side_by_side([np.zeros((2, 3), np.float32)], [True]).any()


def test_tables_of_other_images_are_refused():
    with pytest.raises(ValueError, match="tables of 11, 10 rows"):
        side_by_side([FIRST, SECOND[:10]], [True, True])


@pytest.mark.parametrize("unit", [True, False])
def test_the_spread_is_the_root_mean_square_distance_from_the_mean(monkeypatch, unit):
    monkeypatch.setattr(joining, "ROWS", 4)
    vectors = FIRST.astype(np.float64) + 3
    rows = vectors / np.linalg.norm(vectors, axis=1, keepdims=True) if unit else vectors
    wanted = np.sqrt(np.square(rows - rows.mean(0)).sum(1).mean())
    assert spread(vectors, unit) == pytest.approx(wanted)
    assert spread(np.ones((5, 2)), unit) == pytest.approx(0, abs=1e-7)
