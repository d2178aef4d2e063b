"""The limit for "same or different" against loops over pairs, explicit resampling and scikit-learn's ROC curve."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_curve

from tests.unit.deploying.test_stores import evaluation, unit
from workbench.deploying import pairs
from workbench.problem import Problem
from workbench.results.open_set import lowest_limit


def naive_pairs(stored):
    """(label, label, similarity) of every pair."""
    vectors, labels = unit(stored.embeddings), stored.labels
    return [
        (labels[one], labels[two], round(float(vectors[one] @ vectors[two]), 10))
        for one in range(len(labels))
        for two in range(one + 1, len(labels))
    ]


@pytest.mark.parametrize("wanted", [0.001, 0.01, 0.2])
def test_the_limit_is_the_lowest_that_keeps_the_rate(wanted):
    stored, _ = evaluation(1)
    limit = pairs.limit_of(stored, wanted)
    listed = naive_pairs(stored)
    others = np.array([similar for one, two, similar in listed if one != two])
    same = np.array([similar for one, two, similar in listed if one == two])
    assert limit.false_accepts == (others >= limit.similarity).mean() <= wanted
    lower = others[others < limit.similarity].max()
    assert (others >= lower).mean() > wanted
    assert limit.accepts == pytest.approx((same >= limit.similarity).mean(), abs=1e-12)
    assert (limit.same_pairs, limit.other_pairs) == (len(same), len(others))
    assert sum(limit.same) == pytest.approx(1)
    assert sum(limit.other) == pytest.approx(1)
    for one in limit.classes:
        own = np.array([s for a, b, s in listed if a == b == one.label])
        foreign = np.array([s for a, b, s in listed if a != b and one.label in (a, b)])
        assert one.accepts == pytest.approx((own >= limit.similarity).mean())
        assert one.false_accepts == pytest.approx((foreign >= limit.similarity).mean())
        assert (foreign >= one.own_limit).mean() <= wanted


def test_equal_error_is_where_the_roc_curve_crosses():
    stored, _ = evaluation(2)
    listed = naive_pairs(stored)
    truth = [one == two for one, two, _ in listed]
    accepted, kept, _ = roc_curve(truth, [similar for *_, similar in listed], drop_intermediate=False)
    crossing = np.abs(1 - kept - accepted).argmin()
    expected = (1 - kept[crossing] + accepted[crossing]) / 2
    assert pairs.limit_of(stored, 0.01).equal_error == pytest.approx(expected, abs=2e-3)


def test_the_interval_is_that_of_images_drawn_with_replacement(monkeypatch):
    stored, _ = evaluation(3, count=40)
    monkeypatch.setattr(pairs, "RESAMPLES", 20)
    limit = pairs.limit_of(stored, 0.05)
    random, vectors = np.random.default_rng(pairs.SEED), unit(stored.embeddings)
    limits, accepts = [], []
    for _ in range(20):
        rows = np.repeat(np.arange(40), random.multinomial(40, np.full(40, 1 / 40)))
        others, same = [], []
        for at, one in enumerate(rows):
            for two in rows[at + 1 :]:
                if one != two:
                    (same if stored.labels[one] == stored.labels[two] else others).append(vectors[one] @ vectors[two])
        ordered = np.sort(others)[::-1]
        limits.append(ordered[int(np.floor(0.05 * len(ordered) + 1e-9))])
        accepts.append((np.array(same) > limits[-1] + 1e-12).mean())
    assert limit.similarity_range == pytest.approx(np.quantile(limits, [0.025, 0.975]), abs=1e-6)
    assert limit.accepts_range == pytest.approx(np.quantile(accepts, [0.025, 0.975]), abs=1e-6)


@given(st.lists(st.integers(-5, 5), min_size=1, max_size=30), st.floats(0.001, 0.999))
def test_ties_never_pass_the_wanted_rate(values, wanted):
    negatives = np.array(values, np.float64)
    assert (negatives >= lowest_limit(negatives, wanted)).mean() <= wanted + 1e-9


@pytest.mark.parametrize("wanted", [0, 1, -0.1])
def test_a_rate_lies_between_0_and_1(wanted):
    with pytest.raises(Problem, match="between 0 and 1"):
        pairs.limit_of(evaluation(1)[0], wanted)


def test_one_class_has_no_limit():
    stored, _ = evaluation(1, classes=1)
    with pytest.raises(Problem, match="pairs of one class and pairs of two"):
        pairs.limit_of(stored, 0.01)


def test_of_more_classes_than_half_the_images_some_are_drawn(monkeypatch):
    stored, _ = evaluation(4, count=120)
    monkeypatch.setattr(pairs, "MOST_IMAGES", 40)
    monkeypatch.setattr(pairs, "RESAMPLES", 5)
    many = replace(stored, labels=np.arange(120) // 3)
    limit = pairs.limit_of(many, 0.05)
    assert limit.images <= 40
    assert len(limit.classes) == 20
    assert limit.same_pairs == 20, "two images of each class"
