"""Which parameter of a sweep matters: planted responses, what is counted, and when there is no number."""

import json
from math import log10

import numpy as np
import pytest

from workbench.commands.training.sweep_table import as_data, table
from workbench.progress import quiet
from workbench.settings.changed import read_config
from workbench.sweeps import server, starting
from workbench.sweeps.importance import FEWEST, from_answer, importance, notes
from workbench.sweeps.plan import planned
from workbench.sweeps.space import read
from workbench.workspace.experiments import sweeps


@pytest.fixture
def answered(workspace, known):
    """Stores a sweep whose trials have the values of a function of their setting; gives the importance."""

    def answer(parameters, response, how="random", trials=30, seeds=1, change=None):
        plan = planned(
            read_config("sample-digits"), [read(text) for text in parameters], how, known, seeds=seeds,
            trials=None if how == "grid" else trials,
        )  # fmt: skip
        number = starting.store(workspace, plan)
        with workspace.writing() as db:
            for trial in sweeps.trials(workspace, number):
                sql = "update sweep_trials set state = 'done', objective = ? where id = ?"
                db.execute(sql, (response(trial.setting), trial.id))
            if change:
                db.execute(change, (number,))
        return importance(sweeps.one(workspace, number), sweeps.trials(workspace, number), known)

    return answer


def shares(measured):
    return {share.field: share.share for share in measured.shares}


LR, DIM = "training.lr=1e-4..1e-1:log", "embedding.dim=16..128"


def test_the_parameter_of_a_planted_response_has_nearly_all(answered):
    measured = answered([LR, DIM], lambda setting: setting["embedding.dim"] / 128)
    assert [share.field for share in measured.shares] == ["embedding.dim", "training.lr"]
    first, second = measured.shares
    assert first.share > 0.9
    assert second.share < 0.05
    assert first.low <= first.share <= first.high
    assert measured.settings == 30
    assert measured.predicted > 0.7


def test_a_logarithmic_range_is_even_in_the_logarithm(answered):
    """In steps of the learning rate itself, nine tenths of the range would be above 0.01, where nothing changes."""
    measured = answered(
        [LR, DIM],
        lambda setting: 0.3 * (setting["training.lr"] > 1e-3) + 0.2 * (setting["embedding.dim"] > 72),
        trials=60,
    )
    high, wide = 2 / 3, 1 / 2  # of the ranges: the variances of the two are p (1 - p) times the square of their steps
    expected = 0.09 * high * (1 - high) / (0.09 * high * (1 - high) + 0.04 * wide * (1 - wide))
    assert shares(measured)["training.lr"] == pytest.approx(expected, abs=0.06)


def test_listed_entries_weigh_alike(answered):
    """By hand: of three losses one is better by 3, so its variance is 2; two sizes differ by 2, so theirs is 1."""
    measured = answered(
        ["loss.name=ce,norm_ce,proxy_anchor", "embedding.dim=16,32", "training.lr=0.01..0.1:15"],
        lambda setting: 0.03 * (setting["loss.name"] == "ce") + 0.02 * (setting["embedding.dim"] == 32),
        how="grid",
    )
    assert shares(measured) == pytest.approx({"loss.name": 2 / 3, "embedding.dim": 1 / 3, "training.lr": 0}, abs=0.05)
    assert measured.rest < 0.05


def test_the_same_settings_have_the_same_shares(answered):
    first, second = (answered([LR, DIM], lambda setting: log10(setting["training.lr"])) for _ in range(2))
    assert first == second


@pytest.mark.parametrize(
    "change",
    [
        "update sweep_trials set state = 'failed', problem = 'No memory.' where sweep_id = ? and point % 2",
        "update sweep_trials set state = 'failed', stopped = 'refused' where sweep_id = ? and point % 2",
        "update sweep_trials set stopped = 'worse than the median' where sweep_id = ? and point % 2",
        "update sweep_trials set state = 'running', objective = null where sweep_id = ? and point % 2 and seed = 1",
        'update sweep_trials set setting = \'{"training.lr": "high"}\' where sweep_id = ? and point % 2',
    ],
)
def test_only_settings_whose_runs_all_trained_to_their_end_count(answered, change):
    whole = answered([LR, DIM], lambda setting: setting["embedding.dim"] / 128, seeds=2)
    part = answered([LR, DIM], lambda setting: setting["embedding.dim"] / 128, seeds=2, change=change)
    assert (whole.settings, part.settings) == (30, 15)


