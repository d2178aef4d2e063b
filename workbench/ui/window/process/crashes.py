"""What a native crash leaves behind: the trace, the versions and the last lines of the log. Nothing is sent.

While a window is open, a file that it locks takes what faulthandler writes when the process dies. A clean end deletes
the file; the next start makes a report of one that nobody locks any more and that holds a trace.
"""

import contextlib
import faulthandler
import logging
import os
import platform
import re
import sys
import uuid
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from workbench import __version__
from workbench.files import locks
from workbench.problem import Problem

log = logging.getLogger(__name__)
PACKAGES = ("PySide6-Essentials", "pyqtgraph", "numpy", "torch", "faiss-cpu", "umap-learn")
TRACE = "Trace of the crash:"
LOG_LINES = 60
KEPT = 10  # reports
STAMP = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d+ \w+ (?P<pid>\d+) ")  # a line of the window's log


@dataclass(frozen=True, slots=True)
class CrashReport:
    """A crash of an earlier process: the report's file, when the process died, and the report."""

    path: Path
    when: datetime
    text: str


@contextlib.contextmanager
def watched(folder: Path) -> Iterator[None]:
    """Inside the block, a native crash of this process leaves its trace in `folder`; see `collect`.

    A folder that cannot be written is logged, and nothing is kept then.
    """
    path = folder / f"running-{os.getpid()}-{uuid.uuid4().hex[:8]}.txt"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = path.open("x", encoding="utf-8")
        locks.lock(file.fileno())
        file.write(f"{_facts()}\n\n{TRACE}\n")
        file.flush()
    except OSError as error:
        log.warning("crashes cannot be kept in %s: %s", folder, error)
        yield
        return
    faulthandler.enable(file)
    try:
        yield
    finally:
        faulthandler.disable()
        file.close()
        with contextlib.suppress(OSError):
            path.unlink()


def collect(folder: Path, window_log: Path) -> list[CrashReport]:
    """The reports of processes that crashed since the last call, oldest first.

    Args:
        folder: of `watched`; each report stays there as crash-TIME-PID.txt, the newest KEPT of them.
        window_log: the log whose lines of the crashed process are added, with the file before it (`.1`).
    """
    reports = []
    with contextlib.suppress(OSError):
        for path in sorted(folder.glob("running-*.txt"), key=lambda left: left.stat().st_mtime):
            report = _taken(path, window_log)
            if report is not None:
                reports.append(report)
        for old in sorted(folder.glob("crash-*.txt"))[:-KEPT]:
            old.unlink()
    return reports


def as_problem(reports: list[CrashReport]) -> Problem:
    """The sentence for reports of `collect`, of which there is at least one."""
    newest = reports[-1]
    times = "" if len(reports) == 1 else f" {len(reports)} times; the last time was"
    return Problem(
        f"Workbench crashed{times} on {newest.when:%Y-%m-%d at %H:%M}.",
        kept="All stored data is kept, and a run that was training can be resumed.",
        todo=f"Details shows the report; Copy copies it. It is saved in {newest.path}; nothing was sent.",
    )


def _taken(path: Path, window_log: Path) -> CrashReport | None:
    """The report from one file of `watched`; None while its process lives, or if there was no crash."""
    with path.open("r+", encoding="utf-8", errors="replace") as file:
        if not locks.lock(file.fileno()) or not path.exists():
            return None
        facts, _, trace = file.read().partition(TRACE)
        when = datetime.fromtimestamp(path.stat().st_mtime)
        report = None
        if "fatal" in trace.lower():
            pid = path.name.split("-")[1]
            lines = "".join(_last_lines(window_log, pid))
            text = f"Crashed: {when:%Y-%m-%d %H:%M:%S}\n{facts}{TRACE}{trace}\nLast lines of the log:\n{lines}"
            report = CrashReport(path.with_name(f"crash-{when:%Y%m%d-%H%M%S}-{pid}.txt"), when, text)
            report.path.write_text(text, "utf-8")
    path.unlink()
    return report


def _last_lines(window_log: Path, pid: str) -> deque[str]:
    lines: deque[str] = deque(maxlen=LOG_LINES)
    for path in (window_log.with_name(f"{window_log.name}.1"), window_log):
        own = False
        with contextlib.suppress(FileNotFoundError), path.open(encoding="utf-8", errors="replace") as file:
            for line in file:
                if stamp := STAMP.match(line):
                    own = stamp["pid"] == pid
                if own:
                    lines.append(line)
    return lines


def _installed() -> dict[str, str]:
    """Versions of packages by name, in small letters: from the names of their folders, metadata is slow to read."""
    versions = {}
    for folder in sys.path:
        with contextlib.suppress(OSError):
            for name in os.listdir(folder):
                package, _, version = name.removesuffix(".dist-info").partition("-")
                if name.endswith(".dist-info"):
                    versions[package.replace("_", "-").lower()] = version
    return versions


def _facts() -> str:
    facts = [f"Workbench {__version__}", f"Python {sys.version}", platform.platform()]
    installed = _installed()
    facts += [f"{name} {installed[name.lower()]}" for name in PACKAGES if name.lower() in installed]
    named = ("QT_QPA_PLATFORM", "XDG_SESSION_TYPE", "XDG_CURRENT_DESKTOP")
    facts += [f"{name}={os.environ[name]}" for name in named if name in os.environ]
    return "\n".join(facts)
