"""Settings of a Bayesian sweep that cannot be trained: said before the start, not counted, with their reason."""

import pytest

from workbench.commands.training.sweep_table import as_data, table
from workbench.config import BadConfig
from workbench.running.listed import Listed
from workbench.settings.changed import changed, read_config
from workbench.sweeps import proposals, starting
from workbench.sweeps.plan import planned
from workbench.sweeps.progress import runs_in_all, state_words
from workbench.sweeps.space import read
from workbench.sweeps.worker import Worker
from workbench.workspace.experiments import sweeps

LOSSES, RATES = "loss.name=norm_ce,triplet,contrastive", "training.lr=0.01..0.05"
REASON = "sampler.name: Triplet needs several images of a class in a batch"


@pytest.fixture(scope="module")
def config(known):
    return changed(read_config("sample-digits"), {"device": "cpu"}, known, "test")


def plan_of(config, known, *parameters, trials=6, **options):
    return planned(config, [read(text) for text in parameters], "bayes", known, trials=trials, **options)


def split(workspace, number):
    """The trials that are not refused, and those that are."""
    trials = sweeps.trials(workspace, number)
    return [trial for trial in trials if not trial.refused], [trial for trial in trials if trial.refused]


def test_what_cannot_be_trained_is_not_counted_and_said_with_its_reason(workspace, config, known, runs):
    number = starting.store(workspace, plan_of(config, known, LOSSES, RATES, seeds=2))
    lines = []
    assert Worker(workspace, number, lines.append).run() == "done"
    trained, refused = split(workspace, number)
    assert [trial.state for trial in trained] == ["done"] * 12, "six settings of two seeds"
    assert {trial.setting["loss.name"] for trial in trained} == {"norm_ce"}
    assert len({trial.point for trial in refused}) == len(refused) > 0, "one line each, whatever the seeds"
    assert {trial.setting["loss.name"] for trial in refused} == {"triplet", "contrastive"}
    assert sum("refused, and not counted. sampler.name: " in line for line in lines) == len(refused)
    sweep, trials = sweeps.one(workspace, number), sweeps.trials(workspace, number)
    assert (runs_in_all(sweep, trials), state_words(sweep, trials)) == (12, "Done")
    shown = table(workspace, number)
    counted = f"{len(refused)} proposed settings were refused before training, as the fields do not fit together, "
    counted += "or do not fit the data, and "
    assert f"{counted}are not counted as trials." in shown
    triplets = ", ".join(str(trial.point) for trial in refused if trial.setting["loss.name"] == "triplet")
    assert [line for line in shown if line.startswith(f"Settings {triplets}, refused: {REASON}")]
    assert sum(line.endswith("| 1 refused |") for line in shown) == len(refused)
    marked = [run["refused"] for setting in as_data(workspace, number)["settings"] for run in setting["runs"]]
    assert sorted(marked) == [False] * 12 + [True] * len(refused)


def test_batches_that_the_data_do_not_have_are_known_once_they_are_listed_and_not_counted(
    workspace, config, known, runs, monkeypatch
):
    """The training set has 898 images."""
    number = starting.store(workspace, plan_of(config, known, "training.batch_size=600,898,899,1000", trials=4))
    lines, listed = [], Listed()
    assert Worker(workspace, number, lines.append, listed=listed).run() == "done"
    trained, refused = split(workspace, number)
    assert sorted(trial.setting["training.batch_size"] for trial in trained) == [600, 898]
    assert sorted(trial.setting["training.batch_size"] for trial in refused) == [899, 1000]
    assert all(
        trial.problem == f"training.batch_size: A batch of {trial.setting['training.batch_size']} is larger than the "
        "training set, which has 898 images." for trial in refused
    )  # fmt: skip
    assert [one for one in runs.lists if one is not listed] == [], "the runs have what was listed"
    assert runs_in_all(sweeps.one(workspace, number), sweeps.trials(workspace, number)) == 2


def test_sizes_that_the_network_does_not_take_are_not_counted(workspace, config, known, runs):
    network = changed(config, {"backbone.name": "timm", "backbone.model": "test_vit"}, known, "test")
    number = starting.store(workspace, plan_of(network, known, "dataset.image_size=32,40,48", trials=3))
    assert Worker(workspace, number).run() == "done"
    trained, refused = split(workspace, number)
    assert sorted(trial.setting["dataset.image_size"] for trial in trained) == [32, 48]
    assert [trial.setting["dataset.image_size"] for trial in refused] == [40]


def test_data_that_cannot_be_listed_are_left_to_the_run(workspace, config, known, runs, tmp_path):
    """A folder that was there when the sweep was planned: the run fails with the reason, and can be retried."""
    lost = changed(config, {"dataset.name": "folder", "dataset.folder": str(tmp_path / "gone")}, known, "test")
    number = starting.store(workspace, plan_of(lost, known, "training.batch_size=16,32", trials=2))
    assert Worker(workspace, number).run() == "done"
    assert len(runs.began) == 2
    assert split(workspace, number)[1] == []


