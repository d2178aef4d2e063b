"""`workbench sweep`: what each word does to the workspace, and what it says."""

import json
import sys
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from tests.unit.class_folders import draw_classes
from workbench.cli import cli, main
from workbench.config import RunConfig
from workbench.places import records
from workbench.places.place import SshPlace
from workbench.problem import Problem
from workbench.running import launch, unusable
from workbench.sweeps import starting, worker
from workbench.workspace import Workspace
from workbench.workspace.experiments import sweep_worker, sweeps


@pytest.fixture
def place(tmp_path):
    return tmp_path / "w"


@pytest.fixture
def started(monkeypatch):
    """Sweeps for which a worker of its own was asked for; none is started."""
    asked = []
    monkeypatch.setattr(
        starting, "work_apart", lambda workspace, number, *devices_and_workers: asked.append(number) or True
    )
    return asked


def sweep(place, *words, fails=0):
    result = CliRunner().invoke(cli, ["sweep", *map(str, words), "-w", str(place)])
    assert result.exit_code == fails, result.output
    return result.output


@pytest.fixture
def images(tmp_path):
    """A folder of two classes."""
    draw_classes(tmp_path / "images", "ant", "bee", count=4)
    return tmp_path / "images"


def states(place):
    with Workspace(place) as workspace:
        return sweeps.one(workspace, 1).state, [trial.state for trial in sweeps.trials(workspace, 1)]


def test_a_device_that_the_machine_does_not_have_starts_no_worker(place, started, monkeypatch):
    """The worker would fail where nobody reads it."""
    sweep(place, "start", "sample-digits", "-p", "training.lr=0.1,0.2", "--detach")
    sweep(place, "pause", 1)
    started.clear()

    def refuse(name):
        raise Problem(f"This machine has no {name}.")

    monkeypatch.setattr(launch, "device_named", refuse)
    assert "This machine has no cuda:7." in sweep(place, "resume", 1, "--devices", "cuda:7", fails=1)
    assert (started, states(place)[0]) == ([], "paused")


def test_devices_of_before_that_the_machine_does_not_have_start_no_worker(place, started, monkeypatch):
    sweep(place, "start", "sample-digits", "-p", "training.lr=0.1,0.2", "--detach")
    sweep(place, "pause", 1)
    started.clear()
    with Workspace(place) as workspace:
        sweep_worker.remember(workspace, 1, ["cuda:6", "cuda:7"], 0)

    def look_for(name):
        if name == "cuda:7":
            raise Problem(f"This machine has no {name}.")
        return name

    monkeypatch.setattr(launch, "device_named", look_for)
    assert "This machine has no cuda:7." in sweep(place, "resume", 1, fails=1)
    assert (started, states(place)[0]) == ([], "paused")
    sweep(place, "resume", 1, "--devices", "cuda:6")
    assert (started, states(place)[0]) == ([1], "active")


def test_a_sweep_goes_on_where_its_terminal_is_gone(place, started, monkeypatch):
    sweep(place, "start", "sample-digits", "-p", "training.lr=0.1,0.2", "--detach")
    goes_on = []

    class Speaking:
        def __init__(self, workspace, number, say, **_):
            self._say = say

        def run(self):
            self._say("Setting 1")
            goes_on.append(True)
            return "paused"

        def interrupt(self):
            """Nobody does."""

    def gone(text):
        raise BrokenPipeError("nobody reads this")

    monkeypatch.setattr(worker, "Worker", Speaking)
    monkeypatch.setattr(sys, "stderr", SimpleNamespace(write=gone, flush=lambda: gone("")))
    main(["sweep", "run", "1", "-w", str(place)])
    assert goes_on


def test_a_sweep_is_started_listed_paused_resumed_and_cancelled(place, started):
    said = sweep(place, "start", "sample-digits", "-p", "training.lr=0.1,0.2", "--seeds", 2, "--detach")
    assert "Sweep 1: 2 settings, 4 runs, by MAP@R." in said
    assert started == [1]
    assert "0 of 4" in sweep(place, "list")
    shown = sweep(place, "show", 1)
    assert "| 1 | 0.1 |  |  | 2 queued |" in shown
    assert "| setting | Learning rate | MAP@R, mean ± SD over its runs | runs |" in shown
    assert "Varied: training.lr=0.1,0.2" in shown
    sweep(place, "pause", 1)
    assert states(place)[0] == "paused"
    sweep(place, "resume", 1)
    assert states(place)[0] == "active"
    sweep(place, "cancel", 1)
    assert states(place) == ("cancelled", ["cancelled"] * 4)
    assert "Retry brings" in sweep(place, "resume", 1, fails=1)
    assert "4 runs are back in the queue." in sweep(place, "retry", 1)
    assert states(place) == ("active", ["queued"] * 4)
    assert started == [1, 1, 1]
    assert "no failed or cancelled run" in sweep(place, "retry", 1, fails=1)
    said = sweep(place, "retry", 1, "--run", 9, fails=2)
    assert f"has no run 9. `workbench sweep show 1 --workspace {place}` lists its runs." in said
    assert "no sweep 5" in sweep(place, "show", 5, fails=2)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["-p", "loss.scale=1,2"], "loss.scale: There is no such field."),
        ([], "Name at least one field"),
        (["-p", "training.lr=0.1..0.2"], "A grid needs values"),
        (["-p", "training.lr=0.1", "--metric", "validation/MAP@R"], "needs images held out"),
        (["-p", "training.lr=0.1", "--trials", "3"], "A grid takes every combination"),
    ],
)
def test_what_cannot_be_swept_is_one_sentence_and_status_2(place, started, words, said):
    assert said in sweep(place, "start", "sample-digits", *words, fails=2)
    assert not place.exists(), "nothing was made"


