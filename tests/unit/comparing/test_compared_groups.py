"""Which runs belong together, what differs, and the numbers of each group."""

import tomllib
from dataclasses import replace
from statistics import fmean, stdev

import numpy as np
import pytest
from scipy import stats

from tests.unit.comparing.compared_runs import images, store
from workbench.comparing.grouping.groups import grouped
from workbench.comparing.grouping.settings import differing, fold_of, settings_of, written
from workbench.comparing.measures import common_epochs, is_share, read_measures
from workbench.comparing.overview import overview
from workbench.config import Choice, EmbeddingParams, EvaluationParams, RunConfig, TrainingParams
from workbench.events import Ended, Progress
from workbench.problem import Problem
from workbench.ui.models.run_list import together
from workbench.workspace.experiments import sweep_worker, sweeps
from workbench.workspace.recorder import Recorder
from workbench.workspace.rows import Experiment

KNOWN = {"loss/ce": {"title": "Cross-entropy (CE)", "params": {"dropout": {"default": 0.5, "type": "number"}}}}


def seeds(workspace, values, **config):
    """One run for each seed; values are MAP@R at epoch 1."""
    return [store(workspace, {1: np.full(6, value)}, seed=seed, **config) for seed, value in enumerate(values)]


def look(workspace, metric="MAP@R", at="best", known=KNOWN):
    return overview(workspace, workspace.runs(), known, metric, at)


def test_runs_of_one_config_but_seed_name_and_fold_are_one_group(workspace):
    seeds(workspace, [0.5, 0.6])
    store(workspace, {1: np.ones(6)}, seed=0, name="Called otherwise")
    store(workspace, {1: np.ones(6)}, seed=2, training=TrainingParams(lr=0.5))
    groups = grouped(workspace.runs(), KNOWN)
    assert [[run.id for run in group.runs] for group in groups] == [[1, 2, 3], [4]]
    assert groups[0].seeds == [0, 1]
    assert groups[0].colour == workspace.run(1).colour


def test_runs_that_keep_other_evaluations_are_one_group(workspace):
    seeds(workspace, [0.5, 0.6])
    store(workspace, {1: np.ones(6)}, seed=2, evaluation=EvaluationParams(keep="best and last"))
    store(workspace, {1: np.ones(6)}, seed=3, evaluation=EvaluationParams(neighbours=20))
    (group,) = grouped(workspace.runs(), KNOWN)
    assert group.seeds == [0, 1, 2, 3]
    assert not [said for said in look(workspace).guards if said.startswith("Same training settings")]


def test_runs_with_another_probe_are_of_the_group_that_is_trained_alike_and_it_is_said(workspace):
    seeds(workspace, [0.5, 0.6])
    asked = EvaluationParams(probe_size=512, probe_every=100, anatomy_every=0)
    store(workspace, {1: np.ones(6)}, seed=2, evaluation=asked)
    (group,) = look(workspace).groups
    assert group.seeds == [0, 1, 2]
    (said,) = [sentence for sentence in look(workspace).guards if sentence.startswith("Same training settings")]
    assert said.endswith("(probe; probe every; anatomy every).")


def test_runs_that_measure_more_are_of_the_group_that_is_trained_alike_and_it_is_said(workspace):
    seeds(workspace, [0.5, 0.6])
    asked = EvaluationParams(nmi=True, recall_at="1 2")
    store(workspace, {1: np.ones(6)}, seed=2, evaluation=asked, metrics={"NMI": 0.5})
    store(workspace, {1: np.ones(6)}, seed=3, evaluation=EvaluationParams(distance="l2"))
    found = look(workspace)
    assert [group.seeds for group in found.groups] == [[0, 1, 2], [3]]
    assert [row.field for row in found.differences] == ["evaluation.distance"]
    (said,) = [sentence for sentence in found.guards if sentence.startswith("Same training settings")]
    assert said == (
        "Same training settings but different measurements, so they form one group: "
        f"“{found.groups[0].title}” (recall at; NMI)."
    )


