"""A large file that is written row by row, and continued after its program was cancelled or killed.

`.NAME.unfinished` grows beside the final path; `.NAME.unfinished.rows` lists the rows in it, with a hash of each part.
The writer locks the second, so that two programs never write one file.
"""

import contextlib
import json
import os
from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from time import monotonic, sleep, time
from typing import BinaryIO

import numpy as np

from workbench import files, jobs
from workbench.files import locks, parts
from workbench.problem import Problem

NOTED = 4 << 20  # bytes between two journal entries
NOTED_EVERY = 2.0  # seconds
SYNCED_EVERY = 0.1  # seconds: cores would be idle if the whole file were flushed at its end
STILL = 30.0  # seconds without a byte after which another program that writes is not waited for any longer
LOOK_EVERY = 0.1  # seconds between two looks at it
FORGOTTEN = 30 * 86_400.0  # seconds after which an unfinished file is removed
Facts = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Rows:
    """Some consecutive rows: the bytes of those that are stored, facts on each, and why others are not stored."""

    payload: bytes
    facts: list[Facts]
    bad: dict[int, str]  # by place among these rows


class Unfinished:
    """The rows that were written so far, and the file to which others are added.

    Args:
        file: the growing file, read and written at any position.
        journal: one line of JSON for each complete part; None for a file that is not continued later.
        head: the first bytes of the file.
    """

    def __init__(self, file: BinaryIO, journal: BinaryIO | None, head: bytes) -> None:
        self.file = file
        self.rows = 0
        """Rows dealt with, those left out counted."""
        self.bad: dict[int, str] = {}
        """Rows left out, with their reasons."""
        self.kept = 0
        """Rows that are kept."""
        self._journal = journal
        self._numbers = array("q")  # of all facts: a list of tuples takes five times as much memory
        self._noted_rows, self._not_noted = 0, list[Facts]()
        self._part = blake2b(digest_size=16)
        self._part_bytes = 0
        self._noted_at = monotonic()
        if journal is None:
            file.write(head)
        else:
            self._go_on(journal, head)

    @property
    def facts(self) -> np.ndarray:
        """The facts on each stored row: [stored, numbers of a row] int64."""
        return np.array(self._numbers, np.int64).reshape(self.kept, len(self._numbers) // max(1, self.kept))

    def add(self, rows: Rows) -> None:
        """Add the next rows, written and hashed together, because each call may switch to another thread."""
        if rows.payload:
            self.file.write(rows.payload)
            self._part.update(rows.payload)
            self._part_bytes += len(rows.payload)
        for facts in rows.facts:
            self._not_noted.append(facts)
            self._keep(facts)
        self.bad |= {self.rows + at: reason for at, reason in rows.bad.items()}
        self.rows += len(rows.facts) + len(rows.bad)
        if self._part_bytes >= NOTED or monotonic() - self._noted_at >= NOTED_EVERY:
            self.note()

    def note(self) -> None:
        """Write into the journal that all rows so far are complete."""
        if self._journal is None or self.rows == self._noted_rows:
            return
        self.file.flush()
        line = {
            "rows": self.rows, "bytes": self._part_bytes, "hash": self._part.hexdigest(),
            "bad": {row: reason for row, reason in self.bad.items() if row >= self._noted_rows},
            "facts": self._not_noted,
        }  # fmt: skip
        self._journal.write(json.dumps(line).encode() + b"\n")
        self._journal.flush()
        self._begin_part()

    def _keep(self, facts: Facts) -> None:
        self._numbers.extend(facts)
        self.kept += 1

    def _begin_part(self) -> None:
        self._noted_rows, self._not_noted, self._noted_at = self.rows, [], monotonic()
        self._part, self._part_bytes = blake2b(digest_size=16), 0

    def _go_on(self, journal: BinaryIO, head: bytes) -> None:
        """Read the valid entries of the journal; truncate both files after the last one."""
        end = len(head)
        whole_lines = 0
        if self.file.read(len(head)) == head:
            for line in journal:
                try:
                    size = self._take(line)
                except (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError):
                    break
                end, whole_lines = end + size, whole_lines + len(line)
        else:
            self.file.seek(0)
            self.file.write(head)
        self.file.seek(end)
        self.file.truncate()
        journal.seek(whole_lines)
        journal.truncate()
        self._begin_part()

    def _take(self, line: bytes) -> int:
        """The bytes of one part that the journal names. Raises ValueError and others if it is damaged."""
        said = json.loads(line)
        rows, size = int(said["rows"]), int(said["bytes"])
        bad = {int(row): str(reason) for row, reason in said["bad"].items()}
        facts = [tuple(int(number) for number in row) for row in said["facts"]]
        if rows != self.rows + len(bad) + len(facts) or not all(self.rows <= row < rows for row in bad):
            raise ValueError("rows that do not follow")
        if self.kept and any(len(numbers) != len(self._numbers) // self.kept for numbers in facts):
            raise ValueError("rows of another kind")
        if not 0 <= size <= os.fstat(self.file.fileno()).st_size:
            raise ValueError("more than there is")
        part = self.file.read(size)
        if len(part) != size or blake2b(part, digest_size=16).hexdigest() != said["hash"]:
            raise ValueError("not as written")
        self.rows = rows
        self.bad |= bad
        for numbers in facts:
            self._keep(numbers)
        return size


@contextlib.contextmanager
def turn(path: Path, tell: Callable[[], None]) -> Iterator[BinaryIO | None]:
    """The turn to write `path`: until the end of the block no other program, or thread of this one, begins to.

    Waits while another writes it. One that writes nothing for STILL seconds, as a run that was paused, is not waited
    for any longer: then there is None. `tell` is called ten times a second, and may raise Cancelled.

    Raises:
        Problem: the place cannot be written.
    """
    try:
        journal = _awaited_journal(path, tell)
    except OSError as error:
        raise files.explain(error, path) from error
    if journal is None:
        yield None
        return
    with journal:
        try:
            yield journal
        finally:
            if not _growing(path).exists() and _is_at(journal, _journal(path)):  # nothing is left to note
                _remove(journal, _journal(path))


def _awaited_journal(path: Path, tell: Callable[[], None]) -> BinaryIO | None:
    before, since = -1, monotonic()
    while (journal := _locked_journal(path)) is None:
        if (now := _written(path)) != before:
            before, since = now, monotonic()
        elif monotonic() - since > STILL:
            return None
        tell()
        sleep(LOOK_EVERY)
    return journal


def _written(path: Path) -> int:
    """Bytes of the unfinished file, or of the finished one."""
    for written in (_growing(path), path):
        with contextlib.suppress(FileNotFoundError):
            return written.stat().st_size
    return 0


@contextlib.contextmanager
def going_on(
    path: Path, head: bytes, then: Callable[[Unfinished], None], journal: BinaryIO | None
) -> Iterator[Unfinished]:  # fmt: skip
    """Continue the unfinished file of `path`; at the end of the block it becomes `path`.

    `then` is called after that, before another program that waits for the file reads it.

    If the block ends by a Cancelled or another interruption, the added rows are kept for the next time; after a Problem
    or an error of the disk they are removed. `journal` is from `turn`; with None a separate file is written, which is
    not kept after an interruption.

    Raises:
        Problem: the disk is full, or the place cannot be written.
    """
    try:
        if journal is None:
            with files.atomic_write(path) as own:
                separate = Unfinished(own, None, head)
                yield separate
            then(separate)
            return
        yield from _kept(path, journal, head, then)
    except OSError as error:
        raise files.explain(error, path) from error


def _kept(
    target: Path, journal: BinaryIO, head: bytes, then: Callable[[Unfinished], None]
) -> Iterator[Unfinished]:  # fmt: skip
    growing, beside = _growing(target), _journal(target)
    keep = False
    try:
        growing.touch()
        with growing.open("r+b") as file:
            unfinished = Unfinished(file, journal, head)
            try:
                with _synced_meanwhile(file):
                    yield unfinished
            except (OSError, Problem):
                raise
            except BaseException:
                unfinished.note()
                keep = unfinished.rows > 0
                raise
            file.flush()
            os.fsync(file.fileno())
        growing.replace(target)
        files.sync_folder(target.parent)
        then(unfinished)
    finally:
        if not keep:
            _remove(journal, growing, beside)


def _remove(journal: BinaryIO, *files_beside: Path) -> None:
    if not parts.POSIX:
        journal.close()  # Windows does not remove open files
    for path in files_beside:
        with contextlib.suppress(OSError):
            path.unlink()


@contextlib.contextmanager
def _synced_meanwhile(file: BinaryIO) -> Iterator[None]:
    """A thread flushes to the disk what is written during the block; raises OSError if that failed."""
    failed: list[OSError] = []

    def sync() -> None:
        try:
            os.fsync(file.fileno())
        except OSError as error:  # the system reports the error once: a later call would succeed
            failed.append(error)

    with jobs.repeating("cache to disk", SYNCED_EVERY, sync):
        yield
    if failed:
        raise failed[0]


def remove_forgotten(folder: Path) -> None:
    """Remove unfinished files in `folder` that were not changed for a month."""
    with contextlib.suppress(OSError):
        for path in list(folder.glob(".*.unfinished*")):
            with contextlib.suppress(OSError):
                if time() - path.stat().st_mtime > FORGOTTEN:
                    path.unlink()


def _growing(path: Path) -> Path:
    return path.with_name(f".{path.name}.unfinished")


def _journal(path: Path) -> Path:
    return path.with_name(f".{path.name}.unfinished.rows")


def _locked_journal(target: Path) -> BinaryIO | None:
    """The journal, locked; None if another program, or another thread of this one, is writing the file."""
    path = _journal(target)
    while True:
        path.touch()
        journal = path.open("r+b")
        if not locks.lock(journal.fileno()):
            journal.close()
            return None
        if _is_at(journal, path):
            return journal
        journal.close()  # its writer has finished and removed it meanwhile


def _is_at(journal: BinaryIO, path: Path) -> bool:
    """Whether a file that was opened is still the one at its path."""
    return not journal.closed and path.exists() and os.path.samestat(os.fstat(journal.fileno()), path.stat())
