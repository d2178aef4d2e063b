"""The write-ahead log of the database, checked before SQLite opens it.

SQLite silently takes a frame with a wrong checksum for the end of the log: one flipped bit drops every change after it.
Format: the SQLite documentation, "WAL-mode File Format".
"""

import os
import struct
from hashlib import blake2b
from pathlib import Path
from time import sleep

import numpy as np

from workbench import files
from workbench.progress import Progress, quiet
from workbench.workspace.paths import regular

HEADER, FRAME = 32, 24  # bytes
MAGIC = (0x377F0682, 0x377F0683)  # sums over little-endian and big-endian words
AT_ONCE = 512  # frames
READ_AT_ONCE = 8 << 20  # bytes
LOOKS, PAUSE = 3, 0.1  # another program may be writing: look again, seconds between


def set_aside(database: Path, progress: Progress = quiet) -> Path | None:
    """A copy of the log, when it holds changes that SQLite would leave out; None when all is read or it was reported.

    The log itself is not touched: another program may have it open. `progress` may raise Cancelled. Raises Problem when
    the copy cannot be written.
    """
    log = database.with_name(f"{database.name}-wal")
    for look in range(LOOKS):
        try:
            log_bytes = _read(log, progress)
        except FileNotFoundError:
            return None
        if not _damaged(log_bytes):
            return None
        if look < LOOKS - 1:
            sleep(PAUSE)
    copy = log.with_name(f"{log.name}.damaged-{blake2b(log_bytes, digest_size=4).hexdigest()}")
    if copy.exists():
        return None
    with files.atomic_write(copy) as file:
        file.write(log_bytes)
    return copy


def _read(log: Path, progress: Progress) -> bytes:
    parts = list[bytes]()
    with log.open("rb") as file:
        while part := file.read(READ_AT_ONCE):
            parts.append(part)
            progress("Reading the last changes of the workspace", 0, 0)
    return b"".join(parts)


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


def _damaged(content: bytes) -> bool:
    """Whether a bit of it was changed, or its end was cut off. A log cut between two frames looks whole."""
    if len(content) < HEADER:
        return bool(content)
    magic, _, size, _, *salts = struct.unpack(">6I", content[:24])
    order = ">" if magic == MAGIC[1] else "<"
    words = np.frombuffer(content[:24], f"{order}u4").reshape(1, -1)
    state = _sums(words, np.zeros(2, np.uint32))[-1]
    if magic not in MAGIC or size not in range(512, 65537) or size % 8:
        return True
    if state.tolist() != list(struct.unpack(">2I", content[24:HEADER])):
        return True
    count, rest = divmod(len(content) - HEADER, FRAME + size)
    tail = content[len(content) - rest :]
    if 0 < rest < 16 or (rest and tail[8:16] == content[16:24]):  # else the rest of an earlier round
        return True
    frames = np.frombuffer(content, np.uint8, count * (FRAME + size), HEADER).reshape(count, FRAME + size)
    heads = np.ascontiguousarray(frames[:, :FRAME]).view(">u4")
    # Frames of an earlier round have other salts: what differs by one bit alone was changed.
    differs = np.ascontiguousarray(heads[:, 2:4] ^ np.array(salts, ">u4"))
    bits = np.unpackbits(differs.view(np.uint8), axis=1).sum(1)
    for at in range(0, count, AT_ONCE):
        part = slice(at, at + AT_ONCE)
        summed = np.concatenate([frames[part, :8], frames[part, FRAME:]], 1)
        sums = _sums(summed.view(f"{order}u4"), state)
        good = (bits[part] == 0) & (sums == heads[part, 4:6]).all(1)
        if not good.all():
            return bool((bits[at + int(np.argmin(good)) :] <= 1).any())
        state = sums[-1]
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
