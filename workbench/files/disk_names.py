"""Names of files that not every disk can have, or keeps apart."""

import os
import re
from pathlib import Path
from unicodedata import normalize

UNSAFE = '<>:"/\\|?*'  # in a file's name, on one system or another
RESERVED = re.compile(r"(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(\..*)?", re.IGNORECASE | re.DOTALL)  # by Windows


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
    """The paths of files below one folder, of which no two may be one on a disk that ignores capitals."""

    def __init__(self) -> None:
        self._first: dict[str, str] = {}

    def other(self, path: str) -> str:
        """Another path, of those asked about before, whose file or folder would be that of `path`; or empty.

        Args:
            path: relative, with "/" between its parts.
        """
        parts = path.split("/")
        for count in range(1, len(parts) + 1):
            begin = "/".join(parts[:count])
            first = self._first.setdefault(normalize("NFC", begin).casefold(), begin)
            if first != begin:
                return first
        return ""
