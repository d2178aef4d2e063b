"""A worker takes trials in order, obeys what is asked through the workspace, and goes on where another ended."""

import threading
from contextlib import closing
from dataclasses import replace

import pytest

from tests.unit.sweeps.fake_runs import FakeRuns, store
from tests.waits import HANG
from workbench.commands.training.sweep_table import table
from workbench.problem import Problem
from workbench.running.processes import own_process
from workbench.settings.changed import changed, read_config
from workbench.sweeps import starting
from workbench.sweeps.plan import planned
from workbench.sweeps.progress import runs_in_all, seconds_left, standings, state_words
from workbench.sweeps.proposals import next_proposal
from workbench.sweeps.space import read
from workbench.sweeps.trials import results_so_far
from workbench.sweeps.worker import Worker
from workbench.workspace import Workspace
from workbench.workspace.experiments import sweep_worker, sweeps
from workbench.workspace.recorder import Recorder


@pytest.fixture(scope="module")
def config(known):
    return changed(read_config("sample-digits"), {"device": "cpu"}, known, "test")


def interrupted_at_work(worker, runs):
    """Let the worker run until one of its runs is held, then interrupt it."""
    thread = threading.Thread(target=worker.run)
    thread.start()
    assert runs.held.wait(HANG)
    worker.interrupt()
    thread.join(HANG)


def sweep_of(workspace, config, known, *parameters, how="grid", **options):
    return starting.store(workspace, planned(config, [read(each) for each in parameters], how, known, **options))


def states(workspace, number):
    return [trial.state for trial in sweeps.trials(workspace, number)]


def test_a_grid_is_worked_through_in_order_and_told_by_objective(workspace, config, known, runs):
    number = sweep_of(workspace, config, known, "training.lr=0.01,0.03,0.05", seeds=2)
    sweep = sweeps.one(workspace, number)
    assert seconds_left(sweep, sweeps.trials(workspace, number)) is None
    lines = []
    assert Worker(workspace, number, lines.append).run() == "done"
    trials = sweeps.trials(workspace, number)
    assert [trial.state for trial in trials] == ["done"] * 6
    assert [trial.objective for trial in trials] == pytest.approx([0.88, 0.881, 0.9, 0.901, 0.88, 0.881])
    assert "Setting 2 (learning rate 0.03), seed 1: MAP@R 90.10%" in lines
    best = standings(sweep, trials)[0]
    assert (best.point, best.runs) == (2, [3, 4])
    assert (best.mean, best.spread) == pytest.approx((0.9005, 0.001 / 2**0.5))
    names = [workspace.run(each).name for each in best.runs]
    assert names == ["Sample: Digits: learning rate 0.03, seed 0", "Sample: Digits: learning rate 0.03, seed 1"]
    assert {run.experiment_id for run in workspace.runs()} == {sweep.experiment_id}
    assert state_words(sweeps.one(workspace, number), trials) == "Done"
    with pytest.raises(Problem, match="is done"):
        Worker(workspace, number).run()


@pytest.mark.parametrize("how", ["grid", "random", "bayes"])
def test_a_field_is_varied_for_the_losses_that_have_it(how, workspace, known, runs):
    config = changed(read_config("sample-digits"), {"device": "cpu", "sampler.name": "classes_images"}, known, "test")
    number = sweep_of(workspace, config, known, "loss.margin=0.2,0.5", "loss.name=ce,contrastive", how=how)
    lines = []
    assert Worker(workspace, number, lines.append).run() == "done"
    trials = sweeps.trials(workspace, number)
    assert [trial.state for trial in trials] == ["done"] * 3
    assert {tuple(sorted(trial.setting.items())) for trial in trials} == {
        (("loss.name", "ce"),),
        (("loss.margin", 0.2), ("loss.name", "contrastive")),
        (("loss.margin", 0.5), ("loss.name", "contrastive")),
    }
    (ce,) = (trial.point for trial in trials if trial.setting["loss.name"] == "ce")
    assert f"Setting {ce} (loss Cross-entropy (CE)), seed 0: run {ce}" in lines
    shown = table(workspace, number)
    assert "| setting | Margin | Loss | MAP@R, mean ± SD over its runs | runs | state |" in shown
    assert any(line.startswith(f"| {ce} | – | Cross-entropy (CE) |") for line in shown)


