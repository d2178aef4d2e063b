"""The image size with which a network gets the images that it takes."""

import contextlib
from collections.abc import Iterator
from typing import Any

from workbench.problem import Problem

FIELD = "dataset.image_size"


@contextlib.contextmanager
def naming_an_image_size(augmentation: Any) -> Iterator[None]:
    """Where a network refuses images and names the side that it takes, name the image size whose crop has that side.

    Args:
        augmentation: of the run. The side of its crops is a share of the image size: 224 px are cut out of 256.

    Raises:
        Problem: the one that was raised in the block, with that image size as what fits.
    """
    try:
        yield
    except Problem as problem:
        crop, side = getattr(augmentation, "side", None), problem.fits
        if problem.field != FIELD or not isinstance(side, int) or crop is None:
            raise
        size = next((size for size in range(side, 16 * side) if crop(size) == side), None)
        if size in (None, side):
            raise
        todo = f"Set Image size to {size}: the crop of the augmentation then has {side} px."
        raise Problem(problem.what, kept=problem.kept, todo=todo, field=FIELD, fits=size) from None
