"""The window's start: checks before Qt, then the window, then the engine behind it."""

import argparse
import builtins
import os
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.files.resources import resources
from workbench.problem import Problem
from workbench.progress import Progress

if TYPE_CHECKING:
    from workbench.ui.window.process.crashes import CrashReport
    from workbench.workspace.news import Watch

TORN = "6.12.0"  # loses references: on Python 3.11 after some hundred signals, on 3.12 where a plot is laid out
NO_DISPLAY = (
    "Workbench cannot open its window: there is no display. "
    "Use the command line, `python -m workbench --help`, or set QT_QPA_PLATFORM."
)
BEFORE_QT = ("running.folds_and_seeds", "entries.catalog")  # with all that they load: PySide reads what comes after it
SWITCH = 0.0003  # seconds that another thread may hold the interpreter while the window waits for it


def share_cores() -> None:
    """Have the window answer soon beside a run, on the same cores and in the same process; called before Qt is used."""
    sys.setswitchinterval(SWITCH)
    os.environ.setdefault("QT_NO_GUI_THREADPOOL", "1")  # else painting waits for threads that get no core beside a run


def import_plainly() -> None:
    """Undo PySide's change of `import`, for a feature that is not used here; called as soon as PySide is imported.

    It reads and keeps the source of every module: 70 million letters with torch, timm and umap.
    """
    builtins.__import__ = getattr(builtins, "__orig_import__", builtins.__import__)


def reason_not_to_start() -> str | None:
    """Why no window can be opened on this machine, as one sentence; None when all is well. Starts nothing."""
    if qt_version() == TORN:
        return f"PySide6 {TORN} crashes: install another PySide6."
    named = ("QT_QPA_PLATFORM", "DISPLAY", "WAYLAND_DISPLAY")
    if sys.platform.startswith("linux") and not any(os.environ.get(name) for name in named):
        return NO_DISPLAY
    return None


def qt_version() -> str:
    """The version of PySide6, without loading Qt; to be asked after BEFORE_QT."""
    import PySide6

    return PySide6.__version__


def parse(argv: list[str]) -> argparse.Namespace:
    """The few options of the window; everything else is the command line's."""
    parser = argparse.ArgumentParser(prog="workbench", description="Open the window.", allow_abbrev=False)
    parser.add_argument("config", type=Path, nargs="?", help="a config file (.toml) that Set up shows")
    parser.add_argument(
        "--workspace", "-w", type=Path,
        help="folder of runs; made when it is missing. By default WORKBENCH_WORKSPACE, or the one that was open last.",
    )  # fmt: skip
    parser.add_argument("--measure-start", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args(argv)


def main(argv: list[str] | None = None) -> int:
    """Open the window and stay until it closes; returns the exit status. Without `argv` the process's own arguments."""
    options = parse(sys.argv[1:] if argv is None else argv)
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")  # to look for them it reads every installed package
    for module in BEFORE_QT:
        import_module(f"workbench.{module}")
    reason = reason_not_to_start()
    if reason is not None:
        if sys.stderr is not None:  # Windows gives a program without a console none
            sys.stderr.write(f"{reason}\n")
        return 2
    import_plainly()
    from workbench.ui.window.process import crashes
    from workbench.ui.window.process.defects import log_file, log_folder, start_log

    kept = log_folder() / "crashes"
    reports = crashes.collect(kept, log_file())
    start_log(log_file())
    with crashes.watched(kept):
        return run_window(options.workspace, options.config, reports, measure=options.measure_start)


def run_window(folder: Path | None, config: Path | None, reports: "list[CrashReport]", *, measure: bool = False) -> int:
    """The window on a workspace, with a config on its Set up page; it offers reports of crashes before this start."""
    from PySide6.QtCore import QEvent, QTimer
    from PySide6.QtGui import QIcon
    from PySide6.QtWidgets import QApplication

    from workbench.ui.preferences import Preferences
    from workbench.ui.state.concern import EVERYWHERE
    from workbench.ui.state.session import Session
    from workbench.ui.window.main_window import MainWindow
    from workbench.ui.window.process.crashes import as_problem
    from workbench.ui.window.process.defects import Defects
    from workbench.ui.window.process.garbage import Garbage
    from workbench.ui.window.warm_up import WarmUp

    share_cores()
    app = QApplication(sys.argv[:1])
    garbage = Garbage(app)
    app.setApplicationName("Workbench")
    app.setDesktopFileName("metric-workbench")
    app.setWindowIcon(QIcon(str(resources() / "desktop" / "metric-workbench.svg")))
    app.setStyle("Fusion")
    first, gone = first_workspace(folder, Preferences().newest("workspaces"))
    watch = open_workspace(first)
    if watch is None:
        return 1
    defects = Defects()
    defects.install()
    session = Session(watch.workspace, watch=watch)
    session.theme.apply()
    window = MainWindow(session)
    if gone is not None:
        said = f"The workspace {gone}, which was open last, cannot be found, so {watch.workspace.path} is open."
        session.notify(Problem(said, todo="Connect its disk, or look where it was moved, and open it."), EVERYWHERE)
    defects.noticed.connect(window.show_defect)
    if reports:
        window.painted.connect(partial(window.show_defect, as_problem(reports), reports[-1].text))
    if config is not None:
        window.painted.connect(partial(window.opening.offer, config))
    if measure:
        window.painted.connect(_tell_start)
        window.painted.connect(app.quit)
    else:
        WarmUp(session, window, load_engine, garbage)
    signal.signal(signal.SIGINT, lambda number, frame: QTimer.singleShot(0, window.close))
    app.lastWindowClosed.connect(app.exit)  # Qt takes its own quit back if a late answer shows another window
    window.show()
    status = app.exec()
    session.close(ending=True)
    defects.remove()
    window.deleteLater()
    app.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)  # widgets must not outlive the application
    garbage.end()
    return status