def test_held_out_classes_choose_the_objective(place, started):
    held = ("--set", "split.name=classes", "--set", "split.validation=0.2", "-p", "training.lr=1e-3..1e-1:log")
    said = sweep(place, "start", "sample-digits", *held, "--how", "bayes", "--trials", 5, "--detach")
    assert "by validation/MAP@R." in said
    assert "Optimistic" not in said
    assert "is measured on the test set" in sweep(
        place, "start", "sample-digits", *held, "--metric", "MAP@R", "--how", "random", fails=2
    )


@pytest.mark.parametrize(("varied", "fails"), [("training.lr=0.1,0.2", 1), ("training.batch_size=64,4", 0)])
def test_a_sweep_is_refused_where_no_setting_has_the_classes_for_a_batch(place, started, images, varied, fails):
    batches = ("--set", "sampler.name=classes_images", "--set", "training.batch_size=64", "--set", "split.name=random")
    data = ("--set", "dataset.name=folder", "--set", f"dataset.folder={images}")
    said = sweep(place, "start", "sample-digits", "-p", varied, *batches, *data, "--detach", fails=fails)
    assert "needs more classes than the 2 of the training set" in said
    assert ("1 of 2 settings cannot be trained with these data, such as batch 64. " in said) == (not fails)
    assert started == ([] if fails else [1])


def test_fields_of_a_papers_sweep_are_set_by_the_person_last(place, started, images):
    """The sweep's own folds are a field of another split; a field that it sets can be set otherwise."""
    data = ("--set", "dataset.name=folder", "--set", f"dataset.folder={images}", "--set", "backbone.name=conv4")
    split = ("--set", "split.name=random", "--set", "training.patience=0", "--set", "loss.epsilon=0.5")
    batch = ("--set", "training.batch_size=4", "--set", "sampler.images_per_class=2", "--set", "loss.pool=2")
    small = ("--set", "augmentation.name=none", "--set", "device=cpu", "-p", "loss.inner=triplet,multi_similarity")
    said = sweep(place, "start", "ccp-alternating", *data, *split, *batch, *small, "--detach")
    assert "4 settings, 4 runs, by MAP@R." in said
    with Workspace(place) as workspace:
        config = RunConfig.recorded(sweeps.one(workspace, 1).config)
    assert (config.split.name, config.loss.params["epsilon"]) == ("random", 0.5)


def test_a_field_that_a_papers_sweep_varies_cannot_be_set(place, started):
    said = sweep(place, "start", "ice-scale", "--set", "loss.scale=8", fails=2)
    assert "loss.scale: The sweep varies it, so --set would have no effect." in said
    assert not place.exists()


def test_the_table_of_a_sweep_names_fields_and_values_as_the_window_does(place, started):
    varied = ("-p", "training.lr=1e-8,0.5", "-p", "loss.name=ce,norm_ce")
    sweep(place, "start", "sample-digits", *varied, "--detach")
    shown = sweep(place, "show", 1)
    assert "| setting | Learning rate | Loss |" in shown
    assert "| 1 | 1×10⁻⁸ | Cross-entropy (CE) |" in shown


def test_a_papers_sweep_is_started_by_name_with_other_values(place, started, monkeypatch):
    monkeypatch.setattr(unusable, "refuse_unusable", lambda *_, **__: None)  # the papers' data are not here
    said = sweep(place, "start", "ice-scale", "--detach")
    assert "6 settings, 6 runs, by recall@1." in said
    assert "Source: Wang et al. 2019 (ICE), Table 2" in sweep(place, "show", 1)
    assert "2 settings" in sweep(place, "start", "ice-scale", "-p", "loss.scale=8,16", "--detach")
    assert "40 settings, 40 runs, by validation/MAP@R." in sweep(place, "start", "ccp-proxies-penalty", "--detach")
    assert "by MAP@R." in sweep(place, "start", "ice-scale", "--metric", "MAP@R", "--detach")
    assert "by linear/top-1." in sweep(place, "start", "psce-prototypes", "--detach")
    no_probe = ("--set", "evaluation.linear_probe=false")
    assert "by MAP@R." in sweep(place, "start", "psce-prototypes", *no_probe, "--detach")
    listed = CliRunner().invoke(cli, ["sweep", "presets"]).output
    assert "rankmi-depth" in listed
    assert "loss.penalty=1e-05..0.1:log" in listed


