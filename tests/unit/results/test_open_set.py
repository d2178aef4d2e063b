"""Open-set identification against the definitions, written out as loops over queries and thresholds."""

import json
from dataclasses import asdict

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from tests.unit.results.test_few_shot import clusters, stored
from workbench.results.open_set import (
    CURVE,
    DRAWS,
    RATES,
    Answers,
    identified,
    lowest_limit,
    open_set,
    open_set_facts,
    open_set_sentence,
    resolved,
    share_above,
    top_classes,
)
from workbench.results.stored import comparable


def test_a_hand_made_example_with_ties():
    known = np.array([0.9, 0.8, 0.5, 0.5])
    right = np.array([True, False, True, True])
    unknown = np.array([0.8, 0.5, 0.3, 0.1])
    wins = (4 + 0 + 2.5 + 2.5) / 16  # 0.9 above all; 0.8 is wrong; 0.5 above two, and tied with one
    assert share_above(known, right, unknown) == wins
    assert share_above(known, np.ones(4, bool), unknown) == wins + 3.5 / 16
    at = {rate: lowest_limit(unknown, rate) for rate in (0.2, 0.25, 0.5)}
    assert [np.float64((unknown >= limit).mean()) for limit in at.values()] == [0, 0.25, 0.5]
    assert [(right & (known >= limit)).mean() for limit in at.values()] == [0.25, 0.25, 0.75]


def test_dir_at_a_fpir_is_that_of_the_definition():
    """Of all thresholds that keep the FPIR, the one that identifies the most; similarities are rounded to have ties."""
    rng = np.random.default_rng(7)
    draws = [
        Answers(np.round(rng.normal(1, 1, 30), 1), rng.random(30) < 0.8, np.round(rng.normal(0, 1, 40), 1))
        for _ in range(3)
    ]
    rates = [0.05, 0.1, 0.5, 1.0]

    def wanted(draw, rate):
        limits = [*np.unique(np.concatenate([draw.known, draw.unknown])), np.inf]
        kept = [limit for limit in limits if sum(top >= limit for top in draw.unknown) <= rate * len(draw.unknown)]
        return max(
            sum(right and top >= limit for top, right in zip(draw.known, draw.right, strict=True)) / len(draw.known)
            for limit in kept
        )

    made = identified(draws, rates[:3], rates)
    shares = np.array([[wanted(draw, rate) for rate in rates] for draw in draws])
    assert 0.1 < shares.min() < shares.max() < 0.9
    np.testing.assert_allclose(made.curve, shares.mean(axis=0))
    for at, of_rate in zip(made.rates, shares.T[:3], strict=True):
        np.testing.assert_allclose(at.dir, [of_rate.mean(), *np.quantile(of_rate, [0.025, 0.975])])
    for draw in draws:
        limit = identified([draw], [0.1], []).rates[0].threshold[0]
        assert (draw.unknown >= limit).mean() <= 0.1 < (draw.unknown >= limit - 1e-9).mean()
    assert made.closed[0] == pytest.approx(np.mean([draw.right.mean() for draw in draws]))


@pytest.mark.parametrize("distance", ["cosine", "l2"])
def test_the_top_class_of_each_query_is_that_of_the_plain_rules(distance):
    rng = np.random.default_rng(2)
    sizes = [3, 2, 5]
    starts = np.cumsum([0, *sizes])
    labels = np.repeat(np.arange(3), sizes)
    kept, others = (comparable(rng.normal(size=(count, 4)), distance) for count in (10, 30))
    asking, itself = np.concatenate([kept, others]), np.concatenate([np.arange(10), np.full(30, -1)])
    classes, tops = top_classes(asking, itself, kept, starts, distance)

    def similarity(one, two):
        return one @ two if distance == "cosine" else -np.linalg.norm(one - two)

    for query, own, of, top in zip(asking, itself, classes.T, tops.T, strict=True):
        near = [max(similarity(query, kept[at]) for at in np.flatnonzero(labels == c) if at != own) for c in range(3)]
        means = [np.mean([kept[at] for at in np.flatnonzero(labels == c) if at != own], axis=0) for c in range(3)]
        mean = [similarity(query, comparable(middle[None], distance)[0]) for middle in means]
        assert list(of) == [np.argmax(near), np.argmax(mean)]
        np.testing.assert_allclose(top, [max(near), max(mean)], atol=1e-9)


