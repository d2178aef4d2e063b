"""CSV as text that a spreadsheet cannot run, and back."""

import csv
import io
from collections.abc import Iterable
from typing import Any

STARTS_A_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\0")


def csv_cell(value: Any) -> Any:
    """Text that a spreadsheet would take for a formula gets an apostrophe; numbers are left alone."""
    if isinstance(value, str) and value[:1] in STARTS_A_FORMULA:
        return f"'{value}"
    return value


def pasted(text: str) -> str:
    """A name as one tab-separated cell for the clipboard, which a spreadsheet does not take for a formula."""
    return str(csv_cell(" ".join(text.splitlines()).replace("\t", " ")))


def plain_cell(text: str) -> str:
    """The inverse of `csv_cell`: the text without the apostrophe before a formula."""
    return text[1:] if text[:1] == "'" and text[1:2] in STARTS_A_FORMULA else text


def csv_text(header: list[str], rows: Iterable[list[Any]]) -> str:
    """A CSV file as text."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([csv_cell(title) for title in header])
    writer.writerows([csv_cell(value) for value in row] for row in rows)
    return out.getvalue()
