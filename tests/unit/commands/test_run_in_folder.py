"""`workbench run --folder`: what a killed process left unmade is made, and other folders are refused with advice."""

import json
import math
import os
from time import monotonic, sleep

import pytest

from tests.full_disk import full_for
from tests.unit.workspace.test_workspace import Images, evaluated
from tests.waits import HANG
from workbench.cli import main
from workbench.config import RunConfig
from workbench.events import Status
from workbench.jobs import Job
from workbench.problem import Problem
from workbench.running import folds_and_seeds, launch
from workbench.workspace import Workspace
from workbench.workspace.folders import travelling
from workbench.workspace.folders.dataset_copy import ExperimentCopy
from workbench.workspace.recorders.folder_recorder import FolderRecorder

ONE, TWO = 'name = "one"\ndevice = "cpu"\n', 'name = "two"\ndevice = "cpu"\nseeds = 2\n'
DEAD = ".run.json.4194999-0a1b2c3d.part"  # what a process leaves that was killed while it wrote; no such process lives


@pytest.fixture(autouse=True)
def trained(monkeypatch):
    """In place of training: the names of the folders whose runs begin, and whether they were resumed."""
    begun = []

    def job(folder, control, listen=None, *, resume=False, device=""):
        begun.append((folder.name, resume))
        return Job("run", lambda control, emit: None, FolderRecorder(folder, control), control)

    monkeypatch.setattr(launch, "make_folder_job", job)
    return begun


@pytest.fixture
def start(tmp_path):
    """Runs the command with a config, and returns its exit status."""

    def run(text, *words):
        (tmp_path / "config.toml").write_text(text, "utf-8")
        return main(["run", str(tmp_path / "config.toml"), "--folder", str(tmp_path / "runs"), "--quiet", *words])

    return run


def killed(folder, children, group, left):
    """Folders as a process leaves them that is killed while it makes them: `left` are the files of each."""
    for at, names in enumerate(left):
        own = folder if len(children) == 1 else folder / str(at + 1)
        travelling.make(own, children[at].config, group)
        for name in (travelling.CARD, "experiment.json", "config.toml"):
            if name not in names:
                (own / name).unlink(missing_ok=True)
        if DEAD in names:
            (own / DEAD).write_text('{"run"', "utf-8")


def scored(scores_of):
    """In place of training: runs whose evaluations have the scores of their folder."""

    def job(folder, control, listen=None, *, resume=False, device=""):
        recorder, images = FolderRecorder(folder, control), Images()

        def train(control, emit):
            recorder.read(images, None)
            for epoch, score in enumerate(scores_of[folder.name]):
                emit(evaluated(images, epoch, 10 * epoch, score))

        return Job("run", train, recorder, control)

    return job


def test_after_several_runs_there_is_their_table_as_in_a_workspace(tmp_path, monkeypatch, start, capsys):
    monkeypatch.setattr(launch, "make_folder_job", scored({"1": [0.5, 0.25], "2": [0.3, 0.7]}))
    assert start(TWO) == 0
    table = [
        "| two | n | R@1 % | P@R % | MAP@R % |",
        "|---|---|---|---|---|",
        "| mean ± SD over seeds | 2 | 75.00 ± 0.00 | – | 60.00 ± 14.14 |",
    ]
    assert capsys.readouterr().out.splitlines()[-3:] == table
    assert start(TWO, "--resume") == 0
    assert capsys.readouterr().out.splitlines()[-3:] == table, "also where both were done already"


def test_of_several_folds_it_is_said_where_they_are_joined(tmp_path, monkeypatch, start, capsys):
    monkeypatch.setattr(launch, "make_folder_job", scored({str(number): [0.5] for number in range(1, 5)}))
    assert start('name = "folds"\ndevice = "cpu"\n[split]\nname = "mlrc"\n') == 0
    said = capsys.readouterr().out.splitlines()[-1]
    assert said == f"The folds are joined where they arrive: workbench ingest {tmp_path / 'runs'} --workspace DIR"


