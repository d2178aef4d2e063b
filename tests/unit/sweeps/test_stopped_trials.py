"""The worker stops a trial that is worse than the median of the others, and trains it no further afterwards."""

import json
import threading

import pytest
from click.testing import CliRunner

from tests.unit.sweeps.fake_runs import FakeRuns, store
from tests.waits import HANG
from workbench.cli import cli
from workbench.commands.training.sweep_table import as_data, table
from workbench.config import RunConfig
from workbench.events import Ended, Scalar, Status
from workbench.jobs import Job
from workbench.places import records
from workbench.places.place import SshPlace
from workbench.running import launch
from workbench.settings.changed import changed, read_config
from workbench.sweeps import starting
from workbench.sweeps.early_stop import values_of
from workbench.sweeps.plan import planned
from workbench.sweeps.progress import standings
from workbench.sweeps.space import read
from workbench.sweeps.worker import Worker
from workbench.workspace import Workspace
from workbench.workspace.experiments import early_stops, sweeps
from workbench.workspace.recorder import Recorder

EPOCHS, BAD = 10, 1e-6
RATES = "training.lr=0.01,0.02,0.03,0.04,0.05,1e-6"
SENTENCE = "Stopped after epoch 4 of 10: below the median of 5 trials at epoch 3."


class RunsOfEpochs(FakeRuns):
    """Runs with ten epochs; that with the bad learning rate waits behind its third to be stopped."""

    waits = HANG  # seconds at most

    def make_job(self, workspace, run_id, control, listen=None, *, resume=False, device="", listed=None):
        self.began.append(run_id)
        rate = RunConfig.recorded(workspace.run(run_id).config).training.lr

        def work(control, emit):
            emit(Status("Working"))
            for epoch in range(1, EPOCHS + 1):
                emit(Scalar("probe/ce", epoch, 1 / (rate * epoch)))
                store(workspace, run_id, rate * epoch, epoch=epoch, step=epoch)
                if rate == BAD and epoch == 3:
                    for _ in range(int(self.waits * 100)):
                        emit(Status("Working"))  # what was measured is recorded with one of the next events
                        if control.stop_asked or threading.Event().wait(0.01):
                            break
                if control.stop_asked and epoch > 3:
                    return

        return Job(f"run {run_id}", work, Recorder(workspace, run_id, control), control)


@pytest.fixture
def runs(runs, monkeypatch):
    made = RunsOfEpochs()
    monkeypatch.setattr(launch, "make_job", made.make_job)
    monkeypatch.setattr("workbench.sweeps.early_stop.LOOK", 0.0)
    return made


@pytest.fixture(scope="module")
def config(known):
    return changed(read_config("sample-digits"), {"device": "cpu", "training.epochs": EPOCHS}, known, "test")


def sweep_of(workspace, config, known, *parameters, **options):
    return starting.store(workspace, planned(config, [read(text) for text in parameters], "grid", known, **options))


def test_the_trial_below_the_median_is_stopped_with_its_best_value(workspace, config, known, runs):
    number = sweep_of(workspace, config, known, RATES, stop_early=True)
    lines = []
    assert Worker(workspace, number, lines.append).run() == "done"
    *good, bad = sweeps.trials(workspace, number)
    assert [(trial.state, trial.objective, trial.problem) for trial in good] == [
        ("done", pytest.approx(EPOCHS * rate), "") for rate in (0.01, 0.02, 0.03, 0.04, 0.05)
    ]
    assert (bad.state, bad.objective, bad.problem) == ("done", pytest.approx(4 * BAD), SENTENCE)
    assert [workspace.run(trial.run_id).note for trial in (good[-1], bad)] == ["", SENTENCE]
    assert lines[-1] == f"Setting 6 (learning rate 1e-06), seed 0: MAP@R 0.00%. {SENTENCE}"
    assert f"Setting 6, seed 0: {SENTENCE}" in table(workspace, number)
    data = as_data(workspace, number)
    assert data["stop_early"] is True
    assert [run["problem"] for setting in data["settings"] for run in setting["runs"]] == [""] * 5 + [SENTENCE]
    assert [run["stopped_early"] for setting in data["settings"] for run in setting["runs"]] == [False] * 5 + [True]
    assert data["notes"][-1].startswith("Trials that are worse than the median of the others")


