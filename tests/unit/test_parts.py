"""What a killed writer left unfinished goes when its folder is written the next time; nothing else does."""

import os
import subprocess
import sys
import zipfile

import pytest

from workbench import archives, files


@pytest.fixture(scope="module")
def gone():
    """The number of a process that has ended."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def unfinished(folder, name, pid):
    part = files.part_of(folder / name)
    part = part.with_name(part.name.replace(f"-{os.getpid()}-", f"-{pid}-"))
    part.write_text("half")
    return part


def test_the_next_write_removes_what_a_dead_process_left(tmp_path, gone):
    unfinished(tmp_path, "last.pt", gone)
    own = unfinished(tmp_path, "best.pt", os.getpid())
    elsewhere = own.with_name(f".best.pt.{'0' * 4}-{gone}-{'a' * 8}.part")
    foreign = own.with_name(".of-another-program.part")
    for each in (elsewhere, foreign):
        each.write_text("half")
    with files.atomic_write(tmp_path / "last.pt") as file:
        file.write(b"whole")
    assert sorted(tmp_path.iterdir()) == sorted([own, elsewhere, foreign, tmp_path / "last.pt"])


def test_unpacking_removes_what_a_killed_unpack_left(tmp_path, gone):
    with zipfile.ZipFile(tmp_path / "pictures.zip", "w") as packed:
        packed.writestr("ant/1.png", b"x")
    (tmp_path / "cache").mkdir()
    left = unfinished(tmp_path / "cache", "pictures-0", gone)
    left.unlink()
    (left / "ant").mkdir(parents=True)
    folder = archives.unpacked(tmp_path / "pictures.zip", tmp_path / "cache", lambda text, done, total: None)
    assert list((tmp_path / "cache").iterdir()) == [folder]


def test_a_link_is_removed_and_not_followed(tmp_path, gone):
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "file").write_text("mine")
    left = unfinished(tmp_path, "map.npz", gone)
    left.unlink()
    left.symlink_to(tmp_path / "kept")
    files.clear_parts(tmp_path)
    assert (tmp_path / "kept" / "file").read_text() == "mine"
    assert not left.is_symlink()
