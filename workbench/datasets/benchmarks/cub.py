"""CUB-200-2011: 200 bird species, in the layout as published."""

from pathlib import Path

from workbench.datasets.image_set import ImageSet
from workbench.datasets.reading import published
from workbench.datasets.reading.data_folder import find_place
from workbench.files.archive_names import archives_named
from workbench.progress import Progress
from workbench.registry import register

PAGE = "https://www.vision.caltech.edu/datasets/cub_200_2011"
COUNTS = published.Counts(classes=200, images=11_788)


@register(
    "dataset", "cub", title="CUB-200-2011", params=published.PublishedParams,
    source="Wah et al. 2011, lists as published",
    markers=["image_class_labels.txt", *archives_named("CUB_200_2011")],
)  # fmt: skip
@published.published_at(PAGE)
def cub(params: published.PublishedParams, *, progress: Progress) -> ImageSet:
    """11,788 photographs of 200 bird species; the first 100 train and the others are searched."""
    root = find_place(params.folder, ("image_class_labels.txt",), "CUB-200-2011", progress)
    images = root / "images.txt"
    paths: dict[str, tuple[str, int]] = {}
    for number, (image, path) in published.lines_of(images, 2):
        if image in paths:
            raise published.wrong(images, number, f"the image number {image} is already in line {paths[image][1]}")
        paths[image] = path, number
    labels = root / "image_class_labels.txt"
    classes = _numbers(labels, paths)
    halves = _halves(root / "train_test_split.txt", paths)
    for image, (_, number) in paths.items():
        if image not in classes:
            raise published.wrong(images, number, f"the image number {image} is not in {labels.name}")
    lines = [
        published.Line(f"images/{path}", path.split("/")[0], halves.get(image, ""), f"images.txt, line {number}")
        for image, (path, number) in paths.items()
    ]
    for line, (image, (_, number)) in zip(lines, paths.items(), strict=True):
        if not line.label.startswith(f"{classes[image]:03d}."):
            raise published.wrong(images, number, f"{line.path} is of class {classes[image]} in {labels.name}")
    remarks = published.skipped_numbers(labels.name, list(classes.values()))
    return published.from_lines("cub", root, lines, COUNTS, params, progress, remarks)


def _numbers(path: Path, paths: dict[str, tuple[str, int]]) -> dict[str, int]:
    """Image number -> the number beside it. Raises Problem naming file and line."""
    numbers = {}
    for number, (image, value) in published.lines_of(path, 2):
        if image not in paths:
            raise published.wrong(path, number, f"the image number {image} is not in images.txt")
        numbers[image] = published.whole_number(path, number, value, "second number")
    return numbers


def _halves(path: Path, paths: dict[str, tuple[str, int]]) -> dict[str, str]:
    """Image number -> half of the official classification split; empty without the file."""
    if not path.is_file():
        return {}
    numbers = _numbers(path, paths)
    for image, (_, number) in paths.items():
        if image not in numbers:
            raise published.wrong(
                path.with_name("images.txt"), number, f"the image number {image} is not in {path.name}"
            )
    return {image: "train" if numbers[image] == 1 else "test" for image in paths}
