"""Small data sets drawn for these tests."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from listeners import silent
from PIL import Image

from workbench import registry
from workbench.datasets.image_set import ImageSet

registry.discover("workbench.datasets")


@pytest.fixture
def build() -> Callable[..., ImageSet]:
    """build("folder", folder=...) is what the form and the trainer do."""

    def made(name: str, progress: Callable[[str, int, int], None] = silent, **fields: object) -> ImageSet:
        entry = registry.entry("dataset", name)
        found: ImageSet = entry.build(entry.params(**fields), progress=progress)
        return found

    return made


@pytest.fixture
def draw() -> Callable[..., Path]:
    """draw(path, value) writes a picture of one grey value, making its folders."""

    def drawn(path: Path, value: int = 100, size: tuple[int, int] = (12, 9)) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", size, (value, value, value)).save(path)
        return path

    return drawn


@pytest.fixture
def in_memory() -> Callable[..., ImageSet]:
    """A set of grey 6 x 6 images; image i has the value i modulo 256."""

    def made(labels: list[int], size: int = 6, **fields: object) -> ImageSet:
        numbers = np.array(labels, np.int64)
        values = {
            "name": "made", "root": None, "paths": [f"{label}/{row:03}.png" for row, label in enumerate(labels)],
            "labels": numbers, "class_names": [f"c{label}" for label in range(max(labels, default=0) + 1)],
            "channels": 1, "image_size": size, "read": lambda row: np.full((6, 6), row % 256, np.uint8),
        }  # fmt: skip
        return ImageSet(**{**values, **fields})

    return made
