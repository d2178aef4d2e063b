"""scikit-learn's digits: real images that come with the program."""

import numpy as np

from workbench.datasets.image_set import ImageSet
from workbench.params import Params, param
from workbench.progress import Progress
from workbench.registry import register


class DigitsParams(Params):
    """Parameters of the digits of scikit-learn: the side of the images."""

    image_size: int = param(
        16, ge=8, le=64, label="Image size", unit="px", help="Side of the images; the originals have 8."
    )


@register("dataset", "digits", title="Digits", params=DigitsParams, source="scikit-learn, load_digits (UCI 1998)")
def digits(params: DigitsParams, *, progress: Progress) -> ImageSet:
    """1,797 handwritten digits of 8 x 8 pixels, which come with scikit-learn: nothing to download."""
    from sklearn.datasets import load_digits

    progress("Reading Digits", 0, 1)
    data = load_digits()
    images = np.round(data.images * (255 / 16)).astype(np.uint8)  # [1797, 8, 8], values 0..16 as published
    return ImageSet(
        name="digits",
        root=None,
        paths=[f"digits/{label}/{row:04}.png" for row, label in enumerate(data.target)],
        labels=data.target.astype(np.int64),
        class_names=[str(digit) for digit in range(10)],
        channels=1,
        image_size=params.image_size,
        read=lambda index: images[index],
    )
