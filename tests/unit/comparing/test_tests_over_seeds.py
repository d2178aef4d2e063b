"""Tests of the networks of several seeds on one set of other images, as one group."""

import json
from math import sqrt
from statistics import fmean, stdev

import numpy as np
import pytest
from click.testing import CliRunner

from tests.unit.comparing.compared_runs import images, store, store_test
from workbench.cli import cli
from workbench.comparing.grouping.groups import group_of, grouped
from workbench.comparing.grouping.more_seeds import more_seeds, why_none
from workbench.comparing.grouping.setting_titles import field_title, value_title
from workbench.comparing.overview import overview
from workbench.comparing.queries.pairing import compare
from workbench.config import Choice, EvaluationParams, RunConfig, TrainingParams
from workbench.entries import catalog
from workbench.problem import Problem
from workbench.reports.content.provenance import command_of
from workbench.ui.models.run_words import fits
from workbench.workspace.tables.runs import read_runs

KNOWN = {
    "loss/ce": {"title": "Cross-entropy (CE)", "params": {}},
    "dataset/digits": {"title": "Digits", "params": {}},
}
T2 = 4.302653  # Student's t at 97.5%, two degrees of freedom
FIRST, SECOND = (0.70, 0.71, 0.72), (0.66, 0.68, 0.73)  # MAP@R on the photographs of the seeds of two losses


def trained(workspace, seeds=3, loss="ce", name="Trees", own=0.9, **config):
    """A run for each seed, on images of their own."""
    return [
        store(workspace, {1: np.full(6, own)}, seed=seed, loss=Choice(name=loss), name=f"{name}, seed {seed}", **config)
        for seed in range(seeds)
    ]


def on_photos(workspace, runs, values=FIRST, **facts):
    return [store_test(workspace, run, np.full(9, value), **facts) for run, value in zip(runs, values, strict=True)]


def look(workspace, numbers=None, at="best", metric="MAP@R"):
    runs = [run for run in workspace.runs() if numbers is None or run.id in numbers]
    return overview(workspace, runs, KNOWN, metric, at)


def test_tests_of_three_seeds_are_one_group_with_mean_spread_and_interval_over_the_seeds_that_trained(workspace):
    tests = on_photos(workspace, trained(workspace))
    (group,) = look(workspace, tests).groups
    assert (group.title, [run.id for run in group.runs], group.seeds) == ("Trees on photos", tests, [0, 1, 2])
    (summary,) = look(workspace, tests).summaries
    assert summary.by_seed == pytest.approx({0: 0.70, 1: 0.71, 2: 0.72})
    assert (summary.interval.mean, summary.spread, summary.interval.n) == pytest.approx((0.71, 0.01, 3))
    assert summary.seconds is None
    half = T2 * 0.01 / sqrt(3)
    assert (summary.interval.low, summary.interval.high) == pytest.approx((0.71 - half, 0.71 + half))


def test_two_losses_are_compared_seed_by_seed_on_the_same_images(workspace):
    runs = trained(workspace), trained(workspace, loss="norm_ce")
    first, second = (
        on_photos(workspace, of_loss, values) for of_loss, values in zip(runs, (FIRST, SECOND), strict=True)
    )
    shown = look(workspace, first + second)
    ours, theirs = shown.groups
    assert [group.title for group in shown.groups] == [
        "Trees on photos: Cross-entropy (CE)",
        "Trees on photos: loss norm_ce",
    ]
    assert [row.field for row in shown.differences] == ["loss.name"]
    result = compare(workspace, ours, theirs, shown.measured, "MAP@R", "best", resamples=50)
    by_seed = [after - before for before, after in zip(FIRST, SECOND, strict=True)]
    assert [seed.over_queries.mean for seed in result.seeds] == pytest.approx(by_seed)
    assert [(seed.seed, seed.first_run, seed.second_run) for seed in result.seeds] == [
        (seed, *pair) for seed, pair in enumerate(zip(first, second, strict=True))
    ]
    half = T2 * stdev(by_seed) / sqrt(3)
    assert (result.over_seeds.low, result.over_seeds.high) == pytest.approx(
        (fmean(by_seed) - half, fmean(by_seed) + half), abs=1e-6
    )


def test_folds_of_a_seed_are_one_value(workspace):
    folds = [
        store(workspace, {1: np.ones(6)}, split=Choice(name="mlrc", params={"fold": fold}), name=f"Trees, fold {fold}")
        for fold in (1, 2)
    ]
    (summary,) = look(workspace, on_photos(workspace, folds, (0.6, 0.8))).summaries
    assert summary.by_seed == pytest.approx({0: 0.7})
    assert summary.interval.n == 1


