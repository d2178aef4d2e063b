"""Shared by the window's tests: settings of their own, and a session on an empty workspace."""

from pathlib import Path

import pytest

from workbench.ui.session import Session
from workbench.workspace import Workspace


@pytest.fixture(autouse=True)
def _own_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test reads or writes what a person's window remembers."""
    monkeypatch.setenv("WORKBENCH_SETTINGS", str(tmp_path / "window.ini"))


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """An empty workspace; the session that takes it closes it."""
    return Workspace(tmp_path / "workspace", create=True)


@pytest.fixture
def session(qapp, workspace):
    """A session on an empty workspace; what still works is ended afterwards."""
    made = Session(workspace)
    yield made
    made.close()
