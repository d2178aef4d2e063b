"""`workbench sweep show` with words and conditions, as in the search field of the Sweeps panel."""

import json

import pytest
from click.testing import CliRunner

from workbench.cli import cli
from workbench.settings.changed import changed, read_config
from workbench.sweeps import starting
from workbench.sweeps.plan import planned
from workbench.sweeps.space import read
from workbench.sweeps.worker import Worker
from workbench.ui.sweeps.panel_model import SweepsModel, look
from workbench.workspace.experiments import sweeps


@pytest.fixture
def number(workspace, known, runs):
    config = changed(read_config("sample-digits"), {"device": "cpu"}, known, "test")
    runs.fail = 3
    rates = [read("training.lr=0.01,0.02,0.03,0.04")]
    stored = starting.store(workspace, planned(config, rates, "grid", known, metric="MAP@R"))
    Worker(workspace, stored, lambda line: None).run()
    return stored


def shown(workspace, number, *words):
    """The learning rates that the table lists, those of the data, and the lines of the table."""
    of_command = ["sweep", "show", str(number), *words, "-w", str(workspace.path)]
    lines = CliRunner().invoke(cli, of_command, catch_exceptions=False).output.splitlines()
    rates = sorted(float(line.split("|")[2]) for line in lines if line.startswith("| ") and "setting" not in line)
    data = json.loads(CliRunner().invoke(cli, [*of_command, "--json"], catch_exceptions=False).output)
    of_data = sorted(setting["values"]["training.lr"] for setting in data["settings"])
    assert rates == of_data
    return rates, lines


@pytest.mark.parametrize(
    ("words", "rates"),
    [
        ([], [0.01, 0.02, 0.03, 0.04]),
        (["lr<0.025"], [0.01, 0.02]),
        (["training.lr>=0.02", "MAP@R>88.5"], [0.02, 0.04]),
        (["state=failed"], [0.03]),
        (["failed"], [0.03]),
        (["0.04"], [0.04]),
        (["lr<0.001"], []),
    ],
)
def test_settings_are_listed_that_fit_as_in_the_panel(workspace, number, words, rates):
    listed, lines = shown(workspace, number, *words)
    assert listed == rates
    leaves = [line for line in lines if line.startswith("The search matches")]
    assert leaves == ([f"The search matches {len(rates)} of 4 settings."] if len(rates) < 4 else [])
    assert any(line.startswith("Setting ") for line in lines) == (0.03 in rates), "why a setting failed is with it"
    assert any(line.startswith("| setting") for line in lines) == bool(rates), "a table without rows has no head"
    model = SweepsModel()
    model.take(look(workspace, lambda *of: None))
    model.search(" ".join(words))
    trials = {trial.id: trial.setting["training.lr"] for trial in sweeps.trials(workspace, number)}
    assert sorted(trials[trial] for trial, _ in model.trial_rows()[1]) == rates


@pytest.mark.parametrize(
    ("word", "sentence"),
    [
        ("lr<abc", "“abc” is no number; words are compared by = alone."),
        ("lrr<1", "The sweep varies no field “lrr”."),
        ("lr<0.001", ""),
        (
            "state=faild",
            "“faild” is no state; write queued, running, paused, done, failed, cancelled, refused or stopped early.",
        ),
        ("state=can", ""),
    ],
)
def test_a_condition_that_no_run_can_meet_is_explained(workspace, number, word, sentence):
    _, lines = shown(workspace, number, word)
    assert f"The search matches 0 of 4 settings. {sentence}".strip() in lines
    model = SweepsModel()
    model.take(look(workspace, lambda *of: None))
    model.search(word)
    assert model.words().endswith(f"The search matches 0 of 4 runs. {sentence}".strip())


def test_an_objective_that_no_metric_can_be_is_left_out_and_named(workspace, number):
    with workspace.writing() as db:
        db.execute("update sweep_trials set objective = 5 where point = 1")
        db.execute("update sweep_trials set objective = 0.9 where point = 2")
    first, second = sweeps.trials(workspace, number)[:2]
    assert (first.objective, second.objective) == (None, 0.9)
    assert "MAP@R: 5 is not from 0 to 1" in first.problem
    _, lines = shown(workspace, number)
    assert [line.split("|")[1].strip() for line in lines if line.startswith("| ")][1] == "2", "the best is first"
    assert any(line.startswith("Setting 1, seed 0: What is stored of it could not all be read") for line in lines)


@pytest.mark.parametrize(("metric", "value", "kept"), [("train/accuracy", 1.2, False), ("probe/ce", 1.2, True)])
def test_only_a_share_is_from_0_to_1(workspace, number, metric, value, kept):
    with workspace.writing() as db:
        db.execute("update sweeps set metric = ?", (metric,))
        db.execute("update sweep_trials set objective = ?", (value,))
    assert all((trial.objective is not None) == kept for trial in sweeps.trials(workspace, number))


def test_a_sweep_without_settings_has_no_table(workspace, number):
    with workspace.writing() as db:
        db.execute("delete from sweep_trials")
    _, lines = shown(workspace, number)
    assert "It has no settings yet." in lines
