"""CSV as text that a spreadsheet cannot run, and back."""

import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from typing import Any

# The wide letters are those of East Asian keyboards, which Excel takes for the others.
STARTS_A_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\0", "\uff1d", "\uff0b", "\uff0d", "\uff20")
# A spreadsheet whose decimal mark is the comma begins a cell behind each semicolon, some do behind a tab, and all in a
# line of its own behind a break that no quotation marks enclose; marks of a name itself do not keep them from it.
INNER_FORMULA = re.compile("(?<=[;\t\r\n])(?=[\"']*[=+\\-@\uff1d\uff0b\uff0d\uff20])")
KEPT_INNER_FORMULA = re.compile("(?<=[;\t\r\n])'(?=[\"']*[=+\\-@\uff1d\uff0b\uff0d\uff20])")
PART = 2_000  # rows that become text at a time
SEPARATORS = (",", ";", "\t")  # spreadsheets write the second where the comma is a decimal one
NAMED = re.compile(r'"?sep=([;,\t])"?\s*', re.IGNORECASE)
DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+(?:[eE][+-]?\d+)?")  # a number that has one
NOT_CLOSED = "is not closed"  # of a quotation mark, in the reason that `rows_of` gives
CLOSE_IT = "Close it; one that belongs to the text is written twice, in a cell between quotation marks."
# With a sign or with commas between thousands, as a window writes it.
NUMBER = re.compile(r"([+\-\u2212](?=\d)|(?=\d+,))(\d{1,3}(,\d{3})+|\d+)(\.\d+)?", re.ASCII)
QUOTED = re.compile(r'"[^"]*"')


def csv_cell(value: Any) -> Any:
    """Text that a spreadsheet would take for a formula gets an apostrophe; not-a-number is an empty cell.

    So does one behind a semicolon, a tab or a line break, where another spreadsheet begins a cell, and a formula that
    has apostrophes of its own: `plain_cell` takes away one of each, and every text comes back. A
    spreadsheet would take "nan" for a word; readers of tables take an empty cell for a number that is missing. Other
    numbers are left alone.
    """
    if isinstance(value, str):
        text = INNER_FORMULA.sub("'", value)
        return f"'{text}" if _begins_a_formula(value) else text
    return "" if value != value else value


def pasted(text: str) -> str:
    """A name as one tab-separated cell for the clipboard, which a spreadsheet does not take for a formula."""
    return str(csv_cell(" ".join(text.splitlines()).replace("\t", " ")))


def number_or_text(cell: str) -> float | str:
    """A cell as a window shows it, for CSV: "-13.36" is a number there, and no formula, as "1,011" is.

    Digits without sign and comma stay as they are: they are numbers in CSV, too, and "0042" and "1.10" may be names.
    """
    if not NUMBER.fullmatch(cell):
        return cell
    plain = cell.replace(",", "").replace("\u2212", "-")
    return float(plain) if "." in plain else int(plain)


def plain_cell(text: str) -> str:
    """The inverse of `csv_cell`: the text without the apostrophe before each formula."""
    outer = text[1:] if text[:1] == "'" and _begins_a_formula(text) else text
    return KEPT_INNER_FORMULA.sub("", outer)


def _begins_a_formula(text: str) -> bool:
    """Whether a formula begins after the apostrophes, if any."""
    return text.lstrip("'")[:1] in STARTS_A_FORMULA


def separated(
    lines: Iterator[str], fits: Callable[[list[str]], bool] = lambda cells: False
) -> tuple[str, Iterator[str]]:
    """The separator of a CSV file, by its first line that is not empty, and all of its lines.

    It is the one that the line holds most often outside of quotes; but one beside which every comma is a decimal one.
    Where the cells that it makes do not fit, one that makes cells that do is taken. A line that names the separator for
    Excel, "sep=;", is believed and given back as an empty one.
    """
    passed: list[str] = []
    for line in lines:
        if named := NAMED.fullmatch(line):
            return named[1], chain(passed, ["\n"], lines)
        passed.append(line)
        if line.strip():
            break
    first = passed[-1] if passed else ""
    likely = _separator(QUOTED.sub("", first))
    fitting = (mark for mark in (likely, *SEPARATORS) if fits(next(csv.reader([first], delimiter=mark), [])))
    return next(fitting, likely), chain(passed, lines)


def _separator(plain: str) -> str:
    """The likely one of a line without what is quoted in it."""
    for separator in (";", "\t"):
        cells = plain.split(separator)
        if len(cells) > 1 and all("," not in cell or DECIMAL_COMMA.fullmatch(cell.strip()) for cell in cells):
            return separator
    return max(SEPARATORS, key=plain.count)


def rows_of(lines: Iterable[str], separator: str) -> Iterator[tuple[int, list[str]]]:
    """The rows of a CSV file, empty ones among them: the number of a row's last line, from 1, and its cells.

    Raises:
        ValueError: a quotation mark is not closed, and would make one cell of the rows behind it.
        csv.Error: a cell is too long.
    """
    row_lines: list[str] = []

    def passed() -> Iterator[str]:
        for line in lines:
            row_lines.append(line)
            yield line

    reader, number = csv.reader(passed(), delimiter=separator), 0
    while True:
        try:
            cells = next(reader, None)
            if len(row_lines) > 1:  # only then can the mark that closes a cell belong to another row
                next(csv.reader(row_lines, delimiter=separator, strict=True))
        except csv.Error:
            if len(row_lines) < 2:
                raise
            raise ValueError(f"a quotation mark in line {number + 1:,} {NOT_CLOSED}") from None
        if cells is None:
            return
        row_lines.clear()
        number = reader.line_num
        yield number, cells


def csv_text(header: list[str], rows: Iterable[list[Any]]) -> str:
    """A CSV file as text."""
    return "".join(csv_parts(header, rows))


def csv_parts(header: list[str], rows: Iterable[list[Any]]) -> Iterator[str]:
    """A CSV file as texts of PART rows each, in their order.

    The text of a million rows is copied and encoded in one piece each, and the window waits for the interpreter
    meanwhile: a large file is written part by part.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([csv_cell(title) for title in header])
    remaining = iter(rows)
    while out.tell():
        yield out.getvalue()
        out.seek(0)
        out.truncate()
        writer.writerows([csv_cell(value) for value in row] for row in islice(remaining, PART))
