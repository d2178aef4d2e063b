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

HEADER, FRAME, SMALLEST = 32, 24, 512  # bytes: of the log, of a frame before its page, and the smallest page
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


def _damaged(log: BinaryIO, progress: Progress) -> bool:
    """Whether a change that was committed is not read, as far as frames tell.

    SQLite reads up to the first frame that does not fit. What follows may never have been committed: frames of an
    earlier round have other salts; those of a change that a kill cut off, or that was rolled back, are not ended by
    one that commits. A committed change is lost where a later frame of this round commits, or where the first that
    does not fit would fit and commit but for one bit. A log that was cut off looks like that of a killed program.
    """
    length, header = os.fstat(log.fileno()).st_size, log.read(HEADER)
    if length < HEADER + FRAME + SMALLEST or len(header) < HEADER:
        return False  # not one whole frame
    magic, _, size, _, *salts = struct.unpack(">6I", header[:24])
    order = ">" if magic == MAGIC[1] else "<"
    state = _sums(np.frombuffer(header[:24], f"{order}u4").reshape(1, -1), np.zeros(2, np.uint32))[-1]
    if magic not in MAGIC or size not in range(SMALLEST, 65537) or size % 8:
        return True
    if state.tolist() != list(struct.unpack(">2I", header[24:])):
        return True
    count = (length - HEADER) // (FRAME + size)
    ended = False  # whether a frame before did not fit
    for at in range(0, count, AT_ONCE):
        progress(READING, 0, 0)
        here = min(AT_ONCE, count - at)
        content = log.read(here * (FRAME + size))
        if len(content) < here * (FRAME + size):
            return True  # it became shorter meanwhile
        frames = np.frombuffer(content, np.uint8).reshape(here, FRAME + size)
        heads = np.ascontiguousarray(frames[:, :FRAME]).view(">u4")
        differs = np.ascontiguousarray(heads[:, 2:4] ^ np.array(salts, ">u4"))
        wrong = np.unpackbits(differs.view(np.uint8), axis=1).sum(1)  # bits of the salts
        commits = (wrong <= 1) & (heads[:, 1] != 0)  # its head has the number of pages of the database
        if not ended:
            words = np.concatenate([frames[:, :8], frames[:, FRAME:]], 1).view(f"{order}u4")
            sums = _sums(words, state)
            good = (wrong == 0) & (sums == heads[:, 4:6]).all(1)
            ended, first = not good.all(), int(np.argmin(good))
            if ended and _lost_by_one_bit(words[first], sums[first], heads[first, 4:6], int(wrong[first])):
                return True
            commits[: first + 1 if ended else here] = False
            state = sums[-1]
        if commits.any():
            return True
    return False


def _lost_by_one_bit(words: np.ndarray, sums: np.ndarray, stored: np.ndarray, wrong: int) -> bool:
    """Whether a frame would end a committed change if one bit of it were not flipped.

    Args:
        words: [2m] the words that are summed, of which the second is 0 unless the frame commits.
        sums: [2] of them, after those of the frames before.
        stored: [2] the sums in its head.
        wrong: the number of bits of its salts that are not those of the log.
    """
    own, stored = words.astype(np.uint32), stored.astype(np.uint32)
    if wrong + int(np.unpackbits((sums ^ stored).view(np.uint8)).sum()) == 1:  # in the head, beside what is summed
        return bool(own[1])
    if wrong:
        return False
    bits = np.uint32(1) << np.arange(32, dtype=np.uint32)
    change = np.where(own[:, None] & bits, -bits, bits)[..., None]  # [2m, 32, 1], of each word
    weights = np.stack(_weights(len(own) // 2)[:2], 1).reshape(len(own), 1, 2)
    flipped = np.argwhere((change * weights == stored - sums).all(2))
    return any(own[1] ^ bits[bit] if word == 1 else own[1] for word, bit in flipped)


def _sums(words: np.ndarray, start: np.ndarray) -> np.ndarray:
    """SQLite's running sums [n, 2] uint32 after each row of words [n, 2m], which begin with `start`.

    One pair of words takes (a, b) to (a + b + x, a + 2b + x + y): linear, so that each row's part is one product.
    """
    of_first, of_second, power = _weights(words.shape[1] // 2)
    native = words.astype(np.uint32)
    parts = native[:, 0::2] @ of_first + native[:, 1::2] @ of_second
    sums, state = np.empty((len(words), 2), np.uint32), start.astype(np.uint64)
    for row, part in enumerate(parts):
        state = (power @ state + part) & np.uint64(0xFFFFFFFF)
        sums[row] = state
    return sums


def _weights(pairs: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What the first and the second word of each pair add to the sums after all, [pairs, 2] uint32; and [2, 2] uint64,
    what the row makes of the sums before it.
    """
    of_first, of_second = np.empty((pairs, 2), np.uint32), np.empty((pairs, 2), np.uint32)
    power = np.eye(2, dtype=np.uint64)
    step = np.array([[1, 1], [1, 2]], np.uint64)
    for pair in reversed(range(pairs)):
        of_first[pair], of_second[pair] = power @ np.array([1, 1], np.uint64), power[:, 1]
        power = (power @ step) & np.uint64(0xFFFFFFFF)
    return of_first, of_second, power
