"""Cars-196: photographs of 196 car models, described by one MATLAB file, or by those of the devkit."""

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
# The same photographs as they were published for recognition: a folder and a list for each half.
TRAINING, NAMES = "cars_train_annos.mat", "cars_meta.mat"
SEARCHED = "cars_test_annos_withlabels.mat"  # published later; the devkit's own list has no classes
WHOLE, HALVES = "car_ims", ("cars_train", "cars_test")  # folders of the images of the one list, and of the devkit
ABOVE = 2  # folders above the devkit's lists in which the images may be
ANNOTATIONS, CLASSES = "annotations", "class_names"
LARGEST = 64 << 20  # bytes of the list, unpacked; the published one has 16 MB
PACKED = 15  # miCOMPRESSED
PATIENCE = 600.0  # seconds for the list, on a machine however busy


@register(
    "dataset", "cars", title="Cars-196", params=PublishedParams,
    source="Krause et al. 2013, cars_annos.mat as published",
    markers=[
        LIST, TRAINING, f"devkit/{TRAINING}",
        *archives_named("cars196", "Cars196", "cars-196", "stanford-cars", "stanford_cars"),
    ],
)  # fmt: skip
@published_at(PAGE)
def cars(params: PublishedParams, *, progress: Progress) -> ImageSet:
    """16,185 photographs of 196 car models; the first 98 train and the others are searched."""
    root = find_place(params.folder, (LIST, f"devkit/{TRAINING}", TRAINING), "Cars-196", progress)
    lists = _devkit(root)
    if lists is not None:
        root, lines = _of_devkit(root, lists)
    else:
        lines = _of_one_list(root / LIST)
    numbers = [int(line.label.split()[0]) for line in lines]
    remarks = skipped_numbers(LIST if lists is None else TRAINING, numbers) if numbers else []
    if lines and lists is None:
        root = with_folder(root, lines[0].path.split("/")[0], progress)  # car_ims.tgz is published beside the list
        _refuse_other_names(root, lines[0].path.split("/")[0])
    return from_lines("cars", root, lines, COUNTS, params, progress, remarks)


def _devkit(root: Path) -> Path | None:
    """The folder of the devkit's lists; None where the one list of all images is to be read.

    Where both are, as in some copies, the images decide: those of the one list are in a folder of their own.
    """
    lists = next((folder for folder in (root / "devkit", root) if (folder / TRAINING).is_file()), None)
    if lists is None or not (root / LIST).is_file():
        return lists
    return lists if (root / HALVES[0]).is_dir() and not any(root.glob(f"{WHOLE}*")) else None  # or its archive


def _refuse_other_names(root: Path, whole: str) -> None:
    """Raises Problem where the images are those of the devkit, whose names are not those of the one list."""
    if (root / whole).is_dir() or not (root / HALVES[0]).is_dir():
        return
    raise Problem(
        f"{root / LIST} names the images of {whole}, and {root} has them as {HALVES[0]}, under other names.",
        kept="Nothing was started.",
        todo=f"Put {TRAINING}, {NAMES} (both of the devkit) and {SEARCHED} there, too; or get {whole}.tgz.",
    )


def _of_one_list(file: Path) -> list[Line]:
    whole = _read(file, ANNOTATIONS, CLASSES)
    return _lines(file, whole[ANNOTATIONS], whole[CLASSES])


def _of_devkit(root: Path, lists: Path) -> tuple[Path, list[Line]]:
    """The folder of the images, beside the lists or above them, and the images of both sets.

    Raises:
        Problem: a list cannot be read, or the classes of the second half are missing.
    """
    above = (root, lists, *lists.parents[:ABOVE])
    place = next((folder for folder in above if (folder / HALVES[0]).is_dir()), root)
    searched = next((folder / SEARCHED for folder in (place, root, lists) if (folder / SEARCHED).is_file()), None)
    if searched is None:
        raise Problem(
            f"{place} has no {SEARCHED}, and the devkit itself has no classes of the test set.",
            kept="Nothing was started.",
            todo=f"Get that file, too, and put it there; or get {LIST} and {WHOLE}.tgz instead.",
        )
    names = _read(lists / NAMES, CLASSES)[CLASSES]
    lines = []
    for file, half, folder in ((lists / TRAINING, "train", HALVES[0]), (searched, "test", HALVES[1])):
        inside = f"{folder}/{folder}" if (place / folder / folder).is_dir() else folder  # unpacked into its own folder
        lines += _lines(file, _read(file, ANNOTATIONS)[ANNOTATIONS], names, f"{inside}/", half)
    return place, lines


def _lines(file: Path, annotations: list[Any], class_names: list[str], folder: str = "", half: str = "") -> list[Line]:
    """The images of a list, of one half or of that of each image's flag. Raises Problem."""
    lines = []
    for number, (path, label, test) in enumerate(annotations, start=1):
        if not 1 <= label <= len(class_names):
            raise Problem(
                f"{file}, annotation {number}: class {label} is not one of the {len(class_names)} class names.",
                kept="Nothing was started.",
                todo=AGAIN,
            )
        named, of_image = f"{label:03d} {class_names[label - 1]}", half or ("test" if test else "train")
        lines.append(Line(f"{folder}{path}", named, of_image, f"{file.name}, annotation {number}"))
    return lines


def _read(file: Path, *needed: str) -> dict[str, list[Any]]:
    """(path, class from 1, test flag) of every image as ANNOTATIONS, and the class names as CLASSES.

    Raises:
        Problem: the file cannot be read, or lacks what is needed.
    """

    def refused(why: str) -> Problem:
        said = f"{file} is not a MATLAB file with {' and '.join(needed)} ({why})."
        return Problem(said, kept="Nothing was started.", todo=AGAIN)

    with refusing(refused):
        _check_size(file)
        whole: dict[str, list[Any]] = json.loads(printed_by("workbench.datasets.reading.cars_list", file, PATIENCE))
        if missing := [name for name in needed if not whole[name]]:
            raise ValueError(f"there are no {missing[0]}")
        return whole


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
