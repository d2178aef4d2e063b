"""Copies of files from elsewhere, which are checked before they are in the run's own folder."""

import contextlib
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path

from workbench import files
from workbench.files import parts
from workbench.problem import Problem
from workbench.progress import Progress, quiet
from workbench.workspace.paths import opened, regular

LARGEST_FILE = 64 << 30  # bytes
COPIES = "copies"  # folder in the run's own one, while files are checked
BLOCK = 1 << 20  # bytes


@contextlib.contextmanager
def copied(
    folder: Path, home: Path, wanted: Mapping[str, tuple[int, str]], progress: Progress = quiet
) -> Iterator[Path | None]:
    """Copies of some files, for the block: what is checked there is what is stored, whoever writes in `folder`.

    None if one of them has not that size and hash.
    """
    with contextlib.ExitStack() as stack:
        try:
            inner = stack.enter_context(parts.part_folder(home / COPIES))
        except OSError as error:
            raise files.explain(error, home / COPIES) from error
        good = all(_copy(folder / name, inner / name, *facts, progress) for name, facts in wanted.items())
        yield inner if good else None


def _copy(source: Path, target: Path, size: int, digest: str, progress: Progress) -> bool:
    """Copy a file to a new one, flushed to the disk; returns whether it has that size and hash.

    Raises Problem as `copy_whole`.
    """
    try:
        whole = opened(source)
    except FileNotFoundError:  # it was deleted meanwhile
        return False
    except OSError as error:
        raise unreadable(source, error) from error
    with whole:
        if os.fstat(whole.fileno()).st_size != size:
            return False
        _check_room(source, size, target)
        checksum, left = blake2b(digest_size=16), size
        try:
            with target.open("xb") as file:
                while block := whole.read(min(left, BLOCK)):
                    checksum.update(block)
                    file.write(block)
                    left -= len(block)
                    progress(f"Copying {source.name}", size - left, size)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise files.explain(error, target) from error
    return checksum.hexdigest() == digest


def unreadable(source: Path, error: OSError) -> Problem:
    """The Problem for a file from elsewhere that cannot be opened."""
    return Problem(f"{source} cannot be read ({error.strerror or type(error).__name__}).", kept="It was not copied.")


def move(copies: Sequence[Path], home: Path) -> None:
    """Move files into the run's own folder."""
    try:
        for source in copies:
            source.replace(regular(home / source.name))
        if copies:
            files.sync_folder(home)
    except OSError as error:
        raise files.explain(error, home) from error


def copy_whole(source: Path, target: Path, largest: int = LARGEST_FILE) -> None:
    """Copy one file. Raises Problem for a link, for a file that is too large, and if the disk refuses it."""
    with opened(source) as whole:
        size = os.fstat(whole.fileno()).st_size
        _check_room(source, size, target, largest)
        with files.atomic_write(regular(target)) as file:
            left = size
            while block := whole.read(min(left, BLOCK)):
                file.write(block)
                left -= len(block)


def _check_room(source: Path, size: int, target: Path, largest: int = LARGEST_FILE) -> None:
    if size > largest or size > shutil.disk_usage(target.parent).free:
        raise Problem(f"{source} has {size:,} bytes: there is not enough space for it here.", kept="It was not copied.")