def test_the_table_says_that_no_run_became_better_than_before_training(workspace, config, known, runs):
    number = sweep_of(workspace, config, known, "training.lr=0.01,0.02", seeds=2)
    Worker(workspace, number).run()
    assert "epoch 0" not in "\n".join(table(workspace, number))
    store(workspace, 1, 0.95, epoch=0)
    lines = table(workspace, number)
    assert "Best at epoch 0, so training did not contribute to the value: 1 of 4 runs." in lines
    assert "| 1 | 0.01 | 88.05% ± 0.07% (1 of 2 at epoch 0) | 1 2 | 2 done |" in lines
    for run_id in (2, 3, 4):
        store(workspace, run_id, 0.95, epoch=0)
    lines = table(workspace, number)
    assert [line for line in lines if line.startswith("All 4 runs are best at epoch 0, before training, so the values")]
    assert "| 1 | 0.01 | 88.05% ± 0.07% (epoch 0) | 1 2 | 2 done |" in lines


@pytest.mark.parametrize(
    ("words", "seeds", "said"),
    [("training.lr=0.01,0.02", 1, True), ("training.lr=0.01,0.02", 2, False), ("training.lr=0.01", 1, False)],
)
def test_the_table_says_that_settings_with_one_run_may_differ_by_their_seed(
    workspace, config, known, runs, words, seeds, said
):
    number = sweep_of(workspace, config, known, words, seeds=seeds)
    assert "due to the seed" not in "\n".join(table(workspace, number)), "nothing is measured"
    Worker(workspace, number).run()
    assert ("may be due to the seed alone" in "\n".join(table(workspace, number))) is said


def test_what_the_runs_remark_on_their_data_is_said_once(workspace, config, known, runs, monkeypatch):
    data = {"fingerprint": "f", "train": 2, "test": 4, "classes_disjoint": False}
    data |= {"left_out": [["a.png", "is empty"]], "left_out_count": 1}

    def begin():
        with closing(Recorder(workspace, runs.began[-1])) as recorder:
            recorder.environment({"data": data})

    runs.begin = begin
    lines = []
    Worker(workspace, sweep_of(workspace, config, known, "training.lr=0.01,0.03"), lines.append).run()
    assert lines.count("1 file was left out: a.png is empty.") == 1
    assert lines.index("1 file was left out: a.png is empty.") == 1, "before the first result"


def test_a_bayesian_sweep_is_the_same_after_a_restart(workspace, config, known, runs, tmp_path):
    words = ("training.lr=1e-3..1:log",)
    whole = sweep_of(workspace, config, known, *words, how="bayes", trials=12)
    assert runs_in_all(sweeps.one(workspace, whole), []) == 12
    Worker(workspace, whole).run()
    with Workspace(tmp_path / "cut", create=True) as cut:
        number = sweep_of(cut, config, known, *words, how="bayes", trials=12)
        for place in (3, 8):  # the worker ends there and another begins
            worker = Worker(cut, number, lambda line, place=place: ends(line, place))

            def ends(line, place, worker=worker):
                if line.startswith(f"Setting {place} "):
                    worker.interrupt()

            assert worker.run() == "active"
        assert Worker(cut, number).run() == "done"
        assert results_so_far(sweeps.trials(cut, number)) == results_so_far(sweeps.trials(workspace, whole))
    values = [value for _, value in results_so_far(sweeps.trials(workspace, whole))]
    assert max(values) > 0.88


def test_a_pause_keeps_the_run_and_resume_goes_on_with_it(workspace, config, known, runs):
    runs.hold = 1
    number = sweep_of(workspace, config, known, "training.lr=0.01,0.03")
    worker, ended = Worker(workspace, number), []
    thread = threading.Thread(target=lambda: ended.append(worker.run()))
    thread.start()
    assert runs.held.wait(HANG)
    assert state_words(sweeps.one(workspace, number), sweeps.trials(workspace, number)) == "Working"
    starting.pause(workspace, number)
    thread.join(HANG)
    assert ended == ["paused"]
    assert states(workspace, number) == ["paused", "queued"]
    assert state_words(sweeps.one(workspace, number), []) == "Paused"
    with pytest.raises(Problem, match="is paused"):
        Worker(workspace, number).run()
    starting.resume(workspace, number)
    assert state_words(sweeps.one(workspace, number), []) == "Worker is gone"
    assert Worker(workspace, number).run() == "done"
    assert (runs.began, runs.resumed) == ([1, 1, 2], [1])