@pytest.mark.parametrize("asked", ["before it listens", "while it trains"])
def test_a_file_in_its_folder_asks_a_run_to_end_after_its_epoch(tmp_path, start, monkeypatch, asked):
    """A signal would end a process that still loads its libraries."""
    file = tmp_path / "runs" / travelling.AFTER_EPOCH

    def job(folder, control, listen=None, *, resume=False, device=""):
        def train(control, emit):
            if asked == "while it trains":
                file.touch()
            end = monotonic() + HANG
            while not control.stop_asked:
                assert monotonic() < end, "it was not asked"
                sleep(0.01)
            emit(Status("stopped"))

        if asked == "before it listens":
            file.touch()
        return Job("run", train, FolderRecorder(folder, control), control)

    monkeypatch.setattr(launch, "make_folder_job", job)
    assert start(ONE) == 0
    assert not file.exists(), "the next start does not see it"


@pytest.mark.parametrize(
    ("scores", "said"),
    [
        ([0.5, 0.9, 0.7], "Best MAP@R 90.00%, R@1 75.00% at epoch 1; optimistic, as it was chosen on the test set."),
        ([math.nan, 0.25], "Best MAP@R 25.00%, R@1 75.00% at epoch 1; optimistic"),
        ([], "runs: done.\n"),
    ],
)
def test_the_end_of_a_run_has_its_scores_as_in_a_workspace(tmp_path, monkeypatch, capsys, scores, said):
    monkeypatch.setattr(launch, "make_folder_job", scored({"runs": scores}))
    (tmp_path / "config.toml").write_text(ONE, "utf-8")
    assert main(["run", str(tmp_path / "config.toml"), "--folder", str(tmp_path / "runs")]) == 0
    assert said in capsys.readouterr().out


FIRST = ["config.toml", "experiment.json"]
LEFT = [
    [[*FIRST, travelling.CARD]],
    [[*FIRST, travelling.CARD], ["config.toml"]],
    [[*FIRST, travelling.CARD], [*FIRST, DEAD]],
    [[*FIRST, travelling.CARD], [DEAD]],
    [FIRST],
    [["config.toml"]],
]


@pytest.mark.parametrize("left", LEFT, ids=repr)
def test_folders_that_a_killed_process_left_unmade_are_made_by_resuming(tmp_path, start, trained, left):
    (tmp_path / "config.toml").write_text(TWO, "utf-8")
    config = RunConfig.from_toml(tmp_path / "config.toml")
    group = ExperimentCopy(name="two", config=config.to_toml(), created="2026-01-01T00:00:00+00:00")
    killed(tmp_path / "runs", folds_and_seeds.children(config), group, left)
    assert start(TWO, "--resume") == 0
    assert trained == [("1", False), ("2", False)]
    stored = [json.loads((tmp_path / "runs" / name / "experiment.json").read_text("utf-8")) for name in "12"]
    assert stored[0] == stored[1]
    assert (stored[0]["created"] == group.created) == ("experiment.json" in left[0])
    assert not [name for name in os.listdir(tmp_path / "runs" / "2") if name.endswith(".part")]
    assert main(["ingest", str(tmp_path / "runs"), "-w", str(tmp_path / "space")]) in (0, 1)  # its runs have no arrays
    with Workspace(tmp_path / "space") as workspace:
        assert {run.experiment_id for run in workspace.runs()} == {1}


@pytest.mark.parametrize("words", [(), ("--resume",)])
@pytest.mark.parametrize("left", [["config.toml"], ["config.toml", DEAD]], ids=repr)
def test_one_folder_that_was_not_made_whole_is_made_in_either_way(tmp_path, start, trained, left, words):
    (tmp_path / "config.toml").write_text(ONE, "utf-8")
    config = RunConfig.from_toml(tmp_path / "config.toml")
    killed(tmp_path / "runs", folds_and_seeds.children(config), None, [left])
    assert start(ONE, *words) == 0
    assert trained == [("runs", False)]


@pytest.mark.parametrize("text", [ONE, TWO])
def test_a_folder_without_a_run_is_not_resumed_and_the_advice_is_right(tmp_path, start, trained, capsys, text):
    assert start(text, "--resume") == 1
    said = capsys.readouterr().err
    assert f"There is no run in {tmp_path / 'runs'}: nothing can be resumed." in said
    assert "Leave --resume out to start one." in said
    assert not (tmp_path / "runs").exists()
    assert start(text) == 0
    assert len(trained) == (1 if text is ONE else 2)


