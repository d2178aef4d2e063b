"""A path as it is copied: what pastes it sees every letter, and a shell obeys none."""

from pathlib import Path
from unicodedata import category

from workbench.names import visible
from workbench.ui.style.field_words import wrapped

BREAKS = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}  # a shell obeys at the end of a line
JOINERS = "\u200c\u200d"  # which words of some languages and pictures of several signs are written with
COPY_PATH, COPY_ESCAPED = "Copy path", "Copy path with escapes"
ESCAPED = (
    "The path has characters that are invisible or that a shell interprets. They are copied as escapes, such as \\n, "
    "so the copy differs from the path. Open folder shows the file."
)


def copied(path: Path) -> str:
    """The path for the clipboard, with escapes for line breaks, what steers a terminal, and letters without a shape."""
    return "".join(map(_shown, visible(str(path))))


def copy_words(path: Path) -> tuple[str, str]:
    """What the command that copies it is called, and its tooltip: another name, with the reason, where it escapes."""
    return (COPY_PATH, "") if copied(path) == str(path) else (COPY_ESCAPED, wrapped([ESCAPED]))


def _shown(letter: str) -> str:
    unseen = category(letter) == "Cf" and letter not in JOINERS
    return BREAKS.get(letter) or (letter.encode("unicode_escape").decode() if unseen else letter)
