"""Many run folders at once: what one of them has wrong is said with its name, and the others are imported."""

import json
import os
import shutil
from hashlib import blake2b
from itertools import count
from pathlib import Path

import pytest

from tests.travelling_runs import first_part
from workbench.cli import main
from workbench.commands.training import ingest as commands
from workbench.config import RunConfig
from workbench.workspace import Workspace
from workbench.workspace.folders import travelling
from workbench.workspace.recorders.folder_recorder import FolderRecorder


@pytest.fixture
def folders(made, tmp_path):
    """Five copies, each the folder of a run of its own."""
    for number in range(1, 6):
        own = shutil.copytree(made, tmp_path / "runs" / str(number))
        change_card(own, run=f"{number:032x}")
    return tmp_path / "runs"


def change_card(folder, **values):
    card = json.loads((folder / travelling.CARD).read_text("utf-8"))
    (folder / travelling.CARD).write_text(json.dumps(card | values), "utf-8")


def change_config(folder, text):
    (folder / "config.toml").write_bytes(text)
    change_card(folder, config=blake2b(text, digest_size=16).hexdigest())


def test_a_folder_without_run_folders_makes_no_workspace(tmp_path, capsys):
    (tmp_path / "empty").mkdir()
    assert main(["ingest", str(tmp_path / "empty"), "-w", str(tmp_path / "space")]) == 1
    assert "holds no run folder" in capsys.readouterr().err
    assert not (tmp_path / "space").exists()


def test_what_is_refused_is_named_by_its_folder(folders, tmp_path, capsys):
    change_config(folders / "1", b"name = [")
    change_config(folders / "2", b"epochs = 'many'\n")
    change_card(folders / "3", run="../../x")
    (folders / "4" / "dataset.json").write_text('{"fingerprint": 5}', "utf-8")
    assert main(["ingest", str(folders), "-w", str(tmp_path / "space")]) == 1
    said = capsys.readouterr().err.splitlines()
    assert [line for line in said if f"{folders / '1' / 'config.toml'} cannot be used. TOML: " in line]
    assert [line for line in said if f"{folders / '2' / 'config.toml'} cannot be used. epochs: " in line]
    assert [line for line in said if f"{folders / '3' / 'run.json'} does not belong to a run" in line]
    assert [line for line in said if f"{folders / '4'}, run 1: its data set" in line]
    assert len(said) == 4
    with Workspace(tmp_path / "space") as workspace:
        assert len(workspace.runs()) == 2


def test_a_folder_that_may_not_be_read_is_named_and_the_others_are_imported(folders, tmp_path, capsys, monkeypatch):
    real = Path.lstat

    def lstat(path):
        if folders / "2" in path.parents:
            raise PermissionError(13, "Permission denied", str(path))
        return real(path)

    monkeypatch.setattr(Path, "lstat", lstat)
    monkeypatch.setattr(Path, "stat", lambda path, **how: lstat(path) if not how else os.stat(path, **how))
    assert main(["ingest", str(folders), "-w", str(tmp_path / "space")]) == 1
    (said,) = capsys.readouterr().err.splitlines()
    assert str(folders / "2") in said
    assert "Permission denied" in said


def test_a_folder_that_is_not_whole_says_what_is_true(folders, tmp_path, capsys):
    (folders / "2" / "run.json").unlink()
    assert main(["ingest", str(folders / "2"), "-w", str(tmp_path / "space")]) == 1
    said = capsys.readouterr().err
    assert f"There is no run.json in {folders / '2'}: it is incomplete, or no run was started in it." in said
    assert "If it is a copy, copy it again. Where it is made, start its run again." in said


def test_a_folder_that_never_becomes_whole_is_not_waited_for(folders, tmp_path, capsys, monkeypatch):
    clock = count(step=50.0)
    monkeypatch.setattr(commands, "monotonic", lambda: next(clock))
    monkeypatch.setattr(commands, "POLL", 0.0)
    (folders / "2" / "run.json").unlink()
    assert main(["ingest", str(folders / "2"), "-w", str(tmp_path / "space"), "--follow"]) == 1
    assert f"{folders / '2'}: nothing new for 2 min 0 s; not waiting for it." in capsys.readouterr().err


def test_what_still_comes_is_waited_for(folders, tmp_path, monkeypatch):
    clock, parts = count(step=100.0), count()
    card = (folders / "2" / "run.json").read_bytes()
    (folders / "2" / "run.json").unlink()

    def more_comes(seconds):
        number = next(parts)
        name = "run.json" if number == 5 else f"checkpoint.{number}.part"
        (folders / "2" / name).write_bytes(card)

    monkeypatch.setattr(commands, "monotonic", lambda: next(clock))
    monkeypatch.setattr(commands, "sleep", more_comes)
    assert main(["ingest", str(folders / "2"), "-w", str(tmp_path / "space"), "--follow"]) == 0
    with Workspace(tmp_path / "space") as workspace:
        assert [run.status for run in workspace.runs()] == ["done"]