def test_a_setting_with_a_stopped_run_stands_behind_those_that_trained_to_their_end(workspace, config, known, runs):
    number = sweep_of(workspace, config, known, RATES, stop_early=True)
    Worker(workspace, number).run()
    bad = sweeps.trials(workspace, number)[-1]
    with workspace.writing() as db:
        db.execute("update sweep_trials set objective = 0.3 where id = ?", (bad.id,))
    sweep, trials = sweeps.one(workspace, number), sweeps.trials(workspace, number)
    assert [standing.point for standing in standings(sweep, trials)] == [5, 4, 3, 2, 1, 6]
    rows = [line for line in table(workspace, number) if line.startswith("| ")]
    assert rows[-1] == "| 6 | 1×10⁻⁶ | 30.00% (stopped early) | 6 | 1 stopped early |"
    with workspace.writing() as db:
        db.execute("update sweep_trials set point = 5 where id = ?", (bad.id,))
    last = [line for line in table(workspace, number) if line.startswith("| ")][-1]
    assert last == "| 5 | 0.05 | 40.00% ± 14.14% (1 of 2 stopped early) | 5 6 | 1 done, 1 stopped early |"


@pytest.mark.slow
def test_of_real_runs_the_one_that_does_not_learn_is_stopped_and_a_good_one_is_not(workspace, known, monkeypatch):
    monkeypatch.setattr("workbench.sweeps.early_stop.LOOK", 0.0)
    fast = {"device": "cpu", "training.epochs": 8, "backbone.width": 8, "evaluation.probe_size": 0}
    fast |= {"dataset.image_size": 8, "training.batch_size": 64}
    config = changed(read_config("sample-digits"), fast, known, "test")
    rates = "training.lr=0.0005,0.001,0.002,0.003,0.004,1e-6,0.02"
    number = sweep_of(workspace, config, known, rates, stop_early=True)
    assert Worker(workspace, number).run() == "done"
    *first, bad, good = sweeps.trials(workspace, number)
    assert [trial.epoch for trial in first] == [8] * 5, "they are compared with fewer than five others"
    assert 2 <= bad.epoch < 8, "it is looked at from the end of a quarter on, and may end with that epoch"
    assert bad.problem.startswith(f"Stopped after epoch {bad.epoch} of 8: below the median of 5 trials at epoch ")
    assert (good.epoch, good.problem) == (8, "")
    assert bad.objective < min(trial.objective for trial in [*first, good])


def test_a_loss_is_stopped_above_the_median(workspace, config, known, runs):
    number = sweep_of(workspace, config, known, RATES, stop_early=True, metric="probe/ce")
    assert Worker(workspace, number).run() == "done"
    bad = sweeps.trials(workspace, number)[-1]
    assert bad.problem == "Stopped after epoch 4 of 10: above the median of 5 trials at epoch 3."


def test_by_default_every_trial_trains_to_its_end(workspace, config, known, runs):
    runs.waits = 0.5
    number = sweep_of(workspace, config, known, RATES)
    assert sweeps.one(workspace, number).stop_early is False
    assert Worker(workspace, number).run() == "done"
    bad = sweeps.trials(workspace, number)[-1]
    assert (bad.objective, bad.problem) == (pytest.approx(EPOCHS * BAD), "")
    assert not any("stopped early" in line for line in table(workspace, number))


@pytest.mark.parametrize("status", ["running", "interrupted", "stopped"])
def test_a_trial_whose_worker_was_killed_while_it_stopped_is_not_trained_on(workspace, config, known, runs, status):
    number = sweep_of(workspace, config, known, RATES, stop_early=True)
    Worker(workspace, number).run()
    bad = sweeps.trials(workspace, number)[-1]
    with workspace.writing() as db:
        db.execute("delete from evaluations where run_id = ? and epoch > 3", (bad.run_id,))
        db.execute("update runs set status = ?, pid = 1, born = 0 where id = ?", (status, bad.run_id))
        db.execute("update sweeps set state = 'active'")
        sql = "update sweep_trials set state = 'running', objective = null, problem = '' where id = ?"
        db.execute(sql, (bad.id,))
    began = list(runs.began)
    assert Worker(workspace, number).run() == "done"
    assert runs.began == began
    again = sweeps.trials(workspace, number)[-1]
    sentence = "Stopped after epoch 3 of 10: below the median of 5 trials at epoch 3."
    assert (again.state, again.objective, again.problem) == ("done", pytest.approx(3 * BAD), sentence)
    assert workspace.run(bad.run_id).status == "stopped"


