"""In-shop Clothes Retrieval (DeepFashion): training images, queries and a gallery, in the layout as published."""

from dataclasses import replace
from pathlib import Path

from workbench.datasets.image_set import ImageSet
from workbench.datasets.place import find_place, with_folder
from workbench.datasets.published import Counts, Line, PublishedParams, from_lines, lines_of, whole_number, wrong
from workbench.files.archives import archives_named
from workbench.problem import Problem
from workbench.progress import Progress
from workbench.registry import register

COUNTS = Counts(classes=7_982, images=52_712)
LIST = "list_eval_partition.txt"
STATUS = ("train", "query", "gallery")
IMAGES = ("", "Img", "..", "../Img")  # where img/ lies, seen from the list


@register(
    "dataset", "inshop", title="In-shop clothes", params=PublishedParams,
    source="Liu et al. 2016 (DeepFashion), list as published",
    markers=[LIST, *archives_named("In-shop", "in-shop", "inshop")],
)  # fmt: skip
def inshop(params: PublishedParams, *, progress: Progress) -> ImageSet:
    """52,712 photographs of 7,982 clothes; 14,218 queries search a gallery of 12,612."""
    place = find_place(params.folder, (LIST,), "In-shop", progress) / LIST
    lines: list[Line] = []
    for number, words in lines_of(place, None):
        if number == 1:
            told = whole_number(place, 1, words[0], "number of images")
        elif number > 2:
            if len(words) != 3:
                raise wrong(place, number, f"{len(words)} columns instead of 3")
            path, item, status = words
            if status not in STATUS:
                raise wrong(place, number, f"the status {status!r} is none of {', '.join(STATUS)}")
            lines.append(Line(path, item, status, f"{LIST}, line {number}"))
    if not lines:
        raise Problem(f"{place} lists no images.", kept="Nothing was started.", todo="Get the file again.")
    found = from_lines("inshop", _root(place, lines[0], progress), lines, COUNTS, params, progress)
    if told != len(lines):
        said = (LIST, f"tells of {told:,} images and lists {len(lines):,}")
        return replace(found, unlike_published=[said, *found.unlike_published])
    return found


def _root(place: Path, first: Line, progress: Progress) -> Path:
    """The folder from which the listed paths start; the published parts are unpacked in several ways."""
    top = first.path.split("/")[0]
    for below in IMAGES:
        root = with_folder(place.parent / below, top, progress)  # img.zip is published as it is
        if (root / top).is_dir():
            return root.resolve()
    raise Problem(
        f"There is no folder or archive {top} beside {place} or in its folder Img.",
        kept="Nothing was started.",
        todo="Put the images there.",
    )