def first_workspace(asked: Path | None, last: Path | None) -> tuple[Path, Path | None]:
    """The folder to begin with, and the workspace that was open last where it is not there and another is opened.

    What is asked for, by an option or by WORKBENCH_WORKSPACE, comes before the last one, and that before the default.
    """
    from workbench.workspace.paths import DATABASE, default_workspace

    usual = default_workspace()
    if asked is not None or last is None or last == usual or os.environ.get("WORKBENCH_WORKSPACE"):
        return asked or usual, None
    if any(os.path.exists(last / part) for part in (DATABASE, "runs")):  # without a database it can be repaired
        return last, None
    return usual, last


def open_workspace(workspace_folder: Path) -> "Watch | None":
    """The workspace to begin with; where it cannot be opened the user repairs it, chooses another, or None to quit."""
    from PySide6.QtCore import Qt
    from PySide6.QtWidgets import QFileDialog, QMessageBox

    from workbench.workspace.database.problems import Damaged, Missing
    from workbench.workspace.news import watched
    from workbench.workspace.owners.lease_holder import Leased

    while True:
        try:
            watch = watched(workspace_folder, sweep=True)
        except Problem as problem:
            box = QMessageBox(QMessageBox.Icon.Warning, "Workbench", str(problem))
            box.setTextFormat(Qt.TextFormat.PlainText)
            other = box.addButton("Choose another folder…", QMessageBox.ButtonRole.AcceptRole)
            act: Callable[[Path], None] | None = None
            if isinstance(problem, Leased):
                act, words = take_over, "Watch it and take it over"
            elif isinstance(problem, Damaged | Missing):
                act, words = repair, "Repair it"
            acting = box.addButton(words, QMessageBox.ButtonRole.DestructiveRole) if act is not None else None
            box.addButton("Quit", QMessageBox.ButtonRole.RejectRole)
            box.exec()
            if act is not None and box.clickedButton() is acting:
                act(workspace_folder)
                continue
            chosen = QFileDialog.getExistingDirectory(None, "A workspace") if box.clickedButton() is other else ""
            if not chosen:
                return None
            workspace_folder = Path(chosen)
        else:
            return watch


def repair(folder: Path) -> None:
    """Rebuild a workspace's database on a thread beside a line that says so, and tell what was done or why not."""
    from PySide6.QtCore import QEventLoop, Qt
    from PySide6.QtWidgets import QMessageBox, QProgressDialog

    from workbench.ui.state.background.tasks import Task
    from workbench.ui.window.opening import repaired

    said: list[str] = []
    line = QProgressDialog("Repairing the workspace: the runs' folders are read", "", 0, 0)
    line.setCancelButton(None)
    line.setMinimumDuration(0)
    line.show()
    over = QEventLoop()
    task = Task("Repair", partial(repaired, folder), said.append, lambda why: said.append(str(why)), None)
    task.over.connect(over.quit)
    task.start()
    over.exec()
    line.close()
    box = QMessageBox(QMessageBox.Icon.Information, "Workbench", " ".join(said))
    box.setTextFormat(Qt.TextFormat.PlainText)
    box.exec()


def take_over(folder: Path) -> None:
    """Watch for heartbeats of the machine that has a workspace, with a line that can be cancelled, and take it."""
    from PySide6.QtWidgets import QApplication, QProgressDialog

    from workbench.control import Cancelled
    from workbench.workspace.owners import lease

    line = QProgressDialog("Watching for signs of life", "Cancel", 0, 0)
    line.setMinimumDuration(0)

    def progress(text: str, done: int, total: int) -> None:
        line.setLabelText(text)
        line.setMaximum(total)
        line.setValue(done)
        QApplication.processEvents()
        if line.wasCanceled():
            raise Cancelled

    with suppress(Cancelled, Problem):  # opening it again says how it is now
        lease.take_over(folder, progress)
    line.close()


def load_engine(progress: Progress) -> tuple[dict[str, dict[str, Any]], str]:
    """Load torch and the catalog behind the window, on a thread: (catalog, name of the device that trains)."""
    from workbench.entries import catalog
    from workbench.running import engine  # noqa: F401
    from workbench.training import device

    known = catalog.current(partial(progress, "Loading the engine", 0, 0))
    return known, device.describe(device.choose("auto"))["device"]


def _tell_start() -> None:
    wall, busy = seconds_since_start(), time.process_time()
    sys.stdout.write(f"{wall:.2f} s from the start of the process to the first paint, {busy:.2f} s of processor time\n")


def seconds_since_start() -> float:
    """Seconds since this process began; on Linux to 10 ms, elsewhere as psutil knows it."""
    if sys.platform == "linux":
        ticks = int(Path("/proc/self/stat").read_text("utf-8").rpartition(")")[2].split()[19])  # since boot
        return time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")
    import psutil

    return time.time() - float(psutil.Process().create_time())


if __name__ == "__main__":
    sys.exit(main())
