"""Images packed in large files and read in place: names, classes and halves of records as an ImageSet."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Literal

import numpy as np

from workbench.datasets.image_set import ImageSet
from workbench.datasets.images.loader import display_name
from workbench.datasets.images.packed_images import PackedImages
from workbench.datasets.images.scan import Problems
from workbench.datasets.reading.depth_and_pages import bits_said, remarks_on_records
from workbench.datasets.reading.fields import bits_used
from workbench.datasets.split import WORDS, official_halves
from workbench.params import Params, param
from workbench.problem import Problem

UNNAMED = "all"  # the first part of a path where there are no splits
Colour = Literal["colour", "grey"]


class PackedParams(Params):
    """How images in large files are read."""

    image_size: int = param(
        256, ge=8, le=1024, label="Image size", unit="px", help="Short side after resizing; then the centre square."
    )
    colour: Colour = param("colour", help="Three channels or one.")
    bits: int = bits_used()


@dataclass(slots=True)
class Records:
    """The images of one split, in the order of its files.

    Args:
        split: the data set's name for it, such as "train" or "validation"; empty without splits.
        names: the data set's name of each image: a file name or a key; empty without one.
        fallbacks: another name of each, used for all of them if `names` repeat or are missing.
        classes: the class of each as text.
        problems: (path, reason) of records that are left out.
        more_left_out: records left out beyond one for each of `problems`, where one of these stands for many.
        rows: the number of each for `read` of `packed_set`.
    """

    split: str
    names: list[str] = field(default_factory=list)
    fallbacks: list[str] = field(default_factory=list)
    classes: list[str] = field(default_factory=list)
    problems: Problems = field(default_factory=list)
    more_left_out: int = 0
    rows: list[int] = field(default_factory=list)

    def paths(self) -> list[str]:
        """The relative path of each record; a sample's id is its hash."""
        own = self.names if all(self.names) and len(set(self.names)) == len(self.names) else self.fallbacks
        return [f"{self.split or UNNAMED}/{name}" for name in own]


def packed_set(
    name: str, files: list[Path], records: Sequence[Records], class_names: list[str] | None,
    read: Callable[[int], bytes], params: PackedParams, content: str, unit: str,
) -> ImageSet:  # fmt: skip
    """The set of those records; images are read and decoded one by one, when they are needed.

    Args:
        name: the entry's name.
        files: the files with the images; a set is decoded again if one of them is rewritten.
        records: of each split.
        class_names: all classes in their order; None sorts them, as numbers if all are integers.
        read: the encoded image of a row; raises BadImage.
        params: size, colour and bits.
        content: what, besides paths and labels, identifies this set.
        unit: what a record is called, such as "row".

    Raises:
        Problem: no image at all, or two with the same name.
    """
    every = [
        (path, label, split.split, row)
        for split in records
        for path, label, row in zip(split.paths(), split.classes, split.rows, strict=True)
    ]
    every.sort()
    labels, names = _numbered([label for _, label, _, _ in every], class_names)
    rows = np.array([row for *_, row in every], np.int64)
    halves = [split for _, _, split, _ in every]
    named = {WORDS.get(half.lower(), "") for half in halves}  # beside train and test there may be extra images
    known = bool(every) and ("" not in named or ("train" in named and len(named) > 2))
    channels = 3 if params.colour == "colour" else 1
    size = params.image_size

    return ImageSet(
        name=name,
        root=None,
        paths=[path for path, *_ in every],
        labels=labels,
        class_names=names,
        channels=channels,
        image_size=size,
        read=PackedImages(read, rows, channels, size, params.bits),
        official=official_halves(halves) if known else None,
        problems=[problem for split in records for problem in split.problems],
        more_left_out=sum(split.more_left_out for split in records),
        unit=unit,
        content=blake2b((content + bits_said(params.bits)).encode(), digest_size=16).hexdigest(),
        remarks=remarks_on_records(rows, read, params.bits),
        packed_in=files,
    )


def half_of(words: str) -> str:
    """The half in a file's or folder's name, as it is written there ("train" of "cats-train-00000"), or ""."""
    known = [word for word in re.split(r"[^A-Za-z]+", words) if word.lower() in WORDS]
    return known[-1] if known else ""


def plain_name(stored: str) -> str:
    """A name in a record as part of a path: relative, and without parts that lead out of a folder."""
    parts = display_name(stored).replace("\\", "/").split("/")
    return "/".join(part for part in parts if part not in ("", ".", ".."))


def chosen_column(wanted: str, fitting: list[str], there: list[str], what: str, source: Path) -> str:
    """The column of that name, or, without a name, the only suitable one.

    Args:
        wanted: the name in the config, or empty.
        fitting, there: the suitable columns, and all columns.
        what: "image" or "label", for sentences.

    Raises:
        Problem: no such column, or none or several that are suitable; it names the existing ones.
    """
    if wanted in there:
        return wanted
    if not wanted and len(fitting) == 1:
        return fitting[0]
    lacking = f"{wanted!r}" if wanted else f"that is surely the {what}"
    listed = ", ".join((fitting or there)[:9])
    raise Problem(
        f"{source} has no column {lacking}; there are {listed}.",
        kept="Nothing was started.",
        todo=f"Name the column of the {what}.",
    )


def _numbered(classes: list[str], names: list[str] | None) -> tuple[np.ndarray, list[str]]:
    """The class of every image [n] int64, and the names of the classes that occur, in their order."""
    present = set(classes)
    if names is not None:
        ordered = [name for name in names if name in present]
    elif all(name.isascii() and name.isdigit() and len(name) < 19 for name in present):
        ordered = sorted(present, key=lambda name: (int(name), name))
    else:
        ordered = sorted(present)
    number_of = {name: number for number, name in enumerate(ordered)}
    return np.array([number_of[name] for name in classes], np.int64), ordered
