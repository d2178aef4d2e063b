"""Run folders: one that lies is refused with a sentence, one run is in one place, and a killed one goes on."""

import json
import os
import shutil
import socket
import sys

import numpy as np
import pytest

from tests.travelling_runs import first_part, in_folder, rows
from workbench import files
from workbench.cli import main
from workbench.commands.training.ingest import take_in_all
from workbench.config import RunConfig
from workbench.problem import Problem
from workbench.workspace import Workspace, paths
from workbench.workspace.arriving import arriving_files
from workbench.workspace.arriving.ingest import ingest
from workbench.workspace.folders import journal, travelling
from workbench.workspace.recorders.folder_recorder import FolderRecorder
from workbench.workspace.repairs.repair import repair

TINY = """
name = "<script>alert(1)</script>"
device = "cpu"
[backbone]
name = "conv4"
width = 8
[embedding]
dim = 8
[training]
epochs = 2
batch_size = 128
"""


@pytest.fixture
def folder(made, tmp_path):
    return shutil.copytree(made, tmp_path / "run")


def rewrite(path, change):
    """Change the lines of a journal, as JSON values."""
    lines = [change(json.loads(line)) for line in path.read_text("utf-8").splitlines()]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), "utf-8")


def sizes(folder, epoch, **new):
    """Tell the true size and hash of arrays that were changed."""

    def change(line):
        facts = line.get("evaluation", {})
        if facts.get("epoch") == epoch:
            for name in facts["files"]:
                path = folder / name
                facts["files"][name] = [path.stat().st_size, files.digest(path)]
            facts["files"].update(new)
        return line

    rewrite(folder / journal.NAME, change)


def test_links_are_not_followed(workspace, folder, tmp_path):
    secret = tmp_path / "secret.npy"
    np.save(secret, np.zeros((12, 3), np.float32))
    array = folder / "embeddings-3.npy"
    array.unlink()
    array.symlink_to(secret)
    taken = ingest(workspace, folder)
    assert [doubt for doubt in taken.doubts if "epoch 3" in doubt and "is a link" in doubt]
    assert not (workspace.folder(1) / "embeddings-3.npy").exists()
    (folder / "config.toml").unlink()
    (folder / "config.toml").symlink_to(secret)
    with pytest.raises(Problem, match="is a link"):
        ingest(workspace, folder)


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_a_lock_that_is_a_link_is_not_followed(tmp_path):
    outside = tmp_path / "outside"
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / travelling.LOCK).symlink_to(outside)
    with pytest.raises(Problem, match="is a link"):
        travelling.make(tmp_path / "run", RunConfig())
    assert not outside.exists()


def test_what_an_import_that_was_killed_had_copied_of_checkpoints_is_removed(workspace, folder, monkeypatch):
    def killed(space, source, home, taken, *, deleted_too):
        part = home / ".copies.1-0123abcd.part"
        part.mkdir()
        (part / "last.pt").write_bytes(b"half")
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("workbench.workspace.arriving.ingest.take_checkpoints", killed)
        with pytest.raises(KeyboardInterrupt):
            ingest(workspace, folder)
    assert not ingest(workspace, folder).doubts
    assert not list(workspace.folder(1).glob(".*.part"))


def test_an_array_that_announces_more_than_it_holds_is_refused(workspace, folder):
    with (folder / "embeddings-3.npy").open("wb") as file:
        np.lib.format.write_array_header_1_0(file, {"descr": "<f4", "fortran_order": False, "shape": (12, 1 << 40)})
    sizes(folder, 3)
    (doubt,) = ingest(workspace, folder).doubts
    assert "epoch 3" in doubt
    assert "announces" in doubt


def test_a_file_of_an_impossible_size_is_refused_before_it_is_read(workspace, folder):
    sizes(folder, 3, **{"embeddings-3.npy": [1 << 50, "0" * 32]})
    (doubt,) = ingest(workspace, folder).doubts
    assert "epoch 3" in doubt
    assert "bytes" in doubt


