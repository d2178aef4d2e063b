"""The file beside a cache of decoded images: which images were left out, and a hash of every block of the cache."""

import json
from hashlib import blake2b
from pathlib import Path
from time import monotonic

import numpy as np

from workbench import files, jobs
from workbench.progress import Progress

LONGEST_SIDE = 256 << 20  # bytes of the file beside a cache
BLOCK = 4 << 20  # bytes
TELL_EVERY = 0.1  # seconds

_whole: set[tuple[str, int, int, int, int]] = set()  # caches checked by this process, until they change


def write_side(path: Path, bad: dict[int, str]) -> None:
    """Write `path` with the ending .json: rows left out with their reasons, and a hash of every block of `path`."""
    content = {
        "bad": {str(row): reason for row, reason in bad.items()},
        "block": BLOCK,
        "hashes": hashes(path, lambda *_: None),
    }
    with files.atomic_write(path.with_suffix(".json")) as file:
        file.write(json.dumps(content).encode())
    _whole.add(_state(path))


def read_side(path: Path) -> tuple[dict[int, str], list[str] | None]:
    """Rows left out with their reasons, and the hashes of the blocks (None for a cache of an older Workbench).

    Raises:
        OSError, ValueError, TypeError: it is missing or damaged.
    """
    side = path.with_suffix(".json")
    if side.stat().st_size > LONGEST_SIDE:
        raise ValueError("it is too long")
    try:
        content = dict(json.loads(side.read_bytes()))
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    old = "hashes" not in content
    if not old and (content.get("block") != BLOCK or not all(isinstance(digest, str) for digest in content["hashes"])):
        raise ValueError("hashes of other blocks")
    bad = {int(row): str(reason) for row, reason in dict(content if old else content.get("bad", ())).items()}
    return bad, None if old else list(content["hashes"])


def hashes(path: Path, progress: Progress) -> list[str]:
    """blake2b, 16 bytes as hexadecimal text, of every block of a file; `progress` may raise Cancelled."""
    whole = np.memmap(path, np.uint8, "r")
    count = -(-len(whole) // BLOCK)
    digests: list[str] = []
    reported = monotonic()
    for digest in jobs.in_threads(lambda block: _hash(whole, block), range(count)):
        digests.append(digest)
        if monotonic() - reported >= TELL_EVERY:
            progress("Checking the cache of images", len(digests), count)
            reported = monotonic()
    return digests


def damage(path: Path, stored: list[str], progress: Progress) -> str:
    """Which blocks are damaged, in words; empty if none is. Checks each state of the file once."""
    if _state(path) in _whole:
        return ""
    current = hashes(path, progress)
    if len(current) != len(stored):
        return f"it has {len(current):,} blocks of 4 MiB instead of {len(stored):,}"
    wrong = [block for block, (now, before) in enumerate(zip(current, stored, strict=True)) if now != before]
    if not wrong:
        _whole.add(_state(path))
        return ""
    return f"{len(wrong):,} of its {len(stored):,} blocks of 4 MiB {'are' if len(wrong) > 1 else 'is'} not as written"


class Blocks:
    """A mapped cache whose blocks are checked when they are first read.

    Args:
        place: the cache; without a readable list of hashes beside it, nothing is checked.
    """

    def __init__(self, path: Path) -> None:
        self._bytes = np.memmap(path, np.uint8, "r")
        self._known: dict[int, bool] = {}
        try:
            self._stored = read_side(path)[1]
        except (OSError, ValueError, TypeError):
            self._stored = None

    def whole(self, start: int, stop: int) -> bool:
        """Whether the bytes from `start` to `stop`, and the header, are undamaged."""
        if self._stored is None:
            return True
        return all(self._good(block) for block in {0, *range(start // BLOCK, -(-stop // BLOCK))})

    def _good(self, block: int) -> bool:
        if block not in self._known:
            stored = self._stored or []
            self._known[block] = block < len(stored) and _hash(self._bytes, block) == stored[block]
        return self._known[block]


def _hash(whole: np.ndarray, block: int) -> str:
    return blake2b(whole[block * BLOCK : (block + 1) * BLOCK].data, digest_size=16).hexdigest()


def _state(path: Path) -> tuple[str, int, int, int, int]:
    facts = path.stat()
    return str(path), facts.st_ino, facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns
