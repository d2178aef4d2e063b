"""scikit-learn's digits: real images that come with the program."""

from importlib.util import find_spec
from pathlib import Path

import numpy as np

from workbench.datasets.image_set import ImageSet
from workbench.params import Params, param
from workbench.progress import Progress
from workbench.registry import register

PLACE = ("datasets", "data", "digits.csv.gz")  # inside scikit-learn


class DigitsParams(Params):
    """Parameters of the digits of scikit-learn: the side of the images."""

    image_size: int = param(
        16, ge=8, le=64, label="Image size", unit="px", help="Side of the images; the originals have 8."
    )


@register("dataset", "digits", title="Digits", params=DigitsParams, source="scikit-learn, load_digits (UCI 1998)")
def digits(params: DigitsParams, *, progress: Progress) -> ImageSet:
    """1,797 handwritten digits of 8 x 8 pixels, which come with scikit-learn: nothing to download."""
    progress("Reading Digits", 0, 1)
    rows = _rows()
    images = np.round(rows[:, :-1].reshape(-1, 8, 8) * (255 / 16)).astype(np.uint8)  # values 0..16 as published
    labels = rows[:, -1].astype(np.int64)
    return ImageSet(
        name="digits",
        root=None,
        paths=[f"digits/{label}/{row:04}.png" for row, label in enumerate(labels)],
        labels=labels,
        class_names=[str(digit) for digit in range(10)],
        channels=1,
        image_size=params.image_size,
        read=lambda index: images[index],
    )


def _rows() -> np.ndarray:
    """Of each image 64 pixels in 0..16 and its digit: [1797, 65]. The file itself: to import scikit-learn takes 1 s."""
    spec = find_spec("sklearn")
    for folder in (spec and spec.submodule_search_locations) or ():
        if (file := Path(folder, *PLACE)).is_file():
            return np.loadtxt(file, delimiter=",")
    from sklearn.datasets import load_digits  # a release that keeps them elsewhere

    data = load_digits()
    return np.column_stack([data.data, data.target])