def test_a_sweep_is_shown_and_listed_as_json(place, started):
    sweep(place, "start", "sample-digits", "-p", "training.lr=0.1,0.2", "--seeds", 2, "--detach")
    (listed,) = json.loads(sweep(place, "list", "--json"))
    assert (listed["sweep"], listed["state"], listed["runs"], listed["runs_done"]) == (1, "active", 4, 0)
    with Workspace(place) as workspace:
        slow, _, fast, _ = sweeps.trials(workspace, 1)
        for trial, value in ((slow, 0.25), (fast, 0.5)):
            sweep_worker.end(workspace, trial, "done", objective=value)
    shown = json.loads(sweep(place, "show", 1, "--json"))
    assert {name: shown[name] for name in listed if name not in ("runs_done", "seconds_left")}.items() <= shown.items()
    best, other = shown["settings"]
    assert (best["values"], best["mean"], other["mean"]) == ({"training.lr": 0.2}, 0.5, 0.25)
    assert [(run["seed"], run["state"], run["value"]) for run in best["runs"]] == [
        (0, "done", 0.5),
        (1, "queued", None),
    ]
    assert "no sweep 5" in sweep(place, "show", 5, "--json", fails=2)


def test_a_paused_sweep_is_not_worked_on_by_chance(place, started):
    sweep(place, "start", "sample-digits", "-p", "training.lr=0.1,0.2", "--detach")
    sweep(place, "pause", 1)
    assert "is paused" in sweep(place, "run", 1, fails=1)


def test_a_sweep_whose_runs_all_failed_ends_with_status_1(place, started, images):
    own = ("--set", "dataset.name=folder", "--set", f"dataset.folder={images}", "--set", "training.batch_size=4")
    sweep(place, "start", "sample-digits", *own, "-p", "training.lr=0.1,0.2", "--detach")
    images.rename(images.with_name("elsewhere"))
    assert "Every run of the sweep failed." in sweep(place, "run", 1, fails=1)
    assert states(place)[1] == ["failed", "failed"]


@pytest.mark.parametrize("how", [("grid",), ("random", "--trials", 1), ("bayes", "--trials", 1)])
def test_data_that_cannot_be_used_are_named_before_a_sweep_is_made(place, started, images, how):
    words = ("start", "sample-digits", "--set", "dataset.name=folder", "--detach", "--how", *how)
    said = sweep(place, *words, "-p", f"dataset.folder={images / 'gone'}", fails=1)
    assert said.startswith("There is no folder or archive")
    assert "Nothing was started." in said
    assert not place.exists(), "nothing was made"
    assert "Sweep 1: 1 setting, 1 run, by MAP@R." in sweep(place, *words, "-p", f"dataset.folder={images}")


def test_a_device_that_is_not_here_is_named_before_a_sweep_is_made(place, started):
    words = ("start", "sample-digits", "-p", "training.lr=0.1,0.2", "--detach")
    for devices in (("--devices", "cuda:77"), ("--devices", "cuda:77,cuda:78"), ("--set", "device=cuda:77")):
        said = sweep(place, *words, *devices, fails=1)
        assert "Nothing was started." in said
        assert "GPU" in said
    assert not place.exists(), "nothing was made"


def test_no_setting_has_a_path_that_leads_nowhere(place, started, images):
    words = ("start", "sample-digits", "--set", "training.batch_size=4", "--detach")
    folders = ("--set", "dataset.name=folder", "-p", f"dataset.folder={images},{images / 'typo'}")
    said = sweep(place, *words, *folders, fails=1)
    assert said.startswith(f"There is no folder or archive {images / 'typo'}, which dataset.folder would be set to.")
    assert not place.exists(), "nothing was made"
    lists = ("--set", "dataset.name=csv", "-p", f"dataset.file={images / 'ant' / '0.png'},{images / 'list.csv'}")
    assert f"There is no file {images / 'list.csv'}" in sweep(place, *words, *lists, fails=1)