def test_the_settings_are_those_of_the_trained_runs_and_the_data_set_is_that_of_the_images(workspace):
    runs = trained(workspace, training=TrainingParams(lr=0.5))
    (group,) = look(workspace, on_photos(workspace, runs)).groups
    settings = group.settings
    assert (settings["loss.name"], settings["training.lr"]) == ("ce", 0.5)
    assert (settings["dataset.name"], settings["trained_on.name"]) == ("photos", RunConfig().dataset.name)
    assert settings["test.network"] == "best epoch"
    assert [field for field in settings if field.startswith("dataset.")] == ["dataset.name"]
    assert field_title("trained_on.name", [settings], KNOWN) == "Trained on"
    assert value_title("trained_on.name", "digits", KNOWN) == "Digits"


@pytest.mark.parametrize("unlike", [{"training": TrainingParams(lr=0.5)}, {"dataset": Choice(name="mnist")}])
def test_tests_of_runs_that_would_be_two_groups_are_two_groups(workspace, unlike):
    runs = [*trained(workspace, 1), *trained(workspace, 1, **unlike)]
    assert len(look(workspace, on_photos(workspace, runs, FIRST[:2])).groups) == 2


def test_other_images_of_the_same_name_another_size_or_distance_are_another_group(workspace):
    runs = trained(workspace, 4)
    one = store_test(workspace, runs[0], np.ones(9), shown=images(9, "a"))
    two = store_test(workspace, runs[1], np.ones(9), shown=images(9, "b"))
    far = store_test(workspace, runs[2], np.ones(9), shown=images(9, "a"), distance="l2")
    alike = store_test(workspace, runs[3], np.ones(9), shown=images(9, "a"), called="the same at another place")
    shown = look(workspace, [one, two, far, alike])
    assert [[run.id for run in group.runs] for group in shown.groups] == [[one, alike], [two], [far]]
    assert len({group.title for group in shown.groups}) == 3
    assert any(sentence.startswith("The runs saw different data") for sentence in shown.guards)


def test_tests_of_the_best_and_the_last_network_are_two_groups(workspace):
    runs = [store(workspace, {1: np.full(6, 0.9), 2: np.full(6, 0.5)}, seed=seed, name="Trees") for seed in range(3)]
    best = on_photos(workspace, runs, asked="best")
    last = on_photos(workspace, runs, SECOND, epoch=2, asked="last")
    fixed = on_photos(workspace, runs[:1], (0.5,), epoch=2, asked=2)
    shown = look(workspace, [*best, *last, *fixed])
    assert [(group.title, [run.id for run in group.runs]) for group in shown.groups] == [
        ("Trees on photos", best),
        ("Trees on photos, last epoch", last),
        ("Trees on photos, epoch 2", fixed),
    ]


def test_a_test_that_does_not_say_what_was_asked_is_judged_by_its_epoch(workspace):
    runs = [store(workspace, {1: np.full(6, 0.9), 2: np.full(6, 0.5), 3: np.full(6, 0.4)}, reached=3)]
    networks = [store_test(workspace, runs[0], np.ones(9), epoch=epoch) for epoch in (1, 2, 3)]
    assert [workspace.run(number).tested_network for number in networks] == ["best epoch", "epoch 2", "last epoch"]
    assert workspace.run(runs[0]).tested_network == ""


@pytest.mark.parametrize(
    "asked", [True, 2.5, "worst", ["best"], {"best": 1}, None], ids=lambda asked: str(asked)
)  # fmt: skip
def test_a_strange_record_of_what_was_asked_counts_as_its_epoch(workspace, asked):
    (run,) = trained(workspace, 1)
    number = store_test(workspace, run, np.ones(9), epoch=7, asked=asked)
    assert workspace.run(number).tested_network == "epoch 7"


def test_a_best_network_that_is_not_the_best_any_more_is_said(workspace):
    runs = [store(workspace, {1: np.full(6, 0.5), 2: np.full(6, 0.9)}, seed=seed) for seed in range(2)]
    tests = [store_test(workspace, runs[0], np.ones(9), asked="best"), *on_photos(workspace, runs[1:], (1,), epoch=2)]
    said = [sentence for sentence in look(workspace, tests).guards if "another network" in sentence]
    assert said == [
        "Tested with another network than that of the best epoch: "
        f"run {tests[0]}: epoch 1 of run {runs[0]}, whose best is now 2."
    ]


