"""Which parameter of a sweep matters: planted responses, what is counted, and when there is no number."""

import json
from math import log10

import numpy as np
import pytest

from workbench.commands.training.sweep_table import as_data, table
from workbench.settings.changed import changed, read_config
from workbench.sweeps import server, starting
from workbench.sweeps.importance import DEPTH, FEWEST, SEED, from_answer, importance, notes
from workbench.sweeps.importance import as_data as as_data_of
from workbench.sweeps.plan import planned
from workbench.sweeps.space import read
from workbench.workspace.experiments import sweeps

FEW_RESAMPLES, FEW_TREES = 4, 24


@pytest.fixture(autouse=True)
def _few_trees(monkeypatch):
    """Trees and resamples take nearly all of the time; the tests of reports have the full number of both."""
    monkeypatch.setattr("workbench.sweeps.importance.RESAMPLES", FEW_RESAMPLES)
    monkeypatch.setattr("workbench.sweeps.importance.TREES", FEW_TREES)


@pytest.fixture
def answered(workspace, known):
    """Stores a sweep whose trials have the values of a function of their setting; gives the importance."""

    def answer(parameters, response, how="random", trials=30, seeds=1, change=None, base=None):
        config = changed(
            read_config("sample-digits"), {"sampler.name": "classes_images", **(base or {})}, known, "test"
        )
        plan = planned(
            config, [read(text) for text in parameters], how, known, seeds=seeds,
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


def test_of_a_sum_each_field_has_the_share_of_its_own_variance(answered):
    """In closed form: a field that is even on 0..1 has the variance 1/12, times the square of its factor."""
    measured = answered(
        [LR, DIM, "loss.scale=1..33"],
        lambda setting: (
            0.3 * (log10(setting["training.lr"]) + 4) / 3
            + 0.2 * (setting["embedding.dim"] - 16) / 112
            + 0.1 * (setting["loss.scale"] - 1) / 32
        ),
        trials=400, base={"loss.name": "cosface"},
    )  # fmt: skip
    expected = {"training.lr": 9 / 14, "embedding.dim": 4 / 14, "loss.scale": 1 / 14}
    assert shares(measured) == pytest.approx(expected, abs=0.05)


def by_the_paper(forest, bounds):
    """The mean share of each feature alone over the trees, from the definitions 1 to 4 of Hutter et al. 2014.

    Each tree is constant on the cells between its thresholds: their volumes weigh, and a marginal is the weighted mean
    over all other features. `bounds` [features, 2].
    """
    fractions = []
    for tree in forest.estimators_:
        parts = tree.tree_
        edges = [
            np.array([low, *sorted({parts.threshold[at] for at in np.flatnonzero(parts.feature == axis)}), high])
            for axis, (low, high) in enumerate(bounds)
        ]
        middles = np.meshgrid(*[(edge[1:] + edge[:-1]) / 2 for edge in edges], indexing="ij")
        cells = tree.predict(np.stack([middle.ravel() for middle in middles], axis=1)).reshape(middles[0].shape)
        weights = [np.diff(edge) / (edge[-1] - edge[0]) for edge in edges]

        def mean(values, over, weights=weights):
            for axis in sorted(over, reverse=True):
                values = np.tensordot(values, weights[axis], axes=([axis], [0]))
            return values

        axes = range(len(edges))
        total = mean((cells - mean(cells, axes)) ** 2, axes)
        if total > 0:
            alone = [mean(cells, [other for other in axes if other != axis]) for axis in axes]
            fractions.append(
                [weights[axis] @ (alone[axis] - weights[axis] @ alone[axis]) ** 2 / total for axis in axes]
            )
    return np.mean(fractions, axis=0)


def test_the_shares_are_those_of_the_paper(answered):
    """Computed again from the definitions, cell by cell, given the same forest."""
    from sklearn.ensemble import RandomForestRegressor

    rows, values = [], []

    def response(setting):
        place = [setting["embedding.dim"], setting["loss.scale"], np.log(setting["training.lr"])]
        value = float(12 + np.sin(place[0] / 20) + place[1] / 32 * place[2]) / 14
        if place not in rows:
            rows.append(place)
            values.append(value)
        return value

    measured = answered([LR, DIM, "loss.scale=1.5..33.5"], response, trials=40, base={"loss.name": "cosface"})
    forest = RandomForestRegressor(n_estimators=FEW_TREES, max_depth=DEPTH, random_state=SEED)
    bounds = [(15.5, 128.5), (1.5, 33.5), (np.log(1e-4), np.log(1e-1))]
    expected = by_the_paper(forest.fit(np.array(rows), np.array(values)), bounds)
    computed = shares(measured)
    names = ("embedding.dim", "loss.scale", "training.lr")
    assert [computed[name] for name in names] == pytest.approx(expected.tolist(), abs=1e-6)
    assert 0.05 < measured.rest < 0.9, "fields act together, too"


def test_the_same_settings_have_the_same_shares(answered):
    first, second = (answered([LR, DIM], lambda setting: log10(setting["training.lr"]) / 3 + 4 / 3) for _ in range(2))
    assert first == second
    assert first.shares


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


MARGIN, TEMPERATURE = "loss.margin=0.05..0.4", "loss.temperature=0.1..0.5"
LOSSES = "loss.name=ce,proxy_anchor,triplet"
TITLES = {"loss.margin": "Margin"}


def test_a_field_that_only_some_losses_have_has_a_share_among_the_settings_with_them(answered):
    """Of the others the value varies with the size, with which the margin has nothing to do."""

    def response(setting):
        return (setting["loss.margin"] if "loss.margin" in setting else 10 + setting["embedding.dim"] / 128) / 12

    measured = answered([LOSSES, MARGIN, DIM], response, trials=90)
    assert set(shares(measured)) == {"loss.name", "embedding.dim"}
    (part,) = measured.parts
    assert (part.chooser, part.entries, part.fields) == ("loss.name", ("proxy_anchor", "triplet"), ("loss.margin",))
    (share,) = part.shares
    assert share.field == "loss.margin"
    assert share.share > 0.9, "the difference between the losses has no part in it"
    assert share.low <= share.share <= share.high
    assert 30 < part.measured.settings < 80
    among = f"among the {part.measured.settings} settings with Proxy-Anchor or Triplet"
    assert part.among == among
    (said,) = [sentence for sentence in notes(measured, TITLES) if sentence.startswith("Margin: of the variance ")]
    assert said.startswith(f"Margin: of the variance {among} (R² ")
    assert said.endswith("), so that it cannot be added to the other shares.")


def test_losses_with_other_fields_are_apart_and_have_their_own_settings_alone(answered):
    def response(setting):
        return setting.get("loss.margin", 0) + setting.get("loss.temperature", 0)

    measured = answered(["loss.name=norm_ce,triplet", TEMPERATURE, MARGIN, DIM], response, trials=60)
    assert [(part.entries, part.fields) for part in measured.parts] == [
        (("norm_ce",), ("loss.temperature",)), (("triplet",), ("loss.margin",))
    ]  # fmt: skip
    assert sum(part.measured.settings for part in measured.parts) == measured.settings == 60
    for part in measured.parts:
        assert set(shares(part.measured)) == {*part.fields, "embedding.dim"}, "the loss is one: it explains nothing"
        assert part.shares[0].share > 0.9


def test_too_few_settings_with_a_field_are_said_with_their_number(answered):
    few = "update sweep_trials set state = 'failed' where sweep_id = ? and setting like '%triplet%' and point > 12"
    measured = answered(
        ["loss.name=ce,triplet", MARGIN, DIM], lambda setting: setting["embedding.dim"] / 128, trials=60, change=few
    )
    (part,) = measured.parts
    assert part.shares == ()
    assert 0 < part.measured.settings < FEWEST
    said = " ".join(notes(measured, TITLES))
    assert (
        f"No share of Margin {part.among}: the importance of the parameters is computed from {FEWEST} settings that "
        f"finished training; there are {part.measured.settings}."
    ) in said
    assert as_data_of(measured)["left_out"] == ["loss.margin"]


def test_a_field_of_some_losses_has_a_share_where_the_loss_is_all_else_that_varies(answered):
    measured = answered(
        ["loss.name=ce,proxy_anchor,triplet", "loss.margin=0.05,0.1,0.15,0.2,0.25,0.3,0.35,0.4"],
        lambda setting: setting.get("loss.margin", 1), how="grid",
    )  # fmt: skip
    assert "Only one parameter has several values" in measured.reason
    (part,) = measured.parts
    assert part.shares[0].share > 0.9
    said = notes(measured, TITLES)
    assert said[0] == measured.reason
    assert "They show no cause." in said[1]


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
        "The importance of the parameters is computed from 10 settings that finished training; there are 9."
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
    assert "Shares of the variance of MAP@R among 30 settings that finished training" in said
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
    assert as_data(workspace, 1)["importance"]["parts"] == []
    stored = as_data(workspace, 1)["importance"]
    assert stored["shares"][0] == {
        "field": "embedding.dim", "share": first.share, "low": first.low, "high": first.high
    }  # fmt: skip
    assert (stored["settings"], stored["r2"], stored["reason"]) == (30, measured.predicted, "")


def test_the_command_line_shows_the_shares_of_a_part_under_its_settings(answered, workspace):
    measured = answered(["loss.name=ce,triplet", MARGIN, DIM], lambda setting: setting.get("loss.margin", 0), trials=60)
    (part,) = measured.parts
    lines = table(workspace, 1)
    assert lines[lines.index(f"Among the {part.measured.settings} settings with Triplet:") + 1].endswith(" Margin")
    (stored,) = as_data(workspace, 1)["importance"]["parts"]
    assert (stored["field"], stored["entries"], stored["fields"]) == ("loss.name", ["triplet"], ["loss.margin"])
    assert (stored["settings"], stored["r2"]) == (part.measured.settings, part.measured.predicted)
    assert [share["field"] for share in stored["shares"]] == ["loss.margin"]


def test_a_sweep_of_one_parameter_is_not_asked_which_matters(answered, workspace):
    answered([LR], lambda setting: setting["training.lr"])
    assert table(workspace, 1)[-1].startswith("| ")


def test_the_process_of_the_window_answers_the_same(answered, workspace):
    measured = answered(["loss.name=ce,triplet", MARGIN, DIM], lambda setting: setting.get("loss.margin", 0), trials=60)
    said = []
    answer = server.importance({"workspace": str(workspace.path), "sweep": 1}, lambda *progress: said.append(progress))
    assert [done for _, done, _ in said] == list(range(2 * FEW_RESAMPLES))
    assert {total for _, _, total in said} == {2 * FEW_RESAMPLES}, "of both forests"
    assert from_answer(json.loads(json.dumps(answer))) == measured
