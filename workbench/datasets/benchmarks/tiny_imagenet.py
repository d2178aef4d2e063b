"""Tiny-ImageNet: 200 classes of ImageNet at 64 px, in the layout as published, or sorted into a folder per class."""

from pathlib import Path

from workbench.datasets.image_set import ImageSet
from workbench.datasets.images.scan import find_images
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
COUNTS = Counts(classes=200, images=110_000)  # the 10,000 of the test set were published without labels
LIST = "wnids.txt"
# Where a listed image for validation is: as published, or as scripts leave it that sort the images by class.
PLACES = ("val/images/{image}", "val/{image}", "val/{wnid}/{image}", "val/{wnid}/images/{image}")


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
        boxes = root / "train" / wnid / f"{wnid}_boxes.txt"
        if boxes.parent.is_dir() and not boxes.is_file():
            lines += _sorted(root, f"train/{wnid}", names[wnid], "train", progress)
            continue
        for number, (image, *_) in lines_of(boxes, 5):
            lines.append(Line(f"train/{wnid}/images/{image}", names[wnid], "train", f"{boxes.name}, line {number}"))
    lines += _validation(root, names, progress)
    return from_lines("tiny_imagenet", root, lines, COUNTS, params, progress)


def _validation(root: Path, names: dict[str, str], progress: Progress) -> list[Line]:
    """The images for validation, by their list; without one, by the folders of their classes. Raises Problem."""
    annotations = root / "val" / "val_annotations.txt"
    folders = [wnid for wnid in names if (root / "val" / wnid).is_dir()]
    if folders and not annotations.is_file():
        return [line for wnid in folders for line in _sorted(root, f"val/{wnid}", names[wnid], "test", progress)]
    listed = [(number, image, wnid) for number, (image, wnid, *_) in lines_of(annotations, 6)]
    for number, _, wnid in listed:
        if wnid not in names:
            raise wrong(annotations, number, f"{wnid[:40]} is not in {LIST}")
    possible = (place for _, image, wnid in listed for place in PLACES if _is_there(root, place, image, wnid))
    place = next(possible, PLACES[0])
    return [
        Line(place.format(image=image, wnid=wnid), names[wnid], "test", f"{annotations.name}, line {number}")
        for number, image, wnid in listed
    ]


def _is_there(root: Path, place: str, image: str, wnid: str) -> bool:
    return (root / place.format(image=image, wnid=wnid)).is_file()


def _sorted(root: Path, folder: str, name: str, half: str, progress: Progress) -> list[Line]:
    """The images in the folder of a class, also in one inside it."""
    return [Line(f"{folder}/{path}", name, half, folder) for path in find_images(root / folder, [], progress)]


def _names(file: Path, classes: list[str]) -> dict[str, str]:
    """Number in WordNet -> it and the first of its words; the number alone where the list of words is missing."""
    names = {wnid: wnid for wnid in classes}
    if file.is_file():
        for _, (wnid, *words) in lines_of(file, None):
            if wnid in names and words:
                names[wnid] = f"{wnid} {' '.join(words).partition(',')[0]}"
    return names
