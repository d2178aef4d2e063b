"""What is said of a write-ahead log against what SQLite reads: cut and torn at every byte, and with flipped bits."""

from contextlib import closing
from pathlib import Path

import pytest

from workbench.workspace.database import write_ahead
from workbench.workspace.database.connection import sqlite3

PAGE = 512
SLOT = write_ahead.FRAME + PAGE


class Drill:
    """A database and its log, whose changes are the rows 1, 2, and so on."""

    def __init__(self, folder: Path) -> None:
        self.database, self.log = folder / "copy.db", folder / "copy.db-wal"
        self.own = folder / "own.db"
        self.db = sqlite3.connect(self.own, isolation_level=None)
        for statement in (
            f"pragma page_size = {PAGE}", "pragma journal_mode = wal", "pragma wal_autocheckpoint = 0",
            "create table changes (id integer primary key, words text)", "create table other (words text)",
        ):  # fmt: skip
            self.db.execute(statement)
        self.checkpoint("truncate")

    def checkpoint(self, how: str = "passive") -> None:
        """The next change begins a new round of the log, over the frames of this one unless it is truncated."""
        self.db.execute(f"pragma wal_checkpoint({how})")
        self.whole = self.own.read_bytes()

    def change(self, number: int, words: str) -> int:
        """Commit a change of two pages; the bytes of the log that hold it and those before."""
        with self.db:
            self.db.execute("begin")
            self.db.execute("insert into changes values (?, ?)", (number, words))
            self.db.execute("insert into other values (?)", (words,))
        return len(self.content())

    def content(self) -> bytes:
        return self.own.with_name("own.db-wal").read_bytes()

    def said(self, content: bytes) -> bool:
        """Whether changes are said to be lost."""
        self.log.write_bytes(content)
        copy = write_ahead.set_aside(self.database)
        if copy is not None:
            copy.unlink()
        return copy is not None

    def read(self, content: bytes) -> int:
        """The number of changes that SQLite reads."""
        self.database.write_bytes(self.whole)
        self.log.write_bytes(content)
        with closing(sqlite3.connect(self.database, isolation_level=None)) as db:
            return int(db.execute("select count(*) from changes").fetchone()[0])


@pytest.fixture
def drill(tmp_path, monkeypatch):
    monkeypatch.setattr(write_ahead, "LOOKS", 1)
    made = Drill(tmp_path)
    yield made
    made.db.close()


def test_a_log_that_a_kill_cut_off_anywhere_has_lost_nothing(drill):
    ends = [drill.change(number, "words") for number in (1, 2, 3)]
    whole = drill.content()
    assert ends[-1] - ends[0] == 4 * SLOT
    for length in range(ends[0], ends[-1] + 1):
        assert not drill.said(whole[:length]), length
        if length % 97 == 0 or (length - ends[0]) % SLOT in (0, write_ahead.FRAME, SLOT - 1):
            assert drill.read(whole[:length]) == sum(end <= length for end in ends), length
    for length in range(write_ahead.HEADER + 1):
        assert not drill.said(whole[:length]), length


def test_a_kill_while_the_frames_of_an_earlier_round_are_written_over_has_lost_nothing(drill):
    for number in (1, 2, 3):
        drill.change(number, "before")
    drill.checkpoint()
    older = drill.content()
    drill.change(4, "AFTER")
    drill.change(5, "AFTER")
    newer = drill.content()
    assert len(newer) == len(older)
    first = write_ahead.HEADER
    for length in range(first, first + 4 * SLOT + 1):
        torn = newer[:length] + older[length:]
        changes = sum(newer[: first + end * SLOT] == torn[: first + end * SLOT] for end in (2, 4))
        missed = int.from_bytes(newer, "big") ^ int.from_bytes(torn, "big")
        if missed.bit_count() > 1:  # one bit alone is taken for a flipped one
            assert not drill.said(torn), length
        if length % 97 == 0 or (length - first) % SLOT in (0, write_ahead.FRAME, SLOT - 1):
            assert drill.read(torn) == 3 + changes, length


def test_a_flipped_bit_in_what_was_committed_is_said(drill):
    for number in (1, 2):
        drill.change(number, "words")
    whole = drill.content()
    assert not drill.said(whole)
    for at in [*range(write_ahead.HEADER), *range(write_ahead.HEADER, len(whole), 7)]:
        flipped = bytearray(whole)
        flipped[at] ^= 1 << at % 8
        assert drill.said(bytes(flipped)), at
        if at % 97 == 0:
            assert drill.read(bytes(flipped)) < 2


def test_a_flipped_bit_that_makes_the_last_frame_one_that_does_not_commit_is_said(drill):
    drill.db.execute("create table fourth (words text)")
    drill.change(1, "words")
    whole = bytearray(drill.content())
    pages = slice(len(whole) - SLOT + 4, len(whole) - SLOT + 8)
    assert int.from_bytes(whole[pages], "big") == 4
    whole[pages] = bytes(4)
    assert drill.read(bytes(whole)) == 0
    assert drill.said(bytes(whole))


def test_a_page_of_rubbish_before_the_end_of_a_change_is_said(drill):
    end = drill.change(1, "words")
    drill.change(2, "words")
    whole = drill.content()
    for frame in (end - 2 * SLOT, end - SLOT, end):
        harmed = whole[: frame + write_ahead.FRAME] + bytes(PAGE) + whole[frame + SLOT :]
        assert drill.said(harmed), frame
        assert drill.read(harmed) == (frame == end)


def test_what_was_rolled_back_after_it_had_reached_the_log_is_not_said(drill):
    drill.db.execute("pragma cache_size = 2")
    drill.change(1, "words")
    drill.db.execute("begin")
    for number in range(100, 200):
        drill.db.execute("insert into changes values (?, ?)", (number, "rolled back " * 20))
    drill.db.execute("rollback")
    spilled = len(drill.content())
    assert drill.change(2, "words") == spilled > 20 * SLOT, "nothing had reached the log"
    assert drill.read(drill.content()) == 2
    assert not drill.said(drill.content())


def test_a_flipped_bit_in_what_was_not_committed_is_not_said(drill):
    end = drill.change(1, "words")
    drill.change(2, "words")
    content = bytearray(drill.content()[: end + SLOT])
    content[end + write_ahead.FRAME + 100] ^= 8
    assert drill.read(bytes(content)) == 1
    assert not drill.said(bytes(content))