@pytest.mark.parametrize("words", [(), ("--resume",)])
@pytest.mark.parametrize("name", ["notes.txt", "journal.jsonl", "config.toml"])
def test_a_folder_with_other_files_and_no_run_is_left_as_it_is(tmp_path, start, trained, capsys, name, words):
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / name).write_text("mine", "utf-8")
    assert start(ONE, *words) == 1
    said = capsys.readouterr().err
    assert "has no run: there is no run.json in it." in said
    assert "Name a new folder." in said
    assert "--resume" not in said
    assert (os.listdir(tmp_path / "runs"), trained) == ([name], [])
    assert (tmp_path / "runs" / name).read_text("utf-8") == "mine"


def test_no_folder_is_made_where_one_of_them_is_taken(tmp_path, start, trained):
    (tmp_path / "runs" / "2").mkdir(parents=True)
    (tmp_path / "runs" / "2" / "notes.txt").write_text("mine", "utf-8")
    assert start(TWO) == 1
    assert os.listdir(tmp_path / "runs") == ["2"]


def test_several_runs_are_not_made_in_the_folder_of_one(tmp_path, start, trained, capsys):
    assert start(ONE) == 0
    for words in ((), ("--resume",)):
        assert start(TWO, *words) == 1
        assert "There is one run in" in capsys.readouterr().err
    assert not (tmp_path / "runs" / "1").exists()


def test_a_folder_is_made_by_one_process_at_a_time(tmp_path, start, capsys):
    (tmp_path / "runs").mkdir()
    held = travelling.locked(tmp_path / "runs")
    try:
        assert start(ONE) == 1
        assert "Another process is working" in capsys.readouterr().err
    finally:
        os.close(held)
    assert start(ONE) == 0


def test_a_folder_of_another_config_is_refused_before_the_unmade_ones_are_made(start, tmp_path, trained):
    """Else the folder that was missing would have the wrong config, and the right one could not go on either."""
    (tmp_path / "config.toml").write_text(TWO, "utf-8")
    config = RunConfig.from_toml(tmp_path / "config.toml")
    killed(tmp_path / "runs", folds_and_seeds.children(config), None, [["config.toml", travelling.CARD]])
    assert start(f"{TWO}[training]\nepochs = 7\n", "--resume") == 1
    assert not (tmp_path / "runs" / "2").exists()
    assert start(TWO, "--resume") == 0
    assert [name for name, _ in trained] == ["1", "2"]


def test_a_run_that_was_done_is_said_to_be(tmp_path, start, capsys):
    assert start(ONE) == 0
    assert capsys.readouterr().out.endswith(f"The run in {tmp_path / 'runs'}: done.\n")
    assert start(ONE, "--resume") == 0
    assert capsys.readouterr().out == f"The run in {tmp_path / 'runs'} was done already.\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--detach"], "--detach needs --place."),
        (["--devices", "gpu"], "'gpu' is not a device"),
        (["--devices", "0,0"], "cuda:0 is named twice"),
    ],
)
def test_options_that_mean_nothing_are_wrong_usage(start, trained, capsys, words, said):
    assert start(ONE, *words) == 2
    assert said in capsys.readouterr().err
    assert not trained


def test_a_run_that_is_made_and_cannot_start_names_its_folder_and_goes_on(
    start, trained, tmp_path, monkeypatch, capsys
):
    job = launch.make_folder_job

    def full(*_, **__):
        raise Problem("The run's journal could not be written.", todo="Free some space and continue.")

    monkeypatch.setattr(launch, "make_folder_job", full)
    assert start(ONE) == 1
    runs = tmp_path / "runs"
    assert capsys.readouterr().err == (
        f"The run's journal could not be written. The run in {runs} is made, and was not started. "
        f"After correcting that: workbench run {tmp_path / 'config.toml'} --resume --folder {runs}\n"
    )
    monkeypatch.setattr(launch, "make_folder_job", job)
    start(ONE, "--resume")
    assert trained == [("runs", False)]


@pytest.mark.parametrize("name", [travelling.CONFIG, travelling.CARD])
def test_a_folder_for_which_there_is_no_room_is_not_left_half_made(start, tmp_path, monkeypatch, capsys, name):
    full_for(monkeypatch, name)
    assert start(ONE) == 1
    assert f"There is no space left to write {tmp_path / 'runs' / name}." in capsys.readouterr().err
    assert not (tmp_path / "runs").exists()
