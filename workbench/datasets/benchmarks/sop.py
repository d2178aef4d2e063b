"""Stanford Online Products: photographs of 22,634 products, in the layout as published."""

from workbench.datasets.image_set import ImageSet
from workbench.datasets.reading import published
from workbench.datasets.reading.data_folder import find_place
from workbench.files.archive_names import archives_named
from workbench.progress import Progress
from workbench.registry import register

PAGE = "https://cvgl.stanford.edu/projects/lifted_struct"
COUNTS = published.Counts(classes=22_634, images=120_053, halves=(("train", 59_551), ("test", 60_502)))
LISTS = {"train": "Ebay_train.txt", "test": "Ebay_test.txt"}


@register(
    "dataset", "sop", title="Stanford Online Products", params=published.PublishedParams,
    source="Oh Song et al. 2016, lists as published",
    markers=["Ebay_train.txt", *archives_named("Stanford_Online_Products")],
)  # fmt: skip
@published.published_at(PAGE)
def sop(params: published.PublishedParams, *, progress: Progress) -> ImageSet:
    """120,053 photographs of 22,634 products; the official lists share no product."""
    root = find_place(params.folder, (LISTS["train"],), "Stanford Online Products", progress)
    lines: list[published.Line] = []
    classes: dict[int, str] = {}
    for half, name in LISTS.items():
        list_path = root / name
        for number, (_, label, _, path) in published.lines_of(list_path, 4, skip=1):
            product = published.whole_number(list_path, number, label, "class_id")
            if classes.setdefault(product, half) != half:
                raise published.wrong(list_path, number, f"class {product} is in {LISTS[classes[product]]}, too")
            lines.append(published.Line(path, f"{product:05d}", half, f"{name}, line {number}"))
    remarks = published.skipped_numbers("class_id", list(classes)) if classes else []
    return published.from_lines("sop", root, lines, COUNTS, params, progress, remarks)
