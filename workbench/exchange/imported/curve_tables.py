"""Curves in CSV: W&B's export of a chart, TensorBoard's, a table of one run, and Workbench's own name, step, value."""

import csv
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from math import isfinite
from pathlib import Path

from workbench.exchange.imported.foreign_run import CSV, MOST_CURVES, MOST_POINTS, ForeignRun, curve_name
from workbench.exchange.imported.named_arrays import KEPT
from workbench.exchange.imported.tables import WORDS, with_point
from workbench.files.spreadsheet import plain_cell, separated
from workbench.files.unreadable import TABLES, lines_of, opened_text, refusing
from workbench.names import visible_name
from workbench.problem import Problem
from workbench.progress import Progress

# Titles of the column of steps, in small letters, the likeliest first: where there is a step, an epoch is a curve.
STEPS = ("step", "_step", "steps", "global_step", "trainer/global_step", "iteration", "iterations", "epoch", "epochs")
LONG = {"name", "step", "value"}  # the titles of Workbench's own table: a row for each point
OF_TENSORBOARD = {"wall time", "step", "value"}  # of one curve, which the file is named by
DOWNLOADED = re.compile(r"run[-_](?P<run>.+?)-tag-(?P<tag>.+)", re.DOTALL)  # such a file's name, without its ending
WALL_TIMES = ("wall time", "_timestamp")  # of TensorBoard and W&B, in seconds since 1970
LIMITS = ("__MIN", "__MAX")  # ends of the titles of W&B's columns for what a smoothed curve spans
BETWEEN = " - "  # in W&B's titles, the run before it and the curve behind
MOST_RUNS = 1_000
TELL_EVERY = 2_000  # rows
LONGEST_WHOLE = 18  # digits; longer ones are no steps
ENDINGS = (".csv", ".tsv")


@dataclass(slots=True)
class _Column:
    """A column of a table: the run and the curve that it belongs to."""

    at: int
    run: str  # empty for the table's one run
    curve: str
    is_numbers: bool = True


def is_curve_table(path: Path) -> bool:
    """Whether the first line of a file names a column of steps, and none of labels: a table of curves."""
    if path.suffix.lower() not in ENDINGS or not path.is_file():  # a pipe may never end
        return False
    try:
        with opened_text(path, "", TABLES, "") as file, refusing(partial(_refused, path)):
            titles = _plain(next(_rows(path, lines_of(file)), []))
    except Problem:
        return False
    return _steps_at(titles) is not None and all(WORDS.get(title) != "label" for title in titles)


def read_table(path: Path, progress: Progress) -> list[ForeignRun]:
    """The runs of a table of curves, in the order of its columns.

    A cell that is empty is no point. A column that holds anything but numbers is left out, a row without a whole step
    is, too; both are counted.

    Args:
        path: .csv or .tsv; the separator is the likely one, and UTF-16 is read where the file begins as such.
        progress: called with the bytes that are read; may raise Cancelled.

    Raises:
        Problem: no text, no line of titles, no column of steps, or too many runs.
    """
    with opened_text(path, "Choose it again.", TABLES, "") as file, refusing(partial(_refused, path)):
        size = os.fstat(file.fileno()).st_size

        def read() -> None:
            progress(f"Reading {path.name}", min(file.buffer.tell(), size), size)

        rows = _rows(path, lines_of(file))
        titles = next(rows, [])
        plain = _plain(titles)
        at = _steps_at(plain)
        if at is None:
            raise Problem(
                f"{path} has no column of steps.", kept=KEPT,
                todo="Call that column step or epoch, in the first line.",
            )  # fmt: skip
        if set(plain) == LONG and len(plain) == len(LONG):
            return [_long(path, rows, plain, read)]
        times = next((plain.index(title) for title in WALL_TIMES if title in plain), None)
        return _wide(path, rows, _columns(path, titles, plain, at), (at, times), read)


def check_amount(source: Path, runs: Iterable[ForeignRun]) -> None:
    """Raise Problem for more than MOST_POINTS points: those of tables are in memory all at once."""
    if sum(run.points for run in runs) > MOST_POINTS:
        what = f"{source} holds more than {MOST_POINTS:,} points of curves."
        raise Problem(what, kept=KEPT, todo="Import a part of it at a time.")


