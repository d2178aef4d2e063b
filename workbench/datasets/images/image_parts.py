"""Reading the images of a set that are parts of image files: what a box in each of them shows."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path
from threading import local
from typing import Any, Literal

from PIL import Image

from workbench.datasets.images.loader import WHOLE, BadImage, on_disk, picture

Numbers = Literal["sizes", "corners", "fractions"]
"""What the four numbers of a box are, in px of the upright image, from its upper left corner: left, top, width and
height; left, top, right and bottom; or the first again as fractions of the image's width and height."""
Box = tuple[float, float, float, float]
MOST = 1e6  # px


@dataclass(frozen=True, slots=True)
class ImageParts:
    """What an image set reads its images by, if they are parts of files; several may be of one file.

    Args:
        root: the folder.
        files: [n], relative, as `loader.display_name` shows them.
        boxes: [n] four numbers each.
        numbers: what they are.
        channels: 1 or 3.
        bits: that 16-bit grey files use, as for `loader.load`.
    """

    root: Path
    files: Sequence[str]
    boxes: Sequence[Box]
    numbers: Numbers
    channels: int
    bits: int = WHOLE
    _last: Any = field(default_factory=local, repr=False, compare=False)  # of each thread: a file and its image

    def __call__(self, row: int) -> Image.Image:
        """One image, from the pixels that its box covers. Raises BadImage, also of a box outside the image."""
        whole = self._whole(self.files[row])
        left, top, right, bottom = edges(self.boxes[row], self.numbers, *whole.size)
        width, height = whole.size
        inside = (max(0, left), max(0, top), min(width, right), min(height, bottom))
        if inside[2] - inside[0] < 2 or inside[3] - inside[1] < 2:
            size = f"{width} x {height} px"
            raise BadImage(f"has a box that is outside the image of {size}, or covers less than 2 px of it")
        return whole.crop(inside)

    def _whole(self, file: str) -> Image.Image:
        """The image of a file at its own size; the parts of one file follow each other and share it."""
        if getattr(self._last, "file", None) != file:
            self._last.image = picture(on_disk(self.root, file), self.channels, bits=self.bits)
            self._last.file = file
        image: Image.Image = self._last.image
        return image


def edges(box: Box, numbers: Numbers, width: int, height: int) -> tuple[int, int, int, int]:
    """Left, top, right and bottom of a box in an image of `width` x `height` px, rounded to whole px."""
    left, top, third, fourth = box
    if numbers == "fractions":
        left, top, third, fourth = left * width, top * height, third * width, fourth * height
    if numbers != "corners":
        third, fourth = left + third, top + fourth
    return round(left), round(top), round(third), round(fourth)


def box_of(cells: Sequence[str], numbers: Numbers) -> Box:
    """The box of four cells; a decimal comma is a point. Raises ValueError, whose words say why they are none."""
    values = [_number(cell) + 0.0 for cell in cells]  # -0.0 becomes 0.0: a box has one name
    if not all(map(isfinite, values)) or max(map(abs, values)) > MOST:
        raise ValueError("one of its numbers is not finite or too large")
    left, top, third, fourth = values
    wide, high = (third - left, fourth - top) if numbers == "corners" else (third, fourth)
    if wide <= 0 or high <= 0:
        raise ValueError("its width or height is not above 0")
    if numbers == "fractions" and max(third, fourth) > 1:
        raise ValueError("its width or height is above 1, so these are not fractions")
    return left, top, third, fourth


def _number(cell: str) -> float:
    try:
        return float(cell.replace(",", "."))
    except ValueError:
        raise ValueError(f"{cell!r} is not a number") from None


def part_name(file: str, box: Box) -> str:
    """The name of a part of a file, which has its numbers: "street.jpg#10,20,64,48"."""
    return f"{file}#{','.join(format(number, '.10g') for number in box)}"
