"""The forest of differences from a baseline: p after Holm, too few seeds, and the words."""

import numpy as np
import pytest
from scipy import stats

from tests.unit.comparing.compared_runs import images, store
from workbench.comparing.difference.baseline import against_baseline
from workbench.comparing.difference.forest import (
    claims,
    corrected_tests,
    forest_of,
    forest_table,
    in_numbers,
    remarks,
    seeds_that_halve,
    verdict_among,
)
from workbench.comparing.overview import overview
from workbench.comparing.queries.pairing import compare
from workbench.comparing.statistics.p_values import holm, welch_p
from workbench.config import TrainingParams

BASE = [0.30, 0.32, 0.31]
BETTER, SAME, FEW = ([0.40, 0.425, 0.41], [0.31, 0.31, 0.312], [0.2])


def forest(workspace, groups, metrics=("MAP@R", "hubness/skew"), first_seed=0):
    """`groups` by name: MAP@R by seed; hubness is ten times as much. The first is the baseline."""
    for place, (name, values) in enumerate(groups.items()):
        for seed, value in enumerate(values):
            training = TrainingParams(lr=0.001 * (place + 1))
            store(
                workspace, {1: np.full(6, value)}, seed=seed + (place > 0) * first_seed, name=name, training=training,
                metrics={"hubness/skew": 10 * value},
            )  # fmt: skip
    read = overview(workspace, workspace.runs(), {}, "MAP@R", "best")
    return forest_of(against_baseline(read, read.groups[0], metrics))


def test_holm_against_an_example_by_hand():
    """0.005 x 4 = 0.02; 0.01 x 3 = 0.03; 0.03 x 2 = 0.06; 0.04 x 1 = 0.04, which may not be before 0.06."""
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


def test_welch_agrees_with_scipy():
    first, second = np.array([0.1, 0.2, 0.4, 0.35]), np.array([0.5, 0.45, 0.7])
    assert welch_p(first, second) == pytest.approx(stats.ttest_ind(first, second, equal_var=False).pvalue, rel=1e-12)
    assert welch_p(first[:2], second) == 1
    assert np.isnan(welch_p(np.full(3, 0.1), np.full(3, 0.5))), "without variance the test is undefined"
    against_one_value = stats.ttest_1samp(second, 0.1).pvalue
    assert welch_p(np.full(3, 0.1), second) == pytest.approx(against_one_value, rel=1e-9), "one group has variance"
    assert welch_p(second, np.full(3, 0.1)) == pytest.approx(against_one_value, rel=1e-9)
    assert welch_p(first, first) == 1


def test_the_same_difference_with_every_seed_is_not_a_test(workspace):
    found = forest(workspace, {"CE": BASE, "Shifted": [value + 0.125 for value in BASE]}, ("MAP@R",))
    (test,) = found.rows[0].tests
    assert (test.differs, test.p_words, found.tests) == (False, "undefined", 0)
    assert in_numbers(test).endswith("without variance the test is undefined")
    assert any("its test is undefined" in sentence for sentence in remarks(found))
    assert forest_table(found)[1][4] == ""


NEAR = [0.30 + 0.07, 0.32 + 0.10, 0.31 + 0.13]  # p 0.03 against BASE, twice as much for two tests


def verdicts(workspace, groups):
    """The verdict on each group against the first, and whether the table colours its difference."""
    forest(workspace, groups, ("MAP@R",))
    read = overview(workspace, workspace.runs(), {}, "MAP@R", "best")
    rows = against_baseline(read, read.groups[0], ("MAP@R",))[1:]
    tests = corrected_tests(read, read.groups[0], "MAP@R")
    pairs = (compare(workspace, read.groups[0], row.group, read.measured, "MAP@R", "best") for row in rows)
    return [(verdict_among(tests, pair), row.cells[0].differs) for pair, row in zip(pairs, rows, strict=True)]


def test_the_verdict_on_a_pair_of_two_groups_is_that_of_its_interval(workspace):
    said = "“Near” is better: the 95% interval over seeds excludes zero (n = 3)."
    assert verdicts(workspace, {"CE": BASE, "Near": NEAR}) == [(said, True)]


def test_the_verdict_on_a_pair_of_several_groups_is_corrected_for_their_number(workspace):
    few = "Not enough seeds (n = 1): 3 or more are needed to say which is better."
    assert verdicts(workspace, {"CE": BASE, "Near": NEAR, "Same": SAME, "Few": FEW}) == [
        (
            "No winner: p 0.057 after Holm's correction for 2 tests (n = 3); the 95% interval over seeds excludes "
            "zero, but is not corrected.", False,
        ),
        ("No winner: the 95% interval over seeds contains zero (n = 3).", False),
        (few, False),
    ]  # fmt: skip


def test_the_better_of_several_groups_is_named_with_its_corrected_p(workspace):
    (better, coloured), _ = verdicts(workspace, {"CE": BASE, "Better": BETTER, "Same": SAME})
    assert (better, coloured) == ("“Better” is better: p <0.001 after Holm's correction for 2 tests (n = 3).", True)


