"""Errors of libraries about a file that they cannot read, as one Problem; every importer uses this."""

import codecs
import contextlib
import io
import tokenize
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TextIO

from pydantic import ValidationError

from workbench.control import Cancelled
from workbench.problem import Problem

TABLES = "utf-8-sig"  # the encoding of tables and lists that other programs write
FIRST = 4  # bytes that show another one
LONGEST_REASON = 160  # characters
DEEPEST = 100  # lists and objects inside each other: what walks through them calls itself for each
LONGEST_LINE = 4 << 20  # characters of one line of a table or list
# Errors of NumPy, zipfile and the parser of NumPy's header for bytes that are not an array.
NO_ARRAY = (
    OSError, ValueError, LookupError, TypeError, AttributeError, ArithmeticError, EOFError, MemoryError, RuntimeError,
    SyntaxError, tokenize.TokenError, zipfile.BadZipFile, zlib.error,
)  # fmt: skip


@contextlib.contextmanager
def refusing(refused: Callable[[str], Exception], *passing: type[Exception]) -> Iterator[None]:
    """Raise `refused(reason)` instead of any error of a library, because parsers raise dozens of types.

    Only the call of the library belongs in the block. A Problem, Cancelled and the types `passing` are not replaced.
    """
    try:
        yield
    except Exception as error:
        if isinstance(error, (Problem, Cancelled, *passing)):
            raise
        raise refused(reason(error)) from error


def reason(error: Exception) -> str:
    """The error in a few words, without a full stop."""
    if isinstance(error, MemoryError):
        return "it asks for more memory than there is"
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    if isinstance(error, UnicodeDecodeError):
        return f"it is not text in {'UTF-8' if error.encoding.startswith('utf-8') else error.encoding}"
    if isinstance(error, ValidationError):
        return _first_field(error)
    said = (error.strerror or str(error)) if isinstance(error, OSError) else str(error)
    return said.partition("\n")[0][:LONGEST_REASON].rstrip(". ") or type(error).__name__


def _first_field(error: ValidationError) -> str:
    """The first field that is wrong, and how: "loss.scale: Input should be a valid number"."""
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    field = ".".join(str(part) for part in first["loc"])
    others = error.error_count() - 1
    more = f"; {others:,} more" if others else ""
    return f"{field or error.title}: {first['msg']}".partition("\n")[0][:LONGEST_REASON].rstrip(". ") + more


def checked_nesting(value: Any, text: str) -> Any:
    """What a parser made of `text` (JSON or TOML), nested at most DEEPEST times. Raises RecursionError otherwise.

    A parser refuses only what it cannot read itself, and dots in the name of a TOML key take no recursion at all.
    """
    level = [value] if sum(map(text.count, "[{.")) > DEEPEST else []
    for _ in range(DEEPEST + 1):
        if not level:
            return value
        inner = (item.values() if isinstance(item, dict) else item for item in level if isinstance(item, dict | list))
        level = [item for items in inner for item in items]
    if level:
        raise RecursionError
    return value


def opened_text(path: Path, todo: str, encoding: str = "utf-8", newline: str | None = None) -> TextIO:
    """The file, open for reading text; the encoding TABLES takes that of its first bytes.

    Raises:
        Problem: it is missing or may not be read.
    """
    kept = "Nothing was started."
    with refusing(lambda why: Problem(f"{path} cannot be opened ({why}).", kept=kept, todo=todo)):
        file = path.open("rb")
        if encoding == TABLES:
            encoding = table_encoding(file.peek(FIRST)[:FIRST])
        return io.TextIOWrapper(file, encoding, newline=newline)


def table_encoding(first: bytes) -> str:
    """UTF-16 where the first bytes of a table show it, as of Excel's "Unicode text"; else UTF-8, perhaps marked."""
    if first.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    even, odd = first[:FIRST:2], first[1:FIRST:2]
    for nothing, letters, encoding in ((odd, even, "utf-16-le"), (even, odd, "utf-16-be")):
        if nothing == b"\0\0" and b"\0" not in letters:
            return encoding
    return TABLES


def lines_of(file: TextIO) -> Iterator[str]:
    """The lines of a text. Raises ValueError for a line over LONGEST_LINE characters, which could fill the memory."""
    while line := file.readline(LONGEST_LINE):
        if len(line) == LONGEST_LINE:
            raise ValueError(f"a line is longer than {LONGEST_LINE:,} letters")
        yield line
