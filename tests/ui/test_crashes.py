"""A native crash of a real process leaves a report, which the next start offers; nothing else does."""

import errno
import logging
import os
import signal
import subprocess
import sys
from datetime import datetime

import pytest
from PySide6.QtGui import QGuiApplication

from tests.ui.window_process import ROOT, run_window
from tests.waits import HANG
from workbench.ui.window.main_window import MainWindow
from workbench.ui.window.process import crashes, defects
from workbench.ui.window.process.crashes import CrashReport
from workbench.ui.window.process.defects import start_log

CHILD = """
import logging, os, signal, sys
from pathlib import Path
from workbench.ui.window.process import crashes
from workbench.ui.window.process.defects import start_log
start_log(Path(sys.argv[1]) / "window.log")
with crashes.watched(Path(sys.argv[1]) / "crashes"):
    logging.info("the last thing it did")
    getattr(sys.modules[__name__], "end", lambda: None)()
    if sys.argv[2] != "0":
        os.kill(os.getpid(), int(sys.argv[2]))
"""


def ended(folder, number):
    """A process that ends by a signal, 0 for none; its number."""
    with subprocess.Popen(
        [sys.executable, "-c", CHILD, str(folder), str(int(number))], env={**os.environ, "PYTHONPATH": str(ROOT)},
        stderr=subprocess.DEVNULL,
    ) as child:  # fmt: skip
        assert child.wait(HANG) == (-number if number else 0)
    return child.pid


def collected(folder):
    return crashes.collect(folder / "crashes", folder / "window.log")


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.parametrize(
    ("number", "name"), [(signal.SIGSEGV, "Segmentation fault"), (signal.SIGABRT, "Aborted")], ids=["segv", "abort"]
)
def test_a_crash_leaves_trace_versions_and_the_last_lines_of_its_log(tmp_path, number, name):
    ended(tmp_path, 0)
    pid = ended(tmp_path, number)
    with (tmp_path / "window.log").open("a", encoding="utf-8") as log:
        log.write(f"2026-01-01 00:00:00,000 INFO {pid + 1} MainThread other: of another window\n")
    (report,) = collected(tmp_path)
    assert f"Fatal Python error: {name}" in report.text
    assert "File " in report.text
    assert "PySide6-Essentials " in report.text
    assert report.text.count("the last thing it did") == 1, "that of the process before is not its own"
    assert "of another window" not in report.text
    assert report.path.read_text("utf-8") == report.text
    assert [path.name for path in (tmp_path / "crashes").iterdir()] == [report.path.name]
    assert collected(tmp_path) == [], "it is offered once"


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_an_end_that_is_no_crash_leaves_nothing(tmp_path):
    ended(tmp_path, 0)
    ended(tmp_path, signal.SIGKILL)
    ended(tmp_path, signal.SIGTERM)
    assert collected(tmp_path) == []
    assert list((tmp_path / "crashes").iterdir()) == []


def test_a_window_that_is_open_is_left_alone(tmp_path):
    code = CHILD.replace("with crashes", "def end():\n    print(flush=True); sys.stdin.read()\nwith crashes")
    with subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path), "0"], env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    ) as other:  # fmt: skip
        other.stdout.readline()
        assert collected(tmp_path) == []
        assert len(list((tmp_path / "crashes").iterdir())) == 1
    assert list((tmp_path / "crashes").iterdir()) == []


def test_the_newest_reports_are_kept(tmp_path):
    for number in range(crashes.KEPT + 3):
        (tmp_path / f"crash-20260101-0000{number:02}-1.txt").write_text("")
    crashes.collect(tmp_path, tmp_path / "window.log")
    assert min(path.name for path in tmp_path.iterdir()) == "crash-20260101-000003-1.txt"


def test_a_folder_that_cannot_be_written_stops_nothing(tmp_path):
    (tmp_path / "crashes").write_text("")
    with crashes.watched(tmp_path / "crashes"):
        assert collected(tmp_path) == []


def test_the_next_start_offers_to_show_and_copy_the_report(qtbot, session, tmp_path):
    window = qtbot.addWidget(MainWindow(session))
    report = CrashReport(tmp_path / "crash.txt", datetime(2026, 11, 22, 23, 10), "Fatal Python error: Aborted")
    window.show_defect(crashes.as_problem([report]), report.text)
    assert window.message.what.text() == "Workbench crashed on 2026-11-22 at 23:10."
    assert "nothing was sent" in window.message.rest.text()
    window.message.unfold.click()
    assert window.message.details.toPlainText() == report.text
    window.message.copy.click()
    assert report.text in QGuiApplication.clipboard().text()
    assert "crashed 2 times; the last time was on 2026-11-22" in str(crashes.as_problem([report, report]))


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_a_window_that_crashes_is_told_by_the_next(tmp_path):
    """The whole start, twice: the first window aborts when it is painted."""
    crash = "import os; from workbench import app; app.seconds_since_start = os.abort"
    tell = """
from workbench.ui.window.main_window import MainWindow
MainWindow.show_defect = lambda window, problem, trace: print(problem, flush=True)"""
    starts = [run_window(code, tmp_path) for code in (crash, tell)]
    assert starts[0].returncode == -signal.SIGABRT, starts[0].stderr
    assert starts[1].returncode == 0, starts[1].stderr
    assert "Workbench crashed on 20" in starts[1].stdout


def test_a_log_that_another_window_holds_open_goes_on_where_windows_does_not_rename_it(tmp_path, monkeypatch):
    def refuse(source, target):
        raise PermissionError(errno.EACCES, "The process cannot access the file", str(source))

    monkeypatch.setattr(defects, "LARGEST_LOG", 1000)
    root = logging.getLogger()
    before = root.handlers[:], root.level
    try:
        start_log(tmp_path / "window.log")
        monkeypatch.setattr(os, "rename", refuse)
        for number in range(100):
            logging.getLogger("test").info("line %d", number)
    finally:
        for handler in set(root.handlers) - set(before[0]):
            root.removeHandler(handler)
            handler.close()
        root.setLevel(before[1])
    lines = (tmp_path / "window.log").read_text("utf-8").splitlines()
    assert [line.rpartition(" ")[2] for line in lines if "test: line" in line] == [str(number) for number in range(100)]
