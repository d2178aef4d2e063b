"""Fields of the catalog in words: their labels, values and abbreviations."""

import re
from typing import Any

Field = dict[str, Any]


def title_of(name: str, field: Field) -> str:
    """The label of the editor."""
    return str(field.get("label") or name.rpartition(".")[2].replace("_", " ").capitalize())


def abbreviated(title: str) -> str:
    """The abbreviation at the end of a title, "ICE" of "Instance cross-entropy (ICE)"; the title itself without one."""
    short = re.search(r"\(([^()]+)\)\Z", title)
    return short.group(1) if short else title


def in_words(value: Any) -> str:
    """A value of a field in the words of the form."""
    if isinstance(value, bool):
        return "on" if value else "off"
    return str(value) if value not in (None, "") else "nothing"