def test_of_equally_similar_classes_the_first_is_taken_and_a_query_is_not_its_own_image():
    kept = np.eye(2)[[0, 0, 0, 1]]
    classes, tops = top_classes(kept[:1], np.array([0]), kept, np.array([0, 2, 4]), "cosine")
    assert classes.tolist() == [[0], [0]]
    assert tops.tolist() == [[1.0], [1.0]]
    classes, tops = top_classes(kept[3:], np.array([3]), kept, np.array([0, 2, 4]), "cosine")
    assert classes.tolist() == [[0], [0]]
    assert tops.tolist() == [[0.0], [0.0]]


@pytest.mark.parametrize("distance", ["cosine", "l2"])
def test_what_is_measured_is_consistent_and_the_same_each_time(distance, monkeypatch):
    labels = np.repeat(np.arange(12), 20)
    of = stored(labels, clusters(labels, 3.0), distance)
    measured = open_set(of)
    assert (measured.classes, measured.classes_there, measured.stored_classes) == (12, 12, 6)
    assert (measured.draws, measured.known, measured.unknown) == (DRAWS, 6 * 15, 6 * 20)
    assert [point.images for point in measured.points] == [1, 5, None]
    assert measured.curve == [rate for rate in CURVE if rate >= 1 / 120]
    for point in measured.points:
        for rule in (point.by_nearest, point.by_mean):
            assert [at.fpir for at in rule.rates] == [0.01, 0.1]
            assert rule.rates[0].threshold[0] > rule.rates[1].threshold[0]
            assert 0 < rule.rates[0].dir[0] < rule.rates[1].dir[0] < rule.closed[0]
            assert rule.curve == sorted(rule.curve)
            assert rule.curve[-1] == pytest.approx(rule.closed[0]), "every query is accepted at a FPIR of 100%"
            assert rule.oscr[0] < min(rule.auroc[0], rule.closed[0])
            assert all(low <= mean <= high for mean, low, high in (rule.oscr, rule.auroc, rule.closed))
    one, five, _ = measured.points
    assert one.by_nearest == one.by_mean, "one image is its own mean"
    assert one.by_mean.rates[1].dir[0] < five.by_mean.rates[1].dir[0]
    monkeypatch.setattr("workbench.results.open_set.BLOCK", 700)
    assert open_set(of) == measured


def test_it_is_the_measure_of_its_draws(monkeypatch):
    """With one draw the area of all accepted queries is scikit-learn's AUROC, and its limits are its mean."""
    monkeypatch.setattr("workbench.results.open_set.DRAWS", 1)
    labels = np.repeat(np.arange(6), 8)
    rule = open_set(stored(labels, clusters(labels, 3.0))).points[0].by_nearest
    assert rule.auroc[0] == rule.auroc[1] == rule.auroc[2]
    rng = np.random.default_rng(5)
    known, unknown = rng.integers(0, 9, 40) / 2 + 1, rng.integers(0, 9, 60) / 2
    truth = np.repeat([1, 0], [40, 60])
    wanted = roc_auc_score(truth, np.concatenate([known, unknown]))
    assert share_above(known, np.ones(40, bool), unknown) == pytest.approx(wanted)


def test_classes_that_are_apart_are_identified_and_random_ones_are_not():
    labels = np.repeat(np.arange(20), 12)
    apart = open_set(stored(labels, clusters(labels, 0.01, width=32)))
    assert {point.by_nearest.oscr for point in apart.points} == {(1, 1, 1)}
    noise = open_set(stored(labels, np.random.default_rng(0).normal(size=(240, 16))))
    for point in noise.points:
        assert 0.4 < point.by_nearest.auroc[0] < 0.6
        assert point.by_nearest.closed[0] < 0.2


