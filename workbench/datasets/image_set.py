"""A data set on disk: paths, labels, and a function that reads one image."""

import os
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import Any
from unicodedata import normalize

import numpy as np

from workbench.datasets.images.loader import Picture, on_disk
from workbench.datasets.images.path_table import SomePaths
from workbench.names import visible
from workbench.problem import Problem

NAMED = 5  # classes that a remark names
ID_BITS = 52  # an id is exact in JSON and JavaScript, too


@dataclass(frozen=True, eq=False)
class Level:
    """Labels above the classes, such as the genus of a species; all images of a class share one of them."""

    name: str
    labels: np.ndarray  # [n] int64, index into `class_names`
    class_names: list[str]


@dataclass(frozen=True)
class ImageSet:
    """Images by relative path, with labels; nothing is decoded yet.

    Args:
        name: the entry's name.
        root: the folder that `paths` start from; None if the images are in one file or in the program.
        paths: relative, posix, unique, sorted, as `images.display_name` shows them; `images.on_disk` finds the file.
        labels: [n] int64, index into `class_names`.
        class_names: K names.
        channels: 1 (grey) or 3 (colour), of the decoded images.
        image_size: side in px of the decoded square images.
        read: `read(index)` returns uint8 [h, w] or [h, w, 3], or a Pillow image of mode L or RGB, which is faster;
            several threads use it at once; raises BadImage. `numpy.asarray` makes an array of both.
        official: "train", "test", "query", "gallery", "validation" or "" (neither set) per sample, if there is an
            official split.
        problems: (path, reason) of what was left out.
        more_left_out: entries left out beyond one for each of `problems`, where one of these stands for many.
        unit: what an entry is called where left-out ones are counted: "file", "row" or "sample".
        remarks: (subject, remark) on the data; nothing is left out because of them. See `notes`.
        unlike_published: (name, difference) if counts are not the published ones; nothing is left out because of it.
        content: hash of the images if `root` is None, so that other images never use an old cache.
        levels: labels above the classes, from the widest to the narrowest; scored beside the classes.
        packed_in: the files with the images if `root` is None and images are read one by one.

    Raises:
        Problem: no images at all, or two paths with the same id.
    """

    name: str
    root: Path | None
    paths: Sequence[str]
    labels: np.ndarray
    class_names: list[str]
    channels: int
    image_size: int
    read: Callable[[int], Picture]
    official: list[str] | None = None
    problems: list[tuple[str, str]] = field(default_factory=list)
    more_left_out: int = 0
    unit: str = "file"
    content: str = ""
    unlike_published: list[tuple[str, str]] = field(default_factory=list)
    remarks: list[tuple[str, str]] = field(default_factory=list)
    packed_in: list[Path] = field(default_factory=list)
    levels: list[Level] = field(default_factory=list)

    def __post_init__(self) -> None:
        if not self.paths:
            said = f"There are no images in {self.root or self.name}.{self.left_out_said}"
            raise Problem(said, kept="Nothing was started.", todo="Choose another folder or archive.")
        ordered = np.sort(self.sample_ids)
        repeated = ordered[1:][ordered[1:] == ordered[:-1]]
        if len(repeated):
            twice = self.paths[int(np.flatnonzero(self.sample_ids == repeated[0])[0])]
            raise Problem(f"Two images of {self.name} have the same path or number: {twice}.", todo="Rename one.")

    @property
    def left_out(self) -> int:
        """How many entries of the data set are not in this set."""
        return len(self.problems) + self.more_left_out

    @property
    def left_out_said(self) -> str:
        """A sentence, after a blank, with the first entry that was left out; empty if none was."""
        if not self.problems:
            return ""
        path, reason = self.problems[0]
        count = "1 was" if self.left_out == 1 else f"{self.left_out:,} were"
        return f" {count} left out: {path} {reason}."

    @cached_property
    def sample_ids(self) -> np.ndarray:
        """[n] int64 in [0, 2^52): hashes of the relative paths, the same wherever the data set is stored."""
        return np.fromiter(map(sample_id, self.paths), np.int64, len(self.paths))

    @property
    def notes(self) -> list[tuple[str, str]]:
        """(subject, remark): the remarks, and those on the classes. Nothing is left out because of them."""
        return [*self.remarks, *alike_classes(self.class_names), *uneven_classes(self.labels, self.class_names)]

    @property
    def fingerprint(self) -> str:
        """Hash of names, labels and sizes of files (or of the content): the same on every machine."""
        return self._hashes[0]

    @property
    def stamp(self) -> str:
        """Hash of times and modes of the files, which changes when one is written again. Empty without files."""
        return self._hashes[1]

    @cached_property
    def _hashes(self) -> tuple[str, str]:
        """Fingerprint and stamp; each file is examined once."""
        whole, state = blake2b(digest_size=16), blake2b(digest_size=8)

        def look_at(file: Path | str) -> None:
            try:
                facts = os.stat(file)
            except OSError:
                whole.update(b"gone;")
                return
            whole.update(b"%d;" % facts.st_size)
            state.update(b"%d %o;" % (facts.st_mtime_ns, facts.st_mode))

        for path in self.paths:
            whole.update(path.encode() + b"\0")
            if self.root is not None:
                look_at(on_disk(self.root, path))
        for file in self.packed_in:
            look_at(file)
        whole.update(np.ascontiguousarray(self.labels, "<i8").data)
        whole.update("\0".join(self.class_names).encode() + self.content.encode())
        return whole.hexdigest(), state.hexdigest() if self.root is not None or self.packed_in else ""

    def without(self, bad: dict[int, str]) -> "ImageSet":
        """The same set without some rows; `problems` names each with its reason.

        Asked again for the same rows it returns the same set, whose files need not be examined again.
        """
        if not bad:
            return self
        if self._last_without.get("bad") != bad:
            self._last_without.update(bad=dict(bad), images=self._made_without(bad))
        images: ImageSet = self._last_without["images"]
        return images

    @cached_property
    def _last_without(self) -> dict[str, Any]:
        """What `without` was last asked for, and what it returned."""
        return {}

    def _made_without(self, bad: dict[int, str]) -> "ImageSet":
        kept = np.delete(np.arange(len(self.paths)), list(bad))
        read = self.read
        problems = [*self.problems, *((self.paths[row], reason) for row, reason in bad.items())]
        return replace(
            self,
            paths=SomePaths(self.paths, kept),
            labels=self.labels[kept],
            official=None if self.official is None else [self.official[row] for row in kept],
            read=lambda index: read(int(kept[index])),
            problems=problems,
            levels=[replace(level, labels=level.labels[kept]) for level in self.levels],
        )