def test_a_folder_among_others_that_is_not_whole_yet_is_named(folders, tmp_path, capsys):
    (folders / "2" / "run.json").unlink()
    assert main(["ingest", str(folders), "-w", str(tmp_path / "space")]) == 1
    assert f"There is no run.json in {folders / '2'}" in capsys.readouterr().err
    with Workspace(tmp_path / "space") as workspace:
        assert len(workspace.runs()) == 4


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("embeddings-3.npy", "the arrays of 1 evaluation are missing or incomplete"),
        ("ranking-1.npz", "the arrays of 3 evaluations are missing or incomplete"),
        ("dataset.json", "the arrays of 3 evaluations are missing or incomplete"),
    ],
)
def test_an_ended_run_whose_copy_is_not_whole_is_status_1(folders, tmp_path, capsys, name, said):
    path = folders / "1" / name
    content = path.read_bytes()
    path.unlink()
    for _ in range(2):  # also when nothing of the folder is read again
        assert main(["ingest", str(folders / "1"), "-w", str(tmp_path / "space")]) == 1
        sentence = f"{folders / '1'}, run 1: {said}. If it is a copy, copy it again."
        assert capsys.readouterr().err.splitlines() == [sentence]
    path.write_bytes(content)
    assert main(["ingest", str(folders / "1"), "-w", str(tmp_path / "space")]) == 0
    assert capsys.readouterr().err == ""


def test_a_checkpoint_that_was_cut_off_is_status_1(folders, tmp_path, capsys):
    path = folders / "1" / "last.pt"
    content = path.read_bytes()
    path.write_bytes(content[:4])
    assert main(["ingest", str(folders / "1"), "-w", str(tmp_path / "space")]) == 1
    assert "run 1: a file is incomplete." in capsys.readouterr().err
    path.unlink()  # checkpoints may be left out
    assert main(["ingest", str(folders / "1"), "-w", str(tmp_path / "space")]) == 0


def test_a_run_that_has_not_ended_is_said_and_status_0(made, tmp_path, capsys):
    travelling.make(tmp_path / "run", RunConfig(name="it works"))
    recorder = FolderRecorder(tmp_path / "run")
    first_part(recorder, tmp_path / "run")
    assert main(["ingest", str(tmp_path / "run"), "-w", str(tmp_path / "space")]) == 0
    said = capsys.readouterr()
    assert "Run 1 (running)" in said.out
    assert said.err == "1 run has not ended: import the folder again later, or with --follow until all have.\n"
    recorder.close()


def test_arrays_that_come_after_the_journal_are_waited_for(folders, tmp_path, monkeypatch):
    arrays = {path: path.read_bytes() for path in (folders / "1").glob("*-*.np*")}
    for path in arrays:
        path.unlink()
    clock = count(step=10.0)

    def one_comes(seconds):
        path, content = arrays.popitem()
        path.write_bytes(content)

    monkeypatch.setattr(commands, "monotonic", lambda: next(clock))
    monkeypatch.setattr(commands, "sleep", one_comes)
    assert main(["ingest", str(folders / "1"), "-w", str(tmp_path / "space"), "--follow"]) == 0
    with Workspace(tmp_path / "space") as workspace:
        assert [evaluation.epoch for evaluation in workspace.evaluations(1)] == [1, 2, 3]


def test_arrays_that_never_come_are_not_waited_for(folders, tmp_path, monkeypatch, capsys):
    (folders / "1" / "embeddings-3.npy").unlink()
    clock = count(step=50.0)
    monkeypatch.setattr(commands, "monotonic", lambda: next(clock))
    monkeypatch.setattr(commands, "POLL", 0.0)
    assert main(["ingest", str(folders / "1"), "-w", str(tmp_path / "space"), "--follow"]) == 1
    assert f"{folders / '1'}: nothing new for 2 min 0 s; not waiting for it." in capsys.readouterr().err


def test_a_second_import_without_news_says_so(made, tmp_path, capsys):
    asked = ["ingest", str(made), "-w", str(tmp_path / "space")]
    assert main(asked) == 0
    assert capsys.readouterr().out.startswith("Run 1 (done): ")
    assert main(asked) == 0
    assert capsys.readouterr().out == f"No new points, evaluations or checkpoints in {made}.\n"
    assert main([*asked, "--follow"]) == 0
    assert capsys.readouterr().out == f"No new points, evaluations or checkpoints in {made}.\n"


def test_checkpoints_that_come_later_are_said(folders, tmp_path, capsys):
    asked, run = ["ingest", str(folders / "1"), "-w", str(tmp_path / "space")], folders / "1"
    checkpoints = sorted(path.name for path in run.glob("*.pt"))
    for name in checkpoints:
        (run / name).rename(tmp_path / name)
    assert main(asked) == 0
    assert capsys.readouterr().out.endswith(f" evaluations from {run}\n")
    for name in checkpoints:
        (tmp_path / name).rename(run / name)
    assert main(asked) == 0
    many = "1 checkpoint" if len(checkpoints) == 1 else f"{len(checkpoints)} checkpoints"
    assert capsys.readouterr().out == f"Run 1 (done): {many} from {run}\n"