def test_a_cancelled_sweep_ends_and_can_be_brought_back(workspace, config, known, runs):
    runs.hold = 1
    number = sweep_of(workspace, config, known, "training.lr=0.01,0.03")
    thread = threading.Thread(target=Worker(workspace, number).run)
    thread.start()
    assert runs.held.wait(HANG)
    sweeps.cancel(workspace, number)
    thread.join(HANG)
    assert states(workspace, number) == ["cancelled", "cancelled"]
    with pytest.raises(Problem, match="Retry brings"):
        starting.resume(workspace, number)
    assert sweeps.retry(workspace, number) == 2
    assert Worker(workspace, number).run() == "done"


def test_a_failed_run_holds_nothing_up_and_is_retried(workspace, config, known, runs):
    runs.fail = 1
    number = sweep_of(workspace, config, known, "training.lr=0.01,0.03")
    assert Worker(workspace, number).run() == "done"
    first = sweeps.trials(workspace, number)[0]
    assert (first.state, first.problem) == ("failed", "The disk is full.")
    assert state_words(sweeps.one(workspace, number), sweeps.trials(workspace, number)) == "Done, 1 failed"
    runs.fail = None
    assert sweeps.retry(workspace, number) == 1
    assert Worker(workspace, number).run() == "done"
    assert states(workspace, number) == ["done", "done"]
    steps, _ = workspace.scalars(1, "probe/ce")
    assert list(steps) == [1], "the run without a checkpoint began anew"


def test_a_trial_whose_checkpoint_is_missing_fails_and_begins_anew_when_it_is_retried(workspace, config, known, runs):
    number = sweep_of(workspace, config, known, "training.lr=0.01,0.03")
    runs.hold = 1
    interrupted_at_work(Worker(workspace, number), runs)
    path = workspace.file(1, "last.pt")
    workspace.add_artefact(1, "checkpoint", path, 1)
    path.unlink()
    workspace.set_status(1, "interrupted")
    assert Worker(workspace, number).run() == "done"
    first, second = sweeps.trials(workspace, number)
    assert (first.state, second.state) == ("failed", "done")
    assert "Run 1 cannot continue: its checkpoints are missing" in first.problem
    assert workspace.scalars(1, "probe/ce")[1].tolist() == [0.5]
    assert sweeps.retry(workspace, number) == 1
    assert Worker(workspace, number).run() == "done"
    assert [trial.run_id for trial in sweeps.trials(workspace, number)] == [3, 2]


def test_a_line_that_fails_alike_is_paused(workspace, config, known, runs):
    runs.fail = "all"
    number = sweep_of(workspace, config, known, "training.lr=0.01,0.02,0.03,0.04,0.05")
    assert Worker(workspace, number).run() == "paused"
    assert states(workspace, number) == ["failed"] * 3 + ["queued"] * 2
    assert sweeps.one(workspace, number).problem.endswith("failed in the same way, so it was paused. The disk is full.")
    runs.fail = None
    starting.resume(workspace, number)
    assert sweeps.one(workspace, number).problem == ""
    assert Worker(workspace, number).run() == "done"
    assert states(workspace, number) == ["failed"] * 3 + ["done"] * 2


def test_a_run_that_ended_without_its_trial_is_not_run_again(workspace, config, known, runs):
    number = sweep_of(workspace, config, known, "training.lr=0.01,0.03")
    Worker(workspace, number).run()
    with workspace.writing() as db:
        db.execute("update sweeps set state = 'active'")
        db.execute("update sweep_trials set state = 'running', objective = null where run_id = 2")
    assert Worker(workspace, number).run() == "done"
    assert runs.began == [1, 2]
    assert sweeps.trials(workspace, number)[1].objective == pytest.approx(0.9)


