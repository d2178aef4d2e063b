"""Planted scores as a page, as tables and as a picture; the command refuses what it cannot compare."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from scipy import stats

from workbench.cli import cli
from workbench.fair.plan import Plan
from workbench.fair.runs import Tried
from workbench.fair.scores import Scores
from workbench.fair.table import Placed, compared, markdown, of_same_queries, ranking_cells, tables
from workbench.problem import Problem
from workbench.reports.figures.critical_difference import critical_difference
from workbench.sweeps.progress import Standing
from workbench.sweeps.space import Parameter

PLAN = Plan("omniglot", Path(), 4, 5, 300, 2, {"backbone.width": 16})


def planted(method, mean, seed):
    random = np.random.default_rng(seed)
    values = mean + random.normal(0, 0.01, (5, 1)) + random.normal(0, 0.05, (5, 40))
    settings = tuple(Standing(point, {"training.lr": 0.001 * point}, (), 0.7 - point / 10, None) for point in (2, 1, 3))
    tried = Tried(method, (Parameter("training.lr", low=1e-4, high=1e-2, log=True),), settings, 0.6, 1)
    chosen = tuple((values.mean(1) + 0.01).tolist())
    return Scores(tried, np.arange(40), values, chosen, (0.9,) * 5, 300, 12.0, 2**30)


@pytest.fixture
def found():
    return compared(PLAN, [planted("ice", 0.5, 1), planted("ce", 0.6, 2), planted("nca", 0.5, 3)], {"psc": "It broke."})


def test_the_page_says_who_is_first_how_sure_that_is_and_what_was_tried(found):
    lines = markdown(found).splitlines()
    assert lines[0] == (
        "3 methods on omniglot, n = 5 seeds, 40 queries. 4 trials for each (its defaults, then Optuna's TPE) on each "
        "of 2 class-disjoint folds of the training classes; 300 optimiser steps in each run. Changed for all: "
        "backbone.width = 16."
    )
    first = next(line for line in lines if "| ce |" in line)
    over = stats.t.interval(0.95, 4, *stats_of(found.scores[0].last))
    assert first.startswith(f"| 1 (1 to 1) | ce | {100 * np.mean(found.scores[0].last):.2f} ")
    assert f"({100 * over[0]:.2f} to {100 * over[1]:.2f})" in first
    assert first.endswith("| 90.00 | 12 | 1,074 MB |")
    assert "2 of 3 pairs differ at 5% after Holm's correction." in lines
    names = ", ".join(found.scores[place].method for place in found.order[1:])
    assert f"- No significant difference between: {names}." in lines
    assert "- psc is left out. It broke." in lines
    tried = "| ce | training.lr 0.0001..0.01:log | 4 (1) | 60.00 | 50.00 | training.lr = 0.002 |"
    assert tried in lines


def stats_of(values):
    return np.mean(values), np.std(values, ddof=1) / len(values) ** 0.5


def test_the_tables_hold_every_number(found):
    written = tables(found)
    assert [line.split(",")[0] for line in written["ranking.csv"].splitlines()[1:]] == [
        each.method for each in found.scores
    ]
    pairs = [line.split(",") for line in written["pairs.csv"].splitlines()[1:]]
    assert len(pairs) == 3
    expected = stats.ttest_rel(found.scores[0].last, found.scores[1].last).pvalue
    assert float(pairs[0][5]) == pytest.approx(expected)
    trials = written["trials.csv"].splitlines()[1:4]
    assert [line.split(",")[1] for line in trials] == ["1", "2", "3"]


def test_methods_that_searched_other_queries_are_not_ranked(found):
    other = replace(found.scores[0], sample_ids=np.arange(1, 41))
    with pytest.raises(Problem, match="same queries"):
        compared(PLAN, [found.scores[1], other])
    alike, left_out = of_same_queries([found.scores[1], other])
    assert alike == [found.scores[1]]
    assert left_out == {other.method: f"It was not tested on the same images as {found.scores[1].method}."}
    assert other.method in markdown(compared(PLAN, alike, left_out))
    assert of_same_queries(found.scores) == (list(found.scores), {})
    with pytest.raises(Problem, match="No method"):
        compared(PLAN, [], {"ce": "It broke."})


def test_the_picture_names_every_method_and_draws_from_its_table():
    placed = [Placed("ce", 1.2, 1, 2), Placed("supcon", 1.8, 1, 2), Placed("_odd", 3, 3, 3)]
    drawing = critical_difference(placed, [(0, 1)], "omniglot")
    text = drawing.encode("svg").decode()
    assert all(name in text for name in ("ce", "supcon", "_odd", "omniglot"))
    assert drawing.table[1] == [["ce", 1.2, 1, 2], ["supcon", 1.8, 1, 2], ["_odd", 3, 3, 3]]
    assert drawing.height > critical_difference(placed, [], "omniglot").height


@pytest.mark.parametrize(
    ("words", "says"),
    [(("--methods", "ce,cee"), "There is no loss named 'cee'"), (("--set", "device"), "device has no value")],
)
def test_the_command_names_what_it_cannot_use(words, says, tmp_path):
    result = CliRunner().invoke(cli, ["benchmark", "fair", "--data", str(tmp_path), "-w", str(tmp_path / "w"), *words])
    assert result.exit_code == 2
    assert says in result.output
    assert not (tmp_path / "w").exists(), "nothing was begun"


def test_the_limits_of_a_shared_rank_hold_it():
    equal = compared(PLAN, [planted("ce", 0.5, 1), planted("ice", 0.5, 1)])
    assert [cells[0] for cells in ranking_cells(equal)] == ["1.5 (1.5 to 1.5)"] * 2
