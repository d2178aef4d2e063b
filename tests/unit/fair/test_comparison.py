"""A whole comparison on the sample digits: interrupted and gone on with, it ends as if it had not been."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from workbench.entries import catalog
from workbench.fair import benches
from workbench.fair import plan as plans
from workbench.fair.benches import Bench
from workbench.fair.plan import Conditions, planned
from workbench.fair.runs import Interrupted, Runs
from workbench.fair.scores import scores_of
from workbench.fair.stored import read_comparisons
from workbench.fair.table import compared, markdown, ranking_cells, tables
from workbench.running import launch
from workbench.workspace import Workspace
from workbench.workspace.experiments import sweeps

SMALL = {"backbone.width": 4, "device": "cpu"}
KNOWN = catalog.current()


@pytest.fixture
def plan(monkeypatch):
    monkeypatch.setitem(benches.BENCHES, "digits", Bench("sample-digits", {}))
    monkeypatch.setitem(plans.CONDITIONS, "digits", Conditions(10, 2, 16))
    return planned("digits", Path(), 2, 3, changes=SMALL)


def run(workspace, plan, methods, runs=None):
    runs = runs or Runs(workspace, KNOWN, lambda line: None)
    scores = []
    for method in methods:
        config, tried = runs.tune(plan, method)
        scores.append(scores_of(workspace, tried, runs.tested(plan, config, tried.best.setting)))
    return compared(plan, scores)


def values(found):
    return {each.method: (each.values.tolist(), each.tried.best.setting, each.tried.best.mean) for each in found.scores}


def test_all_runs_share_the_list_of_their_images(monkeypatch, plan, tmp_path):
    lists, make_job = [], launch.make_job

    def noted(*words, listed=None, **named):
        lists.append(listed)
        return make_job(*words, listed=listed, **named)

    monkeypatch.setattr(launch, "make_job", noted)
    with Workspace(tmp_path / "space", create=True) as workspace:
        run(workspace, replace(plan, trials=1, seeds=2), ["ce"])
    assert len(lists) == 1 * 2 + 2
    assert lists[0] is not None
    assert len({id(listed) for listed in lists}) == 1


@pytest.mark.slow
def test_interrupted_it_goes_on_and_ends_as_if_it_had_not_been(plan, tmp_path):
    with Workspace(tmp_path / "whole", create=True) as whole, Workspace(tmp_path / "cut", create=True) as cut:
        found = run(whole, plan, ["ce", "supcon"])
        made = len(whole.runs())
        assert made == 2 * (2 * 2 + 3), "two settings on two folds, then three seeds, for each"
        lines = []

        def say(line):
            lines.append(line)
            if len(lines) == 3:
                first.interrupt()

        first = Runs(cut, KNOWN, say)
        with pytest.raises(Interrupted):
            run(cut, plan, ["ce", "supcon"], first)
        assert 0 < len(cut.runs()) < made
        again = run(cut, plan, ["ce", "supcon"])
        assert len(cut.runs()) == made, "nothing was run twice"
        assert values(again) == values(found)
        assert len(sweeps.every(cut)) == 4
        run(cut, plan, ["ce", "supcon"])
        assert len(cut.runs()) == made, "what is done is not repeated"

        runs_of_ce = [whole.run(trial.run_id) for trial in sweeps.trials(whole, 2)]
        (ce,) = [each for each in found.scores if each.method == "ce"]
        assert [run.seed for run in runs_of_ce] == [1, 2, 3]
        for row, chosen, tested in zip(ce.values, ce.chosen, runs_of_ce, strict=True):
            evaluations = whole.evaluations(tested.id)
            assert row.mean() == pytest.approx(evaluations[-1].metrics["MAP@R"], abs=1e-6)
            best = max(evaluations, key=lambda each: each.metrics["validation/MAP@R"])
            assert chosen == best.metrics["MAP@R"], "never the best on the test set"
        assert ce.tried.first is not None
        assert ce.tried.best.mean >= ce.tried.first, "the defaults are the first setting"
        assert {trial.seed for trial in sweeps.trials(whole, 1)} == {0}

    with Workspace(tmp_path / "whole") as whole:
        read = read_comparisons(whole, KNOWN)
        (comparison,) = read.comparisons
        assert values(comparison) == values(found)
        assert [rank.low for rank in comparison.ranks] == [rank.low for rank in found.ranks]
        assert ranking_cells(comparison) == ranking_cells(found)
        assert (comparison.plan.trials, comparison.plan.seeds, comparison.plan.folds) == (2, 3, 2)
        assert read_comparisons(whole, KNOWN, read) is read, "nothing has changed"

    text = markdown(found)
    assert "2 methods on digits, n = 3 seeds" in text
    assert "2 trials for each" in text
    assert "| ce |" in text
    assert "training.lr 0.0001..0.01:log" in text
    written = tables(found)
    assert len(written["trials.csv"].splitlines()) == 1 + 2 * 2
    assert len(written["pairs.csv"].splitlines()) == 2
    ranking = written["ranking.csv"].splitlines()
    assert len(ranking) == 3
    assert ranking[1].startswith(found.scores[0].method)
    assert np.mean(found.scores[0].last) >= np.mean(found.scores[1].last)


@pytest.mark.slow
def test_methods_tested_with_other_numbers_of_seeds_are_compared_apart(plan, tmp_path):
    with Workspace(tmp_path / "seeds", create=True) as workspace:
        run(workspace, plan, ["ce", "supcon"])
        run(workspace, replace(plan, seeds=2), ["ce"])  # and then stopped
        found = {each.plan.seeds: each for each in read_comparisons(workspace, KNOWN).comparisons}
        assert sorted(found) == [2, 3]
        assert {scores.method for scores in found[3].scores} == {"ce", "supcon"}
        assert found[3].left_out == {}
        assert [scores.method for scores in found[2].scores] == ["ce"]
        assert found[2].left_out == {"supcon": "It was not tested with 2 seeds."}
        assert found[2].scores[0].values.shape[0] == 2

        with workspace.writing() as db:
            db.execute("update evaluations set metrics = '{}'")
        assert read_comparisons(workspace, KNOWN).comparisons == (), "without its numbers no method has scores"