@pytest.mark.parametrize(
    ("counts", "images", "classes"),
    [
        ((9, 9, 9, 9, 1), [1, 5, None], 4),
        ((6, 6, 6, 6), [1, 5], 4),  # all others are the five
        ((9, 9, 9, 2), [1, None], 4),
        ((9, 3, 3, 3, 3, 1), [1, None], 5),
        ((2, 2), [1], 2),
        ((9, 1, 1), [], 0),
        ((1, 1), [], 0),
        ((4,), [], 0),
        ((), [], 0),
    ],
)
def test_which_classes_and_numbers_of_images_take_part(counts, images, classes):
    labels = np.repeat(np.arange(len(counts)), counts)
    vectors = clusters(labels, 1.0) if counts else np.empty((0, 8))
    measured = open_set(stored(labels, vectors))
    assert [point.images for point in measured.points] == images
    assert (measured.classes, measured.classes_there) == (classes, len(counts))
    said = open_set_facts({**asdict(measured), "trained_on": False})
    assert said.startswith("In each of 20 draws" if images else "Open-set identification was not measured")


def test_no_more_images_are_stored_or_asked_than_the_limits(monkeypatch):
    monkeypatch.setattr("workbench.results.open_set.MOST_STORED", 60)
    monkeypatch.setattr("workbench.results.open_set.MOST_KNOWN", 30)
    monkeypatch.setattr("workbench.results.open_set.MOST_UNKNOWN", 40)
    sizes = []
    monkeypatch.setattr(
        "workbench.results.open_set.top_classes", lambda *of: sizes.append((len(of[0]), len(of[2]))) or top_classes(*of)
    )
    labels = np.repeat(np.arange(8), 30)
    measured = open_set(stored(labels, clusters(labels, 1.0)))
    assert (measured.known, measured.unknown) == (28, 40)
    assert set(sizes) == {(68, 4), (68, 20), (68, 60)}


def test_a_rate_needs_one_query_that_may_pass():
    assert resolved(RATES, 999) == [0.01, 0.1]
    assert resolved(RATES, 1000) == list(RATES)
    assert resolved(RATES, 9) == []


def test_it_can_be_cancelled():
    labels = np.repeat(np.arange(4), 12)

    def stop():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        open_set(stored(labels, clusters(labels, 1.0)), stop)


def test_the_sentences_say_what_is_identified_and_what_is_left_out():
    rates = [
        {"fpir": 0.01, "dir": [0.931, 0.912, 0.954], "threshold": [0.6, 0.5, 0.7]},
        {"fpir": 0.1, "dir": [0.99, 0.98, 1.0], "threshold": [0.4, 0.3, 0.5]},
    ]
    lower = [rates[0] | {"dir": [0.9, 0.8, 0.95]}, rates[1]]
    point = {"images": 5, "by_nearest": {"rates": rates}, "by_mean": {"rates": lower}}
    by_mean = {"images": 1, "by_nearest": {"rates": lower[1:]}, "by_mean": {"rates": [rates[1] | {"dir": [1, 1, 1]}]}}
    measured = {
        "points": [point, by_mean, point | {"images": None, "by_nearest": {"rates": []}}],
        "classes": 50, "classes_there": 60,
        "stored_classes": 25, "draws": 20, "known": 375, "unknown": 500, "trained_on": True,
    }  # fmt: skip
    assert open_set_sentence(measured, 5) == (
        "With 5 images stored of each known class, 93% (91 to 95) of queries of known classes are identified by the "
        "nearest image when 1% of queries of unknown classes are taken for a known one."
    )
    assert "100% (100 to 100) of queries of known classes are identified by the class mean when 10% of" in (
        open_set_sentence(measured, 1)
    )
    assert open_set_sentence(measured, None) == ""
    said = open_set_facts(measured)
    assert said.startswith("In each of 20 draws, 25 classes are stored and 25 are unknown; 375 and 500 of their images")
    assert "50 of 60 classes take part." in said
    assert "FPIR 0.1% needs 1,000 queries of unknown classes and is left out." in said
    assert said.endswith("These classes were in training: new ones will do worse.")
    assert "not known" in open_set_facts(measured | {"trained_on": None})
    two = open_set_facts(measured | {"classes": 2, "stored_classes": 1})
    assert two.startswith("In each of 20 draws, 1 class is stored and 1 is unknown; ")


def test_it_is_plain_data():
    labels = np.repeat(np.arange(4), 12)
    measured = asdict(open_set(stored(labels, clusters(labels, 1.0))))
    assert json.loads(json.dumps(measured, allow_nan=False))["points"][0]["images"] == 1
