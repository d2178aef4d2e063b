"""The line of a sweep in the database: order, retry, cancel, and which process may work on it."""

import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from time import monotonic, sleep

import psutil
import pytest

from tests.unit.workspace.older import make_older
from tests.waits import HANG
from workbench.config import RunConfig
from workbench.problem import Problem
from workbench.workspace import Workspace
from workbench.workspace.experiments import early_stops, experiments, sweep_worker, sweeps
from workbench.workspace.experiments.sweeps import Point
from workbench.workspace.owners import ownership
from workbench.workspace.rows import Placement
from workbench.workspace.tables import placements


def make(workspace, settings=3, seeds=1, **changes):
    points = [Point({"loss.scale": float(scale)}, [(seed, 0) for seed in range(seeds)]) for scale in range(settings)]
    facts = {"how": "grid", "parameters": ["loss.scale=0,1,2"], "points": settings, "metric": "MAP@R", "reported": True}
    return sweeps.create(workspace, RunConfig(name="many"), **{**facts, "first": points, **changes})


def states(workspace, number):
    return [trial.state for trial in sweeps.trials(workspace, number)]


def test_a_sweep_is_read_as_it_was_stored(workspace):
    number = make(workspace, seeds=2, source="a table")
    sweep = sweeps.one(workspace, number)
    assert (sweep.name, sweep.how, sweep.parameters, sweep.points) == ("many", "grid", ("loss.scale=0,1,2",), 3)
    assert (sweep.metric, sweep.reported, sweep.source, sweep.state) == ("MAP@R", True, "a table", "active")
    assert (sweep.alive, sweep.holds) == (False, False)
    trials = sweeps.trials(workspace, number)
    assert [(each.point, each.setting, each.seed) for each in trials[:3]] == [
        (1, {"loss.scale": 0.0}, 0), (1, {"loss.scale": 0.0}, 1), (2, {"loss.scale": 1.0}, 0),
    ]  # fmt: skip
    assert [each.place for each in trials] == [1, 2, 3, 4, 5, 6]
    [experiment] = experiments.every(workspace)
    assert experiment.id == sweep.experiment_id
    assert experiment.result == {"sweep": number}
    assert [each.id for each in sweeps.every(workspace)] == [number]
    with pytest.raises(Problem, match="no sweep 9"):
        sweeps.one(workspace, 9)


@pytest.mark.parametrize("state", ["done", "failed", "cancelled"])
def test_a_trial_keeps_its_line_when_its_run_is_deleted(workspace, state):
    number = make(workspace)
    line = [trial.id for trial in sweeps.trials(workspace, number)]
    for trial in sweeps.trials(workspace, number)[:2]:
        run_id = sweep_worker.begin(workspace, trial, lambda: workspace.create_run(RunConfig()))
        sweep_worker.end(workspace, trial, state)
        workspace.set_status(run_id, "done")
    workspace.trash(1)
    workspace.delete(1)
    assert [trial.run_id for trial in sweeps.trials(workspace, number)] == [None, 2, None]
    assert [trial.id for trial in sweeps.trials(workspace, number)] == line


def test_a_retried_trial_whose_checkpoints_were_deleted_begins_anew_and_the_others_go_on(workspace):
    number = make(workspace)
    for trial in sweeps.trials(workspace, number)[:2]:
        run_id = sweep_worker.begin(workspace, trial, lambda: workspace.create_run(RunConfig()))
        workspace.file(run_id, "last.pt").write_bytes(b"weights")
        workspace.set_status(run_id, "failed")
        sweep_worker.end(workspace, trial, "failed")
    assert list(workspace.delete_checkpoints([1]).freed) == [1]
    second = sweeps.trials(workspace, number)[1].id
    assert sweeps.retry(workspace, number, second) == 1
    assert [trial.run_id for trial in sweeps.trials(workspace, number)] == [1, 2, None], "the first keeps its run"
    assert sweeps.retry(workspace, number) == 1
    assert [trial.run_id for trial in sweeps.trials(workspace, number)] == [None, 2, None]
    assert workspace.delete_checkpoints([2]).freed == {}, "it is to go on"


def test_one_trial_is_retried_and_the_runs_of_the_others_stay_with_them(workspace):
    number = make(workspace)
    for trial in sweeps.trials(workspace, number):
        run_id = sweep_worker.begin(workspace, trial, lambda: workspace.create_run(RunConfig()))
        path = workspace.file(run_id, "last.pt")
        path.write_bytes(b"weights")
        workspace.add_artefact(run_id, "checkpoint", path, 1)
        workspace.set_status(run_id, "failed")
        sweep_worker.end(workspace, trial, "failed")
        path.unlink()  # by hand
    with workspace.writing() as db:
        placements.store(db, Placement(3, "0" * 32, "box"))
    first, _, third = sweeps.trials(workspace, number)
    assert sweeps.retry(workspace, number, first.id) == 1
    assert [trial.run_id for trial in sweeps.trials(workspace, number)] == [None, 2, 3]
    assert sweeps.retry(workspace, number, third.id) == 1
    assert [trial.run_id for trial in sweeps.trials(workspace, number)] == [None, 2, 3], "it goes on at its place"


