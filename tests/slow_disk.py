"""A disk on which every read of a workspace takes a while, and that knows which thread read."""

import builtins
import io
import os
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import sleep
from typing import Any

from workbench.workspace.database import connection

OWN = (__file__, traceback.__file__)


@dataclass
class SlowDisk:
    """Reads of one folder.

    Attributes:
        folder: the workspace.
        delay: seconds that each read takes.
        reads: how many there were, on all threads.
        on_window: where the thread that made this object read: the innermost lines of the package, oldest first.
    """

    folder: Path
    delay: float
    reads: int = 0
    on_window: list[str] = field(default_factory=list)
    _window: int = field(default_factory=threading.get_ident)

    def read(self, what: str) -> None:
        """One read, on the thread that asks."""
        self.reads += 1
        if threading.get_ident() == self._window:
            ours = [line for line in traceback.extract_stack() if f"{os.sep}workbench{os.sep}" in line.filename]
            places = [f"{Path(line.filename).name}:{line.lineno} {line.name}" for line in ours[-6:]]
            self.on_window.append(f"{what} <- {' <- '.join(reversed(places))}")
        sleep(self.delay)

    def holds(self, path: Any) -> bool:
        """Whether a path is below the folder."""
        try:
            return os.fsdecode(path).startswith(str(self.folder))
        except TypeError:  # a file's number
            return False

    def slow(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function, whose first argument is a path, slow for those of the folder."""

        def slowed(path: Any, *args: Any, **options: Any) -> Any:
            if self.holds(path):
                self.read(f"{function.__name__} {Path(os.fsdecode(path)).name}")
            return function(path, *args, **options)

        return slowed

    @contextmanager
    def at_work(self) -> Iterator["SlowDisk"]:
        """Reads are slow from here on: SQL over connections that are opened now or later, files, looks at files."""
        before = connection.sqlite3.connect
        owners = ((builtins, "open"), (io, "open"), (os, "stat"), (os, "lstat"), (os, "listdir"), (os, "scandir"))
        kept = [(owner, name, getattr(owner, name)) for owner, name in owners]
        disk = self

        class Slow(connection.sqlite3.Connection):
            def execute(self, sql: str, *values: Any) -> Any:
                disk.read(sql)
                return super().execute(sql, *values)

            def executemany(self, sql: str, *values: Any) -> Any:
                disk.read(sql)
                return super().executemany(sql, *values)

        def connect(*args: Any, **options: Any) -> Any:
            return before(*args, **options, factory=Slow)

        connection.sqlite3.connect = connect
        for owner, name, function in kept:
            setattr(owner, name, self.slow(function))
        try:
            yield self
        finally:
            connection.sqlite3.connect = before
            for owner, name, function in kept:
                setattr(owner, name, function)
