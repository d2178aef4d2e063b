"""Reading the images of a set that are records of a few large files."""

import io
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from workbench.datasets.images.loader import MOST_BYTES, BadImage, decode


@dataclass(frozen=True, slots=True)
class PackedImages:
    """What an image set reads its images by, if they are records.

    Args:
        encoded: the bytes of a row of the files; raises BadImage.
        rows: [n] int64, the row of each image.
        channels: 1 or 3.
        size: px, of the squares that are made of the images.
        bits: that 16-bit grey images use, as for `loader.load`.
    """

    encoded: Callable[[int], bytes]
    rows: np.ndarray
    channels: int
    size: int
    bits: int

    def at_least(self, side: int) -> "PackedImages":
        """The same images, of which so many px are wanted."""
        return self if side <= self.size else replace(self, size=side)

    def __call__(self, index: int) -> np.ndarray:
        """One image. Raises BadImage."""
        content = self.encoded(int(self.rows[index]))
        if not content:
            raise BadImage("is empty (0 bytes)")
        if len(content) > MOST_BYTES:
            raise BadImage(f"is over {MOST_BYTES >> 20} MiB")
        return decode(io.BytesIO(content), self.channels, self.size, self.bits)
