"""Files that belong together: where one cannot be written, none of the new ones stays, and no folder for them."""

import contextlib
import os
from pathlib import Path
from types import TracebackType


class NewFiles:
    """Removes what a block wrote if the block fails: files and folders that were not there before.

    A file that was there and was replaced stays as it is then, and so does a folder in which anything else is.
    """

    def __init__(self) -> None:
        self._new: set[Path] = set()

    def add(self, path: Path) -> None:
        """Say, before it is written, which file is next; the folders above it that are missing are new, too."""
        path = Path(os.path.abspath(path))
        for new in (path, *path.parents):
            if os.path.lexists(new):
                return
            self._new.add(new)

    def __enter__(self) -> "NewFiles":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        if error is None:
            return
        for path in sorted(self._new, key=lambda path: len(path.parts), reverse=True):
            with contextlib.suppress(OSError):
                path.rmdir() if path.is_dir() else path.unlink()