def test_one_config_on_two_data_sets_is_two_groups(workspace):
    workspace.create_run(RunConfig(name="Small", seed=9))
    for seed, shown in enumerate((images(6, "birds"), images(6, "cars"), images(6, "birds"))):
        store(workspace, {1: np.ones(6)}, seed=seed, shown=shown)
    groups = grouped(workspace.runs(), KNOWN)
    assert [[run.id for run in group.runs] for group in groups] == [[1, 2, 4], [3]]
    assert [group.title for group in groups] == ["Small: run 1", "Small: run 3"]


def test_folds_are_of_one_group(workspace):
    for fold in (1, 2):
        store(workspace, {1: np.ones(6)}, split=Choice(name="mlrc", params={"fold": fold}), name=f"A, fold {fold}")
    (group,) = grouped(workspace.runs(), KNOWN)
    assert group.title == "A"


def test_a_default_that_is_left_out_is_the_default(workspace):
    store(workspace, {1: np.ones(6)})
    store(workspace, {1: np.ones(6)}, loss=Choice(name="ce", params={"dropout": 0.5}))
    assert len(grouped(workspace.runs(), KNOWN)) == 1
    assert len(grouped(workspace.runs(), {})) == 2, "without the catalog defaults are not known"


def test_a_whole_number_is_the_same_setting_as_the_real_one(workspace):
    described = {"scale": {"default": 16.0, "type": "number"}, "centres": {"default": 2, "type": "integer"}}
    known = {"loss/ce": {"title": "CE", "params": described}}
    params = ({}, {"scale": 16}, {"scale": 16.0, "centres": 2.0}, {"scale": 10**400}, {"scale": True})
    runs = [store(workspace, {}, seed=seed, loss=Choice(name="ce", params=own)) for seed, own in enumerate(params)]
    groups = grouped(workspace.runs(), known)
    assert [[run.id for run in group.runs] for group in groups] == [runs[:3], runs[3:4], runs[4:]]


def test_metrics_beside_the_run_s_own_are_shares_too():
    named = ("average/MAP@R", "decided/recall@1", "level/genus/MAP@R", "l2/P@R", "NMI", "linear/top-1")
    assert [name for name in named if not is_share(name)] == []
    assert not is_share("hubness/skew")


def test_only_what_differs_is_told(workspace):
    store(workspace, {1: np.ones(6)})
    store(workspace, {1: np.ones(6)}, loss=Choice(name="norm_ce", params={"temperature": 0.1}))
    found = look(workspace)
    assert [(row.field, row.values) for row in found.differences] == [
        ("loss.name", ("ce", "norm_ce")), ("loss.dropout", (0.5, None)), ("loss.temperature", (None, 0.1)),
    ]  # fmt: skip
    assert [group.title for group in found.groups] == [
        "Small: Cross-entropy (CE)", "Small: loss norm_ce",
    ]  # fmt: skip


def test_settings_are_in_the_order_of_the_config_also_those_of_one_group_alone():
    first = {"dataset.name": "a", "loss.name": "ce", "loss.dropout": 0.5, "training.lr": 0.1}
    second = {"dataset.name": "a", "loss.name": "margin", "loss.beta": 1.0, "training.lr": 0.2}
    assert [row.field for row in differing([first, second])] == [
        "loss.name", "loss.dropout", "loss.beta", "training.lr",
    ]  # fmt: skip


def test_images_of_another_crop_are_said_to_be_unequal(workspace):
    store(workspace, {1: np.ones(6)})
    store(workspace, {1: np.ones(6)}, name="Crop", augmentation=Choice(name="c", params={"crop": 0.5}))
    assert "Unequal crop of the images: none: “Small”; crop 0.5: “Crop”." in look(workspace).guards


def test_the_same_images_of_another_size_are_compared_and_the_sizes_said(workspace):
    store(workspace, {1: np.ones(6)})
    store(workspace, {1: np.ones(6)}, name="Large", shown=replace(images(6), image_size=16))
    store(workspace, {1: np.ones(6)}, name="Colour", shown=replace(images(6), image_size=16, channels=3))
    assert look(workspace).guards[:2] == (
        "Unequal image size: 8 px: “Small”; 16 px: “Large”, “Colour”.",
        "Unequal colour channels: 1: “Small”, “Large”; 3: “Colour”.",
    )


