"""Where a long word of a table may go on in the next line: a name behind its underscores, a path behind its slashes."""

import re

LONG_WORD = re.compile(r"\S{13,}")
JOINT = re.compile(r"(?<=[_/\\.,:=])(?=[^\W_])")  # between a joint and the next part of a name
BREAK = "\u200b"  # a place where a line may end
PIECE = 24  # letters without a joint that stay together


def pieces(word: str) -> list[str]:
    """The parts of a word between which a line may end; a part without a joint has `PIECE` letters at most."""
    parts = JOINT.split(word)
    return [part[at : at + PIECE] for part in parts for at in range(0, len(part), PIECE)]


def breakable(text: str) -> str:
    """The text with `BREAK` wherever a long word may end a line."""
    return LONG_WORD.sub(lambda word: BREAK.join(pieces(word[0])), text)
