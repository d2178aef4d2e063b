"""The wheel carries the package and its resources, and names the command."""

import subprocess
import sys
from importlib.util import find_spec
from zipfile import ZipFile

import pytest
from source_rules import ROOT

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
    assert [name for name in wheel.namelist() if name.startswith(("tests/", "packaging/", "docs/"))] == []


def test_the_command_is_named(wheel):
    (entries,) = [name for name in wheel.namelist() if name.endswith("entry_points.txt")]
    assert "workbench = workbench.__main__:main" in wheel.read(entries).decode()
