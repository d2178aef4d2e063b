"""Who works on a run: one process, known by its start; exactly one can take it over, and who lost it writes no more."""

import os
import shutil
import socket
import subprocess
import sys
from datetime import UTC, datetime, timedelta

import psutil
import pytest

from tests.waits import HANG
from workbench.config import RunConfig
from workbench.control import Control
from workbench.events import Ended, Saved, Scalar, Status
from workbench.exchange.imported.importing import config_of
from workbench.problem import Problem, RunTaken
from workbench.workspace import Workspace
from workbench.workspace import recorder as recording
from workbench.workspace.database.connection import sqlite3
from workbench.workspace.database.problems import Busy
from workbench.workspace.owners import ownership
from workbench.workspace.paths import DATABASE
from workbench.workspace.recorder import Recorder
from workbench.workspace.recorders import recording as gathering
from workbench.workspace.repairs.repair import missing

HERE, ELSEWHERE = socket.gethostname(), "another-machine"


@pytest.fixture(scope="module")
def process():
    """(number, start) of a process that lives."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        yield child.pid, psutil.Process(child.pid).create_time()
        child.kill()


def ago(seconds):
    return (datetime.now(UTC) - timedelta(seconds=seconds)).isoformat(timespec="seconds")


def owned_by(workspace, pid, host, born, beat, status="running"):
    """A run with a row of that owner."""
    run_id = workspace.create_run(RunConfig())
    with workspace.writing() as db:
        sql = "update runs set status = ?, pid = ?, host = ?, born = ?, heartbeat = ?, owner = 'other' where id = ?"
        db.execute(sql, (status, pid, host, born, beat, run_id))
    return run_id


@pytest.mark.parametrize(
    ("host", "later", "silent", "alive"),
    [
        (HERE, 0, 1e6, True),  # the process is there, however long it was suspended
        (HERE, 3600, 0, False),  # its number was given again
        (ELSEWHERE, 0, 10, True),
        (ELSEWHERE, 0, 1000, False),
        (ELSEWHERE, 0, -600, True),  # a clock that is ahead
        (ELSEWHERE, 0, -1e6, False),
    ],
)
@pytest.mark.parametrize("status", ["queued", "running", "waiting"])
def test_process_start_and_heartbeat_decide(host, later, silent, alive, status, workspace, process):
    pid, born = process
    run_id = owned_by(workspace, pid, host, born - later, ago(silent), status)
    if alive:
        with pytest.raises(Problem, match=f"still working: process {pid} of {host} has it"):
            workspace.take_over(run_id)
        assert workspace.sweep_dead_runs() == []
        assert workspace.run(run_id).status == status
    else:
        assert workspace.sweep_dead_runs() == [run_id]
        assert workspace.run(run_id).status == "interrupted"
        workspace.take_over(run_id)
        assert workspace.run(run_id).status == "queued"


def test_a_namesake_whose_processes_are_not_here_is_judged_by_its_heartbeat(workspace):
    container = f"{HERE}#00000000"
    living, silent = (owned_by(workspace, 2**22 + 1, container, 1.0, ago(beat)) for beat in (10, 1000))
    with pytest.raises(Problem, match=f"process {2**22 + 1} of {HERE} has it"):
        workspace.take_over(living)
    assert workspace.sweep_dead_runs() == [silent]


UNSHARE = ("unshare", "--pid", "--fork", "--mount-proc")


@pytest.mark.skipif(
    not shutil.which("unshare") or subprocess.run([*UNSHARE, "true"], capture_output=True).returncode != 0,
    reason="needs Linux and the right to make a namespace of process numbers",
)
def test_a_container_of_the_same_name_leaves_a_living_run_alone(workspace):
    run_id = workspace.create_run(RunConfig())
    with workspace.writing() as db:
        db.execute("update runs set status = 'running', heartbeat = ? where id = ?", (ago(0), run_id))
    look = f"from workbench.workspace import Workspace; Workspace({str(workspace.path)!r}).sweep_dead_runs()"
    subprocess.run([*UNSHARE, sys.executable, "-c", look], check=True, timeout=HANG)
    assert workspace.run(run_id).status == "running"


@pytest.mark.parametrize(
    "row",
    [
        (None, None, None, None), (-1, HERE, 1.0, "2026"), (2**70 // 2**8, HERE, 1.0, ""),
        (1, ELSEWHERE, 0.0, "yesterday"), (0, "", 0, "2026-01-01"),
    ],
)  # fmt: skip
def test_a_row_that_says_nothing_is_a_dead_run(row, workspace):
    run_id = owned_by(workspace, *row)
    assert workspace.sweep_dead_runs() == [run_id]
    workspace.trash(run_id)


def test_a_dead_run_whose_folder_is_a_link_is_marked_and_nothing_there_is_touched(workspace, tmp_path):
    linked, plain = (owned_by(workspace, 1, ELSEWHERE, 0.0, ago(1e6)) for _ in range(2))
    (outside := tmp_path / "outside").mkdir()
    (map_there := outside / "map-77-1.npy").write_bytes(b"of somebody else")
    folder = workspace.folder(linked)
    if folder.exists():
        shutil.rmtree(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.symlink_to(outside)
    (left := workspace.folder(plain)).mkdir(parents=True, exist_ok=True)
    (left_map := left / "map-77-1.npy").write_bytes(b"of an evaluation that is gone")
    assert sorted(workspace.sweep_dead_runs()) == [linked, plain]
    assert map_there.exists()
    assert not left_map.exists()


@pytest.mark.parametrize("set_by", [-7200, 400 * 86400])
def test_a_living_run_is_not_called_dead_after_the_clock_was_set(workspace, process, monkeypatch, set_by):
    pid, born = process
    run_id = owned_by(workspace, pid, HERE, born, ago(0), "running")
    booted, started = psutil.boot_time(), psutil.Process.create_time
    monkeypatch.setattr(psutil, "boot_time", lambda: booted + set_by)
    monkeypatch.setattr(psutil.Process, "create_time", lambda self: started(self) + set_by)  # as Linux derives it
    assert workspace.sweep_dead_runs() == []
    gone = owned_by(workspace, pid, HERE, born - 3600, ago(0), "running")
    assert workspace.sweep_dead_runs() == [gone], "its number was given again"
    begun_since = owned_by(workspace, pid, HERE, born + set_by, ago(0), "running")
    assert workspace.sweep_dead_runs() == []
    assert workspace.run(run_id).status == workspace.run(begun_since).status == "running"


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere nothing names a start but the clock")
@pytest.mark.parametrize("set_by", [-7200, 3600, 400 * 86400])
def test_a_program_that_starts_after_the_clock_was_set_knows_who_lives(workspace, process, set_by):
    start = ownership.start_of(psutil.Process(process[0]))
    lives = owned_by(workspace, process[0], ownership.this_host(), start - set_by, ago(set_by), "running")
    of_another = ownership.start_of(psutil.Process()) - set_by
    gone = owned_by(workspace, process[0], ownership.this_host(), of_another, ago(set_by), "running")
    assert workspace.sweep_dead_runs() == [gone], "its number was given again"
    with pytest.raises(Problem, match="still working"):
        workspace.take_over(lives)


def test_a_dead_run_goes_to_the_trash_and_a_living_one_does_not(workspace, process):
    pid, born = process
    dead, living = (owned_by(workspace, pid, HERE, born - later, ago(0)) for later in (3600, 0))
    workspace.trash(dead)
    assert (workspace.run(dead).status, workspace.run(dead).trashed is None) == ("interrupted", False)
    with pytest.raises(Problem, match="still working"):
        workspace.trash(living)


def test_a_run_that_waits_in_the_queue_of_another_window_does_not_go_to_the_trash(workspace, process):
    waits = owned_by(workspace, process[0], HERE, process[1], ago(0), "queued")
    with pytest.raises(Problem, match="still working"):
        workspace.trash(waits)
    gone = owned_by(workspace, process[0], HERE, process[1] - 3600, ago(0), "queued")
    for run_id in (gone, workspace.create_run(RunConfig())):  # of a window that is gone, and of this process
        workspace.trash(run_id)
        assert workspace.run(run_id).trashed is not None


def test_a_sign_of_life_is_given_of_all_runs_of_this_process_that_are_to_be_done(workspace, process):
    mine, waits, ended = (workspace.create_run(RunConfig()) for _ in range(3))
    workspace.set_status(mine, "running")
    workspace.set_status(ended, "done")
    other = owned_by(workspace, *process[:1], HERE, process[1], ago(500))
    with workspace.writing() as db:
        db.execute("update runs set heartbeat = 'long ago'")
    workspace.beat()
    with workspace.reading() as db:
        beats = dict(db.execute("select id, heartbeat from runs").fetchall())
    assert {run_id for run_id, beat in beats.items() if ownership.age(beat) < 60} == {mine, waits}
    assert beats[other] == "long ago"


TAKER = """
import sys
from workbench.problem import Problem
from workbench.workspace import Workspace
with Workspace(sys.argv[1]) as workspace:
    print("ready", flush=True)
    input()
    try:
        workspace.take_over(1)
        print("taken", flush=True)
    except Problem as problem:
        print(problem, flush=True)
    input()
