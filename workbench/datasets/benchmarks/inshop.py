"""In-shop Clothes Retrieval (DeepFashion): training images, queries and a gallery, in the layout as published."""

from dataclasses import replace
from pathlib import Path

from workbench.datasets.image_set import ImageSet
from workbench.datasets.reading.data_folder import find_place, with_folder
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
from workbench.files.archive_names import archives_named
from workbench.problem import Problem
from workbench.progress import Progress
from workbench.registry import register

PAGE = "https://mmlab.ie.cuhk.edu.hk/projects/DeepFashion/InShopRetrieval.html"
COUNTS = Counts(7_982, 52_712, halves=(("train", 25_882), ("query", 14_218), ("gallery", 12_612)))
LIST = "list_eval_partition.txt"
STATUS = ("train", "query", "gallery")
IMAGES = ("", "Img", "..", "../Img")  # where img/ may be, relative to the list


@register(
    "dataset", "inshop", title="In-shop clothes", params=PublishedParams,
    source="Liu et al. 2016 (DeepFashion), list as published",
    markers=[LIST, *archives_named("In-shop", "in-shop", "inshop")],
)  # fmt: skip
@published_at(PAGE)
def inshop(params: PublishedParams, *, progress: Progress) -> ImageSet:
    """52,712 photographs of 7,982 clothing items; 14,218 queries search a gallery of 12,612."""
    list_path = find_place(params.folder, (LIST,), "In-shop", progress) / LIST
    lines: list[Line] = []
    for number, words in lines_of(list_path, None):
        if number == 1:
            stated = whole_number(list_path, 1, words[0], "number of images")
        elif number > 2:
            if len(words) != 3:
                raise wrong(list_path, number, f"{len(words)} columns instead of 3")
            path, item, status = words
            if status not in STATUS:
                raise wrong(list_path, number, f"the status {status!r} is not one of {', '.join(STATUS)}")
            lines.append(Line(path, item, status, f"{LIST}, line {number}"))
    if not lines:
        raise Problem(f"{list_path} lists no images.", kept="Nothing was started.", todo="Get the file again.")
    image_set = from_lines("inshop", _root(list_path, lines[0], progress), lines, COUNTS, params, progress)
    if stated != len(lines):
        said = (LIST, f"announces {stated:,} images and lists {len(lines):,}")
        return replace(image_set, unlike_published=[said, *image_set.unlike_published])
    return image_set


def _root(path: Path, first: Line, progress: Progress) -> Path:
    """The folder from which the listed paths start; the published parts are unpacked in several ways."""
    top = first.path.split("/")[0]
    for below in IMAGES:
        root = with_folder(path.parent / below, top, progress)  # img.zip is published as it is
        if (root / top).is_dir():
            return root.resolve()
    raise Problem(
        f"There is no folder or archive {top} beside {path} or in its folder Img.",
        kept="Nothing was started.",
        todo="Put the images there.",
    )