def _wide(
    path: Path, rows: Iterator[list[str]], columns: list[_Column], places: tuple[int, int | None],
    read: Callable[[], None],
) -> list[ForeignRun]:  # fmt: skip
    """A row for each step, a column for each curve; `places` are those of the steps and, perhaps, of wall times."""
    at, times = places
    runs = {name: _run(path, name) for name in dict.fromkeys(column.run for column in columns)}
    if len(runs) > MOST_RUNS:
        raise Problem(f"{path} names more than {MOST_RUNS:,} runs.", kept=KEPT, todo="Export fewer of them at once.")
    stepless = 0
    for number, cells in enumerate(rows):
        if number % TELL_EVERY == 0:
            read()
            check_amount(path, runs.values())
        step = _step(cells[at].strip()) if at < len(cells) else None
        if step is None:
            stepless += 1
            continue
        seconds = _value(cells[times].strip()) if times is not None and times < len(cells) else None
        for column in columns:
            cell = cells[column.at].strip() if column.at < len(cells) else ""
            if not cell or not column.is_numbers:
                continue
            value = _value(cell)
            if value is None:
                column.is_numbers = False
            else:
                runs[column.run].add(column.curve, step, value)
                runs[column.run].written_at(seconds)
    for column in columns:
        if not column.is_numbers:
            runs[column.run].curves.pop(column.curve, None)
            runs[column.run].left_out["columns that hold more than numbers"] += 1
    for run in runs.values():
        run.left_out += Counter({"rows without a whole step": stepless})
    return list(runs.values())


def _long(path: Path, rows: Iterator[list[str]], plain: list[str], read: Callable[[], None]) -> ForeignRun:
    """A row for each point, as Workbench exports curves: an empty value is NaN."""
    run = _run(path, "")
    places = [plain.index(title) for title in ("name", "step", "value")]
    for number, cells in enumerate(rows):
        if number % TELL_EVERY == 0:
            read()
        name, at, written = (cells[place].strip() if place < len(cells) else "" for place in places)
        step, value = _step(at), _value(written or "nan")
        if not name or step is None or value is None:
            run.left_out["rows without a name, a whole step and a number"] += 1
        else:
            run.add(curve_name(plain_cell(name)), step, value)
    return run


def _columns(path: Path, titles: list[str], plain: list[str], at: int) -> list[_Column]:
    """The columns of curves; of W&B's export those of each run. Equal titles are numbered: they are several curves."""
    named = [
        (place, plain_cell(title.strip()))
        for place, title in enumerate(titles)
        if place != at and title.strip() and not title.endswith(LIMITS)
    ]
    if set(plain) == OF_TENSORBOARD:
        named_by = DOWNLOADED.fullmatch(path.stem)
        run, curve = (named_by["run"], named_by["tag"]) if named_by else ("", path.stem)
        return [_Column(plain.index("value"), path.parent.name if run == "." else run, curve_name(curve))]
    of_runs = bool(named) and all(BETWEEN in title for _, title in named)
    seen, columns = Counter[str](), list[_Column]()
    for place, title in named:
        seen[title] += 1
        again = f" ({seen[title]})" if seen[title] > 1 else ""
        run, _, curve = title.rpartition(BETWEEN) if of_runs else ("", "", title + again)
        columns.append(_Column(place, run + again if of_runs else "", curve_name(curve)))
    if len(columns) > MOST_CURVES * MOST_RUNS or not columns:
        raise Problem(f"{path} has no column of numbers beside its steps.", kept=KEPT, todo="Choose another file.")
    return columns


def _run(path: Path, name: str) -> ForeignRun:
    whole = str(path.absolute())
    return ForeignRun(visible_name(name or path.stem), f"{whole} ({visible_name(name)})" if name else whole, CSV)


def _rows(path: Path, lines: Iterator[str]) -> Iterator[list[str]]:
    """The cells of each line that is not empty, numbers with a point."""
    if path.suffix.lower() == ".tsv":
        separator = "\t"
    else:
        separator, lines = separated(lines)
    for cells in csv.reader(lines, delimiter=separator):
        if any(cells):
            yield cells if separator == "," else [with_point(cell) for cell in cells]


def _plain(titles: list[str]) -> list[str]:
    return [title.strip().lower() for title in titles]


def _steps_at(plain: list[str]) -> int | None:
    return next((plain.index(title) for title in STEPS if title in plain), None)


def _step(cell: str) -> int | None:
    """A whole number, also where it is written as 100.0; None for anything else."""
    if cell.isdecimal() and len(cell) <= LONGEST_WHOLE:
        return int(cell)
    value = _value(cell)
    return int(value) if value is not None and isfinite(value) and value == int(value) else None


def _value(cell: str) -> float | None:
    """A number, NaN or an infinite one; None for other text."""
    try:
        return None if "_" in cell else float(cell)  # Python reads 1_000 as a number, tables do not
    except ValueError:
        return None


def _refused(path: Path, why: str) -> Problem:
    return Problem(f"{path} cannot be read as a table ({why}).", kept=KEPT, todo="Save it as UTF-8, with commas.")
