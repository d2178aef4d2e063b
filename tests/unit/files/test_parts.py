"""What a killed program left unfinished is removed at the next occasion; what a living one writes never is."""

import contextlib
import errno
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from workbench import files
from workbench.files import archives, parts
from workbench.problem import Problem

UNPACKS = """
import sys
from pathlib import Path
from workbench import files
from workbench.files import archives
def stop(text, done, total):
    print("writing", flush=True)
    sys.stdin.read()
archives.unpacked(Path(sys.argv[1]), Path(sys.argv[2]), stop)
"""
WRITES = """
import sys
from pathlib import Path
from workbench import files
with files.atomic_write(Path(sys.argv[2]) / "whole.npy") as file:
    file.write(b"half")
    file.flush()
    print("writing", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def archive(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as made:
        made.writestr("in/b.txt", b"b")
    return tmp_path / "a.zip"


def silent(text, done, total):
    """Nobody is told."""


@pytest.mark.parametrize("program", [UNPACKS, WRITES])
def test_parts_of_the_dead_are_removed_and_of_the_living_kept(tmp_path, archive, program):
    cache = tmp_path / "cache"
    cache.mkdir()
    (cache / ".notes.part").write_bytes(b"somebody else's")
    with subprocess.Popen(
        [sys.executable, "-c", program, str(archive), str(cache)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as writer:
        assert writer.stdout.readline() == b"writing\n"
        [part] = set(os.listdir(cache)) - {".notes.part"}
        parts.remove_dead(cache)
        assert sorted(os.listdir(cache)) == sorted([part, ".notes.part"])
        writer.kill()
    assert part in os.listdir(cache)
    archives.unpacked(archive, cache, silent)
    left = sorted(os.listdir(cache))
    assert left[0] == ".notes.part"
    assert [each.partition("-")[0] for each in left[1:]] == ["a"]


def test_the_next_write_of_a_file_removes_its_dead_parts_alone(tmp_path):
    dead, other = tmp_path / ".a.npy.1-0123abcd.part", tmp_path / ".b.npy.1-0123abcd.part"
    dead.write_bytes(b"half")
    other.write_bytes(b"half")
    with files.atomic_write(tmp_path / "a.npy") as file:
        file.write(b"whole")
    assert sorted(os.listdir(tmp_path)) == [other.name, "a.npy"]


def test_a_link_named_like_a_part_leads_nowhere(tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "kept.txt").write_bytes(b"kept")
    (tmp_path / ".a.1-0123abcd.part").symlink_to(tmp_path / "mine", target_is_directory=True)
    parts.remove_dead(tmp_path)
    assert os.listdir(tmp_path / "mine") == ["kept.txt"]


@pytest.mark.parametrize("refusals", [3, 1000])
def test_on_windows_a_file_that_another_program_reads_for_a_moment_is_still_replaced(tmp_path, monkeypatch, refusals):
    """While a file is open, Windows refuses to replace it."""
    (tmp_path / "note.json").write_bytes(b"old")
    asked: list[Path] = []
    replace = Path.replace

    def refused_at_first(path: Path, target: Path) -> Path:
        asked.append(path)
        if len(asked) <= refusals:
            raise PermissionError(errno.EACCES, "The process cannot access the file", str(path))
        return replace(path, target)

    monkeypatch.setattr(parts, "POSIX", False)
    monkeypatch.setattr(parts, "PAUSE", 0.0)
    monkeypatch.setattr(Path, "replace", refused_at_first)
    whole = contextlib.nullcontext() if refusals == 3 else pytest.raises(Problem, match="close the program")
    with whole, files.atomic_write(tmp_path / "note.json") as file:
        file.write(b"new")
    assert (tmp_path / "note.json").read_bytes() == (b"new" if refusals == 3 else b"old")
    assert os.listdir(tmp_path) == ["note.json"]