def test_a_stop_that_comes_with_the_last_epoch_says_nothing(workspace, config, known, runs):
    number = sweep_of(workspace, config, known, "training.lr=0.01", stop_early=True)
    Worker(workspace, number).run()
    (trial,) = sweeps.trials(workspace, number)
    early_stops.store(workspace, trial.id, "below the median of 5 trials at epoch 9")
    with workspace.writing() as db:
        db.execute("update runs set status = 'stopped'")
        db.execute("update sweeps set state = 'active'")
        db.execute("update sweep_trials set state = 'running', objective = null")
    assert Worker(workspace, number).run() == "done"
    (trial,) = sweeps.trials(workspace, number)
    assert (trial.outcome, trial.objective, trial.problem) == ("done", pytest.approx(0.1), "")


def test_a_trial_that_fails_while_it_is_stopped_failed_and_can_be_retried(workspace, config, known, runs):
    number = sweep_of(workspace, config, known, "training.lr=0.01", stop_early=True)
    Worker(workspace, number).run()
    (trial,) = sweeps.trials(workspace, number)
    early_stops.store(workspace, trial.id, "below the median of 5 trials at epoch 3")
    with workspace.writing() as db:
        db.execute("delete from evaluations")
        db.execute("update runs set status = 'stopped'")
        db.execute("update sweeps set state = 'active'")
        db.execute("update sweep_trials set state = 'running', objective = null")
    assert Worker(workspace, number).run() == "done"
    (trial,) = sweeps.trials(workspace, number)
    assert (trial.outcome, trial.problem) == ("failed", "The run has no MAP@R.")
    assert sweeps.retry(workspace, number) == 1


def resumed_by_hand(workspace, run_id, epochs, status):
    """The run trains on in another program; its bad learning rate turns out to be good after all."""
    workspace.take_over(run_id)
    recorder = Recorder(workspace, run_id)
    for epoch in epochs:
        recorder(Status("Training"))
        recorder(Scalar("probe/ce", epoch, 1 / epoch))
        store(workspace, run_id, epoch / 10, epoch=epoch, step=epoch)
    recorder(Ended(status))


@pytest.mark.parametrize(("metric", "whole", "half"), [("MAP@R", 1.0, 0.7), ("probe/ce", 0.1, 1 / 7)])
def test_a_stopped_trial_that_is_resumed_has_the_value_of_its_run_again(
    workspace, config, known, runs, metric, whole, half
):
    number = sweep_of(workspace, config, known, RATES, stop_early=True, metric=metric)
    Worker(workspace, number).run()
    bad = sweeps.trials(workspace, number)[-1]
    sentence = bad.problem
    with workspace.writing() as db:
        db.execute("update runs set note = 'Mine.' || char(10) || note where id = ?", (bad.run_id,))
    resumed_by_hand(workspace, bad.run_id, range(5, 8), "stopped")
    again = sweeps.trials(workspace, number)[-1]
    assert (again.outcome, again.objective) == ("stopped early", pytest.approx(half))
    assert again.problem == sentence
    resumed_by_hand(workspace, bad.run_id, range(8, 11), "done")
    again = sweeps.trials(workspace, number)[-1]
    assert (again.outcome, again.objective, again.problem) == ("done", pytest.approx(whole), "")
    assert workspace.run(bad.run_id).note == "Mine."
    assert standings(sweeps.one(workspace, number), sweeps.trials(workspace, number))[0].point == 6


