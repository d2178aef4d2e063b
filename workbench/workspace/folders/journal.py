"""A run's `journal.jsonl`: what the database has of the run, one JSON object a line, written before each commit."""

import contextlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf, isfinite
from pathlib import Path
from threading import Lock
from typing import Annotated, Any, BinaryIO, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from workbench.events import Distance, Evaluated, RunState
from workbench.workspace.measured.numbers import metrics_json, points_json
from workbench.workspace.measured.superseded import is_other
from workbench.workspace.paths import LARGEST, opened, regular, unshared, writable

NAME = "journal.jsonl"
LONGEST_LINE = 16 << 20  # bytes; Workbench writes no longer entry
POINTS_IN_A_LINE = 10_000
MOST_NAMES = POINTS_IN_A_LINE  # of curves in a line: each is looked up, stored and sealed by itself
KEEP = b'"keep"'  # in a line that names the epochs whose evaluations stay
MOST_KEPT = 100  # epochs in it; Workbench writes five at most
LOOKED_AT = 1 << 16  # bytes at a time, from the end on
SKIPPED = 1 << 20  # bytes at a time, of a line that is too long


def _storable(text: str) -> str:
    """Raises UnicodeEncodeError, a ValueError, for half of a surrogate pair: SQLite takes none."""
    text.encode()
    return text


def _finite(value: object) -> object:
    return value if not isinstance(value, float) or isfinite(value) else 0.0


def _few_names(points: "list[Point]") -> "list[Point]":
    """Raises ValueError for more curves than a line of Workbench can have."""
    if len(points) > MOST_NAMES and len({name for name, _, _ in points}) > MOST_NAMES:
        raise ValueError(f"more than {MOST_NAMES:,} curves in one line")
    return points


Text = Annotated[str, AfterValidator(_storable)]
Amount = Annotated[float, Field(ge=0)]
Rough = Annotated[float, BeforeValidator(_finite), Field(ge=0)]
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
    seconds_left: Rough = 0.0
    ended: Text | None = None
    heartbeat: Text | None = None
    seconds: Amount = 0.0


class EvaluationFacts(BaseModel):
    """Facts on an evaluation that its arrays do not contain."""

    epoch: Annotated[int, Field(ge=0, le=LARGEST)]
    step: Whole
    distance: Distance
    metrics: dict[str, float | None]
    files: dict[str, tuple[Whole, Text]] = {}  # bytes and hash by name, in run folders


class CheckpointFacts(BaseModel):
    """A checkpoint that was complete when its line was written; `blake2b` only in run folders."""

    kind: Literal["last", "best"]
    step: Whole
    bytes: Whole = 0
    blake2b: Text = ""


class OwnerFacts(BaseModel):
    """The process that trains a run folder."""

    pid: Annotated[int, Field(gt=0, lt=2**31)]
    host: Annotated[Text, Field(max_length=255)]
    born: Annotated[float, Field(ge=0, allow_inf_nan=False)]  # its start, seconds since 1970


class Entry(BaseModel):
    """One line. Most lines have one of these parts; `charts` comes with `step`."""

    model_config = ConfigDict(extra="ignore")
    scalars: Annotated[list[Point], AfterValidator(_few_names)] = []
    charts: Text | None = None
    step: Whole = 0
    forget: Whole | None = None  # all after this step: the run was resumed from there
    keep: Annotated[list[Whole], Field(max_length=MOST_KEPT)] | None = None  # epochs: of the evaluations before it
    started: Text | None = None
    run: RunColumns | None = None
    environment: dict[str, Any] | None = None
    evaluation: EvaluationFacts | None = None
    checkpoint: CheckpointFacts | None = None
    note: Text | None = None
    owner: OwnerFacts | None = None
    taken_back: EvaluationFacts | None = Field(None, exclude=True)  # an evaluation that the run deleted later


class Journal:
    """Appends to a run's journal. Lines survive a kill of the process at once, and a power cut after `sync`.

    Raises:
        Problem: its path is a symbolic link or anything but a file, or it has other names and cannot be copied.
        OSError: it cannot be opened.
    """

    def __init__(self, folder: Path) -> None:
        self._file = os.fdopen(writable(unshared(folder / NAME), os.O_APPEND), "ab+", buffering=0)
        self._lock = Lock()  # heartbeats come from another thread
        self._end_cut_line()

    def write(self, lines: Sequence[str]) -> None:
        """Append all of the lines or, if the disk is full, none of them. Raises OSError then."""
        whole = "".join(f"{line}\n" for line in lines).encode()
        with self._lock:
            self._write(whole)

    def _write(self, whole: bytes) -> None:
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
        """Flush what was written to the disk."""
        os.fsync(self._file.fileno())

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _end_cut_line(self) -> None:
        """A kill may have cut off the last line: start the next record on a new line."""
        if self._file.seek(0, os.SEEK_END):
            self._file.seek(-1, os.SEEK_END)
            if self._file.read(1) != b"\n":
                self._file.write(b"\n")


def point_lines(points: Sequence[tuple[str, int, float | None]]) -> list[str]:
    """Points of curves as lines of bounded length."""
    parts = (points[at : at + POINTS_IN_A_LINE] for at in range(0, len(points), POINTS_IN_A_LINE))
    return [f'{{"scalars": {points_json(part)}}}' for part in parts]


def evaluation_line(event: Evaluated, files: Mapping[str, tuple[int, str]] | None = None) -> str:
    """A line with the facts that an evaluation's arrays do not contain; `files` are bytes and hash by name."""
    head: dict[str, Any] = {"epoch": event.epoch, "step": event.step, "distance": event.distance}
    head |= {"files": files} if files else {}
    return f'{{"evaluation": {json.dumps(head)[:-1]}, "metrics": {metrics_json(event.metrics)}}}}}'


