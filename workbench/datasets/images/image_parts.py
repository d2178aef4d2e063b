"""Reading the images of a set that are parts of image files: what a box in each of them shows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path
from threading import local
from typing import Any, Literal, get_args

from PIL import Image, ImageDraw

from workbench.datasets.images.loader import WHOLE, BadImage, bits_of, on_disk, picture

Numbers = Literal["sizes", "corners", "fractions"]
"""What the four numbers of a box are, in px of the upright image, from its upper left corner: left, top, width and
height; left, top, right and bottom; or the first again as fractions of the image's width and height."""
Box = tuple[float, float, float, float]
MOST = 1e6  # px
COLOUR = "#d55e00"  # of a drawn box: the orange of Okabe and Ito
LINES = 200  # lines of a drawn box side by side would fill the longer side of its image


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


@dataclass(frozen=True, slots=True)
class WholeFiles:
    """The whole files of a data set of parts, by the names of the parts.

    Args:
        root: the folder.
        numbers: what the numbers of the boxes are.
        bits: that 16-bit grey files use, as for `loader.load`.
    """

    root: Path
    numbers: Numbers
    bits: int = WHOLE

    def drawn(self, name: str) -> Image.Image:
        """The file of the part of this name, RGB, with its box drawn into it.

        Raises:
            ValueError: no part has such a name.
            BadImage: the file is missing or cannot be read.
        """
        file, box = part_of(name, self.numbers)
        whole = picture(on_disk(self.root, file), 3, bits=self.bits).copy()
        left, top, right, bottom = edges(box, self.numbers, *whole.size)
        line, pen = max(2, max(whole.size) // LINES), ImageDraw.Draw(whole)
        for out, colour in ((2 * line, "#ffffff"), (line, COLOUR)):  # white around it: seen on any image
            corners = (max(0, left - out), max(0, top - out), right + out - 1, bottom + out - 1)
            inside = (min(corners[2], whole.width - 1), min(corners[3], whole.height - 1))
            if corners[0] <= inside[0] and corners[1] <= inside[1]:
                pen.rectangle((*corners[:2], *inside), outline=colour, width=line)
        return whole


def whole_files(dataset: str, params: Mapping[str, Any]) -> WholeFiles | None:
    """The whole files of a data set by the parameters of a recorded config.

    None if its images are no parts, or the files are in an archive.
    """
    place = params.get("folder") or (params.get("file") and Path(str(params["file"])).parent)
    numbers = params.get("box_numbers", "sizes")  # the default is not recorded
    if dataset != "csv" or not params.get("box") or not place or numbers not in get_args(Numbers):
        return None
    if Path(place).is_file():
        return None
    return WholeFiles(Path(place), numbers, bits_of(params))


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


def part_of(name: str, numbers: Numbers) -> tuple[str, Box]:
    """The file and the box of a part's name. Raises ValueError for a name that `part_name` does not give."""
    file, _, cells = name.rpartition("#")
    if not file or cells.count(",") != 3:
        raise ValueError(f"{name!r} does not name a box")
    return file, box_of(cells.split(","), numbers)
