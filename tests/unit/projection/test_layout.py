"""The layout against its formulas in float64, one move at a time."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from workbench.control import Cancelled
from workbench.projection import layout as module
from workbench.projection.layout import forces, lay_out

CURVE = (1.577, 0.895)  # of min_dist 0.1


def pull(squared, a, b):
    """The derivative of log(1 / (1 + a d^(2b))) along a difference, as the UMAP paper gives it."""
    return -2 * a * b * squared ** (b - 1) / (1 + a * squared**b) if squared > 0 else 0.0


def push(squared, a, b):
    """That of log(1 - 1 / (1 + a d^(2b))), kept finite near 0 by 0.001, as in umap-learn."""
    return 2 * b / ((0.001 + squared) * (1 + a * squared**b)) if squared > 0 else 0.0


def step_by_step(heads, tails, weights, curve, epochs, rate, seed):
    """What lay_out does, in float64 and plain Python. weights: dense [n, m]."""
    heads = heads.astype(np.float64)
    same = tails is None
    tails = heads if same else tails.astype(np.float64)
    edges = [(h, t, weights.max() / weights[h, t]) for h, t in np.argwhere(weights >= weights.max() / epochs).tolist()]
    due, state = [every for *_, every in edges], seed
    for epoch in range(epochs):
        alpha = rate * (1 - epoch / epochs)
        for number, (head, tail, every) in enumerate(edges):
            if due[number] > epoch:
                continue
            due[number] += every
            difference = heads[head] - tails[tail]
            move = alpha * np.clip(pull((difference**2).sum(), *curve) * difference, -4, 4)
            heads[head] += move
            if same:
                tails[tail] -= move
            pushed = np.zeros(2)
            for _ in range(5):
                state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
                other = (state >> 32) * len(tails) >> 32
                if not (same and other == head):
                    difference = heads[head] - tails[other]
                    pushed += np.clip(push((difference**2).sum(), *curve) * difference, -4, 4)
            heads[head] += alpha * pushed
    return heads


def quiet(done, total):
    """Nobody is told."""


@pytest.fixture(scope="module")
def places():
    return np.random.default_rng(0).uniform(0, 10, size=(12, 2)).astype(np.float32)


@pytest.fixture(scope="module")
def weights():
    """Symmetric, most of them 0, some too small to be taken once in six epochs."""
    table = np.triu(np.random.default_rng(1).random((12, 12)), 1)
    table[table < 0.6] *= table[table < 0.6] < 0.1
    return table + table.T


@pytest.mark.parametrize("curve", [CURVE, (0.115, 1.93), (1.93, 0.79)], ids=["0.1", "0.99", "0"])
def test_forces_are_those_of_the_formulas(curve):
    table = forces(*curve)
    for squared in np.float32(10.0) ** np.linspace(-8, 7, 400, dtype=np.float32):
        for kind, wanted in ((0, pull), (1, push)):
            found = module.force.py_func(table, kind, squared)
            assert found == pytest.approx(wanted(float(squared), *curve), rel=5e-4)
    assert module.force.py_func(table, 0, np.float32(0)) == module.force.py_func(table, 1, np.float32(0)) == 0
    for squared in (np.float32(1e-30), np.float32(1e30)):  # outside the table
        assert np.isfinite(module.force.py_func(table, 1, squared))


def test_points_move_as_the_formulas_say(places, weights):
    found = places.copy()
    lay_out(found, found, csr_matrix(weights), CURVE, 6, 1.0, 9, quiet)
    wanted = step_by_step(places, None, weights, CURVE, 6, 1.0, 9)
    np.testing.assert_allclose(found, wanted, atol=0.01)
    assert np.abs(wanted - places).max() > 1


def test_placed_points_move_and_the_others_stay(places, weights):
    stars, stay = places[:3] + np.float32(0.5), places.copy()
    found = stars.copy()
    lay_out(found, stay, csr_matrix(weights[:3]), CURVE, 20, 0.25, 2**63 - 1, quiet)
    np.testing.assert_array_equal(stay, places)
    wanted = step_by_step(stars, places, weights[:3], CURVE, 20, 0.25, 2**63 - 1)
    np.testing.assert_allclose(found, wanted, atol=0.01)


def test_a_seed_gives_one_layout_and_progress_may_end_it(places, weights):
    def run(seed, tell=quiet):
        found = places.copy()
        lay_out(found, found, csr_matrix(weights), CURVE, 30, 1.0, seed, tell)
        return found

    told = []
    np.testing.assert_array_equal(run(1), run(1, lambda *what: told.append(what)))
    assert told == [(epoch, 30) for epoch in range(30)]
    assert not np.array_equal(run(1), run(2))

    def stop(done, total):
        if done == 3:
            raise Cancelled

    with pytest.raises(Cancelled):
        run(1, stop)