@pytest.mark.parametrize("part", ["build_sampler", "list_images"])
def test_a_plug_in_that_breaks_while_the_data_are_looked_at_is_left_to_the_run(
    workspace, config, known, runs, monkeypatch, part
):
    def broken(*_):
        raise RuntimeError("a defect")

    monkeypatch.setattr(f"workbench.running.building.{part}", broken)
    number = starting.store(workspace, plan_of(config, known, "training.batch_size=16,32", trials=2))
    assert Worker(workspace, number).run() == "done"
    assert len(runs.began) == 2


def test_what_was_refused_is_not_retried(workspace, config, known, runs):
    runs.fail = 1
    number = starting.store(workspace, plan_of(config, known, LOSSES, RATES))
    Worker(workspace, number).run()
    assert state_words(sweeps.one(workspace, number), sweeps.trials(workspace, number)) == "Done, 1 failed"
    _, refused = split(workspace, number)
    runs.fail = None
    assert sweeps.retry(workspace, number) == 1
    assert Worker(workspace, number).run() == "done"
    trained, again = split(workspace, number)
    assert again == refused
    assert [trial.state for trial in trained] == ["done"] * 6


def test_a_sweep_whose_other_settings_are_all_refused_is_done(workspace, config, known, runs, monkeypatch):
    asked, propose = [], proposals.next_proposal
    monkeypatch.setattr(
        proposals, "next_proposal", lambda *args, **named: asked.append(len(args[1])) or propose(*args, **named)
    )
    monkeypatch.setattr("workbench.sweeps.plan.TRIED_OUT", 5)
    plan = plan_of(config, known, LOSSES, "training.lr=0.01,0.02")
    number = starting.store(workspace, plan)
    assert plan.trials == 6, "not all of the settings were checked"
    assert Worker(workspace, number).run() == "done"
    trained, refused = split(workspace, number)
    assert (len(trained), len(refused)) == (2, 4)
    sweep, trials = sweeps.one(workspace, number), sweeps.trials(workspace, number)
    assert runs_in_all(sweep, trials) == 2
    assert any(line.endswith("not counted as trials. No other setting is left.") for line in table(workspace, number))
    assert asked == [0, 1, 2, 3, 4, 5], "with two workers one would look for another again and again"


def test_a_sweep_that_proposes_only_what_cannot_be_trained_is_paused(workspace, config, known, runs, monkeypatch):
    monkeypatch.setattr("workbench.sweeps.worker.MOST_REFUSED", 3)
    monkeypatch.setattr("workbench.sweeps.worker.refusal", lambda *_: "loss.name: It is gone.")
    number = starting.store(workspace, plan_of(config, known, RATES))
    assert Worker(workspace, number).run() == "paused"
    assert len(sweeps.trials(workspace, number)) == 3
    assert sweeps.one(workspace, number).problem == (
        "3 proposed settings in a row cannot be trained, so it was paused. The last: loss.name: It is gone."
    )


def test_a_sweep_that_is_cancelled_while_it_looks_for_a_setting_stays_cancelled(
    workspace, config, known, runs, monkeypatch
):
    monkeypatch.setattr("workbench.sweeps.worker.MOST_REFUSED", 3)
    monkeypatch.setattr("workbench.sweeps.worker.refusal", lambda *_: "loss.name: It is gone.")
    number = starting.store(workspace, plan_of(config, known, RATES))
    assert Worker(workspace, number, lambda line: sweeps.cancel(workspace, number)).run() == "cancelled"
    assert len(sweeps.trials(workspace, number)) == 1


def test_a_plan_says_how_many_settings_cannot_be_trained_and_refuses_one_of_which_none_can(config, known):
    few = plan_of(config, known, LOSSES, "training.lr=0.01,0.02")
    assert few.trials == 2
    assert few.fewer == "These values have only 2 combinations that can be trained: 2 trials instead of 6."
    assert few.refused.startswith("4 of the 6 settings cannot be trained.")
    (_, said) = plan_of(config, known, LOSSES, RATES).remarks
    assert " of 50 random settings cannot be trained. The sweep does not count such settings as trials. " in said
    assert "One of the reasons: sampler.name: " in said
    assert not plan_of(config, known, "loss.name=norm_ce,ce", RATES).refused
    with pytest.raises(BadConfig, match="needs several images of a class"):
        plan_of(config, known, "loss.name=triplet,contrastive", RATES)


def test_a_worker_that_is_interrupted_while_it_lists_the_data_ends(workspace, config, known, runs, monkeypatch):
    number = starting.store(workspace, plan_of(config, known, "training.batch_size=16,32", trials=2))
    worker = Worker(workspace, number)

    def list_images(config, progress, listed):
        worker.interrupt()
        progress("Listing", 0, 0)
        raise AssertionError("it goes on")

    monkeypatch.setattr("workbench.running.building.list_images", list_images)
    assert worker.run() == "active"
    assert sweeps.trials(workspace, number) == [], "what was not looked at is proposed again"