def test_a_run_that_was_made_for_a_trial_and_cannot_go_on_is_not_taken(workspace):
    experiment = experiments.create(workspace, RunConfig())
    first, second = (workspace.create_run(RunConfig(), experiment) for _ in range(2))
    for run_id in (first, second):
        workspace.set_status(run_id, "interrupted")
    workspace.file(first, "last.pt").write_bytes(b"weights")
    config = workspace.run(first).config
    assert sweep_worker.unlinked_run(workspace, experiment, config) == first
    workspace.delete_checkpoints([first])
    assert sweep_worker.unlinked_run(workspace, experiment, config) == second


def test_what_has_not_begun_can_be_moved(workspace):
    number = make(workspace)
    first, second, third = sweeps.trials(workspace, number)
    assert sweeps.move(workspace, number, third.id, -1)
    assert [each.id for each in sweeps.trials(workspace, number)] == [first.id, third.id, second.id]
    assert not sweeps.move(workspace, number, first.id, -1)
    sweep_worker.begin(workspace, first, lambda: workspace.create_run(RunConfig()))
    assert not sweeps.move(workspace, number, first.id, 1), "it runs"
    assert not sweeps.move(workspace, number, third.id, -1), "it is the first that waits"


def test_failed_and_cancelled_runs_can_be_brought_back(workspace):
    number = make(workspace)
    first, second, third = sweeps.trials(workspace, number)
    sweep_worker.end(workspace, first, "failed", problem="No disk.")
    sweep_worker.end(workspace, second, "done", 0.5)
    sweeps.cancel(workspace, number)
    assert states(workspace, number) == ["failed", "done", "cancelled"]
    sweep_worker.end(workspace, third, "paused")
    assert states(workspace, number)[2] == "cancelled", "a worker's late word does not bring it back"
    assert sweeps.retry(workspace, number, first.id) == 1
    assert sweeps.one(workspace, number).state == "active"
    assert sweeps.retry(workspace, number) == 1
    assert states(workspace, number) == ["queued", "done", "queued"]
    assert sweeps.retry(workspace, number) == 0


def test_one_worker_for_a_sweep_and_one_sweep_for_a_device(workspace):
    first, second = make(workspace), make(workspace)
    sweep_worker.take(workspace, first, "cpu")
    sweep_worker.take(workspace, second, "cpu")
    assert not sweep_worker.take_device(workspace, second, "cpu"), "an older one waits for it"
    assert sweep_worker.take_device(workspace, first, "cpu")
    assert sweeps.one(workspace, first).holds
    assert not sweep_worker.take_device(workspace, second, "cpu")
    sweep_worker.leave(workspace, first)
    assert sweep_worker.take_device(workspace, second, "cpu")
    sweep_worker.leave(workspace, second)
    sweep_worker.take(workspace, first, "cpu")
    sweep_worker.take(workspace, second, "cuda")
    assert sweep_worker.take_device(workspace, first, "cpu")
    assert sweep_worker.take_device(workspace, second, "cuda")


def owned(workspace, number, pid, born):
    with workspace.writing() as db:
        db.execute("update sweeps set pid = ?, born = ?, holds = 1 where id = ?", (pid, born, number))


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere nothing names a start but the clock")
@pytest.mark.parametrize("set_by", [-7200, 7200])
def test_a_worker_lives_although_the_clock_was_set(workspace, set_by):
    number = make(workspace)
    sweep_worker.take(workspace, number, "cpu")
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        owned(workspace, number, process.pid, ownership.start_of(psutil.Process(process.pid)) - set_by)
        assert sweeps.one(workspace, number).alive
        owned(workspace, number, process.pid, ownership.start_of(psutil.Process()) - set_by)
        assert not sweeps.one(workspace, number).alive, "its number was given again"
        process.kill()


def test_a_worker_that_never_came_is_not_waited_for_after_the_clock_was_set_back(workspace):
    number = make(workspace)
    assert sweep_worker.announce(workspace, number)
    assert not sweep_worker.announce(workspace, number), "one was started a moment ago"
    ahead = (datetime.now(UTC) + timedelta(hours=2)).isoformat(timespec="seconds")
    with workspace.writing() as db:
        db.execute("update sweeps set beat = ? where id = ?", (ahead, number))
    assert not sweeps.one(workspace, number).starting
    assert sweep_worker.announce(workspace, number)


