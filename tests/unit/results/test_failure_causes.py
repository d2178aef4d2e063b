"""Causes of failed queries: one constructed case for each, their precedence, and loops written from the definitions."""

from math import comb

import numpy as np
import pytest

from workbench.evaluation.retrieval import retrieve
from workbench.results import failures
from workbench.results.failures import CAUSES, Occurrences, find_causes, occurrences_of
from workbench.results.stored import Stored, rows_of


def stored(vectors, labels, *, distance="l2", k=20, proxies=None, proxy_labels=None, is_query=None, ids=None):
    """What an evaluation of these embeddings stores."""
    vectors, labels = np.asarray(vectors, np.float64), np.asarray(labels)
    ids = np.arange(len(labels)) * 7 + 3 if ids is None else ids
    found = retrieve(vectors, labels, ids, k=k, distance=distance, is_query=is_query)
    near = rows_of(ids, found.neighbours)
    return Stored(ids, labels, vectors, near, found.first_hit, found.r, distance, proxies, proxy_labels)


def cloud(centre, count, seed, spread=1.0):
    """Points [count, 4] around a centre on the first axis."""
    points = spread * np.random.default_rng(seed).normal(size=(count, 4))
    points[:, 0] += centre
    return points


def cause_of(found, row):
    """The word for the cause of a row that failed."""
    (at,) = np.flatnonzero(found.rows == row)
    return CAUSES[found.cause[at]]


@pytest.fixture
def two_classes():
    """Two far clouds of thirty; tests put one more sample into them."""
    return np.concatenate([cloud(0, 30, 1), cloud(100, 30, 2)]), np.repeat([0, 1], 30)


def with_one_more(two_classes, point, label):
    vectors, labels = two_classes
    return np.concatenate([vectors, [point]]), np.append(labels, label)


def test_a_near_duplicate_with_another_label(two_classes):
    point = two_classes[0][5] + 1e-6
    found = find_causes(stored(*with_one_more(two_classes, point, 1)))
    assert cause_of(found, 60) == "copy"
    assert cause_of(found, 5) == "copy", "the pair accuse each other"
    at = found.rows.tolist().index(60)
    assert found.nearest[at] == 5
    assert found.gap[at] == pytest.approx(2e-6)
    assert 0.3 < found.typical_gap < 3


def test_a_zero_vector_has_a_cosine_of_0_with_every_other():
    vectors = np.array([[0, 0], [1, 0], [0, 2], [0, 0], [3, 3]])
    first, second = np.triu_indices(5, 1)
    gaps = stored(vectors, [0, 0, 1, 1, 0], distance="cosine").gaps(first, second)
    unit = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    np.testing.assert_allclose(1 - gaps**2 / 2, (unit @ unit.T)[first, second], atol=1e-12)


def test_a_label_error_is_suspected_where_all_neighbours_are_of_one_other_class(two_classes):
    point = np.array([0.5, 0.4, -0.6, 0.3])
    found = find_causes(stored(*with_one_more(two_classes, point, 1)))
    assert cause_of(found, 60) == "label"
    at = found.rows.tolist().index(60)
    assert (found.agreed[at], found.votes[at], found.voters[at]) == (0, 10, 10)


def test_eight_of_ten_votes_are_no_agreement():
    line = np.zeros((40, 2))
    line[:, 0] = np.arange(40)
    labels = np.zeros(40, int)
    labels[[20, 23, 17]] = 1
    found = find_causes(stored(line, labels))
    at = found.rows.tolist().index(20)
    assert (found.agreed[at], found.votes[at], found.voters[at]) == (0, 8, 10)
    assert not found.holds[at, CAUSES.index("label")]
    labels[17] = 0
    found = find_causes(stored(line, labels))
    at = found.rows.tolist().index(20)
    assert found.votes[at] == 9
    assert cause_of(found, 20) == "label"


def test_a_class_of_four_cannot_agree():
    vectors = np.concatenate([cloud(0, 4, 1, 0.1), cloud(0.3, 1, 2, 0.1), cloud(9, 6, 3, 0.1)])
    labels = np.array([0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1])
    found = find_causes(stored(vectors, labels))
    at = found.rows.tolist().index(4)
    assert (found.agreed[at], found.voters[at]) == (1, 7), "of ten neighbours four are of the other class"
    five = np.concatenate([cloud(0, 5, 1, 0.1), vectors[4:]])
    found = find_causes(stored(five, np.append([0], labels), k=6))
    at = found.rows.tolist().index(5)
    assert (found.agreed[at], found.votes[at], found.voters[at]) == (0, 5, 5)
    assert cause_of(found, 5) == "label"