def test_samples_that_the_data_set_has_not_are_refused(workspace, folder):
    with np.load(folder / "ranking-3.npz") as stored:
        columns = dict(stored)
    columns["neighbours"] = columns["neighbours"] + 1000
    np.savez(folder / "ranking-3.npz", **columns)
    sizes(folder, 3)
    (doubt,) = ingest(workspace, folder).doubts
    assert "neighbours that its data set has not" in doubt
    assert [evaluation.epoch for evaluation in workspace.evaluations(1)] == [1, 2]


def test_a_data_set_whose_images_lie_outside_is_refused(workspace, folder):
    facts = json.loads((folder / "dataset.json").read_text("utf-8"))
    facts["root"], facts["samples"][0][2] = "/somewhere", "../../etc/passwd"
    (folder / "dataset.json").write_text(json.dumps(facts), "utf-8")
    (doubt,) = ingest(workspace, folder).doubts
    assert "data set" in doubt
    assert "not in its folder" in doubt
    assert workspace.run(1).dataset_id is None


@pytest.mark.parametrize("there", ["/elsewhere/.cache/workbench/pixels", "C:\\elsewhere\\workbench\\pixels"])
def test_images_of_another_machine_are_those_of_the_cache_here(workspace, folder, tmp_path, monkeypatch, there):
    """A data set without image files, such as Digits, is shown from the pixels that this machine has."""
    monkeypatch.setattr(paths, "cache_folder", lambda: tmp_path / "cache")
    facts = json.loads((folder / "dataset.json").read_text("utf-8"))
    separator = "/" if "/" in there else "\\"
    facts |= {"root": "", "pixels": f"{there}{separator}f00d-8x1.npy"}
    (folder / "dataset.json").write_text(json.dumps(facts), "utf-8")
    ingest(workspace, folder)
    assert workspace.dataset(1).pixels is None
    cache = tmp_path / "cache" / "pixels" / "f00d-8x1.npy"
    cache.parent.mkdir(parents=True)
    cache.write_bytes(b"pixels")
    assert workspace.dataset(1).pixels == cache


def test_a_data_set_under_the_fingerprint_of_another_is_refused(workspace, folder, made):
    ingest(workspace, made)
    facts = json.loads((folder / "dataset.json").read_text("utf-8"))
    facts["samples"][0][0] += 1
    (folder / "dataset.json").write_text(json.dumps(facts), "utf-8")
    card = json.loads((folder / travelling.CARD).read_text("utf-8"))
    (folder / travelling.CARD).write_text(json.dumps(card | {"run": "f" * 32}), "utf-8")
    (doubt,) = ingest(workspace, folder).doubts
    assert "has other samples here" in doubt


@pytest.mark.parametrize(
    "text", ['{"run": "../../x", "config": "' + "0" * 32 + '", "created": "now"}', "[1]", "[" * 9000]
)
def test_a_card_of_another_form_is_refused(workspace, folder, text):
    (folder / travelling.CARD).write_text(text, "utf-8")
    with pytest.raises(Problem):
        ingest(workspace, folder)
    assert workspace.runs() == []


def test_lines_that_are_no_json_cost_themselves_alone(workspace, folder, made, tmp_path):
    whole = (folder / journal.NAME).read_bytes()
    (folder / journal.NAME).write_bytes(b'\xff\x00{"run": \n{"owner": {"pid": -1}}\n' + whole)
    taken = ingest(workspace, folder)
    assert (taken.unread, taken.doubts) == (2, [])
    with Workspace(tmp_path / "other", create=True) as other:
        ingest(other, made)
        assert rows(workspace) == rows(other)


def test_a_line_without_end_is_refused(workspace, folder, monkeypatch):
    monkeypatch.setattr(journal, "LONGEST_LINE", 1000)
    with (folder / journal.NAME).open("ab") as file:
        file.write(b"x" * 3000)
    with pytest.raises(Problem, match="which no run writes"):
        ingest(workspace, folder)
    assert workspace.run(1).status == "done"