def parsed(line: bytes) -> Entry | None:
    """The entry of a line; None if it is invalid."""
    try:
        return Entry.model_validate(json.loads(line))
    except (ValueError, RecursionError):
        return None


def entries(folder: Path, having: bytes = b"", *, whole: bool = False) -> Iterator[Entry | None]:
    """A run's journal entries, in order, without what a later line revokes; None for an unreadable line.

    Has one line in memory at a time. Lines without `having`, such as `b'"evaluation"'`, are left out unread; so is,
    with `whole`, a last line without its end.

    Raises:
        Problem: it is a link, or neither a file nor missing. OSError: it cannot be read.
    """
    limits = _limits(folder, whole)
    lines = enumerate(_lines(folder, whole))
    for number, entry in _parsed(line for line in lines if having in (line[1] or having)):
        while limits and limits[-1].number <= number:
            limits.pop()
        if entry is not None and limits:
            _take_back(entry, limits[-1])
        yield entry


def last_saved(folder: Path) -> dict[str, CheckpointFacts]:
    """The checkpoint of each kind, "last" and "best", that the run has saved last. Raises as `entries`."""
    recorded = (entry.checkpoint for entry in entries(folder, b'"checkpoint"') if entry is not None)
    return {facts.kind: facts for facts in recorded if facts is not None}


def last_state(folder: Path) -> RunState:
    """The last state in a run's journal; queued if it has none."""
    state = RunState.QUEUED
    for entry in filter(None, entries(folder)):
        if entry.run is not None and "status" in entry.run.model_fields_set:
            state = entry.run.status
    return state


def has_saved(folder: Path) -> bool:
    """Whether the run has saved a checkpoint since it last began from the beginning. Raises as `entries`."""
    saved = False
    marked = (b'"checkpoint"', b'"forget"')
    lines = ((number, line) for number, line in enumerate(_lines(folder, False)) if line and _has_any(line, marked))
    for _, entry in _parsed(lines):
        if entry is not None:
            saved = entry.checkpoint is not None or (saved and (entry.forget is None or entry.forget >= 0))
    return saved


def _has_any(line: bytes, parts: Iterable[bytes]) -> bool:
    return any(part in line for part in parts)


def whole_lines(folder: Path) -> int:
    """The bytes of a run's journal up to the end of its last whole line; 0 without a journal."""
    if not regular(folder / NAME).exists():
        return 0
    with opened(folder / NAME) as file:
        end = at = file.seek(0, os.SEEK_END)
        while at > 0:
            at = max(0, at - LOOKED_AT)
            file.seek(at)
            if (last := file.read(end - at).rfind(b"\n")) >= 0:
                return at + last + 1
            end = at
    return 0


@dataclass(frozen=True, slots=True)
class _Limit:
    """What stays of all lines before one, by it and all later ones."""

    number: int  # of the line
    last: float  # step
    epochs: frozenset[int]  # of the evaluations that stay
    before: int  # epoch: of it, and of those after it, all stay

    def keeps(self, facts: EvaluationFacts) -> bool:
        return facts.step <= self.last and self.keeps_epoch(facts.epoch)

    def keeps_epoch(self, epoch: int) -> bool:
        return epoch in self.epochs or epoch >= self.before

    def and_before(self, number: int, entry: Entry) -> "_Limit":
        """What stays by an earlier line, too."""
        last = self.last if entry.forget is None else min(self.last, entry.forget)
        kept = entry.keep or ()
        both = {epoch for epoch in {*self.epochs, *kept} if self.keeps_epoch(epoch) and not is_other(epoch, kept)}
        return _Limit(number, last, frozenset(both), max(self.before, *kept, 0))


def _limits(folder: Path, whole: bool) -> list[_Limit]:
    """The lines that revoke earlier ones, the first at the end."""
    numbered = enumerate(_lines(folder, whole))
    revoking = ((number, line) for number, line in numbered if line and (b'"forget"' in line or KEEP in line))
    lines = [(n, entry) for n, entry in _parsed(revoking) if entry and (entry.forget, entry.keep) != (None, None)]
    limits = list[_Limit]()
    limit = _Limit(0, inf, frozenset(), 0)
    for number, entry in reversed(lines):
        limit = limit.and_before(number, entry)
        limits.append(limit)
    return limits


def _take_back(entry: Entry, limit: _Limit) -> None:
    """What was recorded after the step from which the run was resumed later, and evaluations that it did not keep."""
    entry.scalars = [point for point in entry.scalars if point[1] <= limit.last]
    if entry.step > limit.last:
        entry.charts = None
    facts = entry.evaluation
    if facts is not None and not limit.keeps(facts):
        entry.taken_back, entry.evaluation = facts, None


def _lines(folder: Path, whole: bool) -> Iterator[bytes | None]:
    """Lines that are not empty; None for one that is too long to be ours. With `whole` all of them have an end."""
    if not regular(folder / NAME).exists():
        return
    with opened(folder / NAME) as file:
        while line := file.readline(LONGEST_LINE):
            if len(line) == LONGEST_LINE and not line.endswith(b"\n"):
                _skip_line(file)
                yield None
            elif line.strip() and (line.endswith(b"\n") or not whole):
                yield line


def _skip_line(file: BinaryIO) -> None:
    """Go behind the next end of a line; gigabytes without one are read in blocks, ten times as fast as by lines."""
    while block := file.read(SKIPPED):
        if (end := block.find(b"\n")) >= 0:
            file.seek(end + 1 - len(block), os.SEEK_CUR)
            return


def _parsed(lines: Iterable[tuple[int, bytes | None]]) -> Iterator[tuple[int, Entry | None]]:
    for number, line in lines:
        yield number, None if line is None else parsed(line)
