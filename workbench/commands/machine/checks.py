"""`workbench doctor`: what is installed, what it can do, and whether a workspace is intact; and its repair."""

import platform
import re
import sys
from collections import Counter
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from workbench import machine_memory, registry
from workbench.commands.machine.findings import Finding, display_findings, driver_findings, reinstall
from workbench.commands.terminal import ProgressLine
from workbench.config import KINDS
from workbench.events import Ended, Status
from workbench.files.temporary import check_temporary
from workbench.jobs import command_line
from workbench.numerals import byte_size
from workbench.places.kinds.checks import NEWEST_PYTHON, OLDEST_PYTHON
from workbench.problem import Problem
from workbench.running.devices.gpus import gpus
from workbench.workspace.database.connection import sqlite3
from workbench.workspace.repairs.repair import missing
from workbench.workspace.repairs.verification import verify
from workbench.workspace.schema.going_back import copies, steps_ahead
from workbench.workspace.workspace import Workspace

PACKAGES = {  # with the oldest version that pyproject.toml accepts
    "PySide6-Essentials": "6.9.3", "pyqtgraph": "0.13.7", "torch": "2.10", "torchvision": "0.25", "faiss-cpu": "1.10",
    "umap-learn": "0.5.7", "scikit-learn": "1.5", "sqlite-utils": "4.0", "pydantic": "2.9", "matplotlib": "3.9",
}  # fmt: skip
AGAIN = "Repeat the installation (page Install)."
SAFE_SQLITE = ((3, 51, 3), (3, 50, 7), (3, 44, 6))  # the WAL-reset bug is fixed in these


def look(workspace: Path | None = None) -> list[Finding]:
    """Run every check; a finding that is bad says what to do."""
    findings = [python_finding(), *package_findings()]
    findings += [_signals(), _sqlite(), _device(), *memory_findings(), *_gpus()]
    findings += [*driver_findings(), *display_findings()]
    mismatch = temporary_findings() or torchvision_findings()  # torch needs a folder for temporary files
    findings += mismatch or plugin_findings()
    if workspace is not None:
        findings += _workspace(workspace)
    return findings


def qt_loses_references() -> bool:
    """PySide6 6.12.0 dies on Python 3.11 after some hundred signals, on Python 3.12 where a plot is laid out."""
    return version("PySide6-Essentials").startswith("6.12.0")


def python_finding() -> Finding:
    """The version of this Python; bad where Workbench is not made for it."""
    number = platform.python_version()
    if OLDEST_PYTHON <= sys.version_info[:2] <= NEWEST_PYTHON:
        return Finding("Python", number)
    oldest, newest = (".".join(map(str, python)) for python in (OLDEST_PYTHON, NEWEST_PYTHON))
    return Finding("Python", f"{number}, and Workbench needs {oldest} to {newest}. {AGAIN}", good=False)


def package_findings() -> list[Finding]:
    """The version of each package that Workbench cannot do without; one that is missing or too old is bad."""
    return [_package(name, oldest) for name, oldest in PACKAGES.items()]


def _package(name: str, oldest: str) -> Finding:
    try:
        number = version(name)
    except PackageNotFoundError:
        return Finding(name, f"is not installed. {AGAIN}", good=False)
    if _release(number) < _release(oldest):
        return Finding(name, f"{number}, and Workbench needs {oldest} or newer. {AGAIN}", good=False)
    return Finding(name, number)


def _release(number: str) -> list[int]:
    """The numbers of a version: [2, 10, 0] of "2.10.0+cpu"."""
    release = re.match(r"[\d.]*", number)
    return [int(digits) for digits in re.findall(r"\d+", release[0] if release else "")]


def _signals() -> Finding:
    if qt_loses_references():
        return Finding("Qt signals", "PySide6 6.12.0 is known to crash. Install another version.", good=False)
    return Finding("Qt signals", "this PySide6 is not the version that is known to crash")


def _sqlite() -> Finding:
    number_text = sqlite3.sqlite_version
    number = tuple(int(part) for part in number_text.split("."))
    safe = number >= SAFE_SQLITE[0] or any(number[:2] == good[:2] and number >= good for good in SAFE_SQLITE)
    bug = "has a bug that can damage a database (WAL reset): open a workspace in one program at a time"
    said = number_text if safe else f"{number_text} {bug}"
    return Finding("SQLite", said)