def test_a_stopped_trial_that_is_resumed_and_fails_keeps_what_it_had(workspace, config, known, runs):
    number = sweep_of(workspace, config, known, RATES, stop_early=True)
    Worker(workspace, number).run()
    bad = sweeps.trials(workspace, number)[-1]
    resumed_by_hand(workspace, bad.run_id, range(5, 8), "failed")
    assert sweeps.trials(workspace, number)[-1].objective == bad.objective


def test_a_stopped_trial_that_is_resumed_and_diverges_has_failed(workspace, config, known, runs):
    number = sweep_of(workspace, config, known, RATES, stop_early=True, metric="probe/ce")
    Worker(workspace, number).run()
    bad = sweeps.trials(workspace, number)[-1]
    workspace.take_over(bad.run_id)
    recorder = Recorder(workspace, bad.run_id)
    recorder(Scalar("probe/ce", 11, float("nan")))
    recorder(Ended("done"))
    again = sweeps.trials(workspace, number)[-1]
    assert (again.outcome, again.objective) == ("failed", None)
    assert again.problem == "The run has no CE on the probe at its end."


def test_evaluations_that_a_run_did_not_keep_count_too(workspace, known, runs):
    changes = {"device": "cpu", "evaluation.keep": "best and last", "training.epochs": 4}
    config = changed(read_config("sample-digits"), changes, known, "test")
    run_id = workspace.create_run(config)
    recorder = Recorder(workspace, run_id)
    for step, value in ((10, 0.1), (20, 0.4), (30, 0.3)):
        recorder(Scalar("test/MAP@R", step, value))
    recorder(Ended("stopped"))
    store(workspace, run_id, 0.3, epoch=3, step=30)
    assert values_of(workspace, run_id, "MAP@R") == {1: 0.1, 2: 0.4, 3: 0.3}


def test_of_a_curve_of_training_the_best_up_to_each_epoch_counts(workspace, config, runs):
    run_id = workspace.create_run(config)
    recorder = Recorder(workspace, run_id)
    for step, value in ((0, 0.1), (5, 0.9), (15, 0.5), (20, 0.7)):
        recorder(Scalar("probe/ce", step, value))
    recorder(Ended("stopped"))
    for epoch in (0, 1, 2):
        store(workspace, run_id, 0.5, epoch=epoch, step=10 * epoch)
    values = values_of(workspace, run_id, "probe/ce")
    assert (values[1], values[2]) == (0.9, 0.5)
    assert values[0] != values[0], "what was measured before training is no value of it"


def test_a_sweep_of_too_few_trials_says_that_it_stops_none(config, known):
    few = [read("training.lr=0.01,0.02,0.03,0.04,0.05")]
    (remark,) = planned(config, few, "grid", known, stop_early=True, metric="probe/ce").remarks
    assert remark == "No trial will be stopped early: each would have to be compared with at least 5 others."
    assert planned(config, few, "grid", known, metric="probe/ce").remarks == []
    assert planned(config, [read(RATES)], "grid", known, stop_early=True, metric="probe/ce").remarks == []


def test_the_command_stores_the_rule_and_refuses_it_at_a_place(tmp_path, monkeypatch):
    words = ["sweep", "start", "sample-digits", "-p", RATES, "--stop-early", "-w", str(tmp_path / "w")]
    monkeypatch.setattr(starting, "work_apart", lambda *_: True)
    monkeypatch.setattr(records, "named", lambda name: SshPlace(name=name, host=name))
    refused = CliRunner().invoke(cli, [*words, "--place", "cluster"])
    assert refused.exit_code == 2
    assert "Trials at a place are not stopped early." in refused.output
    result = CliRunner().invoke(cli, [*words, "--detach"])
    assert result.exit_code == 0, result.output
    with Workspace(tmp_path / "w") as workspace:
        assert sweeps.one(workspace, 1).stop_early
    shown = CliRunner().invoke(cli, ["sweep", "list", "--json", "-w", str(tmp_path / "w")])
    assert json.loads(shown.output)[0]["stop_early"] is True
    resumed = CliRunner().invoke(cli, ["sweep", "resume", "1", "--place", "cluster", "-w", str(tmp_path / "w")])
    assert "Sweep 1 was started with --stop-early. Trials at a place are not stopped early." in resumed.output
