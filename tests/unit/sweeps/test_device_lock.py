"""One sweep for a device of the machine: across workspaces and processes, freed by a kill; said where it cannot be."""

import os
import subprocess
import sys
import threading

import pytest

from tests.waits import HANG
from workbench.cli import main
from workbench.entries import catalog
from workbench.files import locks
from workbench.settings.changed import changed, read_config
from workbench.sweeps import starting
from workbench.sweeps.device_lock import DeviceLock, folder
from workbench.sweeps.plan import planned
from workbench.sweeps.space import read
from workbench.sweeps.worker import Worker
from workbench.workspace import Workspace
from workbench.workspace.experiments import sweep_worker, sweeps

HOLDER = """
import sys
from workbench.sweeps.device_lock import DeviceLock

lock = DeviceLock("cpu")
print(lock.take(), flush=True)
sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    monkeypatch.setenv("WORKBENCH_LOCKS", str(tmp_path / "locks"))
    return tmp_path / "locks"


@pytest.fixture
def two(tmp_path):
    """Two workspaces, each with sweep 1 of two settings."""
    known = catalog.current()
    config = changed(read_config("sample-digits"), {"device": "cpu"}, known, "test")
    with Workspace(tmp_path / "a", create=True) as first, Workspace(tmp_path / "b", create=True) as second:
        for workspace in (first, second):
            starting.store(workspace, planned(config, [read("training.lr=0.01,0.03")], "grid", known))
        yield first, second


def test_one_holder_for_a_device(place):
    first, second, other = DeviceLock("cpu"), DeviceLock("cpu"), DeviceLock("cuda")
    assert first.take()
    assert first.take(), "it has it already"
    assert not second.take()
    assert not second.held
    assert other.take()
    assert first.path.parent == place
    first.free()
    assert second.take()
    second.free()
    other.free()


def test_a_killed_process_holds_nothing():
    mine = DeviceLock("cpu")
    with subprocess.Popen([sys.executable, "-c", HOLDER], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout.readline().strip() == b"True"
        assert not mine.take()
        process.kill()
        process.wait()
        assert mine.take()
        mine.free()


def test_a_lock_on_a_file_that_was_removed_meanwhile_is_none(monkeypatch):
    lock = DeviceLock("cpu")
    locked = locks.lock

    def cleaned_up(opened):
        lock.path.unlink()
        return locked(opened)

    with monkeypatch.context() as patch:
        patch.setattr(locks, "lock", cleaned_up)
        assert not lock.take(), "nobody else would meet it"
    assert lock.take()
    lock.free()


def test_the_place_is_the_persons_own(monkeypatch):
    monkeypatch.delenv("WORKBENCH_LOCKS")
    assert folder().name == "devices"
    assert folder().parent.name == "workbench"


def test_a_sweep_of_another_workspace_is_waited_for(two, runs, place, capsys):
    _, second = two
    theirs, lines, ended = DeviceLock("cpu"), [], []
    assert theirs.take()
    said = threading.Event()

    def say(line):
        lines.append(line)
        said.set()

    thread = threading.Thread(target=lambda: ended.append(Worker(second, 1, say).run()))
    thread.start()
    assert said.wait(HANG)
    waits = "Waiting: a sweep of another workspace has the cpu."
    assert lines == [waits]
    assert not sweeps.one(second, 1).holds
    assert sweeps.one(second, 1).problem == waits
    assert main(["sweep", "show", "1", "-w", str(second.path)]) == 0
    assert waits in capsys.readouterr().out
    assert runs.began == []
    theirs.free()
    thread.join(HANG)
    assert ended == ["done"]
    assert lines[1] == "The cpu is free now."
    assert sweeps.one(second, 1).problem == ""
    assert DeviceLock("cpu").take(), "the end of a sweep frees its device"


def test_two_workspaces_take_turns(two, runs):
    first, second = two
    runs.hold = 1
    lines = []
    one = threading.Thread(target=Worker(first, 1).run)
    one.start()
    assert runs.held.wait(HANG)
    told = threading.Event()
    other = threading.Thread(target=Worker(second, 1, lambda line: (lines.append(line), told.set())).run)
    other.start()
    assert told.wait(HANG)
    assert lines[0].startswith("Waiting: a sweep of another workspace")
    starting.pause(first, 1)
    one.join(HANG)
    runs.hold = None
    other.join(HANG)
    assert sweeps.one(second, 1).state == "done"
    assert sweeps.one(first, 1).state == "paused"


def test_a_remark_ends_with_its_worker_and_with_the_sweep(two):
    first, _ = two
    sweep_worker.take(first, 1, "cpu")
    sweep_worker.remark(first, 1, "Waiting.")
    assert sweeps.one(first, 1).problem == "Waiting."
    sweep_worker.leave(first, 1)
    assert sweeps.one(first, 1).problem == "", "a dead worker waits for nothing"
    sweeps.set_state(first, 1, "paused", "Three failed.")
    sweep_worker.remark(first, 1, "Waiting.")
    assert sweeps.one(first, 1).problem == "Three failed."
    sweeps.set_state(first, 1, "active")
    sweep_worker.remark(first, 1, "Waiting.")
    sweeps.cancel(first, 1)
    assert sweeps.one(first, 1).problem == ""


def test_a_place_that_cannot_be_written_is_said_and_the_sweep_goes_on(two, runs, place):
    place.write_text("a file in the way of the folder")
    lines = []
    assert Worker(two[0], 1, lines.append).run() == "done"
    [remark] = [line for line in lines if "cannot be locked" in line]
    assert remark.startswith("Sweeps of other workspaces may use the cpu at the same time: ")
    assert sum(trial.state == "done" for trial in sweeps.trials(two[0], 1)) == 2


@pytest.mark.skipif(os.name != "posix", reason="flock")
def test_a_file_system_without_locks_is_said_and_the_sweep_goes_on(two, runs, monkeypatch):
    import errno
    import fcntl

    def refuse(opened, how):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", refuse)
    lines = []
    assert Worker(two[0], 1, lines.append).run() == "done"
    assert any("cannot be locked (No locks available)" in line for line in lines)
