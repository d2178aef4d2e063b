"""Names of files that not every disk can have, or keeps apart."""

import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import TypeVar
from unicodedata import normalize

UNSAFE = '<>:"/\\|?*'  # in a file's name, on one system or another
RESERVED = re.compile(r"(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(\..*)?", re.IGNORECASE | re.DOTALL)  # by Windows

Value = TypeVar("Value")


class ByName(dict[str, Value]):
    """Values by the names or paths of files and folders, also found by one whose accents are written in another way.

    In names that macOS makes "é" is often two letters, and in tables it is one. Where two names differ by that alone,
    each is found by itself only.
    """

    def __init__(self, pairs: Iterable[tuple[str, Value]]) -> None:
        super().__init__(pairs)
        self._composed: dict[str, list[Value]] | None = None

    def find(self, name: str) -> Value | None:
        """The value of the name; None without one."""
        if name in self or name.isascii():
            return self.get(name)
        if self._composed is None:
            self._composed = {}
            for own in self:
                if not own.isascii():
                    self._composed.setdefault(normalize("NFC", own), []).append(self[own])
        values = self._composed.get(normalize("NFC", name), [])
        return values[0] if len(values) == 1 else None


def is_unsafe(name: str) -> bool:
    """Whether Windows cannot have a file or folder of this name, or gives it another one."""
    return (
        any(letter in UNSAFE or letter < " " for letter in name)
        or (name.endswith((" ", ".")) and name.strip(".") != "")
        or RESERVED.fullmatch(name) is not None
    )


def ignores_case(folder: Path) -> bool:
    """Whether a folder, whose name has letters, is on a disk to which "a" and "A" are one name, as on macOS."""
    return os.path.exists(folder.with_name(folder.name.swapcase()))


class Spellings:
    """The paths of files below one folder, of which no two may be one on a disk that ignores capitals.

    Disks of Windows compare letter by letter: "Straße" and "Strasse" are two names there, and so are two spellings of
    the same accent. Those of macOS (APFS) and folders of Linux that ignore capitals take each of these pairs for one.
    """

    def __init__(self, *, windows: bool = os.name == "nt") -> None:
        self._first: dict[str, str] = {}
        self._form = _as_windows_compares if windows else _as_others_compare

    def other(self, path: str) -> str:
        """Another path, of those asked about before, whose file or folder would be that of `path`; or empty.

        Args:
            path: relative, with "/" between its parts.
        """
        parts = path.split("/")
        for count in range(1, len(parts) + 1):
            begin = "/".join(parts[:count])
            first = self._first.setdefault(self._form(begin), begin)
            if first != begin:
                return first
        return ""


def _as_windows_compares(path: str) -> str:
    """The path in capitals, where a letter has one: "ß" stays."""
    return "".join(upper if len(upper := letter.upper()) == 1 else letter for letter in path)


def _as_others_compare(path: str) -> str:
    return normalize("NFC", normalize("NFC", path).casefold())
