"""Very many relative paths in little memory: the name of a folder once, the names of its files in one buffer."""

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import overload

import numpy as np

LAST = chr(0x10FFFF)  # sorts after every character of a path


class Paths(Sequence[str]):
    """A sequence of paths that makes each when it is asked for; equal to any sequence of the same paths."""

    __hash__ = None  # type: ignore[assignment]  # it equals lists, which have none either

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence) or isinstance(other, str):
            return NotImplemented
        return len(self) == len(other) and all(mine == its for mine, its in zip(self, other, strict=True))

    def _path(self, row: int) -> str:
        """The path of a row in [0, n)."""
        raise NotImplementedError

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[str]: ...
    def __getitem__(self, index: int | slice) -> str | Sequence[str]:
        if isinstance(index, slice):
            return [self._path(row) for row in range(*index.indices(len(self)))]
        row = int(index)
        if not -len(self) <= row < len(self):
            raise IndexError(f"row {row} of {len(self)} paths")
        return self._path(row % len(self))


@dataclass(frozen=True, slots=True)
class _Stretch:
    """Rows of the table that follow each other in one folder, and between which no other folder's files sort."""

    folder: str  # with its final slash; empty for the root
    start: int  # into the files in the order in which they were added
    count: int


class PathTable(Paths):
    """Sorted paths, each as the bytes of its file's name and the place where they end: about 20 bytes a file."""

    def __init__(self, names: bytearray, ends: "array[int]", stretches: list[_Stretch]) -> None:
        self._names, self._ends, self._stretches = names, ends, stretches
        self._last_rows = list(accumulate(stretch.count for stretch in stretches))  # one after the last, of each

    def __len__(self) -> int:
        return self._last_rows[-1] if self._last_rows else 0

    def __iter__(self) -> Iterator[str]:
        for stretch in self._stretches:
            for file in range(stretch.start, stretch.start + stretch.count):
                yield stretch.folder + _name(self._names, self._ends, file)

    def _path(self, row: int) -> str:
        number = bisect_right(self._last_rows, row)
        stretch = self._stretches[number]
        file = stretch.start + stretch.count - (self._last_rows[number] - row)
        return stretch.folder + _name(self._names, self._ends, file)


class SomePaths(Paths):
    """Some rows of other paths.

    Args:
        paths: the others.
        rows: [n] int64, rows of them.
    """

    def __init__(self, paths: Sequence[str], rows: np.ndarray) -> None:
        self._paths, self._rows = paths, rows

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[str]:
        return (self._paths[row] for row in map(int, self._rows))

    def _path(self, row: int) -> str:
        return self._paths[int(self._rows[row])]


class PathCollector:
    """Takes file names folder by folder, and makes a sorted table of their paths."""

    def __init__(self) -> None:
        self._names, self._ends = bytearray(), array("Q", [0])
        self._files_of: dict[str, tuple[int, int]] = {}  # folder: its first file, and one after its last

    def add(self, folder: str, names: Iterable[str]) -> None:
        """Add the names of files, which hold no slash, of a folder, which ends with one or is empty for the root."""
        earlier = self._names_of(*self._files_of.get(folder, (0, 0)))  # if two folders are shown alike
        first = len(self._ends) - 1
        for name in sorted([*earlier, *names]):
            self._names += name.encode()
            self._ends.append(len(self._names))
        if len(self._ends) - 1 > first:
            self._files_of[folder] = first, len(self._ends) - 1

    def table(self) -> PathTable:
        """All paths, sorted by code point as Python sorts strings. Nothing may be added afterwards."""
        folders = sorted(self._files_of)
        stretches = [
            stretch for number, folder in enumerate(folders) for stretch in self._stretches(folder, folders, number)
        ]
        stretches.sort(key=lambda stretch: stretch.folder + _name(self._names, self._ends, stretch.start))
        return PathTable(self._names, self._ends, stretches)

    def _stretches(self, folder: str, folders: list[str], number: int) -> Iterator[_Stretch]:
        """The files of a folder, cut where files of a folder in it come between. `folders` are sorted."""
        first, end = self._files_of[folder]
        cuts = {first, end}
        for inner in folders[number + 1 : bisect_right(folders, folder + LAST)]:
            below = inner.removeprefix(folder)
            cuts.add(bisect_left(range(end), below, first, key=lambda file: _name(self._names, self._ends, file)))
        ordered = sorted(cuts)
        for start, stop in pairwise(ordered):
            yield _Stretch(folder, start, stop - start)

    def _names_of(self, first: int, end: int) -> list[str]:
        return [_name(self._names, self._ends, file) for file in range(first, end)]


def _name(names: bytearray, ends: "array[int]", file: int) -> str:
    return names[ends[file] : ends[file + 1]].decode()