def _device() -> Finding:
    import torch

    from workbench.training.device import choose, describe

    facts = describe(choose("auto"))
    memory = byte_size(float(facts["memory_gib"]) * 2**30)
    return Finding("Device", f"{facts['device']}, threads: {facts['threads']}, {memory}, torch {torch.__version__}")


def memory_findings() -> list[Finding]:
    """A finding where programs may not have all memory of this machine."""
    limit = machine_memory.limit()
    if limit is None:
        return []
    said = f"{byte_size(limit.whole)} for all programs of this container or job, {byte_size(limit.free)} of it free"
    return [Finding("Memory limit", said)]


def _gpus() -> list[Finding]:
    from workbench.training import device

    loads = {gpu.number: gpu.load for gpu in gpus()}
    findings = []
    for number, described in enumerate(device.gpus()):
        load = loads.get(number)
        findings.append(Finding("GPU", described if load is None else f"{described}, load {load}%"))
    return findings


def temporary_findings() -> list[Finding]:
    """A finding if there is no folder for temporary files."""
    try:
        check_temporary()
    except Problem as problem:
        return [Finding("Temporary files", " ".join((problem.what, problem.todo)), good=False)]
    return []


def torchvision_findings() -> list[Finding]:
    """A finding if torchvision does not load, because it and torch are builds for different devices."""
    try:
        import_module("torchvision")
    except (ImportError, OSError, RuntimeError) as error:
        why = f"{type(error).__name__}: {error}".splitlines()[0]
        said = f"does not load with torch {version('torch')} ({why}). Take both for the same device: {reinstall()}."
        return [Finding("torchvision", said, good=False)]
    return []


def plugin_findings() -> list[Finding]:
    """Every plug-in with what it brings, or what is wrong with it. Loads torch."""
    registry.discover_all()
    used = Counter(entry.origin for kind in KINDS for entry in registry.entries(kind) if entry.origin)
    good = [Finding("Plug-in", f"{origin}: entries: {count}") for origin, count in used.items()]
    return good + [Finding("Plug-in", sentence, good=False) for sentence in registry.broken().values()]


def _workspace(folder: Path) -> list[Finding]:
    """Read and check all of it; on a terminal a line shows the progress."""
    line = ProgressLine(0)
    try:
        upgrade = _upgrade(folder)
        with Workspace(folder) as workspace:
            count = len(workspace.runs())
            with workspace.reading() as db:
                lost = [Finding("Workspace", f"{sentence}.", good=False) for sentence in missing(db, folder)]
            findings = verify(workspace, lambda text, done, total: line(Status(text, done, total)))
            damaged = sum(not finding.good for finding in findings) or "none"
            runs = "1 run" if count == 1 else f"{count} runs"
            whole = Finding("Workspace", f"{runs}; damaged: {damaged}", all(finding.good for finding in findings))
            shared = f"on a network disk ({workspace.shared_disk}): one machine at a time can open it"
            return [
                whole,
                *([Finding("Workspace", shared)] if workspace.shared_disk else []),
                *upgrade,
                *_copies(folder),
                *lost,
                *(Finding(finding.what, finding.said, finding.good) for finding in findings),
            ]
    except Problem as problem:
        return [Finding("Workspace", str(problem), good=False)]
    finally:
        line(Ended("done"))


def _upgrade(folder: Path) -> list[Finding]:
    """What opening an older workspace changes; checked before it is opened."""
    steps = steps_ahead(folder)
    said = f"it was made by an older version of Workbench; steps of the upgrade: {steps}"
    return [Finding("Workspace", said)] if steps else []


def _copies(folder: Path) -> list[Finding]:
    kept = copies(folder)
    if not kept:
        return []
    room = byte_size(sum(path.stat().st_size for path in kept))
    said = (
        f"databases from before an upgrade: {len(kept)}, {room}, the newest is {kept[-1].name}; "
        f"`workbench doctor --workspace {command_line(str(folder))} --go-back` puts it back"
    )
    return [Finding("Workspace", said)]