def test_an_objective_of_the_training_side_looks_for_the_least(workspace, config, known, runs):
    number = sweep_of(workspace, config, known, "training.lr=0.01,0.03", metric="probe/ce")
    assert not sweeps.one(workspace, number).reported
    Worker(workspace, number).run()
    trials = sweeps.trials(workspace, number)
    assert [trial.objective for trial in trials] == [0.5, 0.5]


def test_a_lost_worker_leaves_no_thread(workspace, config, known, runs, monkeypatch):
    """The workspace fails under the worker: the run is interrupted, not left alone."""
    runs.hold = 1
    number = sweep_of(workspace, config, known, "training.lr=0.01")
    worker = Worker(workspace, number)

    def gone(*_):
        if runs.held.is_set():
            raise Problem("The workspace is gone.")

    monkeypatch.setattr("workbench.sweeps.worker.BEAT", -1.0)
    monkeypatch.setattr(sweep_worker, "beat", gone)
    with pytest.raises(Problem, match="gone"):
        worker.run()
    assert not sweeps.one(workspace, number).alive
    assert workspace.run(1).status == "stopped"


def test_time_left_is_what_the_runs_took(workspace, config, known, runs):
    number = sweep_of(workspace, config, known, "training.lr=0.01,0.02,0.03,0.04")
    with workspace.writing() as db:
        for run_id, (status, seconds, left) in enumerate([("done", 10, 0), ("done", 14, 0), ("running", 4, 7)], 1):
            db.execute(
                "insert into runs (id, name, config, seed, dataset, loss, backbone, created, status, seconds, "
                "seconds_left) values (?, '', '', 0, '', '', '', '', ?, ?, ?)",
                (run_id, status, seconds, left),
            )
            db.execute("update sweep_trials set run_id = ?, state = ? where place = ?", (run_id, status, run_id))
    left = seconds_left(sweeps.one(workspace, number), sweeps.trials(workspace, number))
    assert left == pytest.approx(7 + 12)


def test_time_left_is_shared_by_the_runs_that_train_at_once_on_this_machine(workspace, config, known, runs):
    number = sweep_of(workspace, config, known, "training.lr=0.01,0.02,0.03,0.04")
    sweep, trials = sweeps.one(workspace, number), sweeps.trials(workspace, number)
    times = [("done", 1, 10.0, 0.0), ("running", 2, 4.0, 6.0), ("running", 3, 3.0, 8.0), ("queued", None, 0.0, 0.0)]
    timed = [
        replace(trial, state=state, run_id=run_id, seconds=seconds, seconds_left=left)
        for trial, (state, run_id, seconds, left) in zip(trials, times, strict=True)
    ]
    assert seconds_left(replace(sweep, holds=True), timed) == pytest.approx((6 + 8 + 10) / 2)
    assert seconds_left(sweep, timed) == pytest.approx(6 + 8 + 10), "none trains, or they train at a place"


def test_the_experiment_of_a_sweep_gets_no_result_of_one_config(workspace, config, known, runs):
    from workbench.running import folds_and_seeds

    number = sweep_of(workspace, config, known, "training.lr=0.01,0.03")
    Worker(workspace, number).run()
    experiment_id = sweeps.one(workspace, number).experiment_id
    assert folds_and_seeds.conclude(workspace, experiment_id) is None
    with pytest.raises(Problem, match="no unfinished experiment"):
        folds_and_seeds.unfinished(workspace, config)


@pytest.mark.parametrize("state", ["queued", "interrupted"])
def test_a_run_that_was_made_by_a_worker_that_was_killed_is_trained_and_not_made_again(
    state, workspace, config, known, runs, monkeypatch
):
    """Another program may have marked it as interrupted meanwhile."""
    number = sweep_of(workspace, config, known, "training.lr=0.01,0.03")

    def killed(workspace, trial, make_run):
        workspace.set_status(make_run(), state)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("workbench.workspace.experiments.sweep_worker.begin", killed)
        with pytest.raises(KeyboardInterrupt):
            Worker(workspace, number).run()
    with workspace.writing() as db:
        db.execute("update runs set pid = 1, born = 0")  # of a process that is gone
    assert Worker(workspace, number).run() == "done"
    assert len(workspace.runs()) == 2


