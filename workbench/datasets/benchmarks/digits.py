"""scikit-learn's digits: real images that come with the program."""

from importlib.util import find_spec
from pathlib import Path

import numpy as np

from workbench.datasets.image_set import ImageSet
from workbench.params import Params, param
from workbench.problem import Problem
from workbench.progress import Progress
from workbench.registry import register

TABLE = ("datasets", "data", "digits.csv.gz")  # in scikit-learn's folder


class DigitsParams(Params):
    """Parameters of the digits of scikit-learn: the side of the images."""

    image_size: int = param(
        16, ge=8, le=64, label="Image size", unit="px", help="Side of the images; the originals have 8."
    )


@register(
    "dataset", "digits", title="Digits", params=DigitsParams, source="scikit-learn, load_digits (UCI 1998)",
    may_be_mirrored=False,
)  # fmt: skip
def digits(params: DigitsParams, *, progress: Progress) -> ImageSet:
    """1,797 handwritten digits of 8 x 8 pixels, which come with scikit-learn: nothing to download."""
    progress("Reading Digits", 0, 1)
    table = np.loadtxt(_table(), delimiter=",", dtype=np.uint8)  # [1797, 65]: pixels of 0..16, then the digit
    images = np.round(table[:, :-1].reshape(-1, 8, 8) * (255 / 16)).astype(np.uint8)
    labels = table[:, -1].astype(np.int64)
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


def _table() -> Path:
    """scikit-learn's file, found without importing scikit-learn, which takes over a second."""
    library = find_spec("sklearn")
    table = Path(library.origin).parent.joinpath(*TABLE) if library is not None and library.origin else None
    if table is None or not table.is_file():
        raise Problem(
            "The file of Digits, which comes with scikit-learn, is not there.", kept="Nothing was started.",
            todo="Install scikit-learn again, or choose other data.",
        )  # fmt: skip
    return table
