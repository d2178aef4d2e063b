"""The arriving copy of a run folder at a place, in a folder of the run's own, which `ingest` reads.

The journal is stored in complete lines, arrays in parts until they have the size and the hash in the journal. What the
run's own folder has is not stored twice. Each look compares the last bytes of the journal with those at the place:
a journal that lost lines there, or was put back from an older copy, is not mixed with what has come.
"""

import os
import shutil
from itertools import islice
from pathlib import Path

from workbench import files
from workbench.events import CHECKPOINTS
from workbench.places.contract import Part
from workbench.problem import Problem
from workbench.workspace.arriving.arriving_files import names_of
from workbench.workspace.arriving.copies import LARGEST_FILE
from workbench.workspace.folders import journal, travelling
from workbench.workspace.folders.dataset_copy import LARGEST_COPY
from workbench.workspace.measured.superseded import epoch_of, is_other
from workbench.workspace.paths import inside, regular, write_from

FOLDER = "arriving"  # in the run's own folder
JOURNAL_AT_ONCE = 1 << 19  # bytes of a journal in one request
COMPARED = 512  # bytes at the end of the journal here, to recognise the one at the place: some lines, with their times
FILE_AT_ONCE = 4 << 20  # bytes of another file in one request
LARGEST_JOURNAL = 4 << 30  # bytes
FILES_AT_ONCE = 64  # of one run in one request
MOST_NAMED = 100_000  # files that are named and not here: no run has as many
MOST_TRIES = 3  # for a file whose bytes are not those that its run wrote
DATASET = "dataset.json"
PART = ".part"
NAMING = (b'"evaluation"', b'"checkpoint"', b'"owner"', journal.KEEP)  # in the lines that may name a file