def test_other_images_of_another_size_are_different_data(workspace):
    store(workspace, {1: np.ones(6)})
    store(workspace, {1: np.ones(6)}, name="Large", shown=replace(images(6, "cars"), image_size=16))
    assert look(workspace).guards[0] == (
        "The runs saw different data, so their numbers cannot be compared. "
        "small (fingerprint small-8x, 8 px, 1 channel): “Small”; cars (fingerprint cars-16x, 16 px, 1 channel): "
        "“Large”."
    )
    assert not [said for said in look(workspace).guards if said.startswith("Unequal image size")]
    store(workspace, {1: np.ones(6)}, name="Larger", shown=replace(images(6, "cars"), image_size=32))
    assert "Unequal image size: 16 px: “Large”; 32 px: “Larger”." in look(workspace).guards


def test_the_best_of_more_evaluations_is_said_to_be_an_unequal_choice(workspace):
    store(workspace, {1: np.ones(6)}, name="A")
    store(workspace, {1: np.ones(6)}, name="B", evaluation=EvaluationParams(every=5))
    said = "The best epoch was chosen from unequally many evaluations: every epoch: “A”; every 5 epochs: “B”."
    assert said in look(workspace).guards
    assert not any("was chosen" in sentence for sentence in look(workspace, at="last").guards)


def test_one_group_has_no_differences():
    assert differing([{"a": 1}]) == []
    assert differing([{"a": 1}, {"a": 1}, {"a": 1, "b": None}]) == []


def test_titles_are_never_the_same(workspace):
    for lr in (0.1, 0.2):
        for batch in (32, 64):
            store(workspace, {1: np.ones(6)}, training=TrainingParams(lr=lr, batch_size=batch))
    titles = [group.title for group in grouped(workspace.runs(), KNOWN)]
    assert len(set(titles)) == 4
    assert titles[0] == "Small: batch 32, learning rate 0.1"


def test_a_config_of_another_version_is_taken_as_it_stands():
    text = 'name = "old"\nseed = 3\nunheard_of = 1\n[loss]\nname = "ce"\n'
    assert settings_of(text, KNOWN) == {"unheard_of": 1, "loss.name": "ce", "loss.dropout": 0.5}
    assert [written(each) for each in (None, True, 0.01, "a", 3)] == ["–", "yes", "0.01", "a", "3"]


def test_the_configs_of_thousands_of_runs_are_read_once(monkeypatch):
    read, loads = [], tomllib.loads
    monkeypatch.setattr(tomllib, "loads", lambda text: read.append(text) or loads(text))
    configs = [f"of_thousands = {number}\n[split]\nfold = {number % 3}" for number in range(3000)]
    folds = [[fold_of(config) for config in configs] for _ in range(2)]
    assert folds == [[number % 3 for number in range(3000)]] * 2
    assert len(read) == len(set(read)) == 3000


def test_best_last_and_an_epoch(workspace):
    run = store(workspace, {0: np.full(6, 0.1), 1: np.full(6, 0.9), 2: np.full(6, 0.4)})
    measured = read_measures(workspace, workspace.runs())[run]
    values = [measured.value("MAP@R", at) for at in ("best", "last", 0, 7)]
    assert values == [pytest.approx(0.9), pytest.approx(0.4), pytest.approx(0.1), None]


def test_common_epochs_leave_runs_without_evaluations_out(workspace):
    store(workspace, {0: np.ones(6), 1: np.ones(6), 2: np.ones(6)})
    store(workspace, {1: np.ones(6), 2: np.ones(6), 4: np.ones(6)}, seed=1)
    store(workspace, {}, seed=2)
    assert common_epochs(read_measures(workspace, workspace.runs()).values()) == [1, 2]
    assert look(workspace).epochs == (1, 2)


