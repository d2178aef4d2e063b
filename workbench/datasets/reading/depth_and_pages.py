"""What some files of a set say of all: which of 16 bits they use, and whether they have pages that are not read.

With all 16 bits, an image of 12 is nearly black, and of a stack of microscope images only the first is in the set.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

import numpy as np
from PIL import Image

from workbench.datasets.images.loader import MOST_PIXELS, WHOLE, BadImage, on_disk
from workbench.datasets.images.scan import Problems

LOOKED_AT = 16  # files, evenly spread
FORMATS = ("PNG", "TIFF")  # PGM states its own highest value, by which Pillow scales it
ENDINGS = (".png", ".tif", ".tiff")
USUAL = (8, 10, 12, 14)  # bits of cameras and detectors
DARK = 63  # of 255: the highest value of colour images that use 14 of 16 bits


@dataclass(frozen=True, slots=True)
class Seen:
    """One file.

    Args:
        grey: its highest value if it is grey and has 16 bits; else None.
        colour: its highest value, of 255, if it has 16 bits and colours or transparency, of which Pillow reads the
            upper 8; else None.
        pages: how many it has; GIF and WebP are not looked at: they are animations, and begin with a whole image.
    """

    grey: int | None
    colour: int | None
    pages: int


def remarks_on_files(root: Path, paths: Sequence[str], bits: int) -> Problems:
    """(subject, remark) on some of the files; `paths` are below the root, `bits` those of 16-bit grey files."""

    def look(row: int) -> Seen | None:
        return seen(on_disk(root, paths[row])) if paths[row].lower().endswith(ENDINGS) else None

    rows = np.unique(np.linspace(0, len(paths) - 1, LOOKED_AT).astype(int)) if paths else np.empty(0, int)
    return _remarks(map(look, rows.tolist()), bits)


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
            pages = int(getattr(image, "n_frames", 1)) if image.format == "TIFF" else 1
            image.seek(0)
            if image.mode.startswith("I;16"):
                return Seen(int(np.asarray(image).max()), None, pages)
            wide = any(";16" in str(tile.args) for tile in image.tile)
            return Seen(None, int(np.asarray(image.convert("RGB")).max()) if wide else None, pages)
    except Exception:  # noqa: BLE001 - Pillow raises many; whoever decodes the file says why it is left out
        return None


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
        said = f"have several pages, {max(stacks)} at most in {_looked_at(stacks)}"
        remarks.append(("TIFF files", f"{said}: only the first page of each is read"))
    return remarks


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


def _looked_at(values: list[int]) -> str:
    return "the one that was looked at" if len(values) == 1 else f"{len(values)} that were looked at"
