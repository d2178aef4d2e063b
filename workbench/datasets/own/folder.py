"""A folder per class, in a folder or an archive: the user's own images."""

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import numpy as np

from workbench.datasets.image_set import NAMED, ImageSet, Level, numbered
from workbench.datasets.images.image_files import ImageFiles
from workbench.datasets.images.loader import display_name
from workbench.datasets.images.path_table import SomePaths
from workbench.datasets.images.scan import Problems, find_images, holds_images
from workbench.datasets.reading.data_folder import open_place, without_wrapping
from workbench.datasets.reading.depth_and_pages import bits_said, remarks_on_files
from workbench.datasets.reading.fields import bits_used, colours, short_side, stored_at
from workbench.datasets.split import WORDS, official_halves
from workbench.files import typed_path
from workbench.files.archive_names import is_archive
from workbench.params import Params, param
from workbench.problem import Problem
from workbench.progress import Progress
from workbench.registry import register

OTHER = "other"  # a first folder that is no half
SET_LEVELS = "set Levels (dataset.levels) to 2"
MOST_HALVES = 3  # first folders that may be halves with other names


class FolderParams(Params):
    """Where the image folder is stored and how its images are read."""

    folder: str = stored_at(
        "Holds one folder per class; or train/ and test/ (or train_set/ and test_set/), each with one per class. An "
        "archive is unpacked once."
    )
    levels: int = param(
        1, ge=1, le=8, unit="folders",
        help="Folders that name a class: 2 reads genus/species. The folders above the last are scored as well.",
    )  # fmt: skip
    image_size: int = short_side()
    colour: Literal["colour", "grey"] = colours()
    bits: int = bits_used()


@register(
    "dataset", "folder", title="Folder of images", params=FolderParams, source="torchvision's ImageFolder layout",
    named_by="folder",
)  # fmt: skip
def folder(params: FolderParams, *, progress: Progress) -> ImageSet:
    """Your own images: a folder per class, in any of the usual formats."""
    root = open_place(params.folder, "your images", progress)
    if packed := root != typed_path(params.folder).absolute():
        root = without_wrapping(root)
    problems: Problems = []
    remarks: Problems = []
    hidden: list[bytes] = []
    image_paths = find_images(root, problems, progress, hidden)
    if packed and not image_paths and not problems:
        raise _without_images(params.folder, root)
    first = _first_folders(image_paths)
    depth = 1 if _has_halves(first) else 0  # parts before the class
    if not depth and params.levels == 1:
        remarks += _kept_from_halves(first) or _alike_inside(image_paths, first) or _deeper(image_paths, first)
    last = depth + params.levels - 1  # parts before the folder that completes the class's name
    too_high = "lies in no class folder" if params.levels == 1 else f"lies in fewer than {params.levels} folders"
    deep = np.fromiter((path.count("/") > last for path in image_paths), bool, len(image_paths))
    if len(deep) and not deep.any():
        raise Problem(
            f"No image in {root} has a class: {image_paths[0]} {too_high}.",
            kept="Nothing was started.",
            todo="Put the images of each class into a folder of their own, or choose a CSV list with a label for each.",
        )
    problems += [(image_paths[row], too_high) for row in np.flatnonzero(~deep).tolist()]
    paths: Sequence[str] = image_paths if deep.all() else SomePaths(image_paths, np.flatnonzero(deep))
    levels = [Level(f"folder {count}", *_named_by(paths, depth, count)) for count in range(1, params.levels)]
    labels, names = _named_by(paths, depth, params.levels)
    if len(names) == 1 and _is_above_classes(paths, last + 1):
        raise Problem(
            f"{root} holds one class, {names[0]}, and all of its images are in folders inside it.",
            kept="Nothing was started.",
            todo=f"If those are the classes, choose {root / names[0]}.",
        )
    if names and not last:
        known = {*names, *(path for path, _ in problems)}
        remarks += [(name, "is a folder without images") for name in _folders(root) if name not in known]
    unread = _hidden_classes(root, [path for path in hidden if path.count(os.fsencode(os.sep)) <= last], progress)
    if unread and not image_paths and not problems:
        raise Problem(
            f"{' '.join(unread[0])}, and {root} has no other images.",
            kept="Nothing was started.",
            todo="Rename these folders, or choose another one.",
        )
    remarks += unread
    remarks += remarks_on_files(root, paths, params.bits)
    channels, size = (3 if params.colour == "colour" else 1), params.image_size
    return ImageSet(
        name="folder", root=root, paths=paths, labels=labels, class_names=names, channels=channels, image_size=size,
        read=ImageFiles(root, paths, channels, size, bits=params.bits),
        content=bits_said(params.bits),
        official=official_halves(_half_word(path.split("/", 1)[0]) for path in paths) if depth else None,
        problems=problems,
        remarks=remarks,
        levels=levels,
    )  # fmt: skip


