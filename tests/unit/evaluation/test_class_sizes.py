"""Groups of classes by size, intervals over classes, chance, and rank correlation, each against its definition."""

from itertools import combinations
from math import isnan

import numpy as np
import pytest

from workbench.evaluation.class_sizes import (
    DRAWN,
    by_rank,
    by_shots,
    chance_of_map,
    chance_of_recall,
    mean_over_classes,
    rank_correlation,
)


def precision_at_r(matches: tuple[int, ...], r: int) -> float:
    """MAP@R of one query by its definition: the ranks (from 1) of its matches."""
    inside = [rank for rank in matches if rank <= r]
    return sum((at + 1) / rank for at, rank in enumerate(inside)) / r


@pytest.mark.parametrize(("count", "r"), [(1, 1), (5, 1), (5, 2), (6, 3), (7, 6), (7, 7), (9, 4)])
def test_chance_is_the_mean_over_all_orders_of_the_gallery(count, r):
    orders = list(combinations(range(1, count + 1), r))
    recall = np.mean([order[0] == 1 for order in orders])
    precision = np.mean([precision_at_r(order, r) for order in orders])
    assert chance_of_recall(np.array([r]), count)[0] == pytest.approx(recall, abs=1e-14)
    assert chance_of_map(np.array([r]), count)[0] == pytest.approx(precision, abs=1e-14)


def test_chance_of_a_query_without_a_match_is_no_number():
    assert isnan(chance_of_map(np.array([0, 1]), 4)[0])
    assert chance_of_map(np.empty(0, int), 0).shape == (0,)


def test_queries_may_have_galleries_of_their_own():
    r, others = np.array([1, 2, 3, 1]), np.array([5, 7, 4, 1])
    for chance in (chance_of_recall, chance_of_map):
        alone = [chance(r[at : at + 1], int(others[at]))[0] for at in range(4)]
        assert chance(r, others).tolist() == pytest.approx(alone, abs=1e-15)


def test_shots_are_those_of_the_paper():
    sizes = np.array([101, 100, 20, 19, 5000, 0, *[300] * 4, *[50] * 4, *[3] * 4])
    many, medium, few = by_shots(sizes)
    assert [group.title for group in (many, medium, few)] == ["Many", "Medium", "Few"]
    assert (many.low, many.high, medium.low, medium.high, few.low, few.high) == (101, 5000, 20, 100, 0, 19)
    assert sorted(np.concatenate([many.members, medium.members, few.members]).tolist()) == list(range(len(sizes)))


def test_shots_need_five_classes_in_two_groups():
    assert not by_shots(np.array([300] * 20 + [50] * 4 + [10] * 4))
    assert [group.title for group in by_shots(np.array([300] * 20 + [10] * 5))] == ["Many", "Few"]


def test_thirds_keep_classes_of_one_size_together():
    groups = by_rank(np.array([1, 2, 3, 4, 5, 6, 7, 8, 9]))
    assert [(group.title, group.low, group.high) for group in groups] == [
        ("Large", 7, 9), ("Middle", 4, 6), ("Small", 1, 3),
    ]  # fmt: skip
    mostly_large = by_rank(np.array([40] * 80 + [30] * 10 + [20] * 10))
    assert [(group.title, group.low, group.high) for group in mostly_large] == [("Large", 40, 40), ("Small", 20, 30)]
    assert [len(group.members) for group in by_rank(np.array([5] * 50 + [6]))] == [1, 50]


@pytest.mark.parametrize("sizes", [[], [7], [20, 20, 20]])
def test_classes_of_one_size_are_no_groups(sizes):
    assert by_rank(np.array(sizes, int)) == []


def spearman(first: np.ndarray, second: np.ndarray) -> float:
    """The correlation of ranks, with ranks counted by their definition: smaller ones, and half of equal ones."""

    def ranks(values: np.ndarray) -> np.ndarray:
        return np.array([(values < value).sum() + ((values == value).sum() + 1) / 2 for value in values])

    return float(np.corrcoef(ranks(first), ranks(second))[0, 1])


def test_rank_correlation_is_that_of_the_definition():
    random = np.random.default_rng(3)
    sizes = random.integers(1, 12, 80)
    values = np.round(sizes / 20 + random.normal(0, 0.4, 80), 1)
    made = rank_correlation(sizes, values)
    assert made.value == pytest.approx(spearman(sizes, values), abs=1e-12)
    assert made.low < made.value < made.high


def test_the_interval_of_a_rank_correlation_holds_the_truth_in_95_of_100_draws():
    random = np.random.default_rng(5)
    truth = 6 / np.pi * np.arcsin(0.5 / 2)  # Spearman of a bivariate normal with correlation 0.5
    hits = 0
    for _ in range(400):
        first = random.normal(size=60)
        second = 0.5 * first + np.sqrt(0.75) * random.normal(size=60)
        made = rank_correlation(first, second)
        hits += made.low <= truth <= made.high
    assert 0.92 <= hits / 400 <= 0.98


def test_rank_correlation_leaves_out_classes_without_a_score():
    sizes, values = np.array([1, 2, 3, 4, 5, 6]), np.array([0.1, np.nan, 0.3, 0.2, np.inf, 0.9])
    kept = [0, 2, 3, 5]
    assert rank_correlation(sizes, values).value == pytest.approx(spearman(sizes[kept], values[kept]))
    assert isnan(rank_correlation(sizes, np.full(6, 0.5)).value)
    assert isnan(rank_correlation(np.full(6, 3), values).value)
    straight = rank_correlation(sizes, sizes / 6)
    assert straight.value == 1
    assert isnan(straight.low)


def test_a_mean_over_classes_counts_each_class_once():
    made = mean_over_classes(np.array([0.0, 1.0, np.nan, 0.5, 0.5]))
    assert made.value == 0.5
    assert 0 <= made.low < 0.5 < made.high <= 1
    assert isnan(mean_over_classes(np.array([0.3])).low)
    assert isnan(mean_over_classes(np.full(4, np.nan)).value)


def test_limits_of_very_many_classes_are_those_of_the_bootstrap():
    values = np.random.default_rng(0).beta(0.4, 0.6, DRAWN + 1)
    many, fewer = mean_over_classes(values), mean_over_classes(values[:DRAWN])
    assert many.low == pytest.approx(fewer.low, abs=1e-3)
    assert many.high == pytest.approx(fewer.high, abs=1e-3)


@pytest.mark.parametrize(("count", "least"), [(5, 0.89), (10, 0.91)])
def test_the_interval_over_few_classes_is_about_as_sure_as_it_says(count, least):
    random = np.random.default_rng(7)
    made = [mean_over_classes(random.normal(0.5, 0.1, count)) for _ in range(400)]
    assert least <= np.mean([one.low <= 0.5 <= one.high for one in made]) <= 0.98, "percentiles alone: 0.84 and 0.90"


def test_limits_over_two_classes_are_within_their_scores():
    made = mean_over_classes(np.array([0.2, 0.6]))
    assert (made.low, made.high) == (0.2, 0.6)
