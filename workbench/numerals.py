"""Numbers as a person reads them. What a program reads, as files and copied tables, keeps the hyphen."""

import re

MINUS = "−"
_HYPHEN = re.compile(r"(?<![^\s(\[±])-(?=[\d.]|inf)")  # before a number, not inside a word or a range


def minus(text: str) -> str:
    """The text with the sign of minus before its negative numbers: "[−13.36, −11.38]"; "class-1" stays."""
    return _HYPHEN.sub(MINUS, text)
