"""The window as a program: refusals before Qt, the time to the first paint, a workspace that cannot be opened."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from PySide6.QtWidgets import QMessageBox

from tests.ui.window_process import run_window
from tests.waits import HANG
from workbench import app
from workbench.config import RunConfig
from workbench.ui.style.icons import icon

ROOT = Path(__file__).resolve().parents[2]


def start(*args, **changes):
    """Run `python -m workbench`; an environment variable set to None is taken out."""
    env = {**os.environ, "PYTHONPATH": str(ROOT), **{name: value for name, value in changes.items() if value}}
    for name in (name for name, value in changes.items() if value is None):
        env.pop(name, None)
    return subprocess.run(
        [sys.executable, "-m", "workbench", *args], capture_output=True, text=True, env=env, timeout=HANG
    )


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="other systems always have a display")
def test_without_a_display_it_says_so_and_ends_with_2():
    ended = start(DISPLAY=None, WAYLAND_DISPLAY=None, QT_QPA_PLATFORM=None)
    assert ended.returncode == 2
    assert "there is no display" in ended.stderr
    assert len(ended.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize("python", [(3, 11, 7), (3, 12, 0)])
def test_the_broken_qt_is_refused_on_every_python(monkeypatch, python):
    monkeypatch.setattr(app, "qt_version", lambda: app.TORN)
    monkeypatch.setattr(sys, "version_info", python)
    assert "install another PySide6" in str(app.reason_not_to_start())


def test_the_window_is_painted_and_closes_and_without_a_word_opens_the_workspace_that_was_open_last(tmp_path):
    own = {
        "QT_QPA_PLATFORM": "offscreen", "WORKBENCH_SETTINGS": str(tmp_path / "window.ini"), "HOME": str(tmp_path),
        "XDG_STATE_HOME": str(tmp_path / "state"), "WORKBENCH_WORKSPACE": None,
    }  # fmt: skip
    last, usual = tmp_path / "last", tmp_path / "Workbench"
    ended = start("--workspace", str(last), "--measure-start", **own)
    assert ended.returncode == 0, ended.stderr
    assert re.search(r"[\d.]+ s from the start of the process to the first paint", ended.stdout)
    assert (last / "workspace.db").exists()
    assert start("--measure-start", **own).returncode == 0
    assert not usual.exists()
    shutil.rmtree(last)
    assert start("--measure-start", **own).returncode == 0
    assert (usual / "workspace.db").exists()
    assert not last.exists()
    (log,) = (tmp_path / "state").rglob("window.log")
    assert f"The workspace {last}, which was open last, cannot be found" in log.read_text("utf-8")


def test_what_is_asked_for_comes_before_the_last_workspace_and_that_before_the_usual_one(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("WORKBENCH_WORKSPACE", raising=False)
    asked, last, usual = (tmp_path / name for name in ("asked", "last", "Workbench"))
    last.mkdir()
    assert app.first_workspace(None, None) == (usual, None), "nothing is remembered"
    assert app.first_workspace(None, last) == (usual, last), "an empty folder is where a disk was"
    (last / "runs").mkdir()
    assert app.first_workspace(None, last) == (last, None)
    assert app.first_workspace(asked, last) == (asked, None)
    monkeypatch.setenv("WORKBENCH_WORKSPACE", str(asked))
    assert app.first_workspace(None, last) == (asked, None)


def test_other_arguments_go_to_the_command_line():
    ended = start("--help", DISPLAY=None, QT_QPA_PLATFORM=None)
    assert ended.returncode == 0
    assert "Usage" in ended.stdout


def test_a_workspace_that_cannot_be_opened_is_explained(qapp, tmp_path, monkeypatch):
    wrong = tmp_path / "w"
    wrong.mkdir()
    (wrong / "workspace.db").write_bytes(b"this is no database, though it has its name" * 100)
    told = []
    monkeypatch.setattr(QMessageBox, "exec", lambda box: told.append(box.text()))
    assert app.open_workspace(wrong) is None
    assert "w" in told[0]
    assert "Traceback" not in told[0]


def test_an_unknown_icon_is_a_mistake_that_shows_at_once(qapp):
    with pytest.raises(KeyError):
        icon("no-such-icon")


def test_icons_take_the_colours_of_the_theme(session):
    shown = icon("circle", "accent")
    colours = []
    for choice in ("light", "dark"):
        session.theme.choose(choice)
        picture = shown.pixmap(16, 16).toImage()
        pixels = [picture.pixelColor(x, y) for x in range(16) for y in range(16)]
        colours.append(max(pixels, key=lambda pixel: pixel.alpha()).name())
    assert colours[0] != colours[1]


def test_a_config_of_the_file_manager_is_shown_by_set_up(tmp_path):
    """The whole start, as the desktop's menu entry does it."""
    config = tmp_path / "mine.workbench.toml"
    RunConfig(name="From the file manager").to_toml(config)
    code = """
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication
from workbench.ui.state.session import Session
made = Session.__init__
def shown(name):
    print("page", name)
    QTimer.singleShot(0, QApplication.quit)
def watched(session, *words, **named):
    made(session, *words, **named)
    session.config_offered.connect(lambda config: print("config", config.name))
    session.page_asked.connect(shown)
Session.__init__ = watched"""
    ended = run_window(code, tmp_path, str(config), until_painted=False)
    assert ended.returncode == 0, ended.stderr
    assert {"config From the file manager", "page setup"} <= set(ended.stdout.splitlines()), ended.stderr