def test_a_test_whose_run_is_in_the_trash_deleted_or_elsewhere_stands_alone_and_says_why(workspace):
    runs = trained(workspace)
    tests = on_photos(workspace, runs)
    strange = store_test(workspace, runs[0], np.ones(9))
    with workspace.writing() as db:
        db.execute("insert into arrivals (uid, run_id, source) values (?, ?, '')", ("f" * 32, strange))
    workspace.trash(runs[1])
    workspace.delete(runs[2], at_once=True)
    assert workspace.run(tests[2]).trainer is None
    shown = look(workspace, [*tests, strange])
    assert [[run.id for run in group.runs] for group in shown.groups] == [[number] for number in (*tests, strange)]
    (said,) = [sentence for sentence in shown.guards if sentence.startswith("Tests that")]
    assert said == (
        "Tests that are not averaged over seeds, each a separate group: "
        f"run {tests[1]}: run {runs[1]}, which trained the network, is in the trash; "
        f"run {tests[2]}: run {runs[2]}, which trained the network, is not in this workspace; "
        f"run {strange}: it came from another workspace."
    )


def test_tests_are_not_ranked_with_the_runs_own_test_half(workspace):
    runs = trained(workspace)
    on_photos(workspace, runs)
    shown = look(workspace)
    assert [group.title for group in shown.groups] == ["Trees", "Trees on photos"]
    assert shown.guards[0].startswith("The runs saw different data, so their numbers cannot be compared.")
    with pytest.raises(Problem, match="saw different data"):
        compare(workspace, *shown.groups, shown.measured, "MAP@R", "best")


def test_a_test_on_the_folder_that_the_run_was_trained_on_is_of_other_images_than_its_half(workspace):
    everything = images(12)
    run = store(workspace, {1: np.full(6, 0.9)}, shown=everything, rows=np.arange(6))
    test = store_test(workspace, run, np.full(12, 0.8), shown=everything)
    shown = look(workspace, [run, test])
    assert any(sentence.startswith("Tested on different images") for sentence in shown.guards)
    with pytest.raises(Problem, match="were tested on different images"):
        compare(workspace, *shown.groups, shown.measured, "MAP@R", "best")


def test_the_chosen_epoch_is_optimistic_on_the_own_half_alone_and_unequal_training_is_said(workspace):
    short, long = (trained(workspace, training=TrainingParams(epochs=epochs)) for epochs in (1, 2))
    tests = on_photos(workspace, short) + on_photos(workspace, long, SECOND)
    assert any(sentence.startswith("Optimistic") for sentence in look(workspace, short).guards)
    guards = look(workspace, tests).guards
    assert not [sentence for sentence in guards if sentence.startswith("Optimistic")]
    assert any(sentence.startswith("Unequal epochs: 1: ") for sentence in guards)


def test_tests_of_unequal_epochs_are_not_said_to_share_none(workspace):
    runs = [store(workspace, {1: np.ones(6), 2: np.full(6, best)}, seed=seed) for seed, best in enumerate((0.5, 1.5))]
    tests = [store_test(workspace, run, np.ones(9), epoch=epoch) for run, epoch in zip(runs, (1, 2), strict=True)]
    shown = look(workspace, tests)
    assert len(shown.groups) == 1
    assert not [sentence for sentence in shown.warnings if "epoch in common" in sentence]


def test_of_two_tests_of_one_seed_the_newest_counts(workspace):
    runs = trained(workspace)
    tests = on_photos(workspace, runs) + on_photos(workspace, runs[:1], (0.5,))
    (summary,) = look(workspace, tests).summaries
    assert summary.by_seed[0] == pytest.approx(0.5)
    assert any(f"left out: run {tests[0]}" in sentence for sentence in look(workspace, tests).guards)


def test_tests_are_found_by_the_settings_of_their_networks_and_by_their_own_data(workspace):
    (run,) = trained(workspace, 1, training=TrainingParams(lr=0.5), dataset=Choice(name="digits"))
    test = workspace.run(store_test(workspace, run, np.ones(9)))
    for words in (["loss=ce"], ["lr=0.5"], ["training.lr>0.1"], ["seed=0"], ["ce"], ["data=imported"]):
        assert fits(test, words, KNOWN), words
    for words in (["loss=imported"], ["lr<0.1"], ["data=digits"], ["dataset.name=digits"]):
        assert not fits(test, words, KNOWN), words


def test_a_test_has_the_seed_of_its_run_and_its_group_and_gets_no_seeds_itself(workspace):
    runs = trained(workspace)
    tests = on_photos(workspace, runs)
    assert [workspace.run(number).seed for number in tests] == [0, 1, 2]
    assert [run.id for run in group_of(tests[0], workspace.runs(), KNOWN)] == tests
    assert why_none(workspace.run(tests[0]), KNOWN).startswith("it is a test on other images")
    assert more_seeds(tests, workspace.runs(), catalog.current(), 2).runs == 0


