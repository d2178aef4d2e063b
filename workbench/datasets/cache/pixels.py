"""Images stored as squares of uint8 in a memory map that training, map and browser share: for small sets."""

import io
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np

from workbench.datasets.cache.kept_images import kept_images
from workbench.datasets.cache.unfinished import Facts
from workbench.datasets.image_set import ImageSet
from workbench.datasets.images.loader import Picture, square
from workbench.progress import Progress


@dataclass(frozen=True, slots=True)
class Squares:
    """The .npy file of [n, S, S, C] uint8: the short side of each image to S px, then the centre."""

    size: int
    channels: int
    ending: str = ".npy"

    @property
    def name(self) -> str:
        """The part of the cache's file name that states size and channels."""
        return f"{self.size}x{self.channels}"

    @property
    def side(self) -> int:
        """The short side that is kept, px."""
        return self.size

    def room(self, count: int) -> int:
        """Bytes on disk of `count` images."""
        return count * self.size**2 * self.channels

    def head(self, count: int) -> bytes:
        """The header of the .npy file for `count` images."""
        head = io.BytesIO()
        shape = (count, self.size, self.size, self.channels)
        np.lib.format.write_array_header_1_0(head, {"descr": "|u1", "fortran_order": False, "shape": shape})
        return head.getvalue()

    def kept(self, image: Picture) -> tuple[bytes, Facts]:
        """The bytes that are stored for one image (height, width[, 3]) of uint8; it has no entry in an index."""
        return square(image, self.size, self.channels).tobytes(), ()

    def finish(self, file: BinaryIO, facts: np.ndarray) -> None:
        """Rewrites the header for the number of images that were stored."""
        file.seek(0)
        file.write(self.head(len(facts)))

    def opened(self, path: Path, count: int) -> np.ndarray:
        """The images of a finished file, memory-mapped: (count, size, size, channels) of uint8."""
        try:
            pixels: np.ndarray = np.load(path, mmap_mode="r", allow_pickle=False)
        except ValueError:
            raise ValueError("it cannot be read") from None
        if pixels.dtype != np.uint8 or pixels.shape != (count, self.size, self.size, self.channels):
            raise ValueError(f"it holds {pixels.dtype} {list(pixels.shape)}")
        return pixels


def decoded(image_set: ImageSet, cache: Path, progress: Progress) -> tuple[ImageSet, np.ndarray, Path]:
    """Every image of the set as a square of uint8, decoded now or read from the cache; see `kept_images`.

    Returns:
        The set without the images that cannot be read, their pixels as a read-only memory map [n, S, S, C], and the
        file.
    """
    return kept_images(image_set, cache, Squares(image_set.image_size, image_set.channels), progress)
