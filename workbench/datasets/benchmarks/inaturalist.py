"""iNaturalist 2018: photographs of 8,142 species, in the layout as published."""

import json
from pathlib import Path
from typing import Any

from workbench.datasets.image_set import ImageSet
from workbench.datasets.images.scan import Problems
from workbench.datasets.reading.data_folder import find_place
from workbench.datasets.reading.published import (
    AGAIN,
    Counts,
    Line,
    PublishedParams,
    from_lines,
    lines_of,
    published_at,
    wrong,
)  # fmt: skip
from workbench.files.archive_names import archives_named
from workbench.files.unreadable import opened_text, refusing
from workbench.problem import Problem
from workbench.progress import Progress
from workbench.registry import register

LISTS_PAGE = "https://github.com/Andrew-Brown1/Smooth_AP"
PAGE = f"https://github.com/visipedia/inat_comp/tree/master/2018 (lists of unseen classes: {LISTS_PAGE})"
COUNTS = Counts(classes=8_142, images=461_939)  # 437,513 of train2018 and 24,426 of val2018
ANNOTATIONS = {"train": "train2018.json", "test": "val2018.json"}
LISTS = {"train": "Inaturalist_train_set1.txt", "test": "Inaturalist_test_set1.txt"}
NO_LISTS = (
    "is not here: the official split is train2018 and val2018, of the same classes; lists of unseen classes are "
    f"published at {LISTS_PAGE}"
)
LIST_FOLDERS = ("Inat_dataset_splits", ".")
LARGEST = 1 << 30  # characters of one file of annotations


@register(
    "dataset", "inaturalist2018", title="iNaturalist 2018", params=PublishedParams,
    source="Van Horn et al. 2018; lists of 5,690 and 2,452 classes: Brown et al. 2020 (Smooth-AP), as published",
    markers=[*ANNOTATIONS.values(), *archives_named("inaturalist2018", "iNaturalist2018", "inat2018")],
)  # fmt: skip
@published_at(PAGE)
def inaturalist2018(params: PublishedParams, *, progress: Progress) -> ImageSet:
    """461,939 photographs of 8,142 species; with the lists of Smooth-AP 5,690 train and 2,452 others are searched.

    Without those lists the halves are the competition's train2018 and val2018, which share all classes.
    """
    below = tuple(f"{folder}/{LISTS['train']}".removeprefix("./") for folder in LIST_FOLDERS)
    root = find_place(params.folder, (ANNOTATIONS["train"], *below), "iNaturalist 2018", progress)
    folder = next((root / name for name in LIST_FOLDERS if (root / name / LISTS["train"]).is_file()), None)
    remarks: Problems = []
    if folder is None:
        lines = [line for half, name in ANNOTATIONS.items() for line in _annotated(root / name, half, progress)]
        remarks = [(LIST_FOLDERS[0], NO_LISTS)]
    else:
        lines = [line for half, name in LISTS.items() for line in _listed(folder / name, half)]
    return from_lines("inaturalist2018", root, lines, COUNTS, params, progress, remarks)


def _listed(file: Path, half: str) -> list[Line]:
    """The lines of a list: train_val2018/GROUP/CLASS/NAME.jpg."""
    lines = []
    for number, (path,) in lines_of(file, 1):
        parts = path.split("/")
        if len(parts) < 3 or not parts[-2].isdecimal():
            raise wrong(file, number, f"{path[:60]} is in no folder of a class's number")
        lines.append(Line(path, _class_name(int(parts[-2])), half, f"{file.name}, line {number}"))
    return lines


def _annotated(file: Path, half: str, progress: Progress) -> list[Line]:
    """The images of a file of annotations in COCO's form. Raises Problem."""

    def refused(why: str) -> Problem:
        return Problem(
            f"{file} cannot be read as iNaturalist's annotations ({why}).", kept="Nothing was started.", todo=AGAIN
        )

    progress(f"Reading {file.name}", 0, 0)
    with opened_text(file, AGAIN, "utf-8-sig") as text, refusing(refused):
        content = text.read(LARGEST + 1)
        if len(content) > LARGEST:
            raise ValueError("it is too long")
        whole: dict[str, Any] = json.loads(content)
        class_of = {int(of["image_id"]): int(of["category_id"]) for of in whole["annotations"]}
        images = [(int(image["id"]), str(image["file_name"])) for image in whole["images"]]
        lines = []
        for number, path in images:
            if number not in class_of:
                raise ValueError(f"image {number} has no annotation")
            lines.append(Line(path, _class_name(class_of[number]), half, f"{file.name}, image {number}"))
    return lines


def _class_name(number: int) -> str:
    return f"{number:04d}"
