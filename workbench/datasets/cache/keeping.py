"""How the images of a set are cached: as squares of pixels, or as JPEG with their aspect ratio."""

from pathlib import Path
from typing import Literal

import numpy as np

from workbench.datasets.cache.encoded_images import QUALITY, Encoded, EncodedImages
from workbench.datasets.cache.kept_images import kept_images
from workbench.datasets.cache.pixels import Squares
from workbench.datasets.image_set import ImageSet
from workbench.numerals import byte_size
from workbench.problem import Problem
from workbench.progress import Progress

LARGE = 32 << 30  # bytes of pixels, above which "auto" keeps JPEG
Wanted = Literal["auto", "pixels", "encoded"]


def keep(
    image_set: ImageSet, cache: Path, wanted: Wanted, whole: bool, progress: Progress, larger: int = 0
) -> tuple[ImageSet, np.ndarray | EncodedImages, Path]:
    """Every image of the set in the wanted form, decoded now or read from the cache; see `kept_images`.

    Args:
        wanted: "auto" keeps pixels, unless whole images are needed or the pixels take more than 32 GiB.
        whole: whether whole images are needed.
        larger: px; the short side that is kept of whole images at most, where it is above the set's image size.

    Raises:
        Problem: squares of pixels are wanted although whole images are needed, or as `kept_images`.
    """
    if whole and wanted == "pixels":
        raise Problem(
            "The augmentation takes crops of whole images, but only centre squares are kept.",
            kept="Nothing was started.",
            todo='Set "Keep images" to auto or encoded, or take crops of the square.',
        )
    form = form_of(len(image_set.paths), image_set.image_size, image_set.channels, wanted, whole, larger)
    return kept_images(image_set, cache, form, progress)


def form_of(count: int, size: int, channels: int, wanted: Wanted, whole: bool, larger: int = 0) -> Squares | Encoded:
    """How `keep` keeps this number of images of `size` px."""
    squares = Squares(size, channels)
    if wanted == "encoded" or whole or (wanted == "auto" and squares.room(count) > LARGE):
        return Encoded(size, channels, larger)
    return squares


def words_of(images: np.ndarray | EncodedImages) -> str:
    """How images are cached, in words for Preflight and the report."""
    if isinstance(images, EncodedImages):
        return f"whole JPEG of quality {QUALITY}, short side at most {images.side} px ({byte_size(images.nbytes)})"
    return f"centre squares of pixels ({byte_size(images.nbytes)})"
