"""Tiny-ImageNet: 200 classes of ImageNet at 64 px, in the layout as published."""

from pathlib import Path

from workbench.datasets.image_set import ImageSet
from workbench.datasets.reading.data_folder import find_place
from workbench.datasets.reading.published import (
    Counts,
    Line,
    PublishedParams,
    from_lines,
    lines_of,
    published_at,
    wrong,
)  # fmt: skip
from workbench.files.archive_names import archives_named
from workbench.params import param
from workbench.progress import Progress
from workbench.registry import register

PAGE = "http://cs231n.stanford.edu/tiny-imagenet-200.zip"
COUNTS = Counts(classes=200, images=110_000)  # the 10,000 of the test half were published without labels
LIST = "wnids.txt"


class TinyImageNetParams(PublishedParams):
    """As every published set, smaller."""

    image_size: int = param(
        64, ge=8, le=1024, label="Image size", unit="px", help="Side of the images; the originals have 64."
    )


@register(
    "dataset", "tiny_imagenet", title="Tiny-ImageNet", params=TinyImageNetParams,
    source="Le and Yang 2015 (Stanford CS 231N), lists as published",
    markers=[LIST, *archives_named("tiny-imagenet", "tiny_imagenet", "TinyImageNet")],
)  # fmt: skip
@published_at(PAGE)
def tiny_imagenet(params: TinyImageNetParams, *, progress: Progress) -> ImageSet:
    """110,000 images of 200 classes: 500 of each train, the 50 of each for validation are searched."""
    root = find_place(params.folder, (LIST,), "Tiny-ImageNet", progress)
    classes = [wnid for _, (wnid,) in lines_of(root / LIST, 1)]
    names = _names(root / "words.txt", classes)
    lines: list[Line] = []
    for wnid in classes:
        boxes = Path("train") / wnid / f"{wnid}_boxes.txt"
        for number, (image, *_) in lines_of(root / boxes, 5):
            lines.append(Line(f"train/{wnid}/images/{image}", names[wnid], "train", f"{boxes.name}, line {number}"))
    annotations = root / "val" / "val_annotations.txt"
    for number, (image, wnid, *_) in lines_of(annotations, 6):
        if wnid not in names:
            raise wrong(annotations, number, f"{wnid[:40]} is not in {LIST}")
        lines.append(Line(f"val/images/{image}", names[wnid], "test", f"{annotations.name}, line {number}"))
    return from_lines("tiny_imagenet", root, lines, COUNTS, params, progress)


def _names(file: Path, classes: list[str]) -> dict[str, str]:
    """Number in WordNet -> it and the first of its words; the number alone where the list of words is missing."""
    names = {wnid: wnid for wnid in classes}
    if file.is_file():
        for _, (wnid, *words) in lines_of(file, None):
            if wnid in names and words:
                names[wnid] = f"{wnid} {' '.join(words).partition(',')[0]}"
    return names