def test_a_field_that_only_some_losses_have_is_left_out_with_a_sentence(answered):
    parameters = ["loss.name=ce,proxy_anchor", "loss.margin=0.05..0.4", DIM]
    measured = answered(parameters, lambda setting: setting["embedding.dim"] / 128)
    assert set(shares(measured)) == {"loss.name", "embedding.dim"}
    assert measured.conditional == ("loss.margin",)
    assert "Left out, as only some settings have it: Margin." in notes(measured, {"loss.margin": "Margin"})


def test_a_field_with_one_value_is_not_shown(answered):
    fixed = answered([LR, DIM, "embedding.bias=true"], lambda setting: setting["embedding.dim"] / 128)
    assert "embedding.bias" not in shares(fixed)
    assert fixed.single == ()
    so_far = "update sweep_trials set state = 'cancelled', objective = null where sweep_id = ? and setting like '%16%'"
    begun = answered(
        ["embedding.dim=16,32", "loss.name=ce,norm_ce,proxy_anchor", "training.lr=0.01,0.02,0.03,0.04"],
        lambda setting: setting["training.lr"], how="grid", change=so_far,
    )  # fmt: skip
    assert begun.single == ("embedding.dim",)
    assert "embedding.dim" not in shares(begun)
    assert notes(begun, {})[-1] == "Left out, as all of these settings have the same value: embedding.dim."


def test_without_enough_settings_or_differences_there_is_a_sentence(answered):
    few = answered([LR, DIM], lambda setting: setting["training.lr"], trials=FEWEST - 1)
    assert notes(few, {}) == [
        "The importance of the parameters is computed from 10 settings that trained to their end; there are 9."
    ]
    alike = answered([LR, DIM], lambda setting: 0.5)
    assert "All 30 settings have the same value" in alike.reason
    alone = answered([LR], lambda setting: setting["training.lr"])
    assert "Only one parameter has several values" in alone.reason
    assert few.shares == alike.shares == alone.shares == ()


def test_chance_has_no_shares(answered):
    """A forest divides up chance, too: without a test on settings that it has not seen, it would look like a result."""
    rng = np.random.default_rng(3)
    measured = answered([LR, DIM], lambda setting: rng.random())
    assert not measured.shares
    assert measured.predicted <= 0
    assert "do not show which parameter matters" in measured.reason


def test_what_the_shares_are_of_is_said(answered):
    bayes = "update sweeps set how = 'bayes' where id = ?"
    measured = answered([LR, DIM], lambda setting: setting["embedding.dim"] / 128, change=bayes)
    said = " ".join(notes(measured, {}))
    assert "Shares of the variance of MAP@R among 30 settings that trained to their end" in said
    assert "They show no cause." in said
    assert f"No field explains the other {100 * measured.rest:.1f}% alone." in said
    assert "A Bayesian sweep tries few settings where the first results were bad" in said


def test_a_sweep_whose_loss_is_gone_says_so(answered):
    gone = "update sweeps set parameters = '[\"loss.name=gone,ce\"]' where id = ?"
    measured = answered([LR, DIM], lambda setting: setting["training.lr"], change=gone)
    assert measured.reason.startswith("What the sweep varies cannot be read.")
    assert "There is no loss named 'gone'" in measured.reason


def test_the_command_line_shows_the_shares_below_its_table(answered, workspace):
    measured = answered([LR, DIM], lambda setting: setting["embedding.dim"] / 128)
    first = measured.shares[0]
    lines = table(workspace, 1)
    at = lines.index("Parameter importance:")
    assert lines[at + 1].split() == [
        f"{100 * first.share:.1f}%", f"[{100 * first.low:.1f},", f"{100 * first.high:.1f}]", "Embedding", "size"
    ]  # fmt: skip
    assert lines[at + 3 :] == notes(measured, {})
    stored = as_data(workspace, 1)["importance"]
    assert stored["shares"][0] == {
        "field": "embedding.dim", "share": first.share, "low": first.low, "high": first.high
    }  # fmt: skip
    assert (stored["settings"], stored["r2"], stored["reason"]) == (30, measured.predicted, "")


def test_a_sweep_of_one_parameter_is_not_asked_which_matters(answered, workspace):
    answered([LR], lambda setting: setting["training.lr"])
    assert table(workspace, 1)[-1].startswith("| ")


def test_the_process_of_the_window_answers_the_same(answered, workspace):
    measured = answered([LR, DIM], lambda setting: setting["embedding.dim"] / 128)
    answer = server.importance({"workspace": str(workspace.path), "sweep": 1}, quiet)
    assert from_answer(json.loads(json.dumps(answer))) == measured