"""


def test_of_several_processes_that_take_a_run_over_exactly_one_has_it(workspace):
    workspace.set_status(workspace.create_run(RunConfig()), "interrupted")
    words = [sys.executable, "-c", TAKER, str(workspace.path)]
    takers = [subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    assert [taker.stdout.readline() for taker in takers] == ["ready\n"] * 3
    for taker in takers:
        taker.stdin.write("\n")
        taker.stdin.flush()
    said = {taker.pid: taker.stdout.readline().strip() for taker in takers}
    for taker in takers:
        taker.communicate("\n", timeout=HANG)
    (owner,) = [pid for pid, words in said.items() if words == "taken"]
    refused = [words for words in said.values() if words != "taken"]
    assert all(f"Run 1 is still working: process {owner} of {HERE} has it." in words for words in refused)


def test_two_windows_of_one_process_do_not_both_resume_a_run(workspace):
    run_id = workspace.create_run(RunConfig())
    workspace.set_status(run_id, "stopped")
    workspace.take_over(run_id)
    with Workspace(workspace.path) as other, pytest.raises(Problem, match=f"still working: process {os.getpid()}"):
        other.take_over(run_id)


@pytest.mark.parametrize("attended", [True, False])
def test_who_lost_a_run_writes_nothing_more_and_stops(attended, workspace, monkeypatch):
    monkeypatch.setattr(gathering, "COMMIT_EVERY", -1.0)
    run_id, control = workspace.create_run(RunConfig()), Control(attended=attended)
    recorder = Recorder(workspace, run_id, control)
    recorder(Status("Training"))
    recorder(Scalar("batch/loss", 1, 0.5))
    with workspace.writing() as db:
        db.execute("update runs set owner = 'other', host = 'another-machine', pid = 7 where id = ?", (run_id,))
    files = {path: path.read_bytes() for path in workspace.folder(run_id).iterdir()}
    checkpoint = workspace.folder(run_id) / "last.pt"
    for event in (Scalar("batch/loss", 2, 0.4), Saved("last", checkpoint, 1, 2), Ended("failed", "lost")):
        with pytest.raises(RunTaken, match="process 7 of another-machine has it"):
            recorder(event)
    assert not control.paused
    assert workspace.scalars(run_id, "batch/loss")[0].tolist() == [1]
    assert workspace.run(run_id).status == "running"
    assert {path: path.read_bytes() for path in workspace.folder(run_id).iterdir()} == files
    with pytest.raises(RunTaken):
        Recorder(workspace, run_id)


@pytest.fixture
def holder(workspace, monkeypatch):
    """Another program that has the database."""
    with workspace.writing() as db:
        db.execute("pragma busy_timeout = 1")
    monkeypatch.setattr(recording, "AGAIN", 0.0)
    db = sqlite3.connect(workspace.path / DATABASE, isolation_level=None)
    yield db
    db.close()


def test_the_last_word_is_tried_again_until_the_database_is_free(workspace, holder, monkeypatch):
    recorder = Recorder(workspace, workspace.create_run(RunConfig()), Control(attended=True))
    recorder(Scalar("batch/loss", 1, 0.5))
    holder.execute("begin immediate")
    monkeypatch.setattr(recording, "sleep", lambda seconds: holder.in_transaction and holder.execute("rollback"))
    recorder(Ended("done"))
    assert workspace.run(1).status == "done"
    assert workspace.scalars(1, "batch/loss")[0].tolist() == [1]
    assert (workspace.folder(1) / "journal.jsonl").read_text().count("batch/loss") == 1


@pytest.mark.parametrize("attended", [True, False])
def test_a_last_word_that_cannot_be_recorded_is_in_the_journal_and_the_run_is_dead(
    attended, workspace, holder, monkeypatch
):
    monkeypatch.setattr(recording, "PATIENCE", 0.05)
    control = Control(attended=attended)
    recorder = Recorder(workspace, workspace.create_run(RunConfig()), control)
    recorder(Status("Training"))
    recorder.flush()
    recorder(Scalar("batch/loss", 1, 0.5))
    holder.execute("begin immediate")
    with pytest.raises(Busy):
        recorder(Ended("failed", "The data set is empty."))
    assert not control.paused
    holder.execute("rollback")
    assert workspace.run(1).status == "running"
    assert '"status": "failed"' in (workspace.folder(1) / "journal.jsonl").read_text()
    assert workspace.sweep_dead_runs() == [1], "this process lives, but works on it no more"


def test_the_owner_of_a_run_removes_what_a_killed_program_left_unfinished_in_its_folder(workspace):
    run_id = workspace.create_run(RunConfig())
    left = workspace.folder(run_id) / ".experiment.json.1-0123abcd.part"
    left.write_bytes(b"{")
    recorder = Recorder(workspace, run_id)
    assert not left.exists()
    recorder(Ended("done"))


def test_a_run_whose_folder_was_never_made_gets_it_with_its_config(workspace):
    run_id = workspace.create_run(RunConfig(name="killed early"))
    folder = workspace.folder(run_id)
    (folder / "config.toml").unlink()
    folder.rmdir()  # as a program leaves it that is killed between the row and the folder
    recorder = Recorder(workspace, run_id)
    recorder(Ended("done"))
    assert RunConfig.from_toml(folder / "config.toml").name == "killed early"
    assert (folder / "journal.jsonl").exists()


def test_an_import_that_was_killed_says_what_to_do_with_it(workspace, tmp_path):
    config = config_of("Embeddings", tmp_path / "a.npy", None, None, "cosine")
    run_id = workspace.create_run(config)
    with workspace.writing() as db:
        db.execute("update runs set status = 'running', born = 5.0, owner = 'gone' where id = ?", (run_id,))
    shutil.rmtree(workspace.folder(run_id))
    with workspace.reading() as db:
        assert workspace.sweep_dead_runs() == [run_id]
        assert "Delete it, and import it again" in workspace.run(run_id).problem
        [said] = missing(db, workspace.path)
    assert said.endswith("delete it and import it again")


def test_a_run_stays_that_of_its_program_when_the_machine_gets_another_name(workspace, monkeypatch):
    """A Mac is called by the network that it joins."""
    run_id = workspace.create_run(RunConfig())
    workspace.set_status(run_id, "running")
    monkeypatch.setattr(socket, "gethostname", lambda: "mac.lan")
    workspace.set_status(run_id, "waiting")
    workspace.hand_over(run_id)
    workspace.take_over(run_id)
    assert workspace.run(run_id).status == "queued"