def sample_id(path: str) -> int:
    """The stable number of a relative path."""
    return int.from_bytes(blake2b(path.encode(), digest_size=8).digest(), "big") >> (64 - ID_BITS)


def numbered(classes: Iterable[str]) -> tuple[np.ndarray, list[str]]:
    """The class of every image as a number [n] int64, and the class names in the order of the numbers, sorted."""
    number_of: dict[str, int] = {}
    numbers = np.fromiter((number_of.setdefault(name, len(number_of)) for name in classes), np.int64)
    names = sorted(number_of)
    sorted_number = np.empty(len(number_of), np.int64)
    sorted_number[[number_of[name] for name in names]] = np.arange(len(names))
    return sorted_number[numbers], names


def uneven_classes(labels: np.ndarray, names: list[str]) -> list[tuple[str, str]]:
    """Remarks on classes with one image (kept, but nothing can match it) or with none that can be read."""
    counts = np.bincount(labels, minlength=len(names))
    return [
        *of_classes(
            np.flatnonzero(counts == 1),
            names,
            "has one image: nothing can match it",
            "have one image each: nothing can match it",
        ),
        *of_classes(np.flatnonzero(counts == 0), names, "has no image left", "have no image left"),
    ]


def alike_classes(names: list[str]) -> list[tuple[str, str]]:
    """A remark on classes whose names differ by case, blanks or Unicode's form alone, or as 1 and 1.0 do."""
    by_form: dict[str, list[int]] = {}
    for label, name in enumerate(names):
        form = " ".join(normalize("NFKC", name).casefold().split())
        by_form.setdefault(re.sub(r"(\d)\.0+$", r"\1", form), []).append(label)
    alike = [label for labels in by_form.values() if len(labels) > 1 for label in labels]
    said = "have names that differ only by case, blanks, ways to write one letter, or a final .0; each is a class"
    return of_classes(np.array(alike, np.int64), names, said, said)


def of_classes(which: np.ndarray, names: list[str], one: str, several: str) -> list[tuple[str, str]]:
    """("3 classes", "have ... (a, b, c)") for some classes, as indices into `names`; nothing if there are none."""
    if not len(which):
        return []
    listed = ", ".join(visible(names[label]) for label in which[:NAMED]) + (", ..." if len(which) > NAMED else "")
    return [
        (
            "1 class" if len(which) == 1 else f"{len(which):,} classes",
            f"{one if len(which) == 1 else several} ({listed})",
        )
    ]
