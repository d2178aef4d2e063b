"""The sweep dialog and the Sweeps panel without Qt: what is refused, what is shown and what can be done."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from tests.unit.sweeps.fake_runs import store
from workbench.commands.training.sweep_table import table
from workbench.config import RunConfig
from workbench.entries import catalog
from workbench.metric_names import metric_name
from workbench.progress import quiet
from workbench.settings.changed import changed, read_config
from workbench.sweeps import objective, starting
from workbench.sweeps.plan import planned
from workbench.sweeps.space import read
from workbench.ui.sweeps.draft import Entered, SweepDraft
from workbench.ui.sweeps.panel_model import SweepsModel, look
from workbench.workspace import Workspace
from workbench.workspace.experiments import early_stops, sweep_worker, sweeps


@pytest.fixture
def draft():
    return SweepDraft(read_config("sample-digits"), catalog.current())


def entered(*parameters, **changes):
    values = {"how": "grid", "metric": "MAP@R", "seeds": 1, "trials": None, "changes": {}}
    return Entered(parameters, **values | changes)


def test_a_draft_offers_a_number_of_the_loss_first_and_each_once(draft):
    first = draft.next_field(())
    assert first.startswith("loss.")
    varied = [first]
    while not varied[-1].startswith("training.lr"):
        varied.append(draft.next_field(varied))
    assert len(set(varied)) == len(varied)


@pytest.mark.parametrize(
    ("typed", "todo", "errors"),
    [
        (entered(), "Add a parameter to vary.", {}),
        (entered("training.lr="), "Enter values for each parameter.", {}),
        (entered("training.lr=1", seeds="two"), "", {"seeds": "Must be a whole number."}),
        (entered("training.lr=1", seeds=101), "", {"seeds": "Must be 1 to 100."}),
        (entered("training.lr=1", seeds="a", trials="b"), "",
         dict.fromkeys(("seeds", "trials"), "Must be a whole number.")),
    ],
)  # fmt: skip
def test_what_is_missing_or_no_number_is_said_at_once(draft, typed, todo, errors):
    checked = draft.check_at_once(typed)
    assert (checked.todo, checked.errors, checked.plan) == (todo, errors, None)


def test_a_draft_checks_every_trial_and_says_the_cost(draft):
    typed = entered("training.lr=0.1,0.2", seeds=3)
    assert draft.check_at_once(typed) is None
    plan = draft.check(typed, quiet).plan
    assert (plan.trials, plan.runs, plan.source) == (2, 6, "")
    assert draft.cost(plan).startswith("2 trials × 3 runs per trial = 6 runs. Their duration is known once")
    draft.preflight = SimpleNamespace(seconds=60.0, device="CPU")
    assert draft.cost(plan).startswith("2 trials × 3 runs per trial = 6 runs, about 6\u202fmin 0\u202fs on CPU, if all")
    wrong = draft.check(entered("training.lr=0.1,200"), quiet)
    assert wrong.plan is None
    assert wrong.others(()) == "training.lr: 200: Must be 100 or less."
    assert wrong.others(["training.lr"]) == "", "its row says it"


@pytest.mark.parametrize(
    ("how", "values", "said"),
    [
        ("random", "training.epochs=1..3", "These values have only 3 combinations: 3 trials instead of 20. 3 runs"),
        ("bayes", "training.epochs=1..3", "These values have only 3 combinations: 3 trials instead of 20. 3 runs"),
        ("random", "training.epochs=4", "These values have only 1 combination: 1 trial instead of 20. 1 run."),
        ("random", "training.lr=0.1..0.100002", "These values have only 3 combinations: 3 trials instead of 20. 3"),
        ("random", "training.lr=0.1..0.2", "20 runs. Their duration"),
    ],
)  # fmt: skip
def test_fewer_combinations_than_trials_are_said(draft, how, values, said):
    plan = draft.check(entered(values, how=how, trials=20), quiet).plan
    assert draft.cost(plan).startswith(said)
    assert len(plan.settings()) == (plan.trials if how == "random" else 0)


def test_the_values_of_a_paper_are_the_source_of_the_plan(draft):
    preset = draft.take("rankmi-batch-size")
    assert draft.check(entered("training.batch_size=120,180"), quiet).plan.source == f"Values of {preset.source}"
    assert draft.take("") is None
    assert draft.source == ""


@pytest.fixture
def workspace(tmp_path, monkeypatch):
    monkeypatch.setattr(starting, "work_apart", lambda workspace, number: True)
    with Workspace(tmp_path, create=True) as made:
        yield made


@pytest.fixture
def model(workspace):
    """Two sweeps of three runs; the newer one is shown."""
    known = catalog.current()
    for _ in range(2):
        plan = planned(read_config("sample-digits"), [read("training.lr=0.1,0.2,0.3")], "grid", known)
        starting.store(workspace, plan)
    return read_again(SweepsModel(), workspace)


def read_again(model, workspace):
    model.take(look(workspace, quiet))
    return model


def states(model):
    head, rows = model.trial_rows()
    return [cells[head.index("State")] for _, cells in rows]


def test_the_choice_stays_and_one_that_is_not_read_yet_is_waited_for(model, workspace):
    model.choose_sweep(3)
    assert model.shown.sweep.id == model.looks[0].sweep.id
    model.choose_sweep(1)
    model.choose_trial(model.shown.trials[1].id)
    assert read_again(model, workspace).shown.sweep.id == 1
    assert model.trial.setting == {"training.lr": 0.2}
    model.choose_sweep(2)
    assert model.trial is None, "it is a run of another sweep"
    assert SweepsModel().shown is None
    assert SweepsModel().trial_rows() == ((), [])
    assert SweepsModel().pause_or_resume() is None


def test_the_objective_is_shown_in_words(draft, model, workspace):
    held = changed(draft.config, {"split.name": "classes", "split.validation": 0.2}, catalog.current(), "")
    offered = [metric_name(name) for name in SweepDraft(held, catalog.current()).objectives]
    assert offered == ["Held-out MAP@R", "Training accuracy", "CE on the probe", "SPCE on the probe"]
    workspace_sweep = model.shown.sweep
    for metric in (*objective.TRAIN_SIDE, objective.HELD_OUT):
        model.take([replace(model.shown, sweep=replace(workspace_sweep, metric=metric))])
        assert model.trial_rows()[0][-1] == metric_name(metric) != metric


def shown_by(model):
    return [cells[1] for _, cells in model.trial_rows()[1]]


def valued(workspace, sweep_id, values):
    """Give the runs of a sweep these values, in their order."""
    with workspace.writing() as db:
        for trial, value in zip(sweeps.trials(workspace, sweep_id), values, strict=True):
            state = "queued" if value is None else "done"
            db.execute("update sweep_trials set state = ?, objective = ? where id = ?", (state, value, trial.id))


def test_runs_are_ordered_by_a_column_and_again_the_other_way(model, workspace):
    model.choose_sweep(1)
    valued(workspace, 1, (0.5, None, 0.7))
    read_again(model, workspace)
    assert (shown_by(model), model.order) == (["0.1", "0.2", "0.3"], (0, False))
    objective_column = len(model.trial_rows()[0]) - 1
    model.order_by(objective_column)
    assert (shown_by(model), model.order) == (["0.3", "0.1", "0.2"], (objective_column, True))
    model.order_by(objective_column)
    assert shown_by(model) == ["0.1", "0.3", "0.2"], "what has no value stays the last"
    model.order_by(1)
    model.order_by(1)
    assert (shown_by(model), model.order) == (["0.3", "0.2", "0.1"], (1, True))
    assert [cells[0] for _, cells in model.trial_rows()[1]] == ["3", "2", "1"], "the numbers are those of the line"
    model.in_line()
    assert shown_by(model) == ["0.1", "0.2", "0.3"]


def test_a_loss_is_best_when_it_is_low_and_a_stopped_run_comes_behind(model, workspace):
    model.choose_sweep(1)
    valued(workspace, 1, (0.1, 0.5, 0.3))
    with workspace.writing() as db:
        db.execute("update sweeps set metric = 'probe/ce' where id = 1")
        db.execute("update sweep_trials set stopped = 'above the median' where sweep_id = 1 and objective = 0.1")
    read_again(model, workspace)
    assert model.best.objective == 0.3
    model.best_first()
    assert shown_by(model) == ["0.3", "0.2", "0.1"]
    assert model.order[1] is False


def test_the_order_by_a_field_that_another_sweep_has_not_is_that_of_its_line(model, workspace):
    varied = [read("training.epochs=3,1")]
    number = starting.store(workspace, planned(read_config("sample-digits"), varied, "grid", catalog.current()))
    read_again(model, workspace)
    model.choose_sweep(1)
    model.order_by(1)
    model.choose_sweep(number)
    assert (shown_by(model), model.order) == (["3", "1"], (0, False))
    model.order_by(1)
    assert shown_by(model) == ["1", "3"], "numbers, not words"


def test_entries_of_a_column_with_words_and_dashes_are_ordered_too(model, workspace):
    config = read_config("sample-digits", ("sampler.name=classes_images",))
    varied = [read("loss.name=npairs,ce"), read("loss.l2=0.5,0.4")]
    model.choose_sweep(starting.store(workspace, planned(config, varied, "grid", catalog.current())))
    read_again(model, workspace)
    model.order_by(2)
    assert [cells[2] for _, cells in model.trial_rows()[1]] == ["0.4", "0.5", "–"]
    model.order_by(1)
    assert shown_by(model)[0] == "Cross-entropy (CE)"


def test_rows_read_no_file(model, monkeypatch):
    """The catalog is in many files: read for each of 300 rows, it held the window for more than a second."""
    monkeypatch.setattr(catalog, "current", lambda: pytest.fail("the window's thread reads the catalog"))
    assert [cells[1] for _, cells in model.trial_rows()[1]] == ["0.1", "0.2", "0.3"]
    assert len(model.sweep_rows()) == 2


def test_what_is_varied_has_the_words_of_set_up(model, workspace):
    assert model.trial_rows()[0][1] == "Learning rate"
    ranges = [read("training.lr=0.1"), read("loss.name=ce,norm_ce"), read("embedding.dropout=0.2")]
    starting.store(workspace, planned(read_config("sample-digits"), ranges, "grid", catalog.current()))
    model.choose_sweep(3)
    head, rows = read_again(model, workspace).trial_rows()
    assert head[1:4] == ("Learning rate", "Loss", "Dropout")
    assert [cells[2] for _, cells in rows] == ["Cross-entropy (CE)", "Normalised CE"]


def test_a_field_that_only_some_losses_have_is_a_dash_for_the_others_with_its_name_of_set_up(model, workspace):
    config = read_config("sample-digits", ("sampler.name=classes_images",))
    varied = [read("loss.name=ce,npairs"), read("loss.l2=0.4,0.5")]
    model.choose_sweep(starting.store(workspace, planned(config, varied, "grid", catalog.current())))
    model.take(look(workspace, quiet))
    head, rows = model.trial_rows()
    assert head[1:3] == ("Loss", "Length penalty")
    assert [cells[2] for _, cells in rows] == ["–", "0.4", "0.5"]


def test_a_sweep_whose_config_cannot_be_read_is_shown(model, workspace):
    with workspace.writing() as db:
        db.execute("update sweeps set config = 'training = ['")
    assert read_again(model, workspace).trial_rows()[0][1] == "Learning rate"


def test_only_runs_that_have_not_begun_are_moved(model, workspace):
    model.choose_trial(model.shown.trials[2].id)
    assert (model.can_move(-1), model.can_move(1)) == (True, False)
    model.move(-1)(workspace)
    assert [trial.setting["training.lr"] for trial in read_again(model, workspace).shown.trials] == [0.1, 0.3, 0.2]
    assert model.trial.setting == {"training.lr": 0.3}
    first = model.shown.trials[0]
    sweep_worker.begin(workspace, first, lambda: workspace.create_run(RunConfig()))
    read_again(model, workspace).choose_trial(first.id)
    assert not model.can_move(1)
    model.choose_trial(model.shown.trials[1].id)
    assert not model.can_move(-1), "the one before it has begun"


def test_a_sweep_is_paused_cancelled_and_retried(model, workspace):
    assert (model.working, model.unfinished, model.has_failed_runs) == (False, True, False)
    sweep_worker.take(workspace, model.shown.sweep.id, "cpu")
    assert read_again(model, workspace).working
    model.pause_or_resume()(workspace)
    assert not read_again(model, workspace).working
    model.cancel()(workspace)
    assert (read_again(model, workspace).unfinished, model.has_failed_runs) == (False, True)
    assert states(model) == ["Cancelled"] * 3
    model.retry()(workspace)
    assert states(read_again(model, workspace)) == ["Queued"] * 3


def test_folds_have_a_column_where_there_are_some_and_the_objective_of_the_training_side_is_not_reported(model):
    assert "Fold" not in model.trial_rows()[0]
    assert (model.report_metric, model.report_at) == (model.shown.sweep.metric, "best")
    shown = model.shown
    folded = replace(shown, trials=[replace(trial, fold=2) for trial in shown.trials])
    model.take([replace(folded, sweep=replace(shown.sweep, metric="probe/ce"))])
    head, rows = model.trial_rows()
    assert rows[0][1][head.index("Fold")] == "2"
    assert (head[-1], model.report_metric) == ("CE on the probe", "MAP@R")
    assert model.judged_runs == []
    model.take([replace(folded, sweep=replace(shown.sweep, metric="linear/top-1"))])
    assert (model.report_metric, model.report_at) == ("linear/top-1", "last"), "no other epoch has it"


def test_behind_the_value_of_a_trial_that_was_stopped_early_stands_why(model, workspace):
    sentence = "Stopped after epoch 4 of 10: below the median of 7 trials at epoch 3."
    first, second, _ = model.shown.trials
    sweep_worker.end(workspace, first, "done", 0.5, sentence)
    sweep_worker.end(workspace, second, "done", 0.6)
    assert [cells[-1] for _, cells in read_again(model, workspace).trial_rows()[1]][:2] == [
        f"50.00%. {sentence}", "60.00%"
    ]  # fmt: skip
    assert "are stopped early" not in model.words()
    shown = model.shown
    model.take([replace(shown, sweep=replace(shown.sweep, stop_early=True))])
    assert "Trials that are worse than the median of the others at the same epoch are stopped early" in model.words()


def test_the_panel_tells_trials_that_were_stopped_or_refused_from_those_that_trained(model, workspace):
    first, second, third = model.shown.trials
    for trial, value, sentence in ((first, 0.5, "Stopped after epoch 4 of 10."), (second, 0.4, "")):
        early_stops.store(workspace, trial.id, "below the median of 7 trials at epoch 3" if sentence else "")
        sweep_worker.end(workspace, trial, "done", value, sentence)
    sweep_worker.end(workspace, third, "done", 0.3)
    point = sweeps.Point(dict(third.setting), [(0, 0), (1, 0)])
    sweeps.add_refused(workspace, model.shown.sweep.id, point, "sampler.name: It does not fit.")
    head, rows = read_again(model, workspace).trial_rows()
    states = [cells[head.index("State")] for _, cells in rows]
    assert states == ["Stopped early", "Done", "Done", "Refused"]
    assert rows[-1][1][-1] == "sampler.name: It does not fit."
    summary = model.sweep_rows()[0][1]
    assert summary[3] == "3 of 3"
    assert summary[-1].startswith("40.00% at "), "the value of the stopped trial is not the best"
    assert not model.has_failed_runs
    assert "1 proposed setting was refused before training, as the fields do not fit together" in model.words()


def test_values_of_networks_that_were_best_before_training_are_marked(model, workspace):
    for trial, trained in zip(model.shown.trials, (0.2, 0.3, 0.7), strict=True):
        run_id = sweep_worker.begin(workspace, trial, lambda: workspace.create_run(RunConfig()))
        store(workspace, run_id, 0.5, epoch=0)
        store(workspace, run_id, trained)
        sweep_worker.end(workspace, trial, "done", max(trained, 0.5))
    shown = read_again(model, workspace).shown
    assert [cells[-1] for _, cells in model.trial_rows()[1]] == ["50.00% (epoch 0)", "50.00% (epoch 0)", "70.00%"]
    assert "Best at epoch 0, so training did not contribute to the value: 2 of 3 runs." in model.words()
    assert model.sweep_rows()[0][1][-1].startswith("70.00% at ")
    model.take([replace(shown, trials=shown.trials[:2])])
    assert "Both runs are best at epoch 0" in model.words()
    assert model.sweep_rows()[0][1][-1].startswith("50.00% (epoch 0) at ")
    perfect = [replace(trial, objective=1.0) for trial in shown.trials[:2]]
    model.take([replace(shown, trials=perfect)])
    assert model.words().endswith("100% at epoch 0, before training: these data do not tell the settings apart.")
    model.take([replace(shown, sweep=replace(shown.sweep, metric="probe/ce"))])
    assert "epoch 0" not in model.words(), "the objective is of the end of training"


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ("dataset.image_size=8,16", ""), ("split.train_fraction=0.5", ""), ("training.lr=0.1,0.2", ""),
        ("split.train_fraction=0.4,0.5", "The settings differ in split.train_fraction: where other images are"),
        ("split.train_fraction=0.4..0.5:2", "The settings differ in split.train_fraction: where other images are"),
        ("dataset.name=digits,mnist", "The settings differ in dataset.name: where other images are searched, their"),
    ],
)  # fmt: skip
def test_settings_that_search_other_images_are_said_not_to_be_comparable(draft, model, workspace, values, said):
    plan = draft.check(entered(values), quiet).plan
    shown = starting.store(workspace, plan)
    model.choose_sweep(shown)
    words = read_again(model, workspace).words()
    for text in (" ".join(plan.remarks), words, "\n".join(table(workspace, shown))):
        assert ("not comparable" in text, said in text) == (bool(said), True)
        assert "Optimistic" in text
