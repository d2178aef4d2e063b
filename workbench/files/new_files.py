"""Files that belong together: where one cannot be written, none of the new ones stays, and no folder for them."""

import contextlib
import os
from pathlib import Path
from types import TracebackType

from workbench.files import NoSpace
from workbench.problem import Problem

NAMED = 3  # files that a message names


class NewFiles:
    """Removes what a block wrote if the block fails: files and folders that were not there before.

    A file that was there and was replaced stays as it is then, which the Problem of the failure says; a folder in which
    anything else is stays, too.
    """

    def __init__(self) -> None:
        self._new: set[Path] = set()
        self._old: list[Path] = []  # those that were there, in the order of writing
        self._last: Path | None = None

    def add(self, path: Path) -> None:
        """Say, before it is written, which file is next; the folders above it that are missing are new, too."""
        path = Path(os.path.abspath(path))
        self._last = path
        if os.path.lexists(path) and path not in self._new:
            self._old.append(path)
        for new in (path, *path.parents):
            if os.path.lexists(new):
                return
            self._new.add(new)

    def remove(self) -> None:
        """Remove those that were not there before."""
        for path in sorted(self._new, key=lambda path: len(path.parts), reverse=True):
            with contextlib.suppress(OSError, ValueError):  # of a name with a zero byte, which no file has
                path.rmdir() if path.is_dir() else path.unlink()

    def __enter__(self) -> "NewFiles":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        if error is None:
            return
        self.remove()
        replaced = [path.name for path in self._old if path != self._last]  # the last one was not written
        if replaced and isinstance(error, Problem) and type(error) in (Problem, NoSpace):
            named = ", ".join(replaced[:NAMED]) + (f" and {len(replaced) - NAMED} more" if replaced[NAMED:] else "")
            kept = f"Already replaced: {named}. Everything else there is unchanged."
            raise type(error)(error.what, kept=kept, todo=error.todo) from None
