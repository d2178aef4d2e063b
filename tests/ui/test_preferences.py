"""When the preferences are written: not in the turn of a change, which belongs to the page that is shown."""

import pytest

from workbench.ui import preferences
from workbench.ui.preferences import Preferences


@pytest.fixture
def file(tmp_path):
    return tmp_path / "window.ini"


def test_a_change_is_not_written_at_once_but_when_it_is_kept(qtbot, monkeypatch, file):
    monkeypatch.setattr(preferences, "WRITE_AFTER", 10**8)
    stored = Preferences(file)
    stored.set_text("layout/page", "map")
    qtbot.deliver()
    assert not file.exists()
    assert Preferences(file).text("layout/page") == "map", "what was set is read before it is written"
    stored.keep()
    assert "page=map" in file.read_text("utf-8")


def test_a_change_is_written_when_nothing_has_changed_for_a_while(qtbot, monkeypatch, file):
    monkeypatch.setattr(preferences, "WRITE_AFTER", 1)
    stored = Preferences(file)
    for page in ("map", "train"):
        stored.set_text("layout/page", page)
        qtbot.waitUntil(lambda page=page: file.exists() and f"page={page}" in file.read_text("utf-8"))
    stored.forget("layout")
    qtbot.waitUntil(lambda: "page" not in file.read_text("utf-8"))
