"""Stanford Online Products: photographs of 22,634 products, in the layout as published."""

from workbench.datasets.image_set import ImageSet
from workbench.datasets.place import find_place
from workbench.datasets.published import (
    Counts,
    Line,
    PublishedParams,
    from_lines,
    lines_of,
    skipped_numbers,
    whole_number,
    wrong,
)  # fmt: skip
from workbench.files.archives import archives_named
from workbench.progress import Progress
from workbench.registry import register

COUNTS = Counts(classes=22_634, images=120_053)
LISTS = {"train": "Ebay_train.txt", "test": "Ebay_test.txt"}


@register(
    "dataset", "sop", title="Stanford Online Products", params=PublishedParams,
    source="Oh Song et al. 2016, lists as published",
    markers=["Ebay_train.txt", *archives_named("Stanford_Online_Products")],
)  # fmt: skip
def sop(params: PublishedParams, *, progress: Progress) -> ImageSet:
    """120,053 photographs of 22,634 products; the official lists share no product."""
    root = find_place(params.folder, (LISTS["train"],), "Stanford Online Products", progress)
    lines: list[Line] = []
    classes: dict[int, str] = {}
    for half, name in LISTS.items():
        list_path = root / name
        for number, (_, label, _, path) in lines_of(list_path, 4, skip=1):
            product = whole_number(list_path, number, label, "class_id")
            if classes.setdefault(product, half) != half:
                raise wrong(list_path, number, f"class {product} is in {LISTS[classes[product]]}, too")
            lines.append(Line(path, f"{product:05d}", half, f"{name}, line {number}"))
    remarks = skipped_numbers("class_id", list(classes)) if classes else []
    return from_lines("sop", root, lines, COUNTS, params, progress, remarks)
