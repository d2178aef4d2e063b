"""A CSV file with path, label and, perhaps, split."""

import csv
from pathlib import Path
from typing import Literal

import numpy as np

from workbench.datasets.image_set import ImageSet
from workbench.datasets.images import load
from workbench.datasets.pixels import Progress
from workbench.params import Params, param
from workbench.problem import Problem
from workbench.registry import register

SPLITS = {"train": "train", "test": "test", "val": "test", "query": "test", "gallery": "test"}


class CsvParams(Params):
    file: str = param(
        "", path="file", help="Columns path, label and, optionally, split (train or test); a header line."
    )
    folder: str = param("", path="folder", help="Where relative paths start; the CSV file's own folder when empty.")
    image_size: int = param(
        128, ge=8, le=1024, label="Image size", unit="px", help="Short side after resizing; then the centre square."
    )
    colour: Literal["colour", "grey"] = param("colour", help="Three channels or one.")


@register("dataset", "csv", title="CSV list", params=CsvParams, source="Workbench 2026: columns path, label, split")
def csv_list(params: CsvParams, *, progress: Progress) -> ImageSet:
    """Your own images, listed in a CSV file with their labels and, perhaps, their split."""
    if not params.file:
        raise Problem("No CSV file is chosen.", kept="Nothing was started.", todo="Choose one.")
    place = Path(params.file)
    root = Path(params.folder) if params.folder else place.parent
    progress(f"Reading {place.name}", 0, 1)
    rows = _rows(place)
    problems: list[tuple[str, str]] = []
    kept: list[tuple[str, str, str]] = []
    for line, (path, label, half) in rows:
        if not (root / path).is_file():
            problems.append((path, f"is in line {line} of {place.name}, but not on disk"))
            continue
        kept.append((path, label, half))
    kept.sort()
    names = sorted({label for _, label, _ in kept})
    at = {name: number for number, name in enumerate(names)}
    channels = 3 if params.colour == "colour" else 1
    paths = [path for path, _, _ in kept]
    official = [half for _, _, half in kept] if all(half for _, _, half in kept) else None
    labels = np.array([at[label] for _, label, _ in kept], np.int64)
    return ImageSet(
        "csv", root, paths, labels, names, channels, params.image_size, lambda row: load(root / paths[row], channels),
        official, problems,
    )  # fmt: skip


def _rows(place: Path) -> list[tuple[int, tuple[str, str, str]]]:
    """(line number, (path, label, split)) of every line. Raises Problem naming file and line."""
    try:
        with place.open(newline="", encoding="utf-8-sig") as file:
            lines = list(csv.reader(file))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise Problem(f"{place} cannot be read as CSV ({error}).", kept="Nothing was started.") from None
    header = [name.strip().lower() for name in lines[0]] if lines else []
    if "path" not in header or "label" not in header:
        raise Problem(
            f"{place}, line 1: the columns path and label are needed; found {', '.join(header) or 'nothing'}."
        )
    found, seen = [], dict[str, int]()
    for number, line in enumerate(lines[1:], start=2):
        if not line:
            continue
        if len(line) != len(header):
            raise Problem(
                f"{place}, line {number}: {len(line)} columns instead of {len(header)}.", todo="Mend the line."
            )
        values = dict(zip(header, (value.strip() for value in line), strict=True))
        half = values.get("split", "").lower()
        if half and half not in SPLITS:
            raise Problem(
                f"{place}, line {number}: the split {half!r} is none of train and test.", todo="Mend the line."
            )
        if not values["path"] or not values["label"]:
            raise Problem(f"{place}, line {number}: path or label is empty.", todo="Mend the line.")
        if values["path"] in seen:
            raise Problem(f"{place}, line {number}: {values['path']} is already in line {seen[values['path']]}.")
        seen[values["path"]] = number
        found.append((number, (values["path"].replace("\\", "/"), values["label"], SPLITS.get(half, ""))))
    return found
