"""Temporary files and folders, whose disk may be full: then one sentence, whatever asked for them."""

import contextlib
import errno
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, cast

from workbench.files import explain, parts
from workbench.problem import UNSTARTED, Problem


@contextlib.contextmanager
def temporary_folder(name: str) -> Iterator[Path]:
    """A new folder for this user alone, which is removed afterwards; what killed programs left of it is removed now.

    Args:
        name: what it is for, such as "workbench-report"; the folder's own name has more.

    Raises:
        Problem: none can be made.
    """
    with contextlib.ExitStack() as stack:
        try:
            home = Path(tempfile.gettempdir())
            parts.remove_dead(home, name, own=True)
            folder = stack.enter_context(parts.part_folder(home / name, 0o700))
        except OSError as error:
            raise _refused(error) from error
        yield folder


def temporary_file() -> BinaryIO:
    """A new file without a name, open for reading and writing; gone once it is closed. Raises Problem as above."""
    try:
        return cast(BinaryIO, tempfile.TemporaryFile())  # on Windows a wrapper of one
    except OSError as error:
        raise _refused(error) from error


def check_temporary() -> None:
    """Raises Problem if there is no folder for temporary files."""
    try:
        tempfile.gettempdir()
    except OSError as error:
        raise _refused(error) from error


def _refused(error: OSError) -> Problem:
    if error.errno != errno.ENOENT:
        return explain(error, Path(tempfile.gettempdir()))
    return Problem(
        "No folder for temporary files can be written: their disks are full or read-only.",
        kept=UNSTARTED,
        todo="Free some space, or name another folder in TMPDIR.",
    )