def test_a_test_is_read_again_when_its_trained_run_has_changed_and_is_the_same_object_before(workspace):
    (run,) = trained(workspace, 1)
    store_test(workspace, run, np.ones(9))
    known = {}
    with workspace.reading() as db:
        before = read_runs(db, "1", (), known)[0]
        assert read_runs(db, "1", (), known)[0] is before
    workspace.rename(run, "Woods")
    with workspace.reading() as db:
        assert read_runs(db, "1", (), known)[0].trainer.name == "Woods"


def test_what_the_tests_measured_besides_does_not_part_them(workspace):
    runs = [*trained(workspace, 2), *trained(workspace, 1, evaluation=EvaluationParams(recall_at="1 2"))]
    assert len(look(workspace, on_photos(workspace, runs)).groups) == 1


def test_the_command_and_its_files_have_the_group(workspace, tmp_path):
    tests = [str(number) for number in on_photos(workspace, trained(workspace))]
    space = str(workspace.path)
    printed = CliRunner().invoke(cli, ["compare", *tests, "-w", space]).output
    assert f"| Trees on photos | {', '.join(tests)} | 3 | 71.00 | 1.00 | [68.52, 73.48] |" in printed
    (group,) = json.loads(CliRunner().invoke(cli, ["compare", *tests, "--json", "-w", space]).output)["groups"]
    assert (group["seeds"], [run["seed"] for run in group["runs"]]) == (3, [0, 1, 2])
    CliRunner().invoke(cli, ["compare", *tests, "--csv", str(tmp_path / "groups.csv"), "-w", space])
    head, row = (tmp_path / "groups.csv").read_text("utf-8").splitlines()
    assert dict(zip(head.split(","), row.split(","), strict=True))["group"] == "Trees on photos"


def test_groups_of_runs_that_are_no_tests_stay_as_they_were(workspace):
    trained(workspace)
    assert [group.title for group in grouped(workspace.runs(), KNOWN)] == ["Trees"]


def test_the_command_that_repeats_a_test_makes_one_of_the_same_group(workspace):
    run = store(workspace, {1: np.full(6, 0.5), 2: np.full(6, 0.9), 3: np.full(6, 0.4)}, reached=3)
    asked = ((2, "best", "best"), (3, "last", "last"), (1, "best", "1"), (2, 2, "2"), (1, "last", "1"))
    for epoch, words, option in asked:
        number = store_test(workspace, run, np.ones(9), epoch=epoch, asked=words)
        assert f"--epoch {option} " in command_of(workspace.run(number)), (epoch, words)
    workspace.trash(run)
    assert "--epoch 1 " in command_of(workspace.run(number))


def test_texts_of_the_trained_run_that_cannot_be_read_are_shown_or_named_by_the_test(workspace):
    (run,) = trained(workspace, 1)
    (test,) = on_photos(workspace, [run], FIRST[:1])
    with workspace.writing() as db:
        db.execute("update runs set name = cast(x'41ff42' as text) where id = ?", (run,))
    assert look(workspace, [test]).groups[0].title == "A\N{REPLACEMENT CHARACTER}B on photos"
    with workspace.writing() as db:
        db.execute("update runs set config = 'no TOML' where id = ?", (run,))
    with pytest.raises(Problem, match=f"Run {test} cannot be compared. Its config cannot be read"):
        look(workspace, [test])


@pytest.mark.parametrize("network", ['"1"', "true", "0", "-3", "9223372036854775808", "[1]", "null", "1.0"])
def test_a_network_that_is_no_number_of_a_run_has_no_trainer(workspace, network):
    (run,) = trained(workspace, 1)
    number = store_test(workspace, run, np.ones(9))
    with workspace.writing() as db:
        sql = "update runs set environment = json_set(environment, '$.imported.network', json(?)) where id = ?"
        db.execute(sql, (network, number))
    assert workspace.run(number).trainer is None


def test_a_best_network_that_is_the_untrained_one_is_said(workspace):
    runs = [store(workspace, {0: np.ones(6), 1: np.full(6, 0.5)}, seed=seed, reached=1) for seed in range(2)]
    tests = [store_test(workspace, runs[0], np.ones(9), epoch=0, asked="best")]
    tests += on_photos(workspace, runs[1:], (0.5,), asked="last")
    (said,) = [sentence for sentence in look(workspace, tests).guards if sentence.startswith("Best before training")]
    assert said.endswith(f"number: run {tests[0]}.")