def _named_by(paths: Sequence[str], start: int, count: int) -> tuple[np.ndarray, list[str]]:
    """Labels [n] and their names, such as genus/species, by so many folders of each path from that part on."""
    return numbered("/".join(path.split("/", start + count)[start : start + count]) for path in paths)


def _is_above_classes(paths: Sequence[str], part: int) -> bool:
    """Whether that part of every path is a folder, and there are several of them."""
    return all(path.count("/") > part for path in paths) and len({path.split("/")[part] for path in paths}) > 1


def _first_folders(paths: Sequence[str]) -> dict[str, bool]:
    """The folders that paths begin with, and whether there are images in a folder inside each."""
    folders: dict[str, bool] = {}
    for path in paths:
        name, slash, rest = path.partition("/")
        if slash and not folders.get(name):
            folders[name] = "/" in rest
    return folders


def _has_halves(first: dict[str, bool]) -> bool:
    """Whether the first folders are train and test (or validation), class folders are below, and there is no other."""
    halves = {WORDS.get(_half_word(name), OTHER) for name in first}
    return "train" in halves and len(halves) > 1 and OTHER not in halves and any(first.values())


def _kept_from_halves(first: dict[str, bool]) -> Problems:
    """A remark on a folder train with class folders, beside which one is no half: both are classes then."""
    others = sorted(name for name in first if _half_word(name) not in WORDS)
    trains = sorted(name for name, deep in first.items() if deep and WORDS.get(_half_word(name)) == "train")
    if not others:
        return []
    return [(name, f"is read as a class, not as the training set: {others[0]} is beside it") for name in trains]


def _half_word(name: str) -> str:
    """The word of a folder that may be a half: "train" of train_set, Train images or trainset."""
    return re.sub(r"[ _-]?(set|data|images)$", "", name.lower())


def _alike_inside(paths: Sequence[str], first: dict[str, bool]) -> Problems:
    """A remark on few first folders that hold folders of the same names, as halves do that are called otherwise."""
    if not 1 < len(first) <= MOST_HALVES or not all(first.values()):
        return []
    inside: dict[str, set[str]] = {name: set() for name in first}
    for path in paths:
        name, _, rest = path.partition("/")
        if "/" in rest:
            inside[name].add(rest.partition("/")[0])
    alike = sorted(set.intersection(*inside.values()))
    if not alike:
        return []
    named = ", ".join(alike[:NAMED]) + (", ..." if alike[NAMED:] else "")
    said = f"are read as classes, and hold folders of the same names ({named})"
    return [(" and ".join(sorted(first)), f"{said}: if they are the two sets, name them train and test")]


def _deeper(paths: Sequence[str], first: dict[str, bool]) -> Problems:
    """A remark on classes with no image of their own, all of which are in folders inside, which may be the classes."""
    if len(first) < 2 or any(path.count("/") < 2 for path in paths):
        return []
    inside = len({path.rsplit("/", path.count("/") - 1)[0] for path in paths})
    if inside <= len(first):
        return []
    said = f"have all of their images in {inside:,} folders inside them"
    return [(f"{len(first):,} classes", f"{said}: if those are the classes, {SET_LEVELS}")]


def _hidden_classes(root: Path, hidden: Sequence[bytes], progress: Progress) -> Problems:
    """A remark on folders that would be classes, and are not read because their names begin with a dot."""
    base = os.fsencode(root)
    names = sorted(
        display_name(path).replace(os.sep, "/") for path in hidden if holds_images(os.path.join(base, path), progress)
    )
    if not names:
        return []
    named = ", ".join(names[:NAMED]) + (", ..." if names[NAMED:] else "")
    if len(names) == 1:
        return [("1 folder of images", f"is not read: its name begins with a dot ({named})")]
    return [(f"{len(names):,} folders of images", f"are not read: their names begin with a dot ({named})")]


def _without_images(chosen: str, root: Path) -> Problem:
    """The sentence for an archive without images: ImageNet's training set, for one, is an archive of archives."""
    inside = sum(is_archive(path) for path in root.iterdir())
    if inside:
        return Problem(
            f"{chosen} holds no images but {inside:,} {'archive' if inside == 1 else 'archives'}.",
            kept="Nothing was started.",
            todo="Unpack each into a folder of its class, and choose the folder above them.",
        )
    return Problem(f"There are no images in {chosen}.", kept="Nothing was started.", todo="Choose another one.")


def _folders(root: Path) -> list[str]:
    """Names of the folders in the root that are not hidden, sorted."""
    with os.scandir(root) as entries:
        names = [display_name(entry.name) for entry in entries if os.path.isdir(entry.path)]
    return sorted(name for name in names if not name.startswith("."))
