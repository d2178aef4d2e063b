"""What some files of a set say of all: which of 16 bits they use, pages that are not read, and how long they are.

With all 16 bits, an image of 12 is nearly black; of a stack of microscope images only the first is in the set, and of a
panorama only the square in its middle is seen.
"""

from collections.abc import Callable, Iterable, Sequence, Sized
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

import numpy as np
from PIL import Image

from workbench.datasets.images import loader
from workbench.datasets.images.loader import MOST_PIXELS, WHOLE, BadImage, on_disk
from workbench.datasets.images.scan import Problems
from workbench.numerals import percentage

LOOKED_AT = 16  # files, evenly spread
FORMATS = ("PNG", "TIFF")  # PGM states its own highest value, by which Pillow scales it
ENDINGS = (".png", ".tif", ".tiff")
USUAL = (8, 10, 12, 14)  # bits of cameras and detectors
MOST_PAGES = 1_000  # that are counted
LONG = 4  # times as long as wide: the centre square is a quarter of the image, or less
DARK = 63  # of 255: the highest value of colour images that use 14 of 16 bits


@dataclass(frozen=True, slots=True)
class Seen:
    """One file.

    Args:
        grey: its highest value if it is grey and has 16 bits; else None.
        colour: its highest value, of 255, if it has 16 bits and colours or transparency, of which Pillow reads the
            upper 8; else None.
        pages: how many it has, MOST_PAGES at most; GIF and WebP are not looked at: they are animations, and begin with
            a whole image.
    """

    grey: int | None
    colour: int | None
    pages: int


def remarks_on_files(root: Path, paths: Sequence[str], bits: int) -> Problems:
    """(subject, remark) on some of the files; `paths` are below the root, `bits` those of 16-bit grey files."""

    def look(row: int) -> Seen | None:
        return seen(on_disk(root, paths[row])) if paths[row].lower().endswith(ENDINGS) else None

    rows = np.unique(np.linspace(0, len(paths) - 1, LOOKED_AT).astype(int)) if paths else np.empty(0, int)
    return _remarks(map(look, rows.tolist()), bits) + _on_long([on_disk(root, paths[row]) for row in rows.tolist()])


def remarks_on_records(rows: np.ndarray, encoded: Callable[[int], bytes], bits: int) -> Problems:
    """The same for the first of the rows [n] int64 that are packed in large files, of which few should be opened."""

    def look(row: int) -> Seen | None:
        try:
            return seen(BytesIO(encoded(row)))
        except BadImage:
            return None

    return _remarks(map(look, np.sort(rows)[:LOOKED_AT].tolist()), bits)


def bits_said(bits: int) -> str:
    """Part of what identifies the pixels of a set; empty where all 16 bits are used."""
    return "" if bits == WHOLE else f"{bits} of 16 bits"


def seen(file: str | BytesIO) -> Seen | None:
    """What a file of FORMATS holds; None for any other, and one that cannot be read."""
    try:
        with Image.open(file, formats=FORMATS) as image:
            if image.width * image.height > MOST_PIXELS:
                return None
            pages = _pages(image) if image.format == "TIFF" else 1
            image.seek(0)
            if image.mode.startswith("I;16"):
                return Seen(int(np.asarray(image).max()), None, pages)
            wide = any(";16" in str(tile.args) for tile in image.tile)
            return Seen(None, int(np.asarray(image.convert("RGB")).max()) if wide else None, pages)
    except Exception:  # noqa: BLE001 - Pillow raises many; whoever decodes the file says why it is left out
        return None


def _pages(image: Image.Image) -> int:
    """How many pages a TIFF has, MOST_PAGES at most: Pillow needs two minutes for 80,000 in a file of 9 MB."""
    for page in range(1, MOST_PAGES):  # one by one: behind a leap Pillow counts wrong
        try:
            image.seek(page)
        except EOFError:
            return page
    return MOST_PAGES


def _remarks(files: Iterable[Seen | None], bits: int) -> Problems:
    there = [file for file in files if file is not None]
    grey = [file.grey for file in there if file.grey is not None]
    colour = [file.colour for file in there if file.colour is not None]
    stacks = [file.pages for file in there if file.pages > 1]
    remarks = _on_grey(grey, bits) if grey else []
    if colour and max(colour) <= DARK:
        said = f"are read by their upper 8 bits, are dark (no value above {max(colour)} of 255 in {_looked_at(colour)})"
        remarks.append(("16-bit colour images", f"{said}: save them with 8 bits"))
    if stacks:
        most = f"{MOST_PAGES:,} or more" if max(stacks) == MOST_PAGES else f"{max(stacks)} at most"
        said = f"have several pages, {most} in {_looked_at(stacks)}"
        remarks.append(("TIFF files", f"{said}: only the first page of each is read"))
    return remarks


def _on_long(files: list[str]) -> Problems:
    """A remark on images of which half or more are LONG; they are opened, and not decoded."""
    ratios = []
    for file in files:
        try:
            with Image.open(file, formats=loader.FORMATS) as image:
                ratios.append(max(image.size) / max(1, min(image.size)))
        except (OSError, ValueError):  # whoever decodes the file says why it is left out
            continue
    middle = float(np.median(ratios)) if ratios else 1.0
    if middle < LONG:
        return []
    said = f"are {middle:.0f} times as long as wide in {_looked_at(ratios)}: their centre square is "
    said += f"{percentage(1 / middle, 0)} of each. Take crops of whole images (augmentation.crops_of, "
    return [("the images", f"{said}augmentation.evaluated), or cut them into pieces first")]


def _on_grey(highest: list[int], bits: int) -> Problems:
    top, many = max(highest), _looked_at(highest)
    if bits < WHOLE:
        white = (1 << bits) - 1
        above = f"; the highest in {many} is {top:,}" if top > white else ""
        return [("16-bit images", f"are read as {bits} bits: {white:,} and above is white{above}")]
    fitting = next((usual for usual in USUAL if top < 1 << usual), None)
    if fitting is None:
        return []
    said = f"have no value above {top:,} in {many}, and are dark: set Bits of 16-bit files to {fitting}"
    return [("16-bit images", said)]


def _looked_at(values: Sized) -> str:
    return "the one that was looked at" if len(values) == 1 else f"{len(values)} that were looked at"
