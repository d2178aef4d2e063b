"""A run's `journal.jsonl`: what the database holds of the run, one JSON object a line, written before each commit."""

import contextlib
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from workbench.events import RunState
from workbench.workspace.numbers import points_json
from workbench.workspace.paths import LARGEST, regular

NAME = "journal.jsonl"
LONGEST_LINE = 16 << 20  # bytes; a longer one is no entry of ours
POINTS_IN_A_LINE = 10_000


def _storable(text: str) -> str:
    """Raises UnicodeEncodeError, a ValueError, for half of a surrogate pair: SQLite takes none."""
    text.encode()
    return text


Text = Annotated[str, AfterValidator(_storable)]
Amount = Annotated[float, Field(ge=0)]
Whole = Annotated[int, Field(ge=-LARGEST, le=LARGEST)]
Point = tuple[Text, Whole, float | None]


class RunColumns(BaseModel):
    """Columns of the run's row that a journal may set; others are ignored."""

    model_config = ConfigDict(extra="ignore")
    status: RunState = RunState.QUEUED
    problem: Text = ""
    phase: Text = ""
    done: Whole = 0
    total: Whole = 0
    epoch: Whole = 0
    images_per_second: Amount = 0.0
    memory_bytes: Whole = 0
    ended: Text | None = None
    heartbeat: Text | None = None
    seconds: Amount = 0.0


class EvaluationFacts(BaseModel):
    """What an evaluation's arrays do not contain."""

    epoch: Annotated[int, Field(ge=0, le=LARGEST)]
    step: Whole
    distance: Literal["cosine", "l2"]
    metrics: dict[str, float | None]


class Entry(BaseModel):
    """One line. Of its parts most lines have one; `charts` comes with `step`."""

    model_config = ConfigDict(extra="ignore")
    scalars: list[Point] = []
    charts: Text | None = None
    step: Whole = 0
    forget: Whole | None = None  # all after this step: the run was resumed from there
    started: Text | None = None
    run: RunColumns | None = None
    environment: dict[str, Any] | None = None
    evaluation: EvaluationFacts | None = None
    taken_back: int | None = Field(None, exclude=True)  # the epoch of an evaluation that the run forgot later


class Journal:
    """Appends to a run's journal. What was written outlives the process at once, and the machine after `sync`.

    Raises:
        Problem: the journal's place is taken by a link or by anything but a file.
        OSError: it cannot be opened.
    """

    def __init__(self, folder: Path) -> None:
        self._file = regular(folder / NAME).open("ab+", buffering=0)
        self._end_cut_line()

    def write(self, lines: Sequence[str]) -> None:
        """All of the lines or, where the disk is full, none of them. Raises OSError then."""
        whole = "".join(f"{line}\n" for line in lines).encode()
        before, written = self._file.seek(0, os.SEEK_END), 0
        try:
            while written < len(whole):
                written += self._file.write(whole[written:])
        except OSError:
            if written and self._file.seek(0, os.SEEK_END) == before + written:  # nobody else wrote
                with contextlib.suppress(OSError):  # then a cut line stays, which reading skips
                    self._file.truncate(before)
            raise

    def sync(self) -> None:
        """Return when what was written is on the disk."""
        os.fsync(self._file.fileno())

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _end_cut_line(self) -> None:
        """A kill may have cut the last line: the next record starts on a new line."""
        if self._file.seek(0, os.SEEK_END):
            self._file.seek(-1, os.SEEK_END)
            if self._file.read(1) != b"\n":
                self._file.write(b"\n")


def point_lines(points: Sequence[tuple[str, int, float | None]]) -> list[str]:
    """Points of curves as lines of bounded length."""
    parts = (points[at : at + POINTS_IN_A_LINE] for at in range(0, len(points), POINTS_IN_A_LINE))
    return [f'{{"scalars": {points_json(part)}}}' for part in parts]


def entries(folder: Path) -> Iterator[Entry | None]:
    """A run's journal entries, in order, without what a later line takes back; None for a line that cannot be read.

    Holds one line at a time.

    Raises:
        Problem: it is a link, or neither a file nor missing. OSError: it cannot be read.
    """
    forgets = [(number, line) for number, line in enumerate(_lines(folder)) if line and b'"forget"' in line]
    limits = [(number, entry.forget) for number, entry in _parsed(forgets) if entry and entry.forget is not None]
    for number, entry in _parsed(enumerate(_lines(folder))):
        while limits and limits[0][0] <= number:
            limits.pop(0)
        if entry is not None and limits:
            _take_back(entry, min(step for _, step in limits))
        yield entry


def _take_back(entry: Entry, last: int) -> None:
    """What was recorded after the step from which the run was resumed later."""
    entry.scalars = [point for point in entry.scalars if point[1] <= last]
    if entry.step > last:
        entry.charts = None
    if entry.evaluation is not None and entry.evaluation.step > last:
        entry.taken_back, entry.evaluation = entry.evaluation.epoch, None


def _lines(folder: Path) -> Iterator[bytes | None]:
    """Lines that are not empty; None for one that is too long to be ours."""
    path = regular(folder / NAME)
    if not path.exists():
        return
    with path.open("rb") as file:
        while line := file.readline(LONGEST_LINE):
            if len(line) == LONGEST_LINE and not line.endswith(b"\n"):
                while (rest := file.readline(LONGEST_LINE)) and not rest.endswith(b"\n"):
                    pass
                yield None
            elif line.strip():
                yield line


def _parsed(lines: Iterable[tuple[int, bytes | None]]) -> Iterator[tuple[int, Entry | None]]:
    for number, line in lines:
        try:
            yield number, None if line is None else Entry.model_validate(json.loads(line))
        except (ValueError, RecursionError):  # no JSON, or not of this form
            yield number, None
