"""A folder of made-up images with a folder for each class."""

from collections.abc import Iterable
from pathlib import Path

import numpy as np
from PIL import Image


def class_folders(folder: Path, classes: Iterable[str], each: int, shape: tuple[int, ...]) -> Path:
    """Write `each` images of random pixels for every class, "0.png" and so on; returns the folder.

    Args:
        shape: of an image, (height, width) for grey or (height, width, 3).
    """
    rng = np.random.default_rng(0)
    for name in classes:
        (folder / name).mkdir(parents=True)
        for row in range(each):
            Image.fromarray(rng.integers(0, 256, shape, dtype=np.uint8)).save(folder / name / f"{row}.png")
    return folder
