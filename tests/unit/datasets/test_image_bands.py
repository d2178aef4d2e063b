"""Large images are converted some lines at a time: to the same pixels."""

import numpy as np
import pytest
from PIL import Image

from workbench.datasets.images import loader as images


@pytest.mark.parametrize(
    ("mode", "ending"), [("RGBA", "png"), ("LA", "png"), ("P", "gif"), ("I;16", "png"), ("CMYK", "tif")]
)
@pytest.mark.parametrize("channels", [1, 3])
def test_bands_are_the_whole(tmp_path, monkeypatch, mode, ending, channels):
    noise = np.random.default_rng(0).integers(0, 256, (13, 7, 4), dtype=np.uint8)
    drawn = Image.fromarray(noise, "RGBA")
    if mode == "I;16":
        Image.fromarray(noise[..., 0].astype(np.uint16) * 200).save(tmp_path / "a.png")
    else:
        drawn.convert(mode).save(tmp_path / f"a.{ending}")
    whole = images.load(tmp_path / f"a.{ending}", channels)
    monkeypatch.setattr(images, "BAND", 3 * 7)
    assert (images.load(tmp_path / f"a.{ending}", channels) == whole).all()
