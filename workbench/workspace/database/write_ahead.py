"""The write-ahead log of the database, checked before SQLite opens it.

SQLite silently takes a frame with a wrong checksum for the end of the log: one flipped bit drops every change after it.
Format: the SQLite documentation, "WAL-mode File Format".
"""

import os
import struct
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path
from time import sleep
from typing import BinaryIO

import numpy as np

from workbench import files
from workbench.progress import Progress, quiet
from workbench.workspace.paths import regular

HEADER, FRAME = 32, 24  # bytes
MAGIC = (0x377F0682, 0x377F0683)  # sums over little-endian and big-endian words
AT_ONCE = 512  # frames
READ_AT_ONCE = 8 << 20  # bytes
READING = "Reading the last changes of the workspace"
INDEX = 32 << 10  # bytes of the file that programs share of a log, at least
LOOKS, PAUSE = 3, 0.1  # another program may be writing: look again, seconds between


def set_aside(database: Path, progress: Progress = quiet) -> Path | None:
    """A copy of the log, when it holds changes that SQLite would leave out; None when all is read or it was reported.

    The log itself is not touched: another program may have it open. It is read in parts: zeros of any length may be
    behind its end. `progress` may raise Cancelled. Raises Problem when the copy cannot be written.
    """
    log = database.with_name(f"{database.name}-wal")
    for look in range(LOOKS):
        try:
            with log.open("rb") as file:
                if not _damaged(file, progress):
                    return None
        except FileNotFoundError:
            return None
        if look < LOOKS - 1:
            sleep(PAUSE)
    digest = blake2b(digest_size=4)
    try:
        file = log.open("rb")
    except FileNotFoundError:  # the other program has closed the database since
        return None
    with file:
        for part in _parts(file, progress):
            digest.update(part)
        copy = log.with_name(f"{log.name}.damaged-{digest.hexdigest()}")
        if copy.exists():
            return None
        file.seek(0)
        with files.atomic_write(copy) as into:
            for part in _parts(file, progress):
                if part != bytes(len(part)):
                    into.write(part)
                else:  # zeros take no room on the disk
                    into.truncate(into.seek(len(part), os.SEEK_CUR))
    return copy


def _parts(log: BinaryIO, progress: Progress) -> Iterator[bytes]:
    while part := log.read(READ_AT_ONCE):
        progress(READING, 0, 0)
        yield part


def has_index(database: Path) -> bool:
    """Whether programs share the index of the log, so that several can have the database open; else one has it."""
    try:
        return database.with_name(f"{database.name}-shm").stat().st_size >= INDEX
    except OSError:
        return False


def end_whole(database: Path) -> None:
    """Cut off the part of a frame that a full disk left at the end of the log: it is of no transaction.

    Call it while the writer's lock is held: nobody else appends, and nobody reads beyond the last transaction. Without
    it, the next opening would take the part for changes that were lost. Raises OSError, or Problem for a link.
    """
    with regular(database.with_name(f"{database.name}-wal")).open("r+b") as log:
        size = os.fstat(log.fileno()).st_size
        header = log.read(HEADER)
        page = int.from_bytes(header[8:12], "big")
        if len(header) < HEADER:
            log.truncate(0)
        elif 512 <= page <= 65536:
            log.truncate(size - (size - HEADER) % (FRAME + page))


def _damaged(log: BinaryIO, progress: Progress) -> bool:
    """Whether a bit of it was changed, or its end was cut off. A log cut between two frames looks whole."""
    length, header = os.fstat(log.fileno()).st_size, log.read(HEADER)
    if len(header) < HEADER:
        return bool(header)
    magic, _, size, _, *salts = struct.unpack(">6I", header[:24])
    order = ">" if magic == MAGIC[1] else "<"
    words = np.frombuffer(header[:24], f"{order}u4").reshape(1, -1)
    state = _sums(words, np.zeros(2, np.uint32))[-1]
    if magic not in MAGIC or size not in range(512, 65537) or size % 8:
        return True
    if state.tolist() != list(struct.unpack(">2I", header[24:])):
        return True
    count, rest = divmod(length - HEADER, FRAME + size)
    log.seek(length - rest)
    tail = log.read(16)
    # The head of a frame alone is what a kill leaves between its two writes: its transaction was not committed.
    if 0 < rest < 16 or (rest not in (0, FRAME) and tail[8:16] == header[16:24]):  # else the rest of an earlier round
        return True
    log.seek(HEADER)
    ended = False  # whether the rest are frames of an earlier round
    for at in range(0, count, AT_ONCE):
        progress(READING, 0, 0)
        here = min(AT_ONCE, count - at)
        content = log.read(here * (FRAME + size))
        if len(content) < here * (FRAME + size):
            return True  # it became shorter meanwhile
        frames = np.frombuffer(content, np.uint8).reshape(here, FRAME + size)
        heads = np.ascontiguousarray(frames[:, :FRAME]).view(">u4")
        # Frames of an earlier round have other salts: what differs by one bit alone was changed.
        differs = np.ascontiguousarray(heads[:, 2:4] ^ np.array(salts, ">u4"))
        near = np.unpackbits(differs.view(np.uint8), axis=1).sum(1) <= 1
        if not ended:
            summed = np.concatenate([frames[:, :8], frames[:, FRAME:]], 1)
            sums = _sums(summed.view(f"{order}u4"), state)
            good = (differs == 0).all(1) & (sums == heads[:, 4:6]).all(1)
            ended, state = not good.all(), sums[-1]
            near &= ~np.logical_and.accumulate(good)
        if near.any():
            return True
    return False


def _sums(words: np.ndarray, start: np.ndarray) -> np.ndarray:
    """SQLite's running sums [n, 2] uint32 after each row of words [n, 2m], which begin with `start`.

    One pair of words takes (a, b) to (a + b + x, a + 2b + x + y): linear, so that each row's part is one product.
    """
    pairs = words.shape[1] // 2
    of_first, of_second = np.empty((pairs, 2), np.uint32), np.empty((pairs, 2), np.uint32)
    power = np.eye(2, dtype=np.uint64)
    step = np.array([[1, 1], [1, 2]], np.uint64)
    for pair in reversed(range(pairs)):
        of_first[pair], of_second[pair] = power @ np.array([1, 1], np.uint64), power[:, 1]
        power = (power @ step) & np.uint64(0xFFFFFFFF)
    native = words.astype(np.uint32)
    parts = native[:, 0::2] @ of_first + native[:, 1::2] @ of_second
    sums, state = np.empty((len(words), 2), np.uint32), start.astype(np.uint64)
    for row, part in enumerate(parts):
        state = (power @ state + part) & np.uint64(0xFFFFFFFF)
        sums[row] = state
    return sums
