"""Images in the cards of a report: small ones enlarged without blur or distortion, large ones made smaller."""

from io import BytesIO

import numpy as np
import pytest
from PIL import Image

from workbench.reports.formats.thumbnails import thumbnail


def opened(image: np.ndarray) -> tuple[Image.Image, str]:
    """The file that a card holds, and its kind."""
    data, kind = thumbnail(image)
    return Image.open(BytesIO(data)), kind


@pytest.mark.parametrize(("height", "width", "times"), [(8, 8, 8), (28, 28, 3), (20, 40, 2)])
def test_a_small_image_is_enlarged_by_a_whole_factor(height, width, times):
    image = np.random.default_rng(0).integers(0, 256, (height, width, 3), np.uint8)
    shown, kind = opened(image)
    assert kind == "png"
    assert np.array_equal(np.asarray(shown), image.repeat(times, axis=0).repeat(times, axis=1))


@pytest.mark.parametrize(("height", "width", "size"), [(120, 40, (40, 120)), (300, 600, (256, 128))])
def test_another_image_keeps_its_aspect(height, width, size):
    shown, kind = opened(np.zeros((height, width, 3), np.uint8))
    assert (shown.size, kind) == (size, "jpeg")