@pytest.mark.parametrize("state", ["running", "interrupted"])
def test_a_run_whose_process_died_is_trained_apart_so_that_only_it_can_die_again(
    state, workspace, config, known, runs, monkeypatch
):
    """Another program may have marked it as interrupted meanwhile."""
    apart = []

    def in_own_process(workspace, run_id, control, *, resume, device, threads):
        apart.append((run_id, resume))
        return runs.make_job(workspace, run_id, control, resume=resume)

    monkeypatch.setattr(own_process, "make_job", in_own_process)
    number = sweep_of(workspace, config, known, "training.lr=0.01,0.03,0.1")
    runs.hold = 2
    interrupted_at_work(Worker(workspace, number), runs)
    assert apart == []
    with workspace.writing() as db:
        db.execute("update runs set status = ?, pid = 1, born = 0 where id = 2", (state,))  # of a process that is gone
    assert Worker(workspace, number).run() == "done"
    assert apart == [(2, True)]


class TwoAtOnce(FakeRuns):
    """Each run waits until two are at work, as long as there is another."""

    def __init__(self, count):
        super().__init__()
        self.meeting, self.left, self.devices = threading.Barrier(2), count, []

    def make_job(self, workspace, run_id, control, listen=None, *, resume=False, device="", threads=0):
        self.devices.append(device)
        return super().make_job(workspace, run_id, control, listen, resume=resume)

    def begin(self):
        self.meeting.wait(HANG)


def test_all_trials_of_a_worker_share_the_list_of_their_images(workspace, config, known, runs):
    number = sweep_of(workspace, config, known, "training.lr=1,2,3")
    assert Worker(workspace, number).run() == "done"
    assert len(runs.lists) == 3
    assert len({id(listed) for listed in runs.lists}) == 1
    assert runs.lists[0] is not None


@pytest.mark.parametrize("how", ["grid", "bayes"])
def test_two_workers_train_two_settings_at_once_and_none_twice(how, workspace, config, known, runs, monkeypatch):
    runs = TwoAtOnce(6)
    monkeypatch.setattr(own_process, "make_job", runs.make_job)
    words = "training.lr=1,2,3,4,5,6" if how == "grid" else "training.lr=1..6"
    number = sweep_of(workspace, config, known, words, how=how, **({} if how == "grid" else {"trials": 6}))
    assert Worker(workspace, number, devices=["cpu"], workers=2).run() == "done"
    trials = sweeps.trials(workspace, number)
    assert [trial.state for trial in trials] == ["done"] * 6
    assert len({tuple(trial.setting.values()) for trial in trials}) == 6
    assert runs.devices == ["cpu"] * 6


def test_two_workers_end_together_when_they_are_asked_to(workspace, config, known, runs, monkeypatch):
    both = TwoAtOnce(2)
    monkeypatch.setattr(own_process, "make_job", both.make_job)
    number = sweep_of(workspace, config, known, "training.lr=1,2,3,4")
    worker = Worker(workspace, number, lambda line: worker.interrupt() if "run 2" in line else None, workers=2)
    assert worker.run() == "active"
    assert states(workspace, number).count("queued") == 2  # the two that began have ended, whichever way
    assert "running" not in states(workspace, number)


def test_what_is_like_a_setting_that_trains_now_is_not_proposed():
    """The best so far is at the upper end, where four settings train."""
    lr = [read("training.lr=1e-4..1e-1:log")]
    tried = [({"training.lr": 10.0**-power}, 1.0 - power / 10) for power in (1, 1.5, 2, 2.5, 3, 3.5, 4)]
    now = [{"training.lr": rate} for rate in (0.095, 0.09, 0.08, 0.07)]
    beside = [*tried, *((setting, None) for setting in now)]
    seeds = range(10)
    alone = [next_proposal(lr, tried, seed, 9, least=False) for seed in seeds]
    others = [next_proposal(lr, beside, seed, 9, least=False, pending=now) for seed in seeds]
    assert sum(setting["training.lr"] > 0.05 for setting in alone) > 5
    assert sum(setting["training.lr"] > 0.05 for setting in others) < 3
    assert alone == [next_proposal(lr, tried, seed, 9, least=False) for seed in seeds]