def test_each_metric_is_corrected_for_its_own_tests(workspace):
    found = forest(workspace, {"CE": BASE, "ICE": BETTER, "Same": SAME, "Few": FEW})
    assert (found.baseline.title, found.metrics, found.tests) == ("CE", ("MAP@R", "hubness/skew"), 4)
    ice, same, few = (row.tests[0] for row in found.rows)
    p = [stats.ttest_rel(values, BASE).pvalue for values in (BETTER, SAME)]
    assert (ice.p, same.p) == pytest.approx(p, rel=1e-4)
    assert (ice.adjusted, same.adjusted) == pytest.approx([2 * p[0], p[1]], rel=1e-4)
    assert (ice.differs, same.differs, few.differs) == (True, False, False)
    assert (few.p, few.adjusted, few.p_words, few.difference.known) == (None, None, "1 seed", False)
    assert few.difference.mean == pytest.approx(-0.1)


def test_words_say_who_beats_the_baseline_and_how_it_was_tested(workspace):
    found = forest(workspace, {"CE": BASE, "ICE": BETTER, "Same": SAME, "Few": FEW})
    assert claims(found) == ["“ICE” beats “CE” on MAP@R.", "“ICE” is higher than “CE” in hubness/skew."]
    assert remarks(found) == [
        "4 tests, Holm-corrected within each metric.",
        "Three seeds are few: five would halve an interval.",
        "“Few” has too few seeds: three give an interval and a p-value.",
    ]


def test_a_baseline_with_too_few_seeds_is_named_not_the_others(workspace):
    found = forest(workspace, {"CE": FEW, "ICE": BETTER, "Same": SAME})
    assert remarks(found)[1:] == ["“CE” has too few seeds: three give an interval and a p-value."]


def test_a_baseline_with_too_few_seeds_is_named_beside_others(workspace):
    found = forest(workspace, {"CE": FEW, "ICE": BETTER, "Few": FEW})
    assert remarks(found)[1:] == ["“CE” and “Few” have too few seeds: three give an interval and a p-value."]


def test_groups_with_enough_seeds_of_which_few_are_the_same(workspace):
    found = forest(workspace, {"CE": BASE, "ICE": BETTER}, first_seed=2)
    assert remarks(found)[1:] == [
        "“ICE” has too few seeds in common with “CE”: three give an interval and a p-value."
    ]  # fmt: skip


def test_a_loss_is_said_as_a_loss_and_groups_share_a_sentence(workspace):
    worse = [value - less for value, less in zip(BETTER, (0.1, 0.101, 0.099), strict=True)]
    found = forest(workspace, {"ICE": BETTER, "CE": BASE, "Other": worse}, ["MAP@R", "recall@1"])
    assert [test.difference.mean < 0 for test in (row.tests[0] for row in found.rows)] == [True, True]
    assert claims(found) == ["“CE” and “Other” are worse than “ICE” on MAP@R alone."]


def test_without_enough_seeds_nothing_is_claimed(workspace):
    found = forest(workspace, {"CE": BASE, "Few": FEW})
    assert (claims(found), found.tests) == ([], 0)
    assert remarks(found)[0] == "No test was made."


def test_a_group_that_was_measured_on_other_images_is_named(workspace):
    store(workspace, {1: np.full(6, 0.3)}, name="CE")
    store(workspace, {1: np.full(9, 0.4)}, name="ICE", shown=images(9, "other"), training=TrainingParams(lr=0.01))
    read = overview(workspace, workspace.runs(), {}, "MAP@R", "best")
    found = forest_of(against_baseline(read, read.groups[0], ["MAP@R"]))
    assert remarks(found) == [
        "No test was made.",
        "“ICE” was not measured on the test images of “CE”: their numbers have no difference.",
    ]


def test_groups_without_a_seed_in_common_are_tested_by_welch(workspace):
    found = forest(workspace, {"CE": BASE, "ICE": BETTER}, first_seed=7)
    expected = stats.ttest_ind(BASE, BETTER, equal_var=False).pvalue
    assert found.rows[0].tests[0].adjusted == pytest.approx(expected, rel=1e-4)


def test_nothing_differs_is_said(workspace):
    assert claims(forest(workspace, {"CE": BASE, "Same": SAME})) == ["No group differs from “CE” at 5%."]


def test_the_table_holds_what_is_drawn(workspace):
    head, ice, few = forest_table(forest(workspace, {"CE": BASE, "ICE": BETTER, "Few": FEW}, ["MAP@R"]))
    assert head == ["group", *(f"MAP@R {part}" for part in ("difference", "low_95", "high_95", "p_holm", "seeds"))]
    assert (ice[0], ice[1], ice[5]) == ("ICE", pytest.approx(10.1667, rel=1e-4), 3)
    assert ice[2] < ice[1] < ice[3]
    assert ice[4] == pytest.approx(stats.ttest_rel(BETTER, BASE).pvalue, rel=1e-4)
    assert few == ["Few", pytest.approx(-10), "", "", "", 1]


def test_five_seeds_halve_the_interval_of_three():
    """t(2) / sqrt 3 = 2.484 and t(4) / sqrt 5 = 1.242; four seeds give 1.591."""
    assert [seeds_that_halve(count) for count in (3, 4)] == [5, 9]
