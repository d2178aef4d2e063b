"""A file that a person names: its folder is made, and what is no file is not replaced."""

import os
import stat
from pathlib import Path

import pytest

from workbench import files
from workbench.config import RunConfig
from workbench.problem import Problem


def test_the_folder_is_made_and_a_file_is_replaced(tmp_path):
    path = tmp_path / "new" / "scores.csv"
    for content in (b"first", b"second"):
        with files.named_file(path) as file:
            file.write(content)
    assert path.read_bytes() == b"second"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
@pytest.mark.parametrize("is_link", [False, True])
def test_a_pipe_or_a_link_to_one_is_not_replaced(tmp_path, is_link):
    pipe, path = tmp_path / "pipe", tmp_path / ("link" if is_link else "pipe")
    os.mkfifo(pipe)
    if is_link:
        path.symlink_to(pipe)
    with pytest.raises(Problem, match="is a device, a pipe or a socket, not a file"), files.named_file(path) as file:
        file.write(b"scores")
    assert stat.S_ISFIFO(path.stat().st_mode)
    assert sorted(tmp_path.iterdir()) == sorted({pipe, path})


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_that_was_chosen_in_a_dialog_is_not_replaced_either(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(Problem, match="is a device, a pipe or a socket, not a file"):
        RunConfig().to_toml(tmp_path / "pipe")
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)


def test_a_folder_is_named_as_one(tmp_path):
    with pytest.raises(Problem, match="is a folder, not a file"), files.chosen_file(tmp_path) as file:
        file.write(b"scores")
    assert list(tmp_path.parent.glob(".*.part")) == []


@pytest.mark.skipif(not Path(os.devnull).exists(), reason="this system's null device has no path")
def test_a_device_is_refused():
    with pytest.raises(Problem, match="is a device, a pipe or a socket, not a file"):
        files.check_place(Path(os.devnull))


@pytest.mark.skipif(not os.path.islink("/dev/stdout"), reason="this system's streams have no paths that are links")
def test_a_stream_of_this_process_is_not_replaced_even_where_it_goes_to_a_file(tmp_path):
    with (tmp_path / "out.csv").open("wb") as out:
        for name in (f"/dev/fd/{out.fileno()}", f"/proc/self/fd/{out.fileno()}"):
            if os.path.exists(name):
                with pytest.raises(Problem, match="is a device, a pipe or a socket, not a file"):
                    files.check_place(Path(name))
    before = os.readlink("/dev/stdout")
    with pytest.raises(Problem, match="is a device, a pipe or a socket, not a file"):
        files.check_place(Path("/dev/stdout"))
    assert os.readlink("/dev/stdout") == before


def test_a_typed_path_has_the_home_folder_and_that_of_nobody_stays(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME" if os.name == "posix" else "USERPROFILE", str(tmp_path))
    assert files.typed_path("~/photos") == tmp_path / "photos"
    nobody = Path("~nobody-has-this-name") / "photos"
    if os.name == "posix":  # elsewhere it is a folder beside that of the user
        assert files.typed_path(nobody) == nobody
