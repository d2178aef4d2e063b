"""A sweep whose runs train at a place: sent together, taken home as they end, and gone on with by another worker."""

import shutil

import pytest

from tests.unit.places.played_place import PlayedPlace
from workbench.config import RunConfig
from workbench.entries import catalog
from workbench.places import sending
from workbench.places.contract import Ending, JobState, Standing, Unreachable
from workbench.places.place import SlurmPlace, SshPlace
from workbench.problem import Problem
from workbench.settings.changed import read_config
from workbench.sweeps import starting
from workbench.sweeps.at_place import PlaceWorker, place_of
from workbench.sweeps.plan import planned
from workbench.sweeps.space import read
from workbench.workspace import Workspace
from workbench.workspace.experiments import experiments, sweeps
from workbench.workspace.folders import travelling

PLACE = SshPlace(name="cluster", host="cluster")


class Trained(PlayedPlace):
    """A place that trains what it is sent at once, unless `holds`; `sent` says how many runs came in each request."""

    def __init__(self, base, whole):
        super().__init__(base)
        self.whole, self.sent, self.holds, self.refuses = whole, [], False, ""

    def submit(self, orders):
        if self.refuses:
            raise Problem(self.refuses)
        jobs = super().submit(orders)
        self.sent.append(len(orders))
        if not self.holds:
            for job in jobs:
                self.train(job)
        return jobs

    def train(self, job):
        for path in self.whole.iterdir():
            if path.name not in (travelling.CARD, "config.toml", travelling.LOCK):
                shutil.copyfile(path, self.base / job / path.name)

    def states(self, jobs):
        super().states(jobs)
        ended = [(self.base / job / "journal.jsonl").exists() for job in jobs]
        return [Standing(JobState.FINISHED) if done else self.standing for done in ended]


@pytest.fixture
def there(tmp_path, made):
    return Trained(tmp_path / "there", made)


@pytest.fixture
def workspace(tmp_path, monkeypatch):
    monkeypatch.setattr("workbench.sweeps.at_place.LOOK", 0.01)
    monkeypatch.setattr("workbench.sweeps.at_place.SILENT_LOOK", 0.01)
    with Workspace(tmp_path / "w", create=True) as made:
        yield made


def sweep_of(workspace, how="grid", values="0.01,0.02,0.03", **options):
    plan = planned(
        read_config("sample-digits", ()), [read(f"training.lr={values}")], how, catalog.current(), **options
    )  # fmt: skip
    return starting.store(workspace, plan)


def states(workspace, number):
    return [trial.state for trial in sweeps.trials(workspace, number)]


def test_a_grid_is_sent_in_one_request_and_its_results_come_home(workspace, there):
    number = sweep_of(workspace)
    assert PlaceWorker(workspace, number, PLACE, there).run() == "done"
    assert there.sent == [3]
    trials = sweeps.trials(workspace, number)
    assert [trial.state for trial in trials] == ["done"] * 3
    assert all(trial.objective == 0.7 for trial in trials)
    configs = [RunConfig.recorded(workspace.run(trial.run_id).config) for trial in trials]
    assert [config.training.lr for config in configs] == [0.01, 0.02, 0.03]
    (experiment,) = experiments.every(workspace)
    assert len(experiments.runs_of(workspace, experiment.id)) == 3
    assert place_of(workspace, number) == "cluster"


def test_a_bayesian_sweep_has_so_many_runs_there_and_no_more(workspace, there):
    number = sweep_of(workspace, "bayes", "1e-4..1e-1:log", trials=5)
    assert PlaceWorker(workspace, number, PLACE, there, workers=2).run() == "done"
    assert sum(there.sent) == 5
    assert max(there.sent) <= 2


def test_a_place_that_does_not_answer_is_asked_again(workspace, there):
    number, said = sweep_of(workspace), []
    there.gone = "The cluster is not reached."

    def say(line):
        said.append(line)
        there.gone = ""

    assert PlaceWorker(workspace, number, PLACE, there, say).run() == "done"
    assert said[0] == "The cluster is not reached."
    assert states(workspace, number) == ["done"] * 3


def test_data_that_the_place_has_elsewhere_pause_the_sweep_with_its_sentence(workspace, there, monkeypatch):
    number = sweep_of(workspace)

    def translated(config, place):
        raise sending.UnknownData("/birds", place.name)

    with monkeypatch.context() as patch:
        patch.setattr(sending, "translated", translated)
        assert PlaceWorker(workspace, number, PLACE, there).run() == "paused"
    assert "workbench place data cluster" in sweeps.one(workspace, number).problem
    starting.resume(workspace, number)
    assert PlaceWorker(workspace, number, PLACE, there).run() == "done"


def test_a_place_that_refuses_pauses_the_sweep_with_its_sentence(workspace, there):
    number = sweep_of(workspace)
    there.refuses = "Slurm refused the job: invalid account."
    assert PlaceWorker(workspace, number, PLACE, there).run() == "paused"
    assert "invalid account" in sweeps.one(workspace, number).problem
    there.refuses = ""
    starting.resume(workspace, number)
    assert PlaceWorker(workspace, number, PLACE, there).run() == "done"


