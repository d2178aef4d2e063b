"""Which of their 16 bits grey files use, as seen in some of them: with all 16, an image of 12 bits is nearly black."""

from collections.abc import Callable, Iterable, Sequence
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


def bits_of_files(root: Path, paths: Sequence[str], bits: int) -> Problems:
    """(subject, remark) on the 16-bit grey files among some; none for other files. `paths` are below the root."""

    def highest_of(row: int) -> int | None:
        path = paths[row]
        return highest_value(on_disk(root, path)) if path.lower().endswith(ENDINGS) else None

    rows = np.unique(np.linspace(0, len(paths) - 1, LOOKED_AT).astype(int)) if paths else np.empty(0, int)
    return _remarks(map(highest_of, rows.tolist()), bits)


def bits_of_records(count: int, encoded: Callable[[int], bytes], bits: int) -> Problems:
    """The same for the first of `count` images that are packed in large files, of which few should be opened."""

    def highest_of(row: int) -> int | None:
        try:
            return highest_value(BytesIO(encoded(row)))
        except BadImage:
            return None

    return _remarks(map(highest_of, range(min(count, LOOKED_AT))), bits)


def bits_said(bits: int) -> str:
    """Part of what identifies the pixels of a set; empty where all 16 bits are used."""
    return "" if bits == WHOLE else f"{bits} of 16 bits"


def highest_value(file: str | BytesIO) -> int | None:
    """The highest value of a 16-bit grey file; None for any other, and one that cannot be read."""
    try:
        with Image.open(file, formats=FORMATS) as image:
            if not image.mode.startswith("I;16") or image.width * image.height > MOST_PIXELS:
                return None
            return int(np.asarray(image).max())
    except Exception:  # noqa: BLE001 - Pillow raises many; whoever decodes the file says why it is left out
        return None


def _remarks(values: Iterable[int | None], bits: int) -> Problems:
    highest = [value for value in values if value is not None]
    if not highest:
        return []
    top = max(highest)
    many = "the one that was looked at" if len(highest) == 1 else f"{len(highest)} that were looked at"
    if bits < WHOLE:
        white = (1 << bits) - 1
        above = f"; the highest in {many} is {top:,}" if top > white else ""
        return [("16-bit images", f"are read as {bits} bits: {white:,} and above is white{above}")]
    fitting = next((usual for usual in USUAL if top < 1 << usual), None)
    if fitting is None:
        return []
    said = f"have no value above {top:,} in {many}, and are dark: set Bits of 16-bit files to {fitting}"
    return [("16-bit images", said)]
