"""Imported runs that have ended and came whole: as long as nothing in their folder changed, nothing of it is read.

Times of files are only compared with themselves: whatever the clocks say, a file that was written since has another
size, or another time of its last change. Its journal is compared byte by byte once, before the run counts as settled.
"""

import os
import stat
from hashlib import blake2b
from itertools import islice
from pathlib import Path

from workbench.workspace.folders import journal
from workbench.workspace.paths import opened, regular

MOST_FILES = 20_000  # of a folder; with more of them, all is looked at each time
BLOCK = 1 << 20  # bytes


def state_of(folder: Path) -> str:
    """A hash of names, sizes and times of the files in a run folder; empty if they cannot be read, or are too many."""
    return _hash(folder, 4)


def kept_in(home: Path) -> str:
    """As `state_of`, without times, of the run's own folder: what is deleted there is imported again."""
    return _hash(home, 2)


def same_journal(folder: Path, home: Path, read: int) -> bool:
    """Whether the first `read` bytes of both journals are the same, as far as the first one goes."""
    if not read or not regular(folder / journal.NAME).exists():
        return True  # without a whole line the run has no journal here
    with opened(folder / journal.NAME) as theirs, opened(home / journal.NAME) as ours:
        left = min(read, os.fstat(theirs.fileno()).st_size)
        while left > 0:
            size = min(left, BLOCK)
            if theirs.read(size) != ours.read(size):
                return False
            left -= size
    return True


def _hash(folder: Path, count: int) -> str:
    try:
        with os.scandir(folder) as entries:
            names = sorted(entry.name for entry in islice(entries, MOST_FILES + 1))
        facts = [(name, *_facts(folder / name)[:count]) for name in names]
    except OSError:
        return ""
    if len(names) > MOST_FILES:
        return ""
    return blake2b(repr(facts).encode("utf-8", "surrogateescape"), digest_size=16).hexdigest()


def _facts(path: Path) -> tuple[int, int, int, int]:
    """Kind, size (0 of a folder), and the times of the last change of content and of anything. Raises OSError."""
    facts = path.lstat()  # Windows tells scandir old sizes
    size = facts.st_size if stat.S_ISREG(facts.st_mode) else 0
    return stat.S_IFMT(facts.st_mode), size, facts.st_mtime_ns, facts.st_ctime_ns
