"""What `ssh` is given of files: a short folder of the person's alone, a config that lets nobody on the way ask."""

import os
import shutil
import stat
import subprocess
from pathlib import Path

import pytest

from workbench.places.host import ssh_files

pytestmark = pytest.mark.skipif(os.name != "posix", reason="OpenSSH on Windows shares no connection")


@pytest.fixture
def short(tmp_path, monkeypatch):
    """In place of /tmp, of a home folder and of XDG_RUNTIME_DIR: nothing of this machine is used."""
    folder = tmp_path / "t"
    folder.mkdir()
    monkeypatch.setattr(ssh_files, "SHORT", folder)
    monkeypatch.setattr(ssh_files, "LONGEST", len(os.fsencode(folder)) + 50)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    return folder


def socket_of(words: list[str]) -> Path | None:
    return next((Path(word.partition("=")[2]) for word in words if word.startswith("ControlPath=")), None)


def config_of(words: list[str]) -> Path | None:
    return Path(words[words.index("-F") + 1]) if "-F" in words else None


@pytest.mark.parametrize("name", ["long" * 20, "two words", "per%cent", "dollar$"])
def test_a_folder_that_ssh_cannot_use_is_left_for_a_short_one(short, tmp_path, monkeypatch, name):
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / name))
    monkeypatch.setenv("HOME", str(tmp_path / name))
    socket = socket_of(ssh_files.options("lab1", None))
    assert socket.parent == short / f"workbench-{os.geteuid()}"
    assert stat.S_IMODE(socket.parent.stat().st_mode) == 0o700
    assert len(os.fsencode(socket)) <= ssh_files.LONGEST


def test_the_folder_of_the_session_comes_first_then_that_of_ssh(short, tmp_path, monkeypatch):
    assert socket_of(ssh_files.options("lab1", None)).parent == tmp_path / "home" / ".ssh"
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "run"))
    assert socket_of(ssh_files.options("lab1", None)).parent == tmp_path / "run" / "workbench"


def test_a_folder_of_another_is_not_used(short, tmp_path, monkeypatch):
    """What stands at its name may be a link or a file that somebody else made; then nothing is shared."""
    monkeypatch.setenv("HOME", str(tmp_path / ("home" * 20)))
    (short / f"workbench-{os.geteuid()}").symlink_to(tmp_path)
    assert ssh_files.options("lab1", None) == []
    assert ssh_files.options("lab1", tmp_path / "config") == ["-F", str(tmp_path / "config")]
    monkeypatch.setattr(os, "geteuid", lambda: 12345)  # the link is gone, and the folder is somebody else's
    (short / "workbench-12345").mkdir()
    assert ssh_files.options("lab1", None) == []


@pytest.mark.skipif(not shutil.which("ssh"), reason="no OpenSSH here")
def test_the_config_says_what_the_persons_own_says_and_that_nobody_asks(short, tmp_path):
    own = tmp_path / "own config"
    own.write_text("BatchMode no\nHost lab1\n  HostName machine.example\n  Port 2022\n")
    words = ssh_files.options("lab1", own)
    said = subprocess.run(["ssh", "-G", *words, "lab1"], capture_output=True, text=True, check=True).stdout.splitlines()
    assert {"batchmode yes", "hostname machine.example", "port 2022"} <= set(said)
    (tmp_path / "other").write_text("Host lab1\n  Port 2023\n")
    assert config_of(ssh_files.options("lab1", tmp_path / "other")) != config_of(words), "a config for each"


def test_a_config_that_ssh_refuses_is_given_to_it_as_it_is(short, tmp_path):
    assert config_of(ssh_files.options("lab1", tmp_path / "missing")) == tmp_path / "missing"
    own = tmp_path / "home" / ".ssh" / "config"
    own.parent.mkdir(parents=True, exist_ok=True)
    own.write_text("")
    own.chmod(0o600)
    assert config_of(ssh_files.options("lab1", None)) is not None
    own.chmod(0o666)  # ssh would not take it from its usual place
    assert config_of(ssh_files.options("lab1", None)) is None