def test_the_data_of_a_place_are_not_looked_for_here(place, started, images, monkeypatch):
    box = SshPlace(name="box", host="box", data={str(images): "/data/images"})
    monkeypatch.setattr(records, "named", lambda name: box)
    monkeypatch.setattr(starting, "work_apart", lambda *_: True)
    gone = ("--set", "dataset.name=folder", "--set", f"dataset.folder={images / 'gone'}")
    assert "Sweep 1" in sweep(
        place, "start", "sample-digits", *gone, "-p", "training.lr=0.1", "--place", "box", "--detach"
    )


@pytest.mark.parametrize("varied", [True, False], ids=["varied", "of every setting"])
def test_a_path_that_is_not_known_at_the_place_is_named_before_a_sweep_is_made(
    place, started, images, monkeypatch, varied
):
    box = SshPlace(name="box", host="box", data={str(images / "known"): "/data/images"})
    monkeypatch.setattr(records, "named", lambda name: box)
    monkeypatch.setattr(starting, "work_apart", lambda *_: True)
    words = ("start", "sample-digits", "--set", "dataset.name=folder", "--place", "box", "--detach")
    if varied:
        words += ("-p", f"dataset.folder={images / 'known'},{images / 'other'}")
    else:
        words += ("--set", f"dataset.folder={images / 'other'}", "-p", "training.lr=0.1,0.2")
    assert f"Where {images / 'other'} is at box is not known. Nothing was started." in sweep(place, *words, fails=1)
    assert not place.exists(), "nothing was made"


def test_a_place_that_is_not_known_changes_nothing(place, started, tmp_path, monkeypatch):
    monkeypatch.setenv("WORKBENCH_PLACES", str(tmp_path / "places"))
    said = sweep(place, "start", "sample-digits", "-p", "training.lr=0.1,0.2", "--place", "nope", fails=2)
    assert "There is no place nope." in said
    assert not place.exists(), "nothing was made"
    sweep(place, "start", "sample-digits", "-p", "training.lr=0.1,0.2", "--detach")
    sweep(place, "pause", 1)
    assert "There is no place nope." in sweep(place, "resume", 1, "--place", "nope", fails=2)
    assert states(place)[0] == "paused"


def test_a_sweep_that_ended_says_what_brings_it_back(place, started):
    sweep(place, "start", "sample-digits", "-p", "training.lr=0.1,0.2", "--detach")
    sweep(place, "cancel", 1)
    assert "`workbench sweep retry 1` brings" in sweep(place, "run", 1, fails=1)


def test_what_is_retried_has_as_many_workers_and_the_devices_that_are_asked_for(place, monkeypatch):
    asked = []
    monkeypatch.setattr(starting, "work_apart", lambda _, *wanted: asked.append(wanted) or True)
    sweep(place, "start", "sample-digits", "-p", "training.lr=0.1,0.2", "--detach")
    sweep(place, "cancel", 1)
    sweep(place, "retry", 1, "--workers", 2, "--devices", "cpu")
    assert asked[-1] == (1, ("cpu",), 2, "")


class Ended:
    """In place of a worker: a sweep that ends in the state `state`, whose reason is `why`."""

    state, why = "done", ""

    def __init__(self, workspace, number, say, **_):
        self._workspace, self._number = workspace, number

    def run(self):
        sweeps.set_state(self._workspace, self._number, self.state, self.why)
        return self.state

    def interrupt(self):
        """Nobody does."""


@pytest.mark.parametrize(
    ("state", "why", "status", "said"),
    [
        ("done", "", 0, "2 runs"),
        ("paused", "", 130, "Continue with: workbench sweep resume 1 --workspace "),
        ("paused", "The images are gone.", 1, "Sweep 1 is paused: The images are gone. Its runs are kept. Continue "),
    ],
)
def test_the_json_of_a_sweep_is_all_of_its_output_and_its_status_says_how_it_ended(
    place, started, monkeypatch, state, why, status, said
):
    monkeypatch.setattr(worker, "Worker", type("Now", (Ended,), {"state": state, "why": why}))
    words = ["sweep", "start", "sample-digits", "-p", "training.lr=0.1,0.2", "--json", "-w", str(place)]
    ended = CliRunner().invoke(cli, words)
    shown = CliRunner().invoke(cli, ["sweep", "show", "1", "--json", "-w", str(place)])
    assert (ended.exit_code, json.loads(ended.stdout)) == (status, json.loads(shown.stdout))
    assert said in ended.stderr


def test_a_sweep_that_is_started_elsewhere_gives_its_number(place, started):
    words = ["sweep", "start", "sample-digits", "-p", "training.lr=0.1,0.2", "--detach", "--quiet", "-w", str(place)]
    assert CliRunner().invoke(cli, words).stdout.startswith("Sweep 1: 2 settings, 2 runs, by MAP@R.")
    assert json.loads(CliRunner().invoke(cli, [*words, "--json"]).stdout)["sweep"] == 2