def test_a_dead_worker_holds_nothing(workspace):
    number, other = make(workspace), make(workspace)
    sweep_worker.take(workspace, number, "cpu")
    trial = sweeps.trials(workspace, number)[0]
    sweep_worker.begin(workspace, trial, lambda: workspace.create_run(RunConfig()))
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        owned(workspace, number, process.pid, psutil.Process(process.pid).create_time())
        assert sweeps.one(workspace, number).alive
        with pytest.raises(Problem, match=f"has a worker: process {process.pid}"):
            sweep_worker.take(workspace, number, "cpu")
        sweep_worker.take(workspace, other, "cpu")
        assert not sweep_worker.take_device(workspace, other, "cpu")
        process.kill()
        limit = monotonic() + HANG
        while sweeps.one(workspace, number).alive and monotonic() < limit:  # not waited for: a zombie holds nothing
            sleep(0.01)
        assert not sweeps.one(workspace, number).alive
    assert sweep_worker.take_device(workspace, other, "cpu")
    sweep_worker.take(workspace, number, "cpu")
    assert states(workspace, number) == ["queued"] * 3
    assert sweeps.trials(workspace, number)[0].run_id == 1, "its run is gone on with"


def test_another_process_of_the_same_number_is_not_the_worker(workspace):
    number = make(workspace)
    sweep_worker.take(workspace, number, "cpu")
    owned(workspace, number, os.getppid(), psutil.Process(os.getppid()).create_time() - 3600)
    assert not sweeps.one(workspace, number).alive


def test_a_worker_that_was_resumed_meanwhile_does_not_leave(workspace):
    number = make(workspace)
    sweep_worker.take(workspace, number, "cpu")
    assert not sweep_worker.leave(workspace, number, even_if_active=False)
    sweeps.set_state(workspace, number, "paused")
    assert sweep_worker.leave(workspace, number, even_if_active=False)
    assert not sweeps.one(workspace, number).alive


def test_a_run_made_just_before_a_kill_is_found_again(workspace):
    number = make(workspace)
    experiment = sweeps.one(workspace, number).experiment_id
    config = RunConfig(name="one")
    assert sweep_worker.unlinked_run(workspace, experiment, config.to_toml()) is None
    run_id = workspace.create_run(config, experiment)
    assert sweep_worker.unlinked_run(workspace, experiment, config.to_toml()) == run_id
    sweep_worker.begin(workspace, sweeps.trials(workspace, number)[0], lambda: run_id)
    assert sweep_worker.unlinked_run(workspace, experiment, config.to_toml()) is None


def test_runs_judged_on_the_reported_half_are_known(workspace):
    flattered, fair = make(workspace), make(workspace, reported=False)
    for number in (flattered, fair):
        trial = sweeps.trials(workspace, number)[0]
        sweep_worker.begin(workspace, trial, lambda: workspace.create_run(RunConfig()))
    assert sweeps.chosen_on_reported(workspace, [1, 2, 3]) == {flattered: [1]}
    assert sweeps.chosen_on_reported(workspace, []) == {}


def test_a_sweep_from_before_trials_were_stopped_early_stops_none(tmp_path):
    with Workspace(tmp_path / "old", create=True) as workspace:
        number = make(workspace)
        place = workspace.database
    make_older(place, "m018_stopped_trials")
    with Workspace(tmp_path / "old") as workspace:
        assert sweeps.one(workspace, number).stop_early is False
        assert [early_stops.reason(workspace, trial.id) for trial in sweeps.trials(workspace, number)] == [""] * 3
        assert sweeps.one(workspace, make(workspace, stop_early=True)).stop_early is True


def test_a_trial_that_is_tried_again_is_judged_anew(workspace):
    number = make(workspace)
    for trial, state in zip(sweeps.trials(workspace, number), ["failed", "done", "cancelled"], strict=True):
        early_stops.store(workspace, trial.id, "below the median")
        sweep_worker.end(workspace, trial, state, problem="Stopped after epoch 3 of 8.")
    assert sweeps.retry(workspace, number) == 2
    reasons = [early_stops.reason(workspace, trial.id) for trial in sweeps.trials(workspace, number)]
    assert reasons == ["", "below the median", ""]


def test_what_was_refused_is_one_trial_that_is_not_brought_back(workspace):
    number = make(workspace)
    point = sweeps.Point({"training.lr": 1.0}, [(0, 0), (1, 0)])
    sweeps.add_refused(workspace, number, point, "sampler.name: It does not fit.")
    *others, refused = sweeps.trials(workspace, number)
    assert [trial.refused for trial in others] == [False] * 3
    assert (refused.outcome, refused.problem, refused.run_id) == ("refused", "sampler.name: It does not fit.", None)
    sweeps.cancel(workspace, number)
    assert sweeps.retry(workspace, number) == 3
    assert sweeps.retry(workspace, number, refused.id) == 0
    assert sweeps.trials(workspace, number)[-1] == refused


def test_a_workspace_from_before_gets_the_tables(tmp_path):
    with Workspace(tmp_path / "old", create=True) as workspace:
        place = workspace.database
    make_older(place, "m005_sweeps")
    with Workspace(tmp_path / "old") as workspace:
        assert make(workspace) == 1
        workspace.trash(workspace.create_run(RunConfig()))
        assert workspace.empty_trash() == 1
