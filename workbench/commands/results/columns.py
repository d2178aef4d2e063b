"""A table in the terminal: a head, columns as wide as what is in them, and shortened where they do not fit."""

import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from unicodedata import combining, east_asian_width

GAP = "  "
CUT = "…"


@dataclass(frozen=True, slots=True)
class Column:
    """How a column is shown."""

    title: str
    numbers: bool = False  # aligned on the right
    narrowest: int = 0  # characters to which it may be shortened; 0 for never
    first_to_go: int = 0  # of columns that do not fit, the one with the highest number is left out first; 0 never is


def table_lines(columns: Sequence[Column], rows: Sequence[Sequence[str]], width: int | None) -> list[str]:
    """The head and a line for each row; no line without rows.

    Args:
        columns, rows: a cell for each column; cells have one line.
        width: characters of a line; None for lines of any length, as in a file or a pipe.
    """
    if not rows:
        return []
    cells = [[column.title for column in columns], *rows]
    shown = list(range(len(columns)))
    widths = [max(_wide(row[at]) for row in cells) for at in shown]
    if width is not None:
        leaving = sorted((at for at in shown if columns[at].first_to_go), key=lambda at: columns[at].first_to_go)
        while leaving and _least(columns, widths, shown) > width:
            shown.remove(leaving.pop())
        _shorten(columns, widths, shown, width)
    return [GAP.join(_padded(row[at], widths[at], columns[at].numbers) for at in shown).rstrip() for row in cells]


def terminal_width() -> int | None:
    """The characters of a line of the terminal; None where the output goes to a file or a pipe."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def _least(columns: Sequence[Column], widths: Sequence[int], shown: Sequence[int]) -> int:
    """The width of a line with each column shortened as far as it may be."""
    least = (min(widths[at], columns[at].narrowest or widths[at]) for at in shown)
    return sum(least) + len(GAP) * (len(shown) - 1)


def _shorten(columns: Sequence[Column], widths: list[int], shown: Sequence[int], width: int) -> None:
    """Take from the widest column that may be shortened, until a line fits."""
    over = sum(widths[at] for at in shown) + len(GAP) * (len(shown) - 1) - width
    for _ in range(max(0, over)):
        wide = [at for at in shown if columns[at].narrowest and widths[at] > columns[at].narrowest]
        if not wide:
            return
        widths[max(wide, key=lambda at: widths[at] / columns[at].narrowest)] -= 1


def _padded(cell: str, width: int, numbers: bool) -> str:
    """A cell of this width; of a long one the middle is left out, because names often differ at their ends."""
    over = _wide(cell) > width
    if over:
        head, tail = "", ""
        while (room := width - _wide(CUT) - _wide(head) - _wide(tail)) > 0:
            letter = cell[len(head)] if len(head) <= len(tail) else cell[-1 - len(tail)]
            if _wide(letter) > room:
                break
            head, tail = (head + letter, tail) if len(head) <= len(tail) else (head, letter + tail)
        cell = head + CUT + tail
    blanks = " " * (width - _wide(cell))
    return blanks + cell if numbers else cell + blanks


def _wide(text: str) -> int:
    """How many characters of a terminal the text takes: letters of East Asia take two, accents of their own none."""
    if text.isascii():
        return len(text)
    return sum(0 if combining(letter) else 2 if east_asian_width(letter) in "WF" else 1 for letter in text)
