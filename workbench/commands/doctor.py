"""What is installed, what it can do, and whether a workspace is whole; and its repair."""

import os
import platform
import sys
from collections import Counter
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from workbench import registry
from workbench.commands.terminal import ProgressLine
from workbench.config import KINDS
from workbench.events import Ended, Status
from workbench.problem import Problem
from workbench.workspace.connection import sqlite3
from workbench.workspace.repair import missing
from workbench.workspace.verification import verify
from workbench.workspace.workspace import Workspace

PACKAGES = (
    "PySide6-Essentials", "pyqtgraph", "torch", "torchvision", "faiss-cpu", "umap-learn", "scikit-learn",
    "pytorch-metric-learning", "sqlite-utils", "pydantic", "matplotlib",
)  # fmt: skip
SAFE_SQLITE = ((3, 51, 3), (3, 50, 7), (3, 44, 6))  # the WAL-reset fault is mended in these


@dataclass(frozen=True, slots=True)
class Finding:
    """One check: what was looked at, what is said of it, and whether it is well."""

    what: str
    said: str
    good: bool = True


def look(workspace: Path | None = None) -> list[Finding]:
    """Run every check; a finding that is bad says what to do."""
    findings = [Finding("Python", platform.python_version(), sys.version_info >= (3, 11))]
    findings += [_package(name) for name in PACKAGES]
    findings += [_signals(), _sqlite(), _device(), *_gpus(), _display(), *plugin_findings()]
    if workspace is not None:
        findings += _workspace(workspace)
    return findings


def qt_loses_references() -> bool:
    """PySide6 6.12.0 drops a reference to True at each emit on Python below 3.12 and dies after some hundred."""
    return sys.version_info < (3, 12) and version("PySide6-Essentials").startswith("6.12.0")


def _package(name: str) -> Finding:
    try:
        return Finding(name, version(name))
    except PackageNotFoundError:
        return Finding(name, "is not installed. Run the bootstrap again.", good=False)


def _signals() -> Finding:
    if qt_loses_references():
        return Finding("Qt signals", "PySide6 6.12.0 crashes on Python 3.11. Install another version.", good=False)
    return Finding("Qt signals", "this PySide6 and this Python go together")


def _sqlite() -> Finding:
    number_text = sqlite3.sqlite_version
    number = tuple(int(part) for part in number_text.split("."))
    safe = number >= SAFE_SQLITE[0] or any(number[:2] == good[:2] and number >= good for good in SAFE_SQLITE)
    said = number_text if safe else f"{number_text} has the WAL-reset fault; keep one program per workspace at a time"
    return Finding("SQLite", said)


def _device() -> Finding:
    import torch

    from workbench.training.device import choose, describe

    facts = describe(choose("auto"))
    return Finding(
        "Device", f"{facts['device']}, {facts['threads']} threads, {facts['memory_gib']} GiB, torch {torch.__version__}"
    )


def _gpus() -> list[Finding]:
    from workbench.training.device import gpus

    return [Finding("GPU", described) for described in gpus()]


def plugin_findings() -> list[Finding]:
    """Every plug-in with what it brings, or what is wrong with it. Loads torch."""
    registry.discover_all()
    used = Counter(entry.origin for kind in KINDS for entry in registry.entries(kind) if entry.origin)
    good = [Finding("Plug-in", f"{origin}: entries: {count}") for origin, count in used.items()]
    return good + [Finding("Plug-in", sentence, good=False) for sentence in registry.broken().values()]


def _display() -> Finding:
    if not sys.platform.startswith("linux") or os.environ.get("QT_QPA_PLATFORM"):
        return Finding("Display", "left to Qt")
    named = os.environ.get("WAYLAND_DISPLAY") or os.environ.get("DISPLAY")
    return Finding("Display", named or "none: the window cannot open, the command line can")


def _workspace(folder: Path) -> list[Finding]:
    """Read and check all of it; on a terminal a line shows the progress."""
    line = ProgressLine(0)
    try:
        with Workspace(folder) as workspace:
            count = len(workspace.runs())
            with workspace.reading() as db:
                lost = [Finding("Workspace", f"{sentence}.", good=False) for sentence in missing(db, folder)]
            findings = verify(workspace, lambda text, done, total: line(Status(text, done, total)))
            damaged = sum(not finding.good for finding in findings) or "none"
            whole = Finding("Workspace", f"{count} runs; damaged: {damaged}", all(finding.good for finding in findings))
            return [whole, *lost, *(Finding(finding.what, finding.said, finding.good) for finding in findings)]
    except Problem as problem:
        return [Finding("Workspace", str(problem), good=False)]
    finally:
        line(Ended("done"))
