"""The folder in which the examples of docs/ are followed."""

from pathlib import Path

import pytest
from following import wait_patiently


@pytest.fixture
def patient() -> None:
    """For slow tests that need no reader's folder."""
    wait_patiently()


@pytest.fixture
def reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Path:
    """A person's folder: nothing outside it is written. A slow test is held to hang after LONGEST alone."""
    if request.node.get_closest_marker("slow"):
        wait_patiently()
    monkeypatch.setenv("WORKBENCH_WORKSPACE", str(tmp_path / "workspace"))
    monkeypatch.setenv("WORKBENCH_PLUGINS", str(tmp_path / "plugins" / "folders.txt"))
    for name in ("DATA", "CACHE", "CONFIG"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name.lower()))
    monkeypatch.chdir(tmp_path)
    return tmp_path