def test_the_mean_has_the_t_interval_over_seeds(workspace):
    values = [0.5, 0.6, 0.55, 0.7]
    seeds(workspace, values)
    (summary,) = look(workspace).summaries
    low, high = stats.t.interval(0.95, 3, loc=fmean(values), scale=stats.sem(values))
    assert summary.interval.n == 4
    assert summary.interval.mean == pytest.approx(fmean(values))
    assert (summary.interval.low, summary.interval.high) == pytest.approx((low, high), rel=1e-5)
    assert summary.spread == pytest.approx(stdev(values), rel=1e-5)


def test_folds_of_a_seed_are_one_value(workspace):
    for seed in (0, 1):
        for fold, value in ((1, 0.2), (2, 0.4)):
            split = Choice(name="mlrc", params={"fold": fold})
            store(workspace, {1: np.full(6, value + seed / 10)}, seed=seed, split=split)
    (summary,) = look(workspace).summaries
    assert summary.by_seed == {0: pytest.approx(0.3), 1: pytest.approx(0.4)}
    assert (summary.interval.n, summary.interval.known) == (2, False)


def test_a_repeated_seed_counts_once_and_is_said(workspace):
    store(workspace, {1: np.full(6, 0.2)}, seed=4)
    store(workspace, {1: np.full(6, 0.8)}, seed=4)
    found = look(workspace)
    assert found.summaries[0].values == {2: pytest.approx(0.8)}
    assert any("left out: run 1." in each for each in found.guards)


def test_a_repeated_run_is_once_in_the_mean_of_a_curve_as_in_the_table(workspace):
    for seed, value in ((0, 0.1), (1, 0.4), (2, 0.5), (0, 0.9)):
        store(workspace, {1: np.full(6, value)}, seed=seed)
    shown = look(workspace, at=1)
    (curve,), (summary,) = shown.curves, shown.summaries
    assert len(curve.runs) == 4, "all are drawn"
    assert curve.mean.tolist() == [pytest.approx(fmean((0.9, 0.4, 0.5)))] == [pytest.approx(summary.interval.mean)]
    assert (curve.low[0], curve.high[0]) == pytest.approx((summary.interval.low, summary.interval.high))


@pytest.mark.parametrize("status", ["interrupted", "running"])
def test_a_repeated_run_that_is_not_done_is_in_no_mean(workspace, status):
    for seed, value in enumerate((0.1, 0.4, 0.5)):
        store(workspace, dict.fromkeys((1, 2), np.full(6, value)), seed=seed)
    repeated = store(workspace, {1: np.full(6, 0.9)}, seed=0)
    workspace.set_status(repeated, status)
    (curve,), (summary,) = (shown := look(workspace)).curves, shown.summaries
    assert len(curve.runs) == 4
    assert curve.places.tolist() == [1, 2]
    assert curve.mean.tolist() == pytest.approx(2 * [summary.interval.mean])


def test_curves_have_runs_mean_and_band(workspace):
    for seed, last in enumerate((0.5, 0.6, 0.9)):
        epochs = {0: np.full(6, 0.1 + seed / 100), 1: np.full(6, last)}
        store(workspace, epochs if seed else {**epochs, 2: np.ones(6)}, seed=seed)
    (curve,) = look(workspace).curves
    assert [len(epochs) for _, epochs, _ in curve.runs] == [3, 2, 2]
    assert curve.places.tolist() == [0, 1]
    np.testing.assert_allclose(curve.mean, [0.11, fmean((0.5, 0.6, 0.9))], rtol=1e-6)
    expected = stats.t.interval(0.95, 2, loc=curve.mean[1], scale=stats.sem((0.5, 0.6, 0.9)))
    np.testing.assert_allclose((curve.low[1], curve.high[1]), expected, rtol=1e-5)


