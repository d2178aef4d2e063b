"""ruff and mypy find nothing, with the settings of pyproject.toml."""

import re
import subprocess
import sys
import tomllib
from importlib.metadata import version

import pytest
from packaging.version import Version
from source_rules import ROOT

TOOLS = {
    "ruff check": ["ruff", "check", "."],
    "ruff format": ["ruff", "format", "--check", "."],
    "mypy": ["mypy"],
}


def findings(tool: list[str], *more: str) -> str:
    """What the tool says when it finds something; empty when all is well."""
    command = [sys.executable, "-m", *tool, *more]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else done.stdout + done.stderr


def test_what_packages_the_program_is_typed_too():
    checked = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["mypy"]["files"]
    assert {"workbench", "packaging"} <= set(checked)


def torch_is_older() -> bool:
    """Whether torch is older than in packaging/constraints.txt."""
    pinned = re.search(r"^torch==(.+)$", (ROOT / "packaging" / "constraints.txt").read_text("utf-8"), re.MULTILINE)
    assert pinned, "torch has a version in constraints.txt"
    return Version(version("torch")) < Version(pinned[1])


@pytest.mark.parametrize("name", TOOLS)
def test_a_tool_finds_nothing(name):
    if name == "mypy" and torch_is_older():
        pytest.skip("older releases of torch have fewer types: 2.11 has none for GradScaler")
    assert findings(TOOLS[name]) == ""


@pytest.mark.slow
@pytest.mark.parametrize("system", ["win32", "darwin"])
def test_the_types_are_right_on_another_system(system, tmp_path):
    """What only one system has is behind a check of `sys.platform`, which mypy understands."""
    assert findings(["mypy"], "--platform", system, "--cache-dir", str(tmp_path)) == ""


def test_planted_faults_are_found(tmp_path):
    planted = tmp_path / "planted.py"
    planted.write_text("import torch\ndef f( x ):\n    return x\n")
    settings = ["--config", str(ROOT / "pyproject.toml"), str(planted)]
    assert "TID253" in findings(["ruff", "check"], *settings)
    assert "would be reformatted" in findings(["ruff", "format", "--check"], *settings)
    planted.write_text("import json\ndef f(x):\n    return x\ndef g() -> int:\n    return json.loads('1')\n")
    found = findings(["mypy", "--config-file", str(ROOT / "pyproject.toml"), str(planted)])
    assert "no-untyped-def" in found
    assert "no-any-return" in found  # as `mypy --strict`