def test_sweeps_that_share_one_of_their_gpus_wait_for_each_other(workspace, config, known, runs, monkeypatch):
    first, second, third = (sweep_of(workspace, config, known, "training.lr=0.01") for _ in range(3))
    sweep_worker.take(workspace, first, "cuda:0,cuda:1")
    assert sweep_worker.take_device(workspace, first, "cuda:0,cuda:1")
    assert not sweep_worker.is_next(workspace, second, "cuda:1,cuda:2")
    assert sweep_worker.is_next(workspace, third, "cuda:2")


def test_a_run_that_is_brought_back_at_the_last_moment_is_trained(workspace, config, known, runs, monkeypatch):
    runs.fail = 1
    number = sweep_of(workspace, config, known, "training.lr=0.01")
    real = sweeps.trials

    def looked(*args):
        found = real(*args)
        if found[0].state == "failed":  # the worker sees no run to train; a person brings the failed one back
            runs.fail = None
            sweeps.retry(workspace, number)
        return found

    monkeypatch.setattr(sweeps, "trials", looked)
    assert Worker(workspace, number).run() == "done"
    assert [trial.state for trial in real(workspace, number)] == ["done"]


def test_a_setting_of_which_a_run_failed_is_compared_with_none(workspace, config, known, runs):
    number = sweep_of(workspace, config, known, "training.lr=0.01,0.03", seeds=2)
    runs.fail = 3  # the first of the better setting
    Worker(workspace, number).run()
    trials = sweeps.trials(workspace, number)
    ranked = standings(sweeps.one(workspace, number), trials)
    assert [standing.point for standing in ranked] == [1, 2], "a mean over one of two runs is not the best"
    assert ranked[1].mean > ranked[0].mean
    assert [value for _, value in results_so_far(trials)] == [pytest.approx(0.8805), None]


@pytest.fixture
def used(workspace, config, known, runs, monkeypatch):
    """Runs a worker that ends at once; gives the device of its sweep and its runs at once."""
    monkeypatch.setattr("workbench.running.launch.device_named", lambda name: name)
    number = sweep_of(workspace, config, known, "training.lr=0.01,0.03")
    at_once = []

    class Ending(Worker):
        def _work(self, sweep, devices, locks):
            at_once.append((",".join(devices), self._workers))
            self.interrupt()

    def work(**options):
        Ending(workspace, number, **options).run()
        return at_once[-1]

    return work


def test_the_next_worker_uses_the_devices_and_runs_at_once_of_the_one_before(used):
    assert used() == ("cpu", 1)
    assert used(devices=["cuda:0", "cuda:1"], workers=4) == ("cuda:0,cuda:1", 4)
    assert used() == ("cuda:0,cuda:1", 4)
    assert used(workers=3) == used() == ("cuda:0,cuda:1", 3)
    assert used(devices=["cuda:2"]) == used() == ("cuda:2", 1)


def test_what_another_place_was_asked_for_is_not_used_here(used, workspace):
    sweep_worker.remember(workspace, 1, (), 8, "cluster")
    assert sweep_worker.remembered(workspace, 1, "cluster") == ((), 8)
    assert used() == ("cpu", 1)


@pytest.mark.parametrize(
    "stored",
    [
        '{"worker": {"devices": [1], "workers": 2, "place": ""}}',
        '{"worker": {"devices": [], "workers": 9999, "place": ""}}',
        '{"worker": 3}',
        "[]",
    ],
)
def test_what_a_workspace_cannot_have_remembered_is_not_used(used, workspace, stored):  # fmt: skip
    with workspace.writing() as db:
        db.execute("update experiments set result = ?", (stored,))
    assert used() == ("cpu", 1)


def test_a_device_of_before_that_this_machine_lacks_pauses_the_sweep_with_the_reason(workspace, used, monkeypatch):
    used(devices=["cuda:7"])

    def refuse(name):
        raise Problem(f"This machine has no {name}.")

    monkeypatch.setattr("workbench.running.launch.device_named", refuse)
    with pytest.raises(Problem, match=r"no cuda:7"):
        used()
    sweep = sweeps.one(workspace, 1)
    assert sweep.state == "paused"
    assert sweep.problem == "This machine has no cuda:7. `workbench sweep resume` with --devices uses others."
