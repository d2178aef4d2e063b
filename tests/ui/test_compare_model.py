"""What the Compare page shows, without a window."""

import numpy as np
import pytest

from tests.unit.comparing.compared_runs import store
from workbench.config import Choice, TrainingParams
from workbench.ui.pages.compare.model.compare_model import (
    NO_SECOND,
    ONE_RUN,
    SAME_GROUP,
    SECOND,
    TICK_TWO,
    CompareModel,
)
from workbench.workspace import Workspace


@pytest.fixture
def workspace(tmp_path):
    with Workspace(tmp_path / "workspace", create=True) as made:
        yield made


@pytest.fixture
def model(workspace):
    """Groups A (runs 1, 2), B (3) and C (4)."""
    for seed in (0, 1):
        store(workspace, {0: np.full(6, 0.1), 1: np.full(6, 0.2)}, seed=seed, name="A")
    store(workspace, {0: np.full(6, 0.1), 1: np.full(6, 0.4)}, name="B", training=TrainingParams(lr=0.5))
    store(workspace, {3: np.full(6, 0.3)}, name="C", loss=Choice(name="norm_ce"))
    return CompareModel()


def look(model, workspace, *runs):
    """Read these runs, the only ones that are ticked."""
    model.take_overview(model.question(workspace.runs(), runs).answer(workspace, {}))


def titles(model):
    return model.baseline.title, model.other.title


def test_without_a_tick_a_sentence_says_how_to_tick(model, workspace):
    assert model.nothing_ticked(4) == TICK_TWO
    assert model.nothing_ticked(1) == ONE_RUN
    assert model.question(workspace.runs(), ()) is None
    assert model.question(workspace.runs(), {1, 2, 99}).runs == tuple(workspace.runs()[-2:])


def test_metric_and_epoch_give_way_to_those_that_the_runs_have(model, workspace):
    model.choose_numbers("recall@1", 0)
    look(model, workspace, 1, 2, 3)
    assert (model.metric, model.at) == ("recall@1", 0)
    assert [words for words, _ in model.at_choices] == [
        "best epoch of each run", "last epoch of each run", "epoch 0, of all runs", "epoch 1, of all runs",
    ]  # fmt: skip
    model.choose_numbers("gone", 0)
    look(model, workspace, 1, 2, 3, 4)
    assert (model.metric, model.at) == ("MAP@R", "best")
    assert "The runs have no epoch in common" in " ".join(model.warnings)
    assert model.summary == "3 groups, 4 runs on digits"


def test_the_chosen_epoch_comes_back_when_the_runs_have_it_again(model, workspace):
    look(model, workspace, 1, 2, 3)
    model.choose_numbers("MAP@R", 1)
    look(model, workspace, 1, 2, 3, 4)
    assert model.at == "best", "run 4 has no epoch 1"
    model.choose_numbers("recall@1", "best")  # the other box is as it was
    look(model, workspace, 1, 2, 3)
    assert (model.metric, model.at) == ("recall@1", 1)


def test_the_pair_stays_while_both_groups_are_ticked(model, workspace):
    look(model, workspace, 1, 2, 3, 4)
    assert titles(model) == ("A", "B")
    model.choose_other("C")
    look(model, workspace, 1, 2, 3, 4)
    assert titles(model) == ("A", "C")
    model.choose_baseline("C")
    assert titles(model) == ("C", "A"), "the baseline and the other change places"
    model.swap()
    assert titles(model) == ("A", "C")
    look(model, workspace, 1, 2, 3)
    assert titles(model) == ("A", "B"), "the baseline stays"


def test_why_there_is_no_pair_is_said(model, workspace):
    look(model, workspace, 1, 2)
    assert model.pair_question() is None
    assert model.pair_hint == SECOND
    look(model, workspace, 1, 2, 3)
    model.choose_other("A")
    assert model.pair_question() is None
    assert model.pair_hint == SAME_GROUP
    only = [run for run in workspace.runs() if run.id < 3]
    model.take_overview(model.question(only, (1, 2)).answer(workspace, {}))
    assert model.pair_hint == NO_SECOND


def test_the_compared_runs_are_known_with_their_evaluations(model, workspace):
    look(model, workspace, 1, 2, 3)
    model.pair = model.pair_question().answer(workspace)
    (pair,) = model.paired_runs()
    evaluations = [workspace.evaluations(run)[-1].id for run in (1, 3)]
    assert (pair.first_run, pair.second_run) == (1, 3)
    assert [model.evaluation_of(run) for run in (1, 3)] == evaluations
    assert model.dataset_id == workspace.run(1).dataset_id
    assert model.queries_hint == ""
    assert set(model.pair.named.values()) >= {("ant", "000.png")}
    model.choose_baseline("B")
    assert model.comparison is None, "of another pair"


def test_chosen_columns_stay_behind_the_metric(model, workspace):
    look(model, workspace, 1, 2, 3)
    assert model.shown_metrics == ["MAP@R", "recall@1"]
    model.show_metrics(["MAP@R"])
    model.choose_numbers("recall@1", "best")
    look(model, workspace, 1, 2, 3)
    assert model.shown_metrics == ["recall@1", "MAP@R"]
    assert [[cell.metric for cell in row.cells] for row in model.rows] == [["recall@1", "MAP@R"]] * 2