def test_a_hub_in_lists_of_other_classes_is_the_intruder():
    rng = np.random.default_rng(4)
    directions = rng.normal(size=(60, 40))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    labels = np.append(np.repeat(np.arange(12), 5), 12)
    # The middle of a sphere is nearer to all than they are to each other.
    vectors = np.concatenate([directions, np.zeros((1, 40))])
    vectors, labels = np.concatenate([vectors, np.full((1, 40), 50.0)]), np.append(labels, 12)
    evaluation = stored(vectors, labels)
    found = find_causes(evaluation)
    assert found.occurrences.intruders[60]
    assert found.occurrences.times[60] >= 60
    assert found.occurrences.wrong[60] == 60
    assert found.nearest[0] == 60
    assert cause_of(found, 0) == "hub"


def test_hubs_begin_at_the_limit_and_need_a_spread():
    wrong = np.array([0, 0, 1, 5])
    assert Occurrences(np.array([0, 1, 1, 6]), wrong, mean=2.0, limit=6.0).hubs.tolist() == [False, False, False, True]
    assert Occurrences(np.array([0, 1, 1, 6]), wrong, mean=2.0, limit=6.1).hubs.tolist() == [False] * 4
    assert not Occurrences(np.full(4, 2), wrong, mean=2.0, limit=2.0).hubs.any(), "all alike: none stands out"


def test_a_hub_among_its_own_class_is_no_intruder():
    rng = np.random.default_rng(4)
    directions = rng.normal(size=(60, 40))
    vectors = np.concatenate([directions / np.linalg.norm(directions, axis=1, keepdims=True), np.zeros((1, 40))])
    found = occurrences_of(stored(vectors, np.zeros(61, int)))
    assert found.hubs[60]
    assert not found.intruders.any()


def test_a_rare_class():
    vectors = np.concatenate([cloud(0, 40, 1), cloud(0.5, 40, 2), [[0.2, 1.0, 1.0, 1.5], [2.5, -1.0, 2.0, 0.5]]])
    labels = np.repeat([0, 1, 2], [40, 40, 2])
    found = find_causes(stored(vectors, labels))
    assert found.typical_r == 39
    for row in (80, 81):
        at = found.rows.tolist().index(row)
        assert found.holds[at, CAUSES.index("rare")]
    assert not found.holds[found.rows < 80, CAUSES.index("rare")].any()
    assert "rare" in {cause_of(found, 80), cause_of(found, 81)}


@pytest.mark.parametrize("distance", ["cosine", "l2"])
def test_a_proxy_of_another_class_is_nearer(distance):
    rng = np.random.default_rng(0)
    vectors, labels = rng.normal(size=(60, 4)), np.repeat([3, 8], 30)
    proxies = np.array([[1.0, 0, 0, 0], [-1.0, 0, 0, 0], [0, 1.0, 0, 0]])
    found = find_causes(stored(vectors, labels, distance=distance, proxies=proxies, proxy_labels=np.array([3, 8, 8])))
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    seen = set()
    for at, row in enumerate(found.rows):
        apart = np.linalg.norm(proxies - vectors[row], axis=1)
        scores = unit[row] @ proxies.T if distance == "cosine" else -apart
        own, other = (scores[:1], scores[1:]) if labels[row] == 3 else (scores[1:], scores[:1])
        assert found.own_proxy[at] == pytest.approx(own.max())
        assert found.other_proxy[at] == pytest.approx(other.max())
        assert found.other_proxy_label[at] == 11 - labels[row]
        assert found.holds[at, CAUSES.index("proxy")] == (other.max() > own.max())
        seen.add(cause_of(found, row))
    assert {"proxy", "none"} <= seen


