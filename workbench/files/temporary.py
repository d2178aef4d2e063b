"""Temporary files and folders, whose disk may be full: then one sentence, whatever asked for them."""

import contextlib
import errno
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from workbench.files import explain
from workbench.problem import UNSTARTED, Problem


@contextlib.contextmanager
def temporary_folder(prefix: str) -> Iterator[Path]:
    """A new folder that is removed afterwards. Raises Problem if none can be made."""
    try:
        made = tempfile.TemporaryDirectory(prefix=prefix, ignore_cleanup_errors=True)
    except OSError as error:
        raise _refused(error) from error
    with made as folder:
        yield Path(folder)


def temporary_file() -> BinaryIO:
    """A new file without a name, open for reading and writing; gone once it is closed. Raises Problem as above."""
    try:
        return tempfile.TemporaryFile()
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
