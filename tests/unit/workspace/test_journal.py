"""The journal holds all that the database acknowledged; a database that is taken away is noticed, nothing is lost."""

import json
import os
import tracemalloc

import pytest

from tests.unit.workspace.test_workspace import Images, evaluated
from workbench.cli import main
from workbench.config import RunConfig
from workbench.control import Control
from workbench.events import Ended, Resumed, Scalar, Status, Waiting
from workbench.problem import Problem
from workbench.running import launch
from workbench.workspace import Workspace
from workbench.workspace.arriving.ingest import ingest
from workbench.workspace.database import checksums, connection
from workbench.workspace.database.problems import Gone
from workbench.workspace.folders import journal, travelling
from workbench.workspace.recorder import Recorder
from workbench.workspace.recorders import recording


@pytest.fixture
def at_once(monkeypatch):
    """Every event is committed, and the database is looked for at each."""
    monkeypatch.setattr(recording, "COMMIT_EVERY", -1.0)
    monkeypatch.setattr(connection, "LOOK_EVERY", 0.0)


def points(folder):
    return [point for entry in journal.entries(folder) if entry for point in entry.scalars]


def test_an_evaluation_is_in_the_journal_when_the_database_has_it(workspace):
    images, run_id = Images(), workspace.create_run(RunConfig())
    recorder = Recorder(workspace, run_id)
    recorder.dataset(workspace.register_dataset(images, None))
    recorder(evaluated(images))
    assert len(workspace.evaluations(run_id)) == 1  # as after kill -9: nothing is closed or flushed
    found = [entry.evaluation.epoch for entry in journal.entries(workspace.folder(run_id)) if entry.evaluation]
    recorder.close()
    assert found == [1]


def test_points_are_journaled_before_the_commit_and_once(workspace, at_once, monkeypatch):
    run_id = workspace.create_run(RunConfig())
    recorder = Recorder(workspace, run_id, Control(attended=True))

    def full(db):
        raise Problem("The disk is full.")

    with monkeypatch.context() as patch:
        patch.setattr(checksums, "seal", full)  # the last work before the commit
        recorder(Scalar("batch/loss", 1, 0.5))
    assert points(workspace.folder(run_id)) == [("batch/loss", 1, 0.5)]
    assert len(workspace.scalars(run_id, "batch/loss")[0]) == 0
    recorder(Scalar("batch/loss", 2, 0.25))
    recorder(Ended("done"))
    assert points(workspace.folder(run_id)) == [("batch/loss", 1, 0.5), ("batch/loss", 2, 0.25)]


def test_a_bad_line_is_counted_and_the_rest_is_read(tmp_path):
    good = '{"scalars": [["batch/loss", %d, 0.5]]}\n'
    bad = [
        '{"scalars": [["batch/lo\n', "[" * 100_000 + "\n", '{"run": {"status": "lost"}}\n', "[1]\n", "\x00\x00\n",
        '{"scalars": [["batch/loss", 1e30, 1]]}\n', '{"scalars": [["\\ud800", 1, 1]]}\n', "1" * 5000 + "\n",
    ]  # fmt: skip
    (tmp_path / journal.NAME).write_text(good % 1 + (good % 2).join(bad) + good % 3, "utf-8")
    found = list(journal.entries(tmp_path))
    assert found.count(None) == len(bad)
    assert [step for _, step, _ in points(tmp_path)] == [1] + [2] * (len(bad) - 1) + [3]


def test_what_is_written_after_a_cut_line_is_read(workspace):
    run_id = workspace.create_run(RunConfig())
    (workspace.folder(run_id) / journal.NAME).write_text('{"scalars": [["batch/loss", 1, 0.')
    recorder = Recorder(workspace, run_id)
    recorder(Scalar("batch/loss", 2, 0.25))
    recorder(Ended("done"))
    assert points(workspace.folder(run_id)) == [("batch/loss", 2, 0.25)]


