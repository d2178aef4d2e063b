"""Names from users and files as they are shown: without harm to the text around."""

import re
from collections.abc import Iterable
from difflib import SequenceMatcher
from unicodedata import bidirectional, category

TURNING = frozenset(("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"))  # classes of Unicode's rule 9
MARKS = frozenset("\u200e\u200f\u061c")  # without a shape, and of a direction
BREAKS = frozenset("\t\n\r")  # those who show a name in one line deal with them
WITHOUT_BREAKS = dict.fromkeys(map(ord, BREAKS))
SEVERAL_BREAKS = re.compile(r"[\t\n\r]+")
LONGEST_NAME = 1_000  # letters
LONGEST_SENTENCE = 10_000
LONGEST_NUMBER = 18  # digits
NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?")
ALIKE = 0.65  # the least ratio of difflib by which two names are written nearly alike
OTHERS: float = 10**LONGEST_NUMBER  # behind all of these


def numbers_in_order(name: str) -> float:
    """The first key by which names are shown in order: numbers as numbers (2.0 before 10.0), before all other names.

    How a data set numbers its classes is not changed by it: which of them train depends on that.
    """
    if len(name) > LONGEST_NUMBER or not NUMBER.fullmatch(name):
        return OTHERS
    return float(name) if "." in name else int(name)


def nearest_first(name: str, names: Iterable[str]) -> list[str]:
    """The names in their order, but first those that are written nearly like `name`, the nearest first."""
    every = list(names)
    close = similar(name, every)
    return [*close, *(other for other in every if other not in close)]


def similar(name: str, names: Iterable[str]) -> list[str]:
    """Those of the names that are written nearly like `name`, the nearest first; capitals count as small letters."""
    matcher = SequenceMatcher(b=name.casefold()[:LONGEST_NAME])  # which keeps what it knows of the second text
    nearness = {}
    for other in names:
        matcher.set_seq1(other.casefold())
        nearness[other] = matcher.ratio()
    return sorted((other for other in nearness if nearness[other] >= ALIKE), key=lambda other: -nearness[other])


def inside_sentence(title: str) -> str:
    """A title as it stands inside a sentence: "learning rate"; "K", "NMI", "R@1" and "GeM" keep their capitals."""
    first = title.partition(" ")[0]
    named = len(first) == 1 or "@" in first or first[1:] != first[1:].lower()
    return title if named else title[:1].lower() + title[1:]


def visible_name(text: str, longest: int = LONGEST_NAME) -> str:
    """As `visible`, cut where it is longer than any name: a window lays out millions of letters for minutes."""
    return visible(text if len(text) <= longest else f"{text[: longest - 1]}…")


def in_one_line(text: str) -> str:
    """The text with a blank in place of tabs and line breaks, for where a name has one line."""
    return SEVERAL_BREAKS.sub(" ", text)


def short_name(text: str, longest: int) -> str:
    """The name itself, by which its row is found again; one that is longer than Workbench stores is `visible_name`."""
    return text if len(text) <= longest else visible_name(text, longest)


def visible(text: str) -> str:
    """The text with every letter that turns the direction of a sentence, or steers a terminal, as an escape.

    A right-to-left override is shown as the six letters \\u202e, so that two names stay two. Letters of every script,
    spaces and line breaks stay as they are.
    """
    if text.isprintable() or text.translate(WITHOUT_BREAKS).isprintable():  # none of them is
        return text
    return "".join(letter.encode("unicode_escape").decode() if _steers(letter) else letter for letter in text)


def _steers(letter: str) -> bool:
    if letter in BREAKS:
        return False
    return letter in MARKS or bidirectional(letter) in TURNING or category(letter) in ("Cc", "Cs", "Zl", "Zp")
