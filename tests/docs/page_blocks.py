"""The examples of a page of docs/: its ```python blocks and the commands of its indented blocks."""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

NEEDS, NO_EXAMPLE = (re.compile(rf"<!-- {word}: (.+?) -->") for word in ("needs", "no example"))
FENCE = re.compile(r"^ *```(\w*)$")
INDENTED = "    "
PROGRAMS = "workbench", "pytest", "torchrun", "srun", "python", "sqlite3"


@dataclass(frozen=True, slots=True)
class Example:
    """One block of a page."""

    page: str
    line: int  # of the page, from 1
    is_python: bool
    text: str
    needs: str = ""  # what the reader has to have, as the marker above it says

    @property
    def commands(self) -> list[list[str]]:
        """The words of each command of PROGRAMS; comments are left out, continued lines are joined.

        A command with `[WORD]` is two: without the word, and with it.
        """
        lines = self.text.replace("\\\n", " ").splitlines()
        commands = []
        for line in lines:
            plain = re.sub(r" {2,}#.*", "", line)
            ways = [re.sub(r" \[.*?\]", "", plain), re.sub(r"[\[\]]", "", plain)] if " [" in plain else [plain]
            commands += [shlex.split(way) for way in ways if line.split(" ")[0] in PROGRAMS]
        return commands


def examples(page: Path) -> list[Example]:
    """All examples of a page in order. A marker on the page's first line is for all of them.

    A marker is a comment of HTML, which readers do not see: `<!-- needs: NAME -->`, in the line before its block or
    with one empty line between. A page whose first line is `<!-- no example: WHY -->` has signatures or a synopsis,
    and no examples.
    """
    lines = _lines(page)
    if NO_EXAMPLE.match(lines[0]):
        return []
    found = []
    for number, is_python, text in _blocks(lines):
        above = " ".join(lines[max(number - 3, 0) : number - 1])
        needs = NEEDS.match(lines[0]) or NEEDS.search(above)
        example = Example(page.name, number, is_python, text, needs[1] if needs else "")
        if is_python or example.commands:
            found.append(example)
    return found


def other_blocks(page: Path) -> list[str]:
    """The blocks without a command of PROGRAMS: drawings, formulas, and what installs something."""
    blocks = [(text, Example("", 0, is_python, text)) for _, is_python, text in _blocks(_lines(page))]
    return [text for text, block in blocks if not (block.is_python or block.commands)]


def _lines(page: Path) -> list[str]:
    return page.read_text("utf-8").splitlines()


def _blocks(lines: list[str]) -> Iterator[tuple[int, bool, str]]:
    """The line at which a block begins, whether it is Python, and its text."""
    number = 0
    while number < len(lines):
        begin = number
        number += 1
        if fence := FENCE.match(lines[begin]):
            while number < len(lines) and not FENCE.match(lines[number]):
                number += 1
            if fence[1] in ("python", "console"):
                yield begin + 1, fence[1] == "python", "\n".join(lines[begin + 1 : number]) + "\n"
            number += 1
        elif lines[begin].startswith(INDENTED) and (begin == 0 or not lines[begin - 1].strip()):
            while number < len(lines) and (lines[number].startswith(INDENTED) or not lines[number].strip()):
                number += 1
            yield begin + 1, False, "\n".join(line.strip() for line in lines[begin:number]) + "\n"
