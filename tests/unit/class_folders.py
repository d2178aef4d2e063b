"""Small images in a folder for each class."""

from pathlib import Path

from PIL import Image


def draw_classes(place: Path, *names: str, count: int) -> Path:
    """Make `count` images of 40 x 40 px in each of the folders `names` below `place`; returns `place`."""
    for name in names:
        (place / name).mkdir(parents=True)
        for number in range(count):
            Image.new("RGB", (40, 40), (number * 9, 0, 0)).save(place / name / f"{number}.png")
    return place