def test_a_long_journal_and_a_long_line_do_not_fill_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(journal, "LONGEST_LINE", 1 << 16)
    line = json.dumps({"scalars": [["batch/loss", 1, 0.5]] * 1000}).encode() + b"\n"
    with (tmp_path / journal.NAME).open("wb") as file:
        for _ in range(50):
            file.write(line)
        file.write(b"[" + b"1, " * (1 << 21) + b"1]\n" + line)
    tracemalloc.start()
    read = [entry is None for entry in journal.entries(tmp_path)]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (len(read), sum(read), read[-2]) == (52, 1, True)
    assert peak < 4 << 20  # bytes; the file has 8 MB


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no FIFO on this system")
def test_a_pipe_or_a_link_is_no_journal(tmp_path):
    (tmp_path / "pipe").mkdir()
    os.mkfifo(tmp_path / "pipe" / journal.NAME)
    (tmp_path / "link").mkdir()
    (tmp_path / "link" / journal.NAME).symlink_to(tmp_path / "elsewhere")
    for folder in ("pipe", "link"):
        with pytest.raises(Problem):
            list(journal.entries(tmp_path / folder))
        with pytest.raises(Problem):
            journal.Journal(tmp_path / folder)
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.skipif(os.name == "nt", reason="an open database cannot be taken away there")
@pytest.mark.parametrize("replaced", [False, True])
def test_a_database_that_is_taken_away_pauses_an_attended_run_and_loses_nothing(workspace, at_once, replaced):
    run_id, control = workspace.create_run(RunConfig()), Control(attended=True)
    recorder, away = Recorder(workspace, run_id, control), workspace.path / "away.db"
    recorder(Scalar("batch/loss", 1, 0.5))
    workspace.database.rename(away)
    if replaced:
        workspace.database.write_bytes(b"")
    recorder(Scalar("batch/loss", 2, 0.25))
    assert control.paused
    assert "doctor --repair" in control.reason
    assert [step for _, step, _ in points(workspace.folder(run_id))] == [1, 2]
    away.rename(workspace.database)
    control.resume()
    recorder(Scalar("batch/loss", 3, 0.125))
    assert not control.paused
    assert workspace.scalars(run_id, "batch/loss")[0].tolist() == [1, 2, 3]
    workspace.database.unlink()
    control.stop()
    recorder(Scalar("batch/loss", 4, 0.1))  # a run that was asked to stop goes on in its folder
    assert not control.paused
    with pytest.raises(Gone):
        recorder(Ended("stopped"))
    assert [step for _, step, _ in points(workspace.folder(run_id))] == [1, 2, 3, 4]


@pytest.mark.skipif(os.name == "nt", reason="an open database cannot be deleted there")
def test_a_deleted_database_ends_an_unattended_run(workspace, at_once):
    run_id = workspace.create_run(RunConfig())
    recorder = Recorder(workspace, run_id, Control())
    workspace.database.unlink()
    with pytest.raises(Gone, match="doctor --repair"):
        recorder(Scalar("batch/loss", 1, 0.5))
    with pytest.raises(Gone):
        recorder(Ended("failed"))
    assert [entry.run.status for entry in journal.entries(workspace.folder(run_id)) if entry.run][-1] == "failed"


@pytest.mark.skipif(os.name == "nt", reason="an open database cannot be deleted there")
def test_the_last_word_is_not_said_into_a_database_that_has_just_been_deleted(workspace):
    recorder = Recorder(workspace, workspace.create_run(RunConfig()))
    recorder(Scalar("batch/loss", 1, 0.5))
    workspace.database.unlink()
    with pytest.raises(Gone):
        recorder(Ended("done"))


def test_a_checkpoint_that_is_taken_away_before_it_is_recorded_is_a_sentence(workspace):
    run_id = workspace.create_run(RunConfig())
    with pytest.raises(Problem, match="cannot be recorded"):
        workspace.add_artefact(run_id, "checkpoint", workspace.folder(run_id) / "last.pt")


@pytest.mark.skipif(os.name == "nt", reason="an open database cannot be deleted there")
def test_a_run_of_the_command_line_says_that_its_database_is_gone(tmp_path, at_once, monkeypatch, capsys):
    def run(workspace, run_id, control, emit, recorder, *, resume, listed=None):
        emit(Scalar("batch/loss", 1, 0.5))
        workspace.database.unlink()
        emit(Scalar("batch/loss", 2, 0.25))

    monkeypatch.setattr(launch, "run", run)
    assert main(["run", "sample-digits", "--workspace", str(tmp_path)]) == 1
    assert "doctor --repair" in capsys.readouterr().err
    assert main(["doctor", "--repair", "--workspace", str(tmp_path)]) == 0
    with Workspace(tmp_path) as workspace:
        assert workspace.run(1).status == "failed"
        assert workspace.scalars(1, "batch/loss")[0].tolist() == [1, 2]


@pytest.mark.skipif(os.name == "nt", reason="an open database cannot be taken away there")
def test_a_run_that_is_resumed_while_the_database_is_still_away_waits_again(workspace, at_once):
    run_id, control = workspace.create_run(RunConfig()), Control(attended=True)
    recorder, away = Recorder(workspace, run_id, control), workspace.path / "away.db"
    recorder(Status("Reading"))
    workspace.database.rename(away)
    recorder(Scalar("batch/loss", 1, 0.5))
    recorder(Waiting(control.reason))
    control.resume()
    recorder(Resumed())
    assert control.paused
    assert "doctor --repair" in control.reason
    away.rename(workspace.database)
    recorder(Ended("stopped"))
    assert workspace.run(run_id).status == "stopped"


def test_a_line_with_more_curves_than_workbench_writes_is_left_out(workspace, tmp_path):
    folder = tmp_path / "run"
    travelling.make(folder, RunConfig())
    most = [[f"m/{number}", 1, 0.5] for number in range(journal.MOST_NAMES + 1)]
    many_points = [["batch/loss", step, 0.5] for step in range(1, journal.MOST_NAMES + 2)]
    with (folder / journal.NAME).open("a") as file:
        for points_of_line in (most, many_points):
            file.write(json.dumps({"scalars": points_of_line}) + "\n")
    taken = ingest(workspace, folder)
    assert (taken.unread, taken.points) == (1, len(many_points))
    assert workspace.scalar_names(taken.run_id) == ["batch/loss"]
