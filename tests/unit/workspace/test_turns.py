"""One program at a time imports or repairs: by a lock on the folder, or on a file where folders have none."""

import os
import subprocess
import sys

import pytest

from tests.waits import HANG
from workbench.files import locks
from workbench.problem import Problem
from workbench.workspace.folders import turns

HOLDS = """
import sys
from pathlib import Path
from workbench.workspace.folders import turns
turns.LOCKS_FOLDERS = sys.argv[2] == "True"
def wait():
    raise SystemExit("it was not free")
with turns.alone(Path(sys.argv[1]), Path(sys.argv[1]) / ".lock", wait):
    print("held", flush=True)
    sys.stdin.read()
"""


class Busy(Problem):
    """Another program was in the block."""


def refuse():
    raise Busy("Another program is at it.")


@pytest.fixture(params=[turns.LOCKS_FOLDERS, False] if turns.LOCKS_FOLDERS else [False])
def locks_folders(request, monkeypatch):
    """As on this system, and as on one that has no locks on folders."""
    monkeypatch.setattr(turns, "LOCKS_FOLDERS", request.param)
    return request.param


def test_a_second_program_waits_until_the_first_is_killed(tmp_path, locks_folders):
    lock, waited = tmp_path / ".lock", []
    first = subprocess.Popen(
        [sys.executable, "-c", HOLDS, str(tmp_path), str(locks_folders)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    try:
        assert first.stdout.readline() == f"held{os.linesep}".encode()
        with pytest.raises(Busy), turns.alone(tmp_path, lock, refuse):
            pass

        def wait():
            waited.append(True)
            first.kill()
            first.wait(HANG)

        with turns.alone(tmp_path, lock, wait), pytest.raises(Busy), turns.alone(tmp_path, lock, refuse):
            pass
        assert waited == [True]
    finally:
        first.kill()
        first.communicate()


def test_nothing_is_left_of_the_lock(tmp_path, locks_folders):
    for _ in range(2):
        with turns.alone(tmp_path, tmp_path / ".lock", refuse):
            pass
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not remove open files")
def test_a_lock_file_that_is_removed_before_it_is_locked_is_made_again(tmp_path, monkeypatch):
    monkeypatch.setattr(turns, "LOCKS_FOLDERS", False)
    file, lock, removed = tmp_path / ".lock", locks.lock, []

    def lock_late(opened):
        if not removed:  # the program before ends between the opening and the lock
            removed.append(file.unlink())
        return lock(opened)

    monkeypatch.setattr(locks, "lock", lock_late)
    with turns.alone(tmp_path, file, lambda: None), pytest.raises(Busy), turns.alone(tmp_path, file, refuse):
        pass
    assert removed


@pytest.mark.skipif(sys.platform == "win32", reason="Windows makes links for administrators alone")
def test_a_link_in_place_of_the_lock_file_is_not_followed(tmp_path, monkeypatch):
    monkeypatch.setattr(turns, "LOCKS_FOLDERS", False)
    (tmp_path / ".lock").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(Problem, match="is a link"), turns.alone(tmp_path, tmp_path / ".lock", refuse):
        pass
    assert not (tmp_path / "elsewhere").exists()