def test_proxies_of_training_classes_accuse_nobody():
    rng = np.random.default_rng(0)
    vectors, labels = rng.normal(size=(40, 4)), np.repeat([0, 1], 20)
    found = find_causes(stored(vectors, labels, proxies=rng.normal(size=(3, 4)), proxy_labels=np.array([7, 8, 9])))
    assert len(found.rows)
    assert not found.holds[:, CAUSES.index("proxy")].any()
    assert np.isnan(found.own_proxy).all()
    assert (found.other_proxy_label == -1).all()


def test_the_first_cause_that_holds_is_taken_and_counts_add_up(two_classes):
    """A copy in the midst of another class is suspected of a wrong label, too, and its class may be rare."""
    point = two_classes[0][5] + 1e-6
    found = find_causes(stored(*with_one_more(two_classes, point, 2), proxies=np.eye(3, 4), proxy_labels=np.arange(3)))
    assert cause_of(found, 5) == "copy"
    assert 60 not in found.rows, "alone in its class: no query"
    point = np.array([two_classes[0][5] + 1e-6, [100.0, 0, 0, 0]])
    vectors = np.concatenate([two_classes[0], point])
    found = find_causes(stored(vectors, np.append(two_classes[1], [2, 2])))
    at = found.rows.tolist().index(60)
    assert found.holds[at].tolist() == [True, True, False, True, False]
    assert cause_of(found, 60) == "copy"
    assert sum(found.counts().values()) == len(found.rows)
    assert tuple(found.counts()) == CAUSES


@pytest.mark.parametrize("distance", ["cosine", "l2"])
@pytest.mark.parametrize("protocol", ["all", "query / gallery"])
def test_numbers_against_loops(distance, protocol):
    rng = np.random.default_rng(7)
    vectors, labels = rng.normal(size=(90, 5)), rng.integers(0, 6, 90)
    is_query = rng.random(90) < 0.3 if protocol != "all" else None
    evaluation = stored(vectors, labels, distance=distance, is_query=is_query, k=12)
    gallery = np.ones(90, bool) if is_query is None else ~is_query
    assert evaluation.searched().tolist() == gallery.tolist()
    found = find_causes(evaluation)
    unit = vectors if distance == "l2" else vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    nearest_gap = [np.linalg.norm(unit[row] - unit[evaluation.near[row, 0]]) for row in np.flatnonzero(gallery)]
    assert found.typical_gap == pytest.approx(np.median(nearest_gap))
    times, wrong = np.zeros(90), np.zeros(90)
    for row in range(90):
        for near in evaluation.near[row, :10]:
            times[near] += 1
            wrong[near] += labels[near] != labels[row]
    assert found.occurrences.times.tolist() == times.tolist()
    assert found.occurrences.wrong.tolist() == wrong.tolist()
    assert found.occurrences.mean == pytest.approx(times[gallery].mean())
    assert found.occurrences.limit == pytest.approx(times[gallery].mean() + 2 * times[gallery].std())
    counted = [row for row in range(90) if evaluation.r[row] > 0 and evaluation.first_hit[row] != 1]
    assert found.rows.tolist() == counted
    for at, row in enumerate(counted):
        assert labels[found.nearest[at]] != labels[row]
        voted = labels[evaluation.near[row, :10]].tolist()
        agreed = max(voted, key=lambda each: (voted.count(each), -voted.index(each)))
        assert found.agreed[at] == agreed
        voters = min(10, int((labels[gallery] == agreed).sum()))
        assert found.voters[at] == voters
        assert found.votes[at] == voted[:voters].count(agreed)


def test_nothing_failed():
    found = find_causes(stored(np.repeat(np.eye(2), 5, axis=0), np.repeat([0, 1], 5)))
    assert len(found.rows) == 0
    assert found.holds.shape == (0, len(CAUSES) - 1)
    assert set(found.counts().values()) == {0}


def test_between_is_called_and_may_end_it(two_classes):
    def stop():
        raise InterruptedError

    with pytest.raises(InterruptedError):
        find_causes(stored(*two_classes), stop)


def test_the_thresholds_are_what_their_reasons_say():
    binomial = sum(comb(10, each) for each in (9, 10)) / 2**10
    assert 1 / binomial == pytest.approx(93, abs=0.5)
    assert 2**failures.FEWEST_VOTERS == 32
    assert 0.7 * failures.COPY_SHARE**3 < 1e-3
    assert pytest.approx(4 / 5) == 1 / (1 + failures.RARE_SHARE)
