"""Fields of the catalog in words: their labels, ranges and help."""

import re
from collections.abc import Sequence
from html import escape
from typing import Any

Field = dict[str, Any]
PLURAL = re.compile(r" [a-z]{2,}s")  # of a unit that is one word: " epochs", not " per class" nor " s"


def title_of(name: str, field: Field) -> str:
    """The label of the editor."""
    return str(field.get("label") or name.rpartition(".")[2].replace("_", " ").capitalize())


def abbreviated(title: str) -> str:
    """The abbreviation at the end of a title, "ICE" of "Instance cross-entropy (ICE)"; the title itself without one."""
    short = re.search(r"\(([^()]+)\)\Z", title)
    return short.group(1) if short else title


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


def in_words(value: Any) -> str:
    """A value of a field in the words of the form."""
    if isinstance(value, bool):
        return "on" if value else "off"
    return str(value) if value not in (None, "") else "nothing"
