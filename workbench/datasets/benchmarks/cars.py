"""Cars-196: photographs of 196 car models, described by one MATLAB file."""

import json
import struct
import zlib
from pathlib import Path
from typing import Any

from workbench.datasets.image_set import ImageSet
from workbench.datasets.reading.data_folder import find_place, with_folder
from workbench.datasets.reading.published import (
    AGAIN,
    Counts,
    Line,
    PublishedParams,
    from_lines,
    published_at,
    skipped_numbers,
)  # fmt: skip
from workbench.files.archive_names import archives_named
from workbench.files.unreadable import refusing
from workbench.jobs import printed_by
from workbench.problem import Problem
from workbench.progress import Progress
from workbench.registry import register

PAGE = "the page “Cars Dataset” of Stanford's AI Laboratory"
COUNTS = Counts(classes=196, images=16_185)
LIST = "cars_annos.mat"
LARGEST = 64 << 20  # bytes of the list, unpacked; the published one has 16 MB
PACKED = 15  # miCOMPRESSED
PATIENCE = 600.0  # seconds for the list, on a machine however busy


@register(
    "dataset", "cars", title="Cars-196", params=PublishedParams,
    source="Krause et al. 2013, cars_annos.mat as published",
    markers=[LIST, *archives_named("cars196", "Cars196", "cars-196", "stanford-cars", "stanford_cars")],
)  # fmt: skip
@published_at(PAGE)
def cars(params: PublishedParams, *, progress: Progress) -> ImageSet:
    """16,185 photographs of 196 car models; the first 98 train and the others are searched."""
    root = find_place(params.folder, (LIST,), "Cars-196", progress)
    annotations, names = _read(root / LIST)
    lines, numbers = [], []
    for number, (path, label, test) in enumerate(annotations, start=1):
        source = f"{LIST}, annotation {number}"
        if not 1 <= label <= len(names):
            raise Problem(
                f"{root / LIST}, annotation {number}: class {label} is not one of the {len(names)} class names.",
                kept="Nothing was started.",
                todo=AGAIN,
            )
        numbers.append(label)
        lines.append(Line(path, f"{label:03d} {names[label - 1]}", "test" if test else "train", source))
    remarks = skipped_numbers(LIST, numbers) if numbers else []
    if lines:
        root = with_folder(root, lines[0].path.split("/")[0], progress)  # car_ims.tgz is published beside the list
    return from_lines("cars", root, lines, COUNTS, params, progress, remarks)


def _read(file: Path) -> tuple[list[tuple[str, int, int]], list[str]]:
    """(relative path, class from 1, test flag) of every image, and the class names."""

    def refused(why: str) -> Problem:
        said = f"{file} is not a MATLAB file with annotations and class_names ({why})."
        return Problem(said, kept="Nothing was started.", todo=AGAIN)

    with refusing(refused):
        _check_size(file)
        whole: dict[str, list[Any]] = json.loads(printed_by("workbench.datasets.reading.cars_list", file, PATIENCE))
        return [(path, label, test) for path, label, test in whole["images"]], whole["names"]


def _check_size(path: Path) -> None:
    """Raises ValueError if the variables take more than LARGEST bytes, packed or not; MATLAB's version 5."""
    left = LARGEST - path.stat().st_size
    with path.open("rb") as file:
        file.seek(128)  # behind the header
        while left > 0 and len(tag := file.read(8)) == 8:
            kind, size = struct.unpack("<2I", tag)
            unpacker, packed = zlib.decompressobj(), file.read(min(size, LARGEST))
            while kind == PACKED and packed and left > 0:
                left -= len(unpacker.decompress(packed, 1 << 20))
                packed = unpacker.unconsumed_tail
    if left <= 0:
        raise ValueError(f"it holds over {LARGEST >> 20} MiB")