def test_runs_go_on_without_their_worker_and_the_next_one_takes_them_in(workspace, there):
    number = sweep_of(workspace)
    there.holds = True
    worker = PlaceWorker(workspace, number, PLACE, there, lambda line: worker.interrupt())
    assert worker.run() == "active"
    assert there.sent == [3]
    assert not there.asked
    for folder in there.base.iterdir():
        there.train(folder.name)
    assert PlaceWorker(workspace, number, PLACE, there).run() == "done"
    assert there.sent == [3]


def test_pausing_ends_the_runs_there_with_checkpoints_and_resuming_sends_them_again(workspace, there):
    number = sweep_of(workspace)
    there.holds = True
    asked = there.stop

    def stop(job, how):
        asked(job, how)
        there.standing = Standing(JobState.INTERRUPTED)

    there.stop = stop
    worker = PlaceWorker(workspace, number, PLACE, there, lambda line: starting.pause(workspace, number))
    assert worker.run() == "paused"
    assert [how for _, how in there.asked] == [Ending.SAVED] * 3
    there.holds = False
    starting.resume(workspace, number)
    sweeps.retry(workspace, number)
    assert PlaceWorker(workspace, number, PLACE, there).run() == "done"
    assert states(workspace, number) == ["done"] * 3


def test_pausing_asks_every_run_to_end_although_an_answer_was_lost(workspace, there):
    number = sweep_of(workspace)
    there.holds = True
    asked, lost = there.stop, ["The connection was lost."]

    def stop(job, how):
        if lost:
            raise Unreachable(lost.pop())
        asked(job, how)
        there.standing = Standing(JobState.INTERRUPTED)

    there.stop = stop
    worker = PlaceWorker(workspace, number, PLACE, there, lambda line: starting.pause(workspace, number))
    assert worker.run() == "paused"
    assert sorted(there.asked) == sorted((folder.name, Ending.SAVED) for folder in there.base.iterdir())
    assert sweeps.one(workspace, number).problem == ""


@pytest.mark.parametrize(("end", "reason"), [("paused", "Too warm. "), ("cancelled", "")])
def test_a_place_that_stays_silent_when_its_runs_are_to_end_is_named_by_the_sweep(
    workspace, there, monkeypatch, end, reason
):
    monkeypatch.setattr("workbench.sweeps.at_place.ASKS_FOR", 0.05)
    number = sweep_of(workspace)
    there.holds = True

    def say(line):
        if there.gone:
            return
        there.gone = "cluster is not reached."
        if end == "paused":
            sweeps.set_state(workspace, number, "paused", reason.strip())
        else:
            sweeps.cancel(workspace, number)

    assert PlaceWorker(workspace, number, PLACE, there, say).run() == end
    assert sweeps.one(workspace, number).problem == (
        f"{reason}3 runs at cluster may train on: it did not answer when they were asked to end. Once it does, stop "
        "each that still trains."
    )


def test_a_run_that_was_made_by_a_worker_that_was_killed_is_sent_and_not_made_again(workspace, there, monkeypatch):
    number = sweep_of(workspace)

    def killed(workspace, trial, make_run):
        make_run()
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("workbench.workspace.experiments.sweep_worker.begin", killed)
        with pytest.raises(KeyboardInterrupt):
            PlaceWorker(workspace, number, PLACE, there).run()
    assert PlaceWorker(workspace, number, PLACE, there).run() == "done"
    assert len(workspace.runs()) == 3


@pytest.mark.parametrize(
    "step",
    ["workbench.workspace.arriving.ingest.copy_whole", "workbench.workspace.arriving.ingest.settled.state_of"],
    ids=["before it had its files", "while it was made"],
)
def test_a_run_whose_making_was_killed_is_sent_and_not_made_again(workspace, there, monkeypatch, step):
    number = sweep_of(workspace)

    def killed(*values, **options):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(step, killed)
        with pytest.raises(KeyboardInterrupt):
            PlaceWorker(workspace, number, PLACE, there).run()
    assert PlaceWorker(workspace, number, PLACE, there).run() == "done"
    (experiment,) = experiments.every(workspace)
    assert len(workspace.runs()) == len(experiments.runs_of(workspace, experiment.id)) == 3
    assert all(travelling.read(folder)[1].name for folder in there.base.iterdir())


def test_a_sweep_whose_place_became_one_of_another_kind_is_paused(workspace, there):
    number, there.holds = sweep_of(workspace), True
    worker = PlaceWorker(workspace, number, PLACE, there, lambda line: worker.interrupt())
    assert worker.run() == "active"
    assert PlaceWorker(workspace, number, SlurmPlace(name="cluster"), there).run() == "paused"
    assert "when that was a place of another kind than slurm" in sweeps.one(workspace, number).problem
    assert there.sent == [3]
    there.holds = False
    for folder in there.base.iterdir():
        there.train(folder.name)
    starting.resume(workspace, number)
    assert PlaceWorker(workspace, number, PLACE, there).run() == "done"
