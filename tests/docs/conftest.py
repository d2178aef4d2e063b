"""The folder in which the examples of docs/ are followed."""

from pathlib import Path

import pytest


@pytest.fixture
def reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A person's folder: nothing outside it is written."""
    monkeypatch.setenv("WORKBENCH_WORKSPACE", str(tmp_path / "workspace"))
    monkeypatch.setenv("WORKBENCH_PLUGINS", str(tmp_path / "plugins" / "folders.txt"))
    for name in ("DATA", "CACHE", "CONFIG"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(tmp_path / name.lower()))
    monkeypatch.chdir(tmp_path)
    return tmp_path