def test_a_folder_that_went_on_twice_is_one_run(workspace, folder, tmp_path):
    ingest(workspace, folder)
    with (folder / journal.NAME).open("r+b") as file:
        file.seek(-2, os.SEEK_END)
        file.write(b" ")
    with pytest.raises(Problem, match="is not the one that run 1 came from"):
        ingest(workspace, folder)


def test_a_run_that_went_on_here_takes_nothing_more(workspace, folder):
    ingest(workspace, folder)
    workspace.take_over(1)
    with pytest.raises(Problem, match="was continued in this workspace"):
        ingest(workspace, folder)


def test_a_stopped_run_that_a_process_takes_up_again_is_no_longer_stopped(workspace, folder):
    """It loads its data for a while before it writes its next state."""
    log = folder / "journal.jsonl"
    owner = next(line for line in log.read_text("utf-8").splitlines() if '"owner"' in line)
    for status, after in (("stopped", "queued"), ("done", "done")):
        with log.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"run": {"status": status, "problem": "Disk full."}}) + f"\n{owner}\n")
        run_id = ingest(workspace, folder).run_id
        assert workspace.run(run_id).status == after
    assert workspace.run(run_id).problem == "Disk full."


def test_a_rebuilt_workspace_knows_where_its_runs_came_from(folder, tmp_path):
    with Workspace(tmp_path / "lost", create=True) as workspace:
        ingest(workspace, folder)
        wanted = rows(workspace)
    for path in (tmp_path / "lost").glob("workspace.db*"):
        path.unlink()
    repair(tmp_path / "lost")
    with Workspace(tmp_path / "lost") as workspace:
        assert ingest(workspace, folder).new is False
        told = rows(workspace)
        assert (told["points"], told["queries"], len(told["runs"])) == (wanted["points"], wanted["queries"], 1)


def test_one_process_at_a_time_works_in_a_folder(tmp_path):
    travelling.make(tmp_path / "run", RunConfig())
    recorder = FolderRecorder(tmp_path / "run")
    with pytest.raises(Problem, match="Another process is working"):
        FolderRecorder(tmp_path / "run")
    recorder.close()
    FolderRecorder(tmp_path / "run").close()
    with pytest.raises(Problem, match="not empty"):
        travelling.make(tmp_path / "run", RunConfig())


def test_the_command_line_runs_in_a_folder_goes_on_there_and_takes_it_in(tmp_path, capsys):
    (tmp_path / "tiny.toml").write_text(TINY, "utf-8")
    run, space = tmp_path / "run", tmp_path / "space"
    travelling.make(run, RunConfig.from_toml(tmp_path / "tiny.toml"))
    killed = FolderRecorder(run)  # before its first checkpoint
    first_part(killed, run)
    killed.close()
    for name in ("best.pt", "last.pt"):
        (run / name).unlink()
    of_later = {"environment", "checkpoint"}  # of other data, and of what was not saved yet
    rewrite(run / journal.NAME, lambda line: {} if of_later & line.keys() else line)
    command = ["run", str(tmp_path / "tiny.toml"), "--folder", str(run), "--quiet"]
    assert main([*command, "--resume"]) == 0
    assert not list(run.glob("*.db"))
    assert main([*command]) == 1  # there is a run in it
    assert main(["ingest", str(tmp_path), "-w", str(space), "--follow"]) == 0
    assert main(["ingest", str(run), "-w", str(space)]) == 0
    said = capsys.readouterr().out
    assert said.count("Run 1 (done)") == 1
    with Workspace(space) as workspace:
        (stored,) = workspace.runs()
        assert (stored.status, stored.name, stored.epoch) == ("done", "<script>alert(1)</script>", 2)
        assert stored.best["MAP@R"] > 0
        assert len(workspace.artefacts(1, "checkpoint")) == 2


