"""The wheel carries the package and its resources; installed into an empty environment it gives both commands."""

import os
import subprocess
import sys
import sysconfig
import venv
from importlib.util import find_spec
from pathlib import Path
from zipfile import ZipFile

import pytest
from source_rules import ROOT

from workbench import __version__

PRESETS = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "resources").rglob("*") if path.is_file())


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> ZipFile:
    """The wheel of this checkout, built by hatchling without pip and without the network."""
    if find_spec("hatchling") is None:
        pytest.skip("hatchling is not installed: bootstrap.py test installs it")
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (built,) = folder.glob("*.whl")
    return ZipFile(built)


def test_every_resource_is_inside(wheel):
    assert any(name.startswith("resources/presets/") and name.endswith(".toml") for name in PRESETS)
    assert {f"workbench/{name}" for name in PRESETS} <= set(wheel.namelist())


def test_every_module_is_inside_and_no_test(wheel):
    modules = {path.relative_to(ROOT).as_posix() for path in (ROOT / "workbench").rglob("*.py")}
    assert modules <= set(wheel.namelist())
    assert "workbench/py.typed" in wheel.namelist()  # without it, type checkers ignore the package's types
    assert [name for name in wheel.namelist() if name.startswith(("tests/", "packaging/", "docs/"))] == []


def test_the_commands_are_named(wheel):
    (entries,) = [name for name in wheel.namelist() if name.endswith("entry_points.txt")]
    told = wheel.read(entries).decode()
    assert "[console_scripts]\nworkbench = workbench.__main__:main" in told
    assert "[gui_scripts]\nworkbench-gui = workbench.app:main" in told


@pytest.fixture(scope="module")
def scripts(wheel, tmp_path_factory) -> Path:
    """The folder of commands of an environment of its own with the wheel; the packages that it needs are those here."""
    if find_spec("pip") is None:
        pytest.skip("pip is not installed")
    folder = tmp_path_factory.mktemp("empty")
    venv.create(folder, with_pip=False)
    own = "Scripts" if os.name == "nt" else "bin"
    command = [
        sys.executable,
        "-m",
        "pip",
        "--python",
        str(folder / own / "python"),
        "install",
        "--no-deps",
        "--no-index",
    ]
    done = subprocess.run([*command, str(wheel.filename)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (packages,) = (path.parent for path in folder.rglob("workbench") if (path / "app.py").is_file())
    (packages / "needed.pth").write_text(sysconfig.get_path("purelib"), "utf-8")  # whose own .pth files are not read
    return folder / own


def call(folder: Path, command: str, *words: str, **variables: str) -> str:
    """What a command of the environment prints, called in that folder, without this checkout."""
    env = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "DISPLAY")} | variables
    ended = subprocess.run(
        [str(folder / command), *words],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env={**env, **variables},
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


def test_the_installed_command_answers(scripts):
    assert call(scripts, "workbench", "--version").split()[-1] == __version__
    assert "sample-digits" in call(scripts, "workbench", "list", "presets")


def test_the_installed_window_opens(scripts, tmp_path):
    own = {"WORKBENCH_SETTINGS": str(tmp_path / "window.ini"), "XDG_STATE_HOME": str(tmp_path / "state")}
    words = ("--workspace", str(tmp_path / "w"), "--measure-start")
    assert "to the first paint" in call(scripts, "workbench-gui", *words, QT_QPA_PLATFORM="offscreen", **own)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="for Linux desktops")
def test_the_installed_menu_entry_starts_the_installed_window(scripts, tmp_path):
    call(scripts, "workbench", "install-desktop", XDG_DATA_HOME=str(tmp_path))
    (entry,) = tmp_path.glob("applications/*.desktop")
    assert f'Exec="{scripts / "workbench-gui"}" %f' in entry.read_text("utf-8")
