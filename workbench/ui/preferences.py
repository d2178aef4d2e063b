"""What the window remembers between two starts: layout, theme, shortcuts, recent folders. One ini file."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from platformdirs import user_config_path
from PySide6.QtCore import QByteArray, QEvent, QObject, QSettings, QTimer, Signal

from workbench.problem import Problem

MOST_RECENT = 8
MOST_RUNS = 50  # workspaces whose shown run is remembered
RUNS = "recent/runs"  # lines: number of the shown run, path of the workspace
LONGEST = 18  # digits of a number of a run
WRITE_AFTER = 2000  # ms after the last change


def default_file() -> Path:
    """The ini file: WORKBENCH_SETTINGS when it is set, else in the user's folder of settings."""
    named = os.environ.get("WORKBENCH_SETTINGS")
    return Path(named) if named else user_config_path("workbench", appauthor=False) / "window.ini"


class LateSettings(QSettings):
    """Has its file written when nothing has changed for WRITE_AFTER, and when it is destroyed.

    Qt would write it in the turn after each change: 6 to 12 ms of the window's thread at each page that is shown, more
    where the folder is on a network disk.

    Args:
        write: writes the file.
    """

    def __init__(self, file: Path, write: Callable[[], None], parent: QObject) -> None:
        super().__init__(str(file), QSettings.Format.IniFormat, parent)
        self._due = QTimer(self, singleShot=True, interval=WRITE_AFTER)
        self._due.timeout.connect(write)

    def event(self, event: QEvent) -> bool:
        """Put off what Qt asks for after the first change since the file was written."""
        if event.type() is QEvent.Type.UpdateRequest:
            return True
        return super().event(event)

    def setValue(self, key: str, value: Any) -> None:
        """Store a value; it can be read at once."""
        super().setValue(key, value)
        self.write_later()

    def remove(self, key: str) -> None:
        """Remove a value, or a group."""
        super().remove(key)
        self.write_later()

    def write_later(self) -> None:
        """Have the file written after WRITE_AFTER, counted anew."""
        self._due.start()


class Preferences(QObject):
    """Small values by name. An unreadable value counts as not set.

    Two windows share the file: of a value the last one that was written stays, of what is used recently all of both.
    """

    unwritten = Signal(object)  # Problem: the file could not be written; once, until it can
    written_again = Signal(object)  # that Problem, once the file could be written

    def __init__(self, file: Path | None = None, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.file = file or default_file()
        self._settings = LateSettings(self.file, self.keep, self)
        self._problem: Problem | None = None  # why the file could not be written the last time
        self._used: dict[str, list[str]] = {}  # by kind, newest first: paths since the file was written
        self._shown: dict[str, int | None] = {}  # by workspace, newest last: the shown run since then

    def text(self, key: str, default: str = "") -> str:
        """The stored text; `default` when there is none."""
        value = self._settings.value(key)
        return value if isinstance(value, str) else default

    def set_text(self, key: str, value: str) -> None:
        """Store a text."""
        self._settings.setValue(key, value)

    def number(self, key: str, default: int) -> int:
        """The stored whole number; `default` when there is none or it is not a number."""
        try:
            return int(self.text(key, str(default)))
        except ValueError:
            return default

    def set_number(self, key: str, value: int) -> None:
        """Store a whole number."""
        self.set_text(key, str(value))

    def flag(self, key: str, default: bool = False) -> bool:
        """The stored yes or no; `default` when there is none."""
        return self.number(key, int(default)) != 0

    def set_flag(self, key: str, value: bool) -> None:
        """Store yes or no."""
        self.set_number(key, int(value))

    def state(self, key: str) -> QByteArray:
        """Geometry or layout bytes as Qt makes them; empty when not set."""
        value: Any = self._settings.value(key)
        return value if isinstance(value, QByteArray) else QByteArray()

    def set_state(self, key: str, value: QByteArray) -> None:
        """Store geometry or layout bytes."""
        self._settings.setValue(key, value)

    def forget(self, key: str) -> None:
        """Remove a stored value, or all values of a group ("layout"); nothing happens when there is none."""
        self._settings.remove(key)

    def recent(self, kind: str) -> list[Path]:
        """Newest first; `kind` is "workspaces", "data" (archives, too) or "data_folders". What is gone is left out."""
        return [path for path in self._remembered(kind) if path.exists()]

    def newest(self, kind: str) -> Path | None:
        """The path that was used last, also where it is gone: the disk is not read."""
        return next(iter(self._remembered(kind)), None)

    def _remembered(self, kind: str) -> list[Path]:
        stored = self.text(f"recent/{kind}").split("\n")
        paths = dict.fromkeys([*self._used.get(kind, ()), *stored])
        return [Path(path) for path in paths if path][:MOST_RECENT]

    def remember(self, kind: str, used: Path) -> None:
        """Put a path first among the recent ones; the disk is not read."""
        others = [other for other in self._used.get(kind, ()) if other != str(used)]
        self._used[kind] = [str(used), *others]
        self._settings.write_later()

    def shown_run(self, workspace: Path) -> int | None:
        """The run that was shown last in a workspace; None where none was, or it is not remembered."""
        return self._shown_runs().get(str(workspace))

    def remember_run(self, workspace: Path, run_id: int | None) -> None:
        """Remember the run that is shown in a workspace, or that none is."""
        self._shown.pop(str(workspace), None)
        self._shown[str(workspace)] = run_id
        self._settings.write_later()

    def _shown_runs(self) -> dict[str, int]:
        lines = (line.partition(" ") for line in self.text(RUNS).split("\n"))
        stored = {path: int(number) for number, _, path in lines if _is_number(number)}
        others = {path: number for path, number in stored.items() if path not in self._shown}
        runs = {**dict(reversed(self._shown.items())), **others}
        shown = [(path, number) for path, number in runs.items() if number is not None]
        return dict(shown[:MOST_RUNS])

    def keep(self) -> None:
        """Write the file now; what another window has written since stays in the lists of what is used recently."""
        self._sync()
        lists = {f"recent/{kind}": [str(path) for path in self._remembered(kind)] for kind in self._used}
        if self._shown:
            lists[RUNS] = [f"{number} {path}" for path, number in self._shown_runs().items()]
        self._used, self._shown = {}, {}
        for key, lines in lists.items():
            self.set_text(key, "\n".join(lines))
        if lists:
            self._sync()

    def _sync(self) -> None:
        fresh = QSettings(str(self.file), QSettings.Format.IniFormat)  # shares the values; an old one keeps its error
        fresh.sync()
        before = self._problem
        self._problem = None if fresh.status() is QSettings.Status.NoError else before or _unwritten(self.file)
        if self._problem is not None and before is None:
            self.unwritten.emit(self._problem)
        elif self._problem is None and before is not None:
            self.written_again.emit(before)


def _unwritten(file: Path) -> Problem:
    return Problem(
        f"The settings of the window could not be written to {file}.",
        kept="What was stored before is unchanged, and this window keeps what was chosen until it is closed.",
        todo="Free some space there, or choose a file that you may write (WORKBENCH_SETTINGS); the next change tries "
        "again.",
    )


def _is_number(text: str) -> bool:
    return text.isdecimal() and len(text) <= LONGEST
