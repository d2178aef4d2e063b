"""Google Landmarks v2, the cleaned training set: photographs of 81,313 landmarks, in the layout as published."""

import re
from pathlib import Path

from workbench.datasets.image_set import ImageSet
from workbench.datasets.reading.data_folder import find_place, open_place
from workbench.datasets.reading.published import (
    Counts,
    Line,
    PublishedParams,
    from_lines,
    lines_of,
    published_at,
    whole_number,
    wrong,
)
from workbench.progress import Progress
from workbench.registry import register

PAGE = "https://github.com/cvdfoundation/google-landmark"
COUNTS = Counts(classes=81_313, images=1_580_470)
LIST = "train_clean.csv"
HEADER = ["landmark_id,images"]


@register(
    "dataset", "gldv2_clean", title="Google Landmarks v2, clean", params=PublishedParams, markers=[LIST],
    source="Weyand et al. 2020 (GLDv2); cleaned list train_clean.csv: Yokoo et al. 2020, as published",
)  # fmt: skip
@published_at(PAGE)
def gldv2_clean(params: PublishedParams, *, progress: Progress) -> ImageSet:
    """1,580,470 photographs of 81,313 landmarks; no split is published for them.

    A line of the list has a landmark's number and the names of its images, separated by spaces; the image 0a1b2c... is
    train/0/a/1/0a1b2c....jpg.
    """
    list_path = find_place(params.folder, (LIST,), "Google Landmarks v2", progress) / LIST
    root, top = _place(list_path, open_place(params.folder, "Google Landmarks v2", progress))
    lines: list[Line] = []
    for number, words in lines_of(list_path, None):
        if number == 1 and words == HEADER:
            continue
        landmark, comma, first = words[0].partition(",")
        if not comma:
            raise wrong(list_path, number, "there is no comma behind the landmark's number")
        label = f"{whole_number(list_path, number, landmark, 'landmark'):06d}"
        for image in (first, *words[1:]):
            if not re.fullmatch("[0-9a-f]{16}", image):
                raise wrong(list_path, number, f"{image[:40]!r} is not the name of an image")
            path = f"{top}{image[0]}/{image[1]}/{image[2]}/{image}.jpg"
            lines.append(Line(path, label, "", f"{LIST}, line {number}"))
    return from_lines("gldv2_clean", root, lines, COUNTS, params, progress)


def _place(list_path: Path, chosen: Path) -> tuple[Path, str]:
    """The folder that paths start from, and what they begin with: images may be beside the list, or above its folder.

    Nothing is looked for outside the chosen folder.
    """
    folders = [folder for folder in list_path.parents if folder.is_relative_to(chosen)]
    for folder in folders:
        for top in ("train/", ""):
            if any((folder / top).glob("/".join(["[0-9a-f]"] * 3))):
                return folder, top
    return folders[0], "train/" if (folders[0] / "train").is_dir() else ""
