"""Two groups against each other: pairs by seed and sample id, the verdict, and the queries that win and lose."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from tests.unit.comparing.compared_runs import images, store
from workbench.comparing.comparison_text import comparison_table, limits, number
from workbench.comparing.overview import overview
from workbench.comparing.queries import pairing
from workbench.comparing.statistics.intervals import Interval
from workbench.config import Choice, TrainingParams
from workbench.problem import Problem
from workbench.workspace.measured import superseded

OTHER = TrainingParams(lr=0.5)
COUNT = 60


def compare(workspace, metric="MAP@R", at="best"):
    found = overview(workspace, workspace.runs(), {}, metric, at)
    first, second = found.groups
    return pairing.compare(workspace, first, second, found.measured, metric, at)


def pairs(workspace, shifts, rng=None):
    """For each seed a run of both groups; the second is better by about the shift. The APs, by seed."""
    rng = rng or np.random.default_rng(0)
    tables = []
    for seed, shift in enumerate(shifts):
        first = rng.uniform(0.2, 0.6, COUNT)
        second = np.clip(first + shift + rng.normal(0, 0.05, COUNT), 0, 1)
        store(workspace, {1: first}, seed=seed)
        store(workspace, {1: second}, seed=seed, training=OTHER)
        tables.append((first.astype(np.float32).astype(float), second.astype(np.float32).astype(float)))
    return tables


def test_differences_within_a_seed_and_over_seeds(workspace):
    tables = pairs(workspace, [0.1, 0.12, 0.15])
    found = compare(workspace)
    expected = [float((second - first).mean()) for first, second in tables]
    assert [each.over_queries.mean for each in found.seeds] == pytest.approx(expected)
    assert [(each.first_run, each.second_run) for each in found.seeds] == [(1, 2), (3, 4), (5, 6)]
    for each, (first, second) in zip(found.seeds, tables, strict=True):
        half = 1.96 * (second - first).std() / np.sqrt(COUNT)
        assert each.over_queries.low == pytest.approx(each.over_queries.mean - half, abs=0.25 * half)
        assert each.over_queries.high == pytest.approx(each.over_queries.mean + half, abs=0.25 * half)
    limits = stats.t.interval(0.95, 2, loc=np.mean(expected), scale=stats.sem(expected))
    assert (found.over_seeds.low, found.over_seeds.high) == pytest.approx(limits)
    assert found.winner is found.second
    assert found.verdict.endswith("is better: the 95% interval over seeds excludes zero (n = 3).")


def test_an_evaluation_that_was_not_kept_has_its_metric_but_no_queries_and_says_so(workspace):
    pairs(workspace, [0.1, 0.12])
    shown = overview(workspace, workspace.runs(), {}, "MAP@R", 1)
    unkept = tuple(replace(evaluation, id=0) for evaluation in shown.measured[4].evaluations)
    measured = shown.measured | {4: replace(shown.measured[4], evaluations=unkept)}
    whole, told = (pairing.compare(workspace, *shown.groups, of, "MAP@R", 1) for of in (shown.measured, measured))
    assert not [note for note in whole.notes if "keep" in note]
    assert [note for note in told.notes if note.startswith("Run 4 did not keep the evaluation that is compared")]
    assert told.over_seeds.mean == pytest.approx(whole.over_seeds.mean)


def test_queries_are_opened_in_the_runs_that_have_them_although_an_earlier_seed_kept_none(workspace):
    pairs(workspace, [0.1, 0.12])
    shown = overview(workspace, workspace.runs(), {}, "MAP@R", 1)
    with workspace.writing() as db:
        superseded.keep_only(db, 2, (2,))
    queries = pairing.compare(workspace, *shown.groups, shown.measured, "MAP@R", 1).queries
    assert {queries.paired[at] for at in queries.seen.tolist()} == {(3, 4)}


def test_an_evaluation_without_queries_is_compared_by_its_metric(workspace):
    for seed, first in enumerate((0.2, 0.3, 0.25, 0.32)):
        alone = {1: np.full(COUNT, np.nan)}  # each image is the only one of its class; a loop of the user gave a metric
        store(workspace, alone, seed=seed, metrics={"MAP@R": first})
        store(workspace, alone, seed=seed, metrics={"MAP@R": first + 0.1 + seed / 1000}, training=OTHER)
    comparison = compare(workspace)
    assert comparison.over_seeds.mean == pytest.approx(0.1015)
    assert comparison.winner is comparison.second
    assert comparison.queries is None


def test_an_evaluation_that_its_run_deletes_meanwhile_is_said_to_be_deleted_and_what_to_do(workspace):
    pairs(workspace, [0.1, 0.12])
    shown = overview(workspace, workspace.runs(), {}, "MAP@R", 1)
    whole = pairing.compare(workspace, *shown.groups, shown.measured, "MAP@R", 1)
    with workspace.writing() as db:
        superseded.keep_only(db, 4, (2,))
    told = pairing.compare(workspace, *shown.groups, shown.measured, "MAP@R", 1)
    (note,) = [note for note in told.notes if "keep" in note]
    assert note.startswith("Run 4 did not keep the evaluation that is compared")
    assert "deleted with its embeddings; compare at last" in note
    assert told.over_seeds.mean == pytest.approx(whole.over_seeds.mean)


def test_the_worse_second_group_makes_the_first_the_winner(workspace):
    pairs(workspace, [-0.1, -0.12, -0.11])
    found = compare(workspace)
    assert found.winner is found.first


def test_no_winner_when_every_seed_has_the_same_difference(workspace):
    for seed in range(3):
        store(workspace, {1: np.full(6, 0.3)}, seed=seed)
        store(workspace, {1: np.full(6, 0.4)}, seed=seed, training=OTHER)
    found = compare(workspace)
    assert (found.winner, found.over_seeds.mean) == (None, pytest.approx(0.1))
    assert found.verdict.startswith("No winner: the difference is the same with every seed")


def test_no_winner_when_the_interval_holds_zero(workspace):
    pairs(workspace, [0.1, -0.1, 0.02])
    found = compare(workspace)
    assert found.winner is None
    assert found.verdict == "No winner: the 95% interval over seeds contains zero (n = 3)."


@pytest.mark.parametrize("n", [1, 2])
def test_few_seeds_are_not_enough_however_great_the_difference(workspace, n):
    pairs(workspace, [0.3] * n)
    found = compare(workspace)
    assert found.winner is None
    assert found.verdict.startswith(f"Not enough seeds (n = {n})")
    assert not found.seeds[0].over_queries.holds_zero
    assert "not enough seeds" in comparison_table(found)
    assert f"{n} seed" in comparison_table(found)


def test_a_number_that_rounds_to_zero_has_no_minus():
    almost = Interval(-1e-6, -2e-6, -0.0, 3)
    assert number(almost.mean, "MAP@R", signed=True) == "0.00"
    assert number(-0.0, "geometry/alignment", signed=True) == "0"
    assert limits(almost, "MAP@R", signed=True) == "[0.00, 0.00]"
    assert number(-0.004, "MAP@R", signed=True) == "-0.40"


def test_queries_are_paired_by_sample_id_not_by_row(workspace):
    shown, rng = images(COUNT), np.random.default_rng(1)
    ap, order = rng.uniform(0, 1, COUNT), rng.permutation(COUNT)
    store(workspace, {1: ap}, shown=shown)
    store(workspace, {1: ap[order]}, shown=shown, rows=order, training=OTHER)
    found = compare(workspace)
    assert found.queries.count() == (0, COUNT, 0)
    assert found.seeds[0].over_queries.high == 0


def test_runs_whose_queries_are_not_the_same_are_not_compared(workspace):
    shown = images(COUNT)
    store(workspace, {1: np.full(40, 0.5)}, shown=shown, rows=np.arange(40))
    store(workspace, {1: np.full(40, 0.6)}, shown=shown, rows=np.arange(20, 60), training=OTHER)
    with pytest.raises(Problem, match=r"Runs 1 and 2 .* of their 40 and 40 queries they share 20\."):
        compare(workspace)


def test_groups_tested_on_different_images_are_not_compared_in_any_metric(workspace):
    shown, halves = images(COUNT), {0.5: np.arange(30), 0.7: np.arange(12, 30)}
    for seed in range(3):
        for fraction, rows in halves.items():
            split = Choice(name="random", params={"train_fraction": fraction})
            score = fraction + 0.01 * seed
            measured = {"NMI": score}
            store(workspace, {1: np.full(len(rows), score)}, seed=seed, shown=shown, rows=rows, split=split,
                  metrics=measured)  # fmt: skip
    for metric in ("MAP@R", "NMI"):
        with pytest.raises(Problem, match="were tested on different images, so no difference is shown"):
            compare(workspace, metric)


def test_queries_without_another_of_their_class_do_not_count(workspace):
    ap = np.full(10, 0.5)
    ap[3] = np.nan
    store(workspace, {1: ap})
    store(workspace, {1: ap + 0.1}, training=OTHER)
    assert compare(workspace).seeds[0].over_queries.n == 9


def test_only_queries_count_where_there_is_a_gallery(workspace):
    shown = images(10, official=["query"] * 4 + ["gallery"] * 6)
    for value, changes in ((0.5, {}), (0.6, {"training": OTHER})):
        ap = np.where(np.arange(10) < 4, value, 0.9)
        store(workspace, {1: ap}, shown=shown, metrics={"queries": 4, "MAP@R": value}, **changes)
    found = compare(workspace)
    assert found.seeds[0].over_queries.n == 4
    assert (found.seeds[0].first, found.seeds[0].second) == (pytest.approx(0.5), pytest.approx(0.6))


def test_no_query_in_common_is_a_problem(workspace):
    shown = images(20)
    store(workspace, {1: np.ones(10)}, shown=shown, rows=np.arange(10))
    store(workspace, {1: np.ones(10)}, shown=shown, rows=np.arange(10, 20), training=OTHER)
    with pytest.raises(Problem, match=r"Runs 1 and 2 .* they share 0\."):
        compare(workspace)


def test_different_data_is_a_problem_that_says_which(workspace):
    store(workspace, {1: np.ones(6)}, shown=images(6, "birds"))
    store(workspace, {1: np.ones(6)}, shown=images(6, "cars"), training=OTHER)
    with pytest.raises(Problem, match=r"birds .*cars"):
        compare(workspace)


def test_the_same_images_at_two_sizes_are_paired_over_queries(workspace):
    store(workspace, {1: np.full(6, 0.25)})
    store(workspace, {1: np.full(6, 0.75)}, shown=replace(images(6), image_size=16), training=OTHER)
    found = compare(workspace)
    assert (found.seeds[0].over_queries.n, found.seeds[0].over_queries.mean) == (6, 0.5)


def test_a_group_without_the_metric_is_a_problem_that_says_which(workspace):
    store(workspace, {1: np.ones(6)}, metrics={"NMI": 0.5})
    store(workspace, {1: np.ones(6)}, training=OTHER, name="Bare")
    with pytest.raises(Problem, match="No run of “Bare” has NMI"):
        compare(workspace, "NMI")


def test_a_metric_without_values_of_queries_has_the_interval_over_seeds_only(workspace):
    for seed, (first, second) in enumerate(((1.0, 2.0), (1.1, 2.2), (1.2, 2.1))):
        store(workspace, {1: np.ones(6)}, seed=seed, metrics={"hubness": first})
        store(workspace, {1: np.ones(6)}, seed=seed, metrics={"hubness": second}, training=OTHER)
    found = compare(workspace, "hubness")
    assert found.queries is None
    assert not found.seeds[0].over_queries.known
    assert found.over_seeds.mean == pytest.approx(np.mean([1.0, 1.1, 0.9]))
    assert found.winner is None, "hubness has no better direction"
    assert "is higher" in found.verdict


def test_recall_counts_who_is_found_among_the_k_nearest(workspace):
    store(workspace, {1: np.array([0.9, 0.9, 0.1, 0.1])}, metrics={"recall@2": 0.5})
    store(workspace, {1: np.array([0.9, 0.1, 0.9, 0.9])}, training=OTHER, metrics={"recall@2": 0.75})
    found = compare(workspace, "recall@2")
    assert (found.seeds[0].first, found.seeds[0].second) == (0.5, 0.75)
    assert found.queries.count() == (2, 1, 1)


def test_without_a_seed_in_common_the_groups_are_independent(workspace):
    values = [0.5, 0.55, 0.52, 0.7, 0.75, 0.73]
    for place, value in enumerate(values):
        store(workspace, {1: np.full(6, value)}, seed=place, **({"training": OTHER} if place > 2 else {}))
    found = compare(workspace)
    expected = stats.ttest_ind(values[3:], values[:3], equal_var=False).confidence_interval(0.95)
    assert not found.paired
    assert (found.over_seeds.low, found.over_seeds.high) == pytest.approx(tuple(expected), rel=1e-5)
    assert any("No seed in common" in each for each in found.notes)


def test_a_seed_without_a_fold_in_common_is_not_said_to_be_missing(workspace):
    for fold, changes in ((1, {}), (2, {"training": OTHER})):
        store(workspace, {1: np.full(6, 0.5)}, split=Choice(name="mlrc", params={"fold": fold}), **changes)
    found = compare(workspace)
    assert not found.paired
    assert found.notes[0].startswith("No fold of a seed in common, so the groups are compared as independent")


def test_seeds_of_one_group_only_are_said(workspace):
    pairs(workspace, [0.1, 0.1])
    store(workspace, {1: np.ones(COUNT)}, seed=9)
    found = compare(workspace)
    assert len(found.seeds) == 2
    assert any("left out: seed 9." in each for each in found.notes)
    store(workspace, {1: np.ones(COUNT)}, seed=10)
    assert any("left out: seeds 9, 10." in note for note in compare(workspace).notes)


def test_winning_and_losing_queries_are_means_over_seeds(workspace):
    shown = images(3)
    for seed, tables in enumerate((([0.5, 0.5, 0.5], [0.1, 0.5, 0.9]), ([0.5, 0.5, 0.5], [0.3, 0.5, 1.0]))):
        store(workspace, {1: np.array(tables[0])}, seed=seed, shown=shown)
        store(workspace, {1: np.array(tables[1])}, seed=seed, shown=shown, training=OTHER)
    queries = compare(workspace).queries
    assert queries.sample_ids.tolist() == shown.sample_ids.tolist(), "the greatest loss first"
    np.testing.assert_allclose(queries.difference, [-0.3, 0.0, 0.45], atol=1e-6)
    assert queries.runs.tolist() == [2, 2, 2]
    assert queries.count() == (1, 1, 1)
    assert queries.paired == ((1, 2), (3, 4))