@pytest.mark.parametrize("host", ["elsewhere", socket.gethostname()], ids=["another name", "this machine's name"])
def test_a_run_of_a_machine_whose_clock_is_behind_is_followed_while_it_grows(
    tmp_path, folder, monkeypatch, capsys, host
):
    lines = (folder / journal.NAME).read_text("utf-8").splitlines()
    elsewhere = {"owner": {"pid": 5, "host": host, "born": 1.0}}
    begun = {"run": {"status": "running", "heartbeat": "2020-01-01T00:00:00+00:00"}}
    (folder / journal.NAME).write_text(f"{json.dumps(elsewhere)}\n{json.dumps(begun)}\n", "utf-8")
    looks = []

    def sleep(seconds):
        looks.append(seconds)
        with (folder / journal.NAME).open("a", encoding="utf-8") as file:
            file.write("".join(f"{line}\n" for line in (lines if len(looks) == 3 else [])))

    monkeypatch.setattr("workbench.commands.training.ingest.sleep", sleep)
    assert main(["ingest", str(folder), "-w", str(tmp_path / "space"), "--follow"]) == 0
    assert "Run 1 (done)" in capsys.readouterr().out
    monkeypatch.setattr("workbench.workspace.owners.ownership.SILENT", -1.0)
    (folder / journal.NAME).write_text(f"{json.dumps(elsewhere)}\n{json.dumps(begun)}\n", "utf-8")
    assert main(["ingest", str(folder), "-w", str(tmp_path / "other"), "--follow"]) == 0  # silent: it ends


def test_the_seeds_of_one_config_are_folders_of_one_experiment(tmp_path):
    (tmp_path / "tiny.toml").write_text(TINY.replace("epochs = 2", "epochs = 1").replace("name", "seeds = 2\nname", 1))
    assert main(["run", str(tmp_path / "tiny.toml"), "--folder", str(tmp_path / "runs"), "--quiet"]) == 0
    assert main(["ingest", str(tmp_path / "runs"), "-w", str(tmp_path / "space")]) == 0
    with Workspace(tmp_path / "space") as workspace:
        assert [run.seed for run in workspace.runs()] == [1, 0]
        with workspace.reading() as db:
            (result,) = db.execute("select result from experiments").fetchone()
        assert json.loads(result)["runs"] == 2


def test_the_runs_of_another_workspace_are_told_apart_from_run_folders(tmp_path, workspace, folder):
    with Workspace(tmp_path / "other", create=True) as other:
        runs = [other.folder(other.create_run(RunConfig(name="Other"))) for _ in range(2)]
    for run in runs:
        run.mkdir(parents=True, exist_ok=True)
        (run / travelling.CONFIG).write_text(TINY)
    with pytest.raises(Problem, match=r"holds the runs of a workspace.*Open the workspace"):
        travelling.run_folders(runs[0].parent)
    shutil.copytree(folder, runs[0].parent / "9")  # a run folder that was put there
    assert runs[0].parent / "9" in travelling.run_folders(runs[0].parent)


def test_a_folder_of_very_many_entries_is_refused_and_a_run_folder_with_them_is_not(tmp_path, monkeypatch):
    monkeypatch.setattr(travelling, "MOST_ENTRIES", 20)
    (tmp_path / "many").mkdir()
    for at in range(21):
        (tmp_path / "many" / str(at)).mkdir()
    with pytest.raises(Problem, match="more than 20 files and folders"):
        travelling.run_folders(tmp_path / "many")
    in_folder(tmp_path / "run")
    for at in range(30):
        (tmp_path / "run" / f"embeddings-{at + 100}.npy").touch()
    with Workspace(tmp_path / "space", create=True) as workspace:
        assert take_in_all(workspace, tmp_path / "run", follow=False) == 0
        assert len(list(workspace.folder(1).iterdir())) < 20


def test_a_journal_that_names_very_many_evaluations_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(arriving_files, "MOST_EVALUATIONS", 2)
    in_folder(tmp_path / "run")
    with Workspace(tmp_path / "space", create=True) as workspace:
        taken = ingest(workspace, tmp_path / "run")
        assert taken.doubts == ["the list of evaluations in its journal (it is longer than 2)"]
        assert workspace.evaluations(taken.run_id) == []