def test_two_seeds_have_no_band(workspace):
    seeds(workspace, [0.5, 0.6])
    (curve,) = look(workspace).curves
    assert np.isnan(curve.low).all()
    assert curve.mean == pytest.approx([0.55])


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"backbone": Choice(name="resnet32")}, "Unequal backbone: Four convolutions: “Small: backbone conv4"),
        (
            {"embedding": EmbeddingParams(dim=16)},
            "Unequal embedding size: 100: “Small: embedding size 100”; 16:",
        ),
        ({"split": Choice(name="classes")}, "Unequal split: Random images:"),
        (
            {"training": TrainingParams(epochs=7)},
            "Unequal epochs: 10: “Small: epochs 10”; 7: “Small: epochs 7”.",
        ),
        ({"shown": images(6, "other")}, "The runs saw different data"),
    ],
)
def test_unequal_parts_are_said(workspace, changes, said):
    seeds(workspace, [0.5])
    store(workspace, {1: np.ones(6)}, **{"training": TrainingParams(lr=0.1), **changes})
    assert any(said in each for each in look(workspace).guards), look(workspace).guards


def test_equal_parts_are_not_said(workspace):
    seeds(workspace, [0.5, 0.6, 0.7])
    seeds(workspace, [0.5, 0.6, 0.7], training=TrainingParams(lr=0.1))
    assert look(workspace, at="last").guards == ()
    (said,) = look(workspace).guards
    assert said == "Optimistic: the best epoch was chosen on the test set (runs 1, 2, 3, 4, 5 and 1 more)."


def test_runs_that_were_best_before_training_are_said(workspace):
    seeds(workspace, [0.5, 0.6])
    store(workspace, {0: np.ones(6), 1: np.zeros(6)}, seed=2)
    store(workspace, {0: np.ones(6)}, seed=3)  # its only evaluation, as of an imported model
    said = "Best before training, at epoch 0, so the loss did not contribute to the number: run 3."
    assert said in look(workspace).guards
    assert said not in look(workspace, at="last").guards + look(workspace, at=0).guards


def test_of_imported_embeddings_no_epoch_was_chosen(workspace):
    store(workspace, {1: np.ones(6)}, dataset=Choice(name="imported"))
    assert not any("Optimistic" in said for said in look(workspace).guards)


def said_of_epochs(workspace, *, at="best", **first):
    """What is said of the epochs of a run with these settings, and of one with seven epochs."""
    for training in ({"epochs": 10, **first}, {"epochs": 7, "schedule": "constant"}):
        store(workspace, {1: np.ones(6)}, name=f"E{training['epochs']}", training=TrainingParams(**training))
    return [said for said in look(workspace, at=at).guards if "epochs" in said]


def test_epochs_of_runs_that_may_end_early_are_at_most_so_many(workspace):
    assert said_of_epochs(workspace, patience=3) == ["Unequal epochs: at most 10: “E10”; 7: “E7”."]


def test_at_one_epoch_the_length_matters_where_the_learning_rate_follows_it(workspace):
    assert said_of_epochs(workspace, at=1) == ["Unequal epochs: 10: “E10”; 7: “E7”."]


def test_at_one_epoch_the_length_does_not_matter_with_a_constant_learning_rate(workspace):
    assert said_of_epochs(workspace, at=1, schedule="constant") == []


def test_what_the_config_of_imported_embeddings_has_by_default_is_no_setting_of_theirs(workspace):
    bare = replace(images(6, "vectors"), image_size=0, channels=3)
    store(workspace, {1: np.ones(6)}, embedding=EmbeddingParams(dim=64), device="cpu")
    store(workspace, {1: np.ones(6)}, name="Elsewhere", dataset=Choice(name="imported"), shown=bare)
    found = look(workspace)
    assert [row.field for row in found.differences] == ["dataset.name"]
    assert not [said for said in found.guards if said.startswith("Unequal embedding size")], "theirs is not known"
    assert "vectors (fingerprint vectors-, no images): “Elsewhere”" in found.guards[0]
    store(workspace, {1: np.ones(6)}, embedding=EmbeddingParams(dim=32), device="cpu")
    values = {row.field: row.values for row in look(workspace).differences}
    assert values == {"dataset.name": ("digits", "imported", "digits"), "embedding.dim": (64, None, 32)}


