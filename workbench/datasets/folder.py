"""A folder per class: any images of one's own."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import numpy as np

from workbench.datasets.image_set import ImageSet
from workbench.datasets.images import ENDINGS, display_name, load
from workbench.datasets.pixels import Progress
from workbench.params import Params, param
from workbench.problem import Problem
from workbench.registry import register

TELL_EVERY = 1000  # files
OFFICIAL = {"train": "train", "test": "test", "val": "test", "valid": "test"}


class FolderParams(Params):
    folder: str = param(
        "", path="folder", help="Holds one folder per class; or train/ and test/, each with one per class."
    )
    image_size: int = param(
        128, ge=8, le=1024, label="Image size", unit="px", help="Short side after resizing; then the centre square."
    )
    colour: Literal["colour", "grey"] = param("colour", help="Three channels or one.")


@register("dataset", "folder", title="Folder of images", params=FolderParams, source="torchvision's ImageFolder layout")
def folder(params: FolderParams, *, progress: Progress) -> ImageSet:
    """Your own images: a folder per class, in any of the usual formats."""
    if not params.folder:
        raise Problem(
            "No folder of images is chosen.", kept="Nothing was started.", todo="Choose one, or drop it on the window."
        )
    root = Path(params.folder)
    if not root.is_dir():
        raise Problem(f"There is no folder {root}.", kept="Nothing was started.", todo="Choose it again.")
    problems: list[tuple[str, str]] = []
    found = sorted(_scan(root, problems, progress))
    channels = 3 if params.colour == "colour" else 1
    paths, owners, raw, official = [], [], [], []
    halves = _has_halves(found)
    for shown, file in found:
        parts = shown.split("/")
        if halves:
            official.append(OFFICIAL[parts.pop(0).lower()])
        if len(parts) < 2:
            problems.append((shown, "lies in no class folder"))
            official = official[: len(paths)]
            continue
        paths.append(shown)
        owners.append(parts[0])
        raw.append(file)
    names = sorted(set(owners))
    at = {name: label for label, name in enumerate(names)}
    labels = np.array([at[owner] for owner in owners], np.int64)
    problems += _lonely(labels, names)
    return ImageSet(
        "folder", root, paths, labels, names, channels, params.image_size, lambda row: load(raw[row], channels),
        official if halves else None, problems,
    )  # fmt: skip


def _has_halves(found: list[tuple[str, bytes]]) -> bool:
    """Whether the first folders are train and test (and nothing else)."""
    first = {shown.split("/")[0].lower() for shown, _ in found if "/" in shown}
    return {OFFICIAL.get(name, "") for name in first} == {"train", "test"}


def _lonely(labels: np.ndarray, names: list[str]) -> list[tuple[str, str]]:
    counts = np.bincount(labels, minlength=len(names))
    return [
        (names[label], "is a class with one image: it cannot be retrieved") for label in np.flatnonzero(counts == 1)
    ]


def _scan(root: Path, problems: list[tuple[str, str]], progress: Progress) -> Iterator[tuple[str, bytes]]:
    """(relative path for display, real path as bytes) of every image file; link loops are met once, pipes never opened."""
    base = os.fsencode(root)
    todo, seen, count = [base], set[tuple[int, int]](), 0
    while todo:
        place = todo.pop()
        try:
            facts = os.stat(place)
            entries = sorted(os.scandir(place), key=lambda entry: entry.name)
        except OSError as error:
            problems.append((_shown(place, base), f"cannot be opened ({error.strerror})"))
            continue
        if (facts.st_dev, facts.st_ino) in seen:
            problems.append((_shown(place, base), "was already visited (a link loop?)"))
            continue
        seen.add((facts.st_dev, facts.st_ino))
        for entry in entries:
            if entry.name.startswith(b"."):
                continue
            try:
                if entry.is_dir():
                    todo.append(entry.path)
                    continue
                if not entry.name.lower().endswith(tuple(ending.encode() for ending in ENDINGS)):
                    continue
                if not stat.S_ISREG(entry.stat().st_mode):
                    problems.append((_shown(entry.path, base), "is not a regular file"))
                    continue
            except OSError as error:
                problems.append((_shown(entry.path, base), f"cannot be opened ({error.strerror})"))
                continue
            count += 1
            if count % TELL_EVERY == 0:
                progress("Looking for images", count, 0)
            yield _shown(entry.path, base), entry.path


def _shown(place: bytes, base: bytes) -> str:
    relative = os.path.relpath(place, base)
    return display_name(relative).replace(os.sep, "/")