class Mirror:
    """The arriving folder of one run.

    Args:
        home: the run's own folder.
        name: of the run's folder at the place.

    Attributes:
        changed: whether something came since `taken_in`.
        behind: whether the journal at the place was shorter in this look than what came of it.
        other: why nothing more is taken in, in this look: the journal at the place is not the one that came.

    Raises:
        Problem: the folder is a link; the disk cannot be written.
    """

    def __init__(self, home: Path, name: str) -> None:
        self.folder, self._home, self._name = inside(home, FOLDER), home, name
        self.changed = self.behind = False
        self.other = ""
        self._compared = False  # whether this look has recognised the journal
        self._lacking: set[str] = set()  # named, and not there
        self._at_end: set[str] = set()  # files of which there is no more now
        self._named: dict[str, tuple[int, str]] = {}  # size and hash of files that the journal names and are not here
        self._saved: dict[str, tuple[int, str]] = {}  # the last checkpoints
        self._asked: dict[str, tuple[int, str]] = {}  # checkpoints that were requested
        self._tries: dict[str, int] = {}
        self._journal_at_once = JOURNAL_AT_ONCE
        self._looked_at = 0  # bytes of the journal
        self._begin()

    def look_again(self) -> None:
        """Check every file for more content, and whether the journal is still the same."""
        self._at_end.clear()
        self._compared = self.behind = False
        self.other = ""

    def wants(self) -> list[Part]:
        """The next bytes to request, the journal's first; none when everything that is there now has arrived."""
        parts = []
        if journal.NAME not in self._at_end:
            size = self._size(journal.NAME)
            known = 0 if self._compared else min(size, COMPARED)
            parts.append(self._part(journal.NAME, size - known, known + self._journal_at_once))
        lacks_samples = DATASET not in self._at_end and not (self._home / DATASET).exists()
        if lacks_samples and self._size(DATASET) < LARGEST_COPY:
            parts.append(self._part(DATASET, self._size(DATASET), FILE_AT_ONCE))
        for name in islice((name for name in self._named if name not in self._at_end), FILES_AT_ONCE):
            size = self._size(name + PART)
            parts.append(self._part(name, size, min(FILE_AT_ONCE, self._named[name][0] - size)))
        return parts

    def wants_more(self) -> bool:
        """Whether files in the journal are still to come, as far as they exist."""
        return bool(set(self._named) - self._lacking)

    def came(self, part: Part, content: bytes | None) -> int:
        """Store the answer to one of `wants`; returns how many of its bytes are new.

        Raises Problem for a full disk, and for a journal that is invalid, or is not the one that came before.
        """
        name, new = part.path.rpartition("/")[2], len(content or b"")
        if len(content or b"") < part.most:
            self._at_end.add(name)
        if name == journal.NAME:
            new = self._journal_came(content, part)
        elif name == DATASET:
            self._dataset_came(content, part)
        elif name in self._named:
            self._file_came(name, content or b"", part)
        return new

    def taken_in(self) -> None:
        """Remove what the run's own folder has, after `ingest` has read the folder."""
        self.changed = False
        names = [DATASET] if self._named else [DATASET, *self._done()]  # an evaluation needs all of its arrays
        for name in names:
            if (self._home / name).exists():
                (self.folder / name).unlink(missing_ok=True)

    def lost(self) -> str:
        """A sentence on a journal that lacks lines which came, or has others, at the end of its run; else empty."""
        return self.other or (str(another_journal(self._name)) if self.behind else "")

    def wants_checkpoints(self) -> None:
        """Request the last checkpoints in the journal, too, once. Only for a run that has ended: they change."""
        for name, facts in self._saved.items():
            if self._asked.get(name) != facts:
                self._asked[name] = facts
                self._ask_for(name, facts)

    def remove(self) -> None:
        """Delete the folder after everything has arrived."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _begin(self) -> None:
        files.make_folder(self.folder)
        for name in (travelling.CARD, "config.toml", "experiment.json", journal.NAME):
            if not (self._home / name).exists() or (self.folder / name).exists():
                continue
            if name == journal.NAME or not _linked(regular(self._home / name), self.folder / name):
                self._copy_own(name)
        self._look_at_lines(begun=True)
        self.changed = True  # a program that was killed may have left what it had not taken in

    def _journal_came(self, content: bytes | None, part: Part) -> int:
        new = self._beyond(content, part.offset) if content is not None else b""
        at = self._size(journal.NAME)
        whole = new[: new.rfind(b"\n") + 1]
        too_long = at + len(new) > LARGEST_JOURNAL
        if whole and not too_long:
            write_from(self.folder / journal.NAME, at, whole)
            self.changed = True
            self._look_at_lines()
            self._journal_at_once = JOURNAL_AT_ONCE
        elif too_long or len(new) > journal.LONGEST_LINE:
            raise Problem(
                "Its journal there has a line, or a length, that no run writes.",
                kept="What was fetched before it is kept here.",
            )
        elif content is not None and len(content) == part.most:  # a line that is longer than what was asked for
            self._journal_at_once = 2 * len(new)
        return len(new)

    def _beyond(self, content: bytes, offset: int) -> bytes:
        """What the journal there has beyond the one here. Raises Problem where its bytes before that are others."""
        known = self._size(journal.NAME) - offset
        if known:
            if content[:known] != last_of(self.folder, offset + known)[: len(content)]:
                self.other = str(another_journal(self._name))
                raise another_journal(self._name)
            self.behind = len(content) < known  # a shared disk may show an older state of a file for a while
        self._compared = True
        return content[known:]

    def _dataset_came(self, content: bytes | None, part: Part) -> None:
        if part.offset != self._size(DATASET):  # a line that came since has taken it back
            self._at_end.discard(DATASET)
        elif content:
            write_from(self.folder / DATASET, part.offset, content)
            self.changed = True

    def _file_came(self, name: str, content: bytes, part: Part) -> None:
        size, digest = self._named[name]
        if part.offset != self._size(name + PART):  # a line that came since names another file so
            return
        if content:
            self._lacking.discard(name)
            write_from(self.folder / (name + PART), part.offset, content)
        elif part.most:  # others first
            self._lacking.add(name)
            self._named[name] = self._named.pop(name)
        if self._size(name + PART) < size:
            return
        arrived = self.folder / (name + PART)
        if not arrived.exists():
            arrived.touch()
        if files.digest(arrived) == digest:
            arrived.replace(self.folder / name)
            self.changed = True
            del self._named[name]
            return
        arrived.unlink()
        self._at_end.add(name)
        self._tries[name] = self._tries.get(name, 0) + 1
        if self._tries[name] >= MOST_TRIES:
            del self._named[name]

    def _look_at_lines(self, begun: bool = False) -> None:
        """Read which files the new lines of the journal name."""
        path = self.folder / journal.NAME
        if not path.exists():
            return
        with regular(path).open("rb") as file:
            file.seek(self._looked_at)
            for line in file:
                if any(word in line for word in NAMING):
                    self._look_at(line, begun)
            self._looked_at = file.tell()

    def _look_at(self, line: bytes, begun: bool) -> None:
        entry = journal.parsed(line)
        if entry is None:
            return
        if entry.owner is not None and not (self._home / DATASET).exists():
            (self.folder / DATASET).unlink(missing_ok=True)  # it may be written again
        if entry.evaluation is not None:
            for name in names_of(entry.evaluation):
                if name in entry.evaluation.files:
                    self._ask_for(name, entry.evaluation.files[name], begun)
        if entry.keep is not None:
            self._keep(entry.keep)
        if entry.checkpoint is not None and entry.checkpoint.blake2b:
            self._saved[CHECKPOINTS[entry.checkpoint.kind]] = (entry.checkpoint.bytes, entry.checkpoint.blake2b)

    def _ask_for(self, name: str, facts: tuple[int, str], begun: bool = False) -> None:
        if not 0 <= facts[0] <= min(LARGEST_FILE, shutil.disk_usage(self._home).free):
            return
        if _is(self.folder / name, facts):
            return
        if _is(self._home / name, facts):
            if begun:
                return
            # Of an evaluation that was forgotten and came out the same again, beside arrays that did not.
            self._copy_own(name)
            self.changed = True
            return
        if len(self._named) >= MOST_NAMED:
            return
        if self._named.get(name) != facts:  # a run that was resumed writes a file of that name anew
            (self.folder / (name + PART)).unlink(missing_ok=True)
        self._named[name] = facts

    def _keep(self, epochs: list[int]) -> None:
        """Ask no more for files of evaluations that the run deleted, and delete what came of them."""
        stored = (path.name for path in self.folder.iterdir())
        for name in {*self._named, *(name.removesuffix(PART) for name in stored)}:
            if (epoch := epoch_of(name)) is not None and is_other(epoch, epochs):
                self._named.pop(name, None)
                for path in (self.folder / name, self.folder / (name + PART)):
                    path.unlink(missing_ok=True)

    def _copy_own(self, name: str) -> None:
        """Have a file of the run's own folder arrive, too."""
        with files.atomic_write(self.folder / name) as file, regular(self._home / name).open("rb") as own:
            shutil.copyfileobj(own, file)

    def _done(self) -> list[str]:
        kinds = ("embeddings-*.npy", *(f"{part}-*.npz" for part in ("ranking", "proxies", "training", "probe")))
        return [path.name for kind in (*kinds, *CHECKPOINTS.values()) for path in self.folder.glob(kind)]

    def _part(self, name: str, offset: int, most: int) -> Part:
        return Part(f"{self._name}/{name}", offset, most)

    def _size(self, name: str) -> int:
        path = self.folder / name
        return path.stat().st_size if path.is_file() else 0


def last_of(folder: Path, end: int) -> bytes:
    """The bytes that recognise the journal of a folder: the last before a position."""
    with regular(folder / journal.NAME).open("rb") as file:
        file.seek(max(0, end - COMPARED))
        return file.read(min(end, COMPARED))


def another_journal(name: str, kept: str = "What was fetched before is kept, and nothing more is imported.") -> Problem:
    """The Problem of a run whose journal at its place is not the one that came here; `name` is that of its folder."""
    return Problem(
        "Its journal there is not the one that was fetched: it lost lines, or its folder was restored from an older "
        "copy.",
        kept=f"{kept} Its folder there was not changed.",
        todo=f"Copy the folder {name} from there, and import it into another workspace: "
        "workbench ingest FOLDER --workspace DIR",
    )


def _linked(own: Path, path: Path) -> bool:
    """Whether the file has a second name now, where the disk can: one that is never written in place needs no copy."""
    try:
        os.link(own, path)
    except OSError:
        return False
    return True


def _is(path: Path, facts: tuple[int, str]) -> bool:
    """Whether the file has that size and hash."""
    return path.is_file() and path.stat().st_size == facts[0] and files.digest(path) == facts[1]