def test_imported_embeddings_have_no_epochs(workspace):
    store(workspace, {1: np.ones(6)}, training=TrainingParams(epochs=7))
    store(workspace, {1: np.ones(6)}, dataset=Choice(name="imported"), training=TrainingParams(epochs=1))
    assert not any("epochs" in said for said in look(workspace).guards), look(workspace).guards


def test_runs_are_named_by_their_rising_numbers(workspace):
    for value in (0.5, 0.6):
        seeds(workspace, [value])
        seeds(workspace, [value], training=TrainingParams(lr=0.1))
    assert any("(runs 1, 2, 3, 4)" in said for said in look(workspace).guards), look(workspace).guards


def test_a_best_epoch_that_held_out_classes_chose_is_not_said(workspace):
    for seed in range(3):
        store(workspace, {1: np.ones(6)}, seed=seed, metrics={"validation/MAP@R": 0.5})
    assert look(workspace).guards == ()


def test_unfinished_runs_and_missing_metrics_are_said(workspace):
    store(workspace, {1: np.ones(6)}, metrics={"kNN@10": 0.5})
    store(workspace, {1: np.ones(6)}, seed=1, status="cancelled")
    store(workspace, {}, seed=2)
    said = "\n".join(look(workspace, "kNN@10").guards)
    left_out = "Not finished, so left out of the group: run 2 (cancelled, epoch 0 of 10)."
    assert left_out in said
    assert "Without an evaluation: run 3." in said
    assert "Without kNN@10: run 2." in said
    assert "Not enough seeds for an interval over seeds (3 or more): “Small” (1)." in said


def test_an_epoch_that_some_runs_lack_is_said(workspace):
    store(workspace, {1: np.ones(6), 2: np.ones(6)})
    store(workspace, {1: np.ones(6)}, seed=1)
    assert "Not evaluated at epoch 2: run 2." in look(workspace, at=2).guards


@pytest.mark.parametrize(
    ("metric", "at", "said"),
    [
        ("NMI", "best", "None of runs 1, 2 has NMI. There is MAP@R, recall@1."),
        ("MAP@R", 9, "None of runs 1, 2 has MAP@R at epoch 9. Epochs of all runs: 1."),
    ],
)
def test_a_metric_or_epoch_that_nothing_has_is_a_problem(workspace, metric, at, said):
    seeds(workspace, [0.5, 0.6])
    with pytest.raises(Problem) as caught:
        look(workspace, metric, at).require()
    assert str(caught.value) == said


def test_runs_without_evaluations_are_a_problem(workspace):
    store(workspace, {})
    with pytest.raises(Problem, match=r"Run 1 has no evaluation\. Choose other runs"):
        look(workspace).require()


def test_nothing_chosen_is_nothing_told(workspace):
    found = overview(workspace, [], KNOWN, "MAP@R", "best")
    assert (found.groups, found.metrics, found.guards) == ((), (), ())


def test_settings_that_a_sweep_judged_on_the_reported_half_are_said(workspace):
    runs = seeds(workspace, [0.5, 0.6, 0.7])
    number = sweeps.create(
        workspace, RunConfig(), how="grid", parameters=["training.lr=0.1"], points=1, metric="MAP@R", reported=True,
        first=[sweeps.Point({"training.lr": 0.1}, [(0, 0)])],
    )  # fmt: skip
    sweep_worker.begin(workspace, sweeps.trials(workspace, number)[0], lambda: runs[1])
    said = f"The settings of sweep {number} were judged on the test set, so its best is optimistic: run "
    assert f"{said}{runs[1]}." in look(workspace, at="last").guards


def test_an_unfinished_seed_does_not_pull_the_mean_down(workspace):
    for seed, (score, status) in enumerate([(0.8, "done"), (0.6, "done"), (0.1, "interrupted")]):
        store(workspace, {1: np.full(6, score)}, seed=seed, status=status)
    best = look(workspace).summaries[0].interval
    assert (best.n, best.mean) == (2, pytest.approx(0.7))
    assert look(workspace, at=1).summaries[0].interval.n == 3, "at one epoch all are alike"
    row = together(Experiment(1, "Three", "", "", {}), workspace.runs())
    assert row.best["MAP@R"] == pytest.approx(0.7)
    assert (row.epoch, row.epochs) == (2, 3)


