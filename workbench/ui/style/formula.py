"""Formulas written as text, such as "D_ap²" and "w^2", drawn with subscripts and powers."""

import re
from html import escape

PART = re.compile(r"([_^])(?:\{([^{}]*)\}|([A-Za-z0-9]+))")
TAGS = {"_": "sub", "^": "sup"}


def rich(formula: str) -> str:
    """The formula as rich text of Qt: what follows _ or ^, a word or braces, is set lower or higher."""
    text, before = escape(formula, quote=False), ""
    while text != before:  # from the inside out: a power may hold subscripts
        before, text = text, PART.sub(_set, text)
    return f"<qt>{text}</qt>"


def _set(part: re.Match[str]) -> str:
    tag, inside = TAGS[part[1]], part[2] if part[2] is not None else part[3]
    return f"<{tag}>{inside}</{tag}>"
