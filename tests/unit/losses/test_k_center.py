"""Greedy k-center against loops, its bound against every possible choice, and the geometry that CCP reports."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.evaluation.geometry import class_shape, covering_radii
from workbench.losses.ccp.k_center import k_center, proxy_radii
from workbench.problem import Problem


def naive(pool, count, given):
    """Algorithm 2 for one class, word for word: indices, and the radius after each choice."""
    chosen, radii = [], []
    for _ in range(count):
        standing = [*given, *(pool[each] for each in chosen)]
        reach = {
            place: min(math.dist(pool[place], centre) for centre in standing)
            for place in range(len(pool))
            if place not in chosen
        }
        chosen.append(max(reach, key=reach.get))
        standing.append(pool[chosen[-1]])
        radii.append(max(min(math.dist(sample, centre) for centre in standing) for sample in pool))
    return chosen, radii


@st.composite
def pools(draw, largest=8):
    rng = np.random.default_rng(draw(st.integers(0, 2**31)))
    size, dimensions = draw(st.integers(1, largest)), draw(st.integers(1, 3))
    pool = rng.normal(size=(size, dimensions))
    if draw(st.booleans()):
        pool = pool.round()  # ties and equal samples
    return pool, draw(st.integers(1, size))


@settings(max_examples=150, deadline=None)
@given(drawn=pools(12), stand=st.integers(1, 4), seed=st.integers(0, 1000))
def test_it_is_algorithm_2(drawn, stand, seed):
    pool, count = drawn
    given = np.random.default_rng(seed).normal(size=(stand, pool.shape[1]))
    indices, radii = k_center(pool, count, given)
    chosen, expected = naive(pool, count, given)
    assert indices.tolist() == chosen
    np.testing.assert_allclose(radii, expected, atol=1e-12)


@settings(max_examples=150, deadline=None)
@given(drawn=pools())
def test_without_given_centres_the_radius_is_at_most_twice_the_least(drawn):
    pool, count = drawn
    indices, radii = k_center(pool, count)
    apart = np.linalg.norm(pool[:, None] - pool[None], axis=2)
    best = min(apart[list(choice)].min(0).max() for choice in itertools.combinations(range(len(pool)), count))
    assert len(set(indices.tolist())) == count
    assert radii[-1] == pytest.approx(apart[indices].min(0).max(), abs=1e-12)
    assert best - 1e-12 <= radii[-1] <= 2 * best + 1e-12
    assert (np.diff(radii) <= 0).all()


def test_no_sample_is_chosen_twice_even_where_all_are_equal():
    indices, radii = k_center(np.ones((5, 2)), 5, np.ones((1, 2)))
    assert sorted(indices.tolist()) == [0, 1, 2, 3, 4]
    assert radii.tolist() == [0] * 5


def test_given_centres_push_the_choice_away():
    line = np.array([[0.0], [4], [5], [10]])
    assert k_center(line, 1)[0].tolist() == [2]
    indices, radii = k_center(line, 2, np.array([[9.0]]))
    assert indices.tolist() == [0, 1]
    np.testing.assert_allclose(radii, [4, 1])


def test_covering_radii_of_one_class_by_one_to_all_of_its_samples():
    line = np.array([[0.0], [4], [5], [10]])
    np.testing.assert_allclose(covering_radii(line, centres=4)[0], [5, 5, 1, 0])
    np.testing.assert_allclose(covering_radii(line, centres=4)[0], k_center(line, 4)[1])
    assert class_shape(line, np.zeros(4, int))[0] == 11 / 4


def test_class_distance_is_the_mean_over_pairs_of_classes():
    rng = np.random.default_rng(2)
    vectors, labels = rng.normal(size=(12, 3)), np.array([0] * 2 + [1] * 4 + [5] * 6)
    means = [
        np.mean([math.dist(a, b) for a in vectors[labels == one] for b in vectors[labels == two]])
        for one, two in itertools.combinations((0, 1, 5), 2)
    ]
    assert class_shape(vectors, labels)[1] == pytest.approx(np.mean(means))
    assert math.isnan(class_shape(vectors, np.zeros(12, int))[1])


@pytest.mark.parametrize(
    ("pool", "count", "given", "says"),
    [
        (np.zeros((0, 2)), 1, None, "at least one row"),
        (np.array([[np.nan, 0]]), 1, None, "finite"),
        (np.zeros((3, 2)), 0, None, "1 to 3 centres"),
        (np.zeros((3, 2)), 4, None, "1 to 3 centres"),
        (np.zeros((3, 2)), 1, np.zeros((1, 3)), "3 dimensions"),
        (np.zeros((3, 2)), 1, np.array([[np.inf, 0]]), "Given centres"),
    ],
)
def test_what_cannot_be_covered_is_a_sentence(pool, count, given, says):
    with pytest.raises(Problem, match=says):
        k_center(pool, count, given)


@settings(max_examples=100, deadline=None)
@given(classes=st.integers(1, 4), dimensions=st.integers(1, 3), seed=st.integers(0, 1000))
def test_proxies_cover_up_to_the_farthest_sample_of_their_class(classes, dimensions, seed):
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.repeat(np.arange(classes) * 3, rng.integers(1, 6, classes)))
    owners = rng.permutation(np.repeat(np.arange(classes) * 3, rng.integers(1, 4, classes)))
    samples, proxies = rng.normal(size=(len(labels), dimensions)), rng.normal(size=(len(owners), dimensions))
    expected = [
        max(
            min(math.dist(sample, proxy) for proxy, of in zip(proxies, owners, strict=True) if of == label)
            for sample, own in zip(samples, labels, strict=True)
            if own == label
        )
        for label in range(0, 3 * classes, 3)
    ]
    np.testing.assert_allclose(proxy_radii(samples, labels, proxies, owners), expected, rtol=1e-12)


def test_samples_that_are_their_proxies_are_covered_by_nothing():
    vectors = np.arange(6.0).reshape(3, 2)
    assert proxy_radii(vectors, np.arange(3), vectors, np.arange(3)).tolist() == [0, 0, 0]
    assert proxy_radii(vectors, np.arange(3), vectors[::-1], np.arange(3))[0] == pytest.approx(
        math.dist((0, 1), (4, 5))
    )


def test_what_no_proxy_can_cover_is_a_sentence():
    with pytest.raises(Problem, match="2 dimensions"):
        proxy_radii(np.eye(3), np.zeros(3, int), np.eye(2), np.zeros(2, int))
    with pytest.raises(Problem, match="needs a proxy"):
        proxy_radii(np.eye(3), np.array([0, 1, 2]), np.eye(3), np.array([0, 1, 1]))
    with pytest.raises(Problem, match="finite"):
        proxy_radii(np.full((1, 2), np.nan), np.zeros(1, int), np.eye(2), np.zeros(2, int))