def test_the_list_of_runs_has_the_mean_of_the_comparison_also_while_folds_are_missing(workspace):
    for seed, fold, score in ((0, 1, 0.2), (0, 2, 0.4), (1, 1, 0.6)):
        split = Choice(name="mlrc", params={"fold": fold})
        store(workspace, {1: np.full(6, score)}, seed=seed, split=split)
    row = together(Experiment(1, "Folds", "", "", {}), workspace.runs())
    assert row.best["MAP@R"] == pytest.approx(look(workspace).summaries[0].interval.mean) == pytest.approx(0.45)


def test_a_curve_counts_the_seeds_of_its_mean_not_those_drawn_behind_it(workspace):
    for seed, (score, status) in enumerate([(0.8, "done"), (0.6, "done"), (0.1, "failed")]):
        store(workspace, {1: np.full(6, score)}, seed=seed, status=status)
    (curve,) = look(workspace).curves
    assert [run.seed for run, _, _ in curve.runs] == [0, 1, 2], "all are drawn"
    assert (curve.n, curve.mean.tolist()) == (2, [pytest.approx(0.7)])


def test_a_run_whose_config_cannot_be_read_is_named(workspace):
    seeds(workspace, [0.5, 0.6])
    runs = workspace.runs()
    damaged = [replace(run, config="name = ") if run.id == 2 else run for run in runs]
    with pytest.raises(Problem, match=r"Run 2 cannot be compared. Its config cannot be read \(Invalid value .*\)."):
        grouped(damaged, KNOWN)
    odd = replace(runs[0], config='split = "random"\nloss = 3')
    assert fold_of(odd.config) == 0
    assert len(grouped([odd], KNOWN)) == 1


def test_an_unfinished_run_that_does_not_count_is_said_to_be_left_out(workspace):
    store(workspace, {1: np.full(6, 0.2)}, seed=4)
    store(workspace, {1: np.full(6, 0.8)}, seed=4, status="failed")
    store(workspace, {1: np.full(6, 0.8)}, seed=5, status="stopped")
    found = look(workspace)
    assert list(found.summaries[0].values) == [1]
    said = " ".join(found.guards)
    assert "so left out of the group: runs 2 (failed, epoch 0 of 10), 3 (stopped" in said
    assert "only the newest counts" not in said, "run 2 is the newer one, and does not count"
    assert "may not be the last" not in said
    assert "may not be the last: runs 2 (failed, epoch 0 of 10), 3" in " ".join(look(workspace, at=1).guards)


def test_the_last_evaluation_is_that_of_the_latest_epoch_whatever_its_number(workspace):
    number = store(workspace, {2: np.full(6, 0.25), 1: np.full(6, 0.75)})  # as when a repair brings epoch 1 back
    run = workspace.run(number)
    assert run.last["MAP@R"] == pytest.approx(0.25)
    assert (run.best_epoch, run.best["MAP@R"]) == (1, pytest.approx(0.75))


@pytest.mark.parametrize(
    ("batch", "steps", "said"),
    [(64, 600, ["Unequal batches and steps of training: 1,200: “B32”; 600: “B64”."]), (64, 1100, []), (32, 600, [])],
    ids=["fewer steps", "about as many steps", "the same batch"],
)
def test_steps_are_unequal_where_batches_are(workspace, batch, steps, said):
    """Equally many epochs of larger batches have fewer steps; with equal batches other epochs are said."""
    for size, total in ((32, 1200), (batch, steps)):
        training = TrainingParams(batch_size=size, epochs=total)
        recorder = Recorder(workspace, store(workspace, {1: np.ones(6)}, name=f"B{size}", training=training))
        recorder(Progress(total, total, 50.0))
        recorder(Ended("done"))
        recorder.close()
    assert [sentence for sentence in look(workspace).guards if "steps" in sentence] == said
