"""What the form says of a field: its range, and its help as a tooltip."""

import re
from collections.abc import Sequence
from html import escape

from workbench.settings.field_words import Field, in_words

PLURAL = re.compile(r" [a-z]{2,}s")  # of a unit that is one word: " epochs", not " per class" nor " s"


def range_of(field: Field) -> str:
    """The allowed numbers in words; empty if there is no limit."""
    low = next((f"{word}{field[key]}" for key, word in LOWER.items() if key in field), "")
    high = next((f"{word}{field[key]}" for key, word in UPPER.items() if key in field), "")
    return " and ".join(part for part in (low, high) if part)


LOWER = {"minimum": "at least ", "exclusiveMinimum": "more than "}
UPPER = {"maximum": "at most ", "exclusiveMaximum": "less than "}


def help_lines(field: Field) -> list[str]:
    """Help, range, default, symbol and source of a field, one sentence each."""
    unit = f" {field['unit']}" if field.get("unit") else ""
    lines = [field.get("description", "")]
    if "enum" in field and "titles" not in field:
        lines.append(f"One of {', '.join(field['enum'])}.")
    if range_of(field):
        lines.append(f"Range: {range_of(field)}{unit}.")
    if field.get("default") not in (None, ""):
        default = in_words(field["default"])
        one = default == "1" and PLURAL.fullmatch(unit) is not None
        lines.append(f"Default: {default}{unit.removesuffix('s') if one else unit}.")
    if field.get("symbol"):
        lines.append(f"In the paper: {field['symbol']}.")
    if field.get("source"):
        lines.append(f"Source: {field['source']}")
    return [line for line in lines if line]


def tooltip(field: Field) -> str:
    """`help_lines` for Qt: rich text, so that it wraps, with everything escaped."""
    return wrapped(help_lines(field))


def wrapped(lines: Sequence[str]) -> str:
    """Lines as rich text of Qt, with everything escaped."""
    return "<qt>" + "<br>".join(escape(line) for line in lines) + "</qt>"
