"""The steps that a deployed network is given with are those that the run's own images went through."""

import numpy as np
import pytest
import torch
from PIL import Image

from workbench.datasets.cache.keeping import form_of, keep
from workbench.datasets.image_set import ImageSet
from workbench.datasets.images.loader import picture, stretched
from workbench.datasets.prepared import Prepared
from workbench.progress import quiet
from workbench.training.feed import Feed

SIZE = 24


@pytest.fixture(scope="module")
def photographs(tmp_path_factory):
    """Three files: a JPEG large enough to be decoded at an eighth, one that EXIF turns, and a small one."""
    folder = tmp_path_factory.mktemp("photographs")
    draw = np.random.default_rng(0)
    for name, (width, height), turn in (("large", (420, 510), 1), ("turned", (240, 90), 6), ("small", (20, 31), 1)):
        coarse = draw.integers(0, 256, (height // 5, width // 5, 3), dtype=np.uint8)
        exif = Image.Exif()
        exif[0x0112] = turn
        Image.fromarray(coarse).resize((width, height)).save(folder / f"{name}.jpg", quality=95, exif=exif)
    return folder


KINDS = [("pixels", False, False), ("encoded", False, False), ("encoded", False, True)]  # kept, stretched, squeezed
STRETCHED = [(3, "pixels", True, False), (3, "encoded", True, True)]  # by data sets in colour
LARGER = 70  # px that are kept of an image for some: more than are decoded for squares of SIZE


@pytest.mark.parametrize(
    ("channels", "wanted", "fit", "squeezed", "kept_side"),
    [(channels, *kind, SIZE) for channels in (1, 3) for kind in KINDS]
    + [(*kind, SIZE) for kind in STRETCHED]
    + [(3, *kind, LARGER) for kind in KINDS[1:]],
)
def test_every_step_is_that_of_the_run(photographs, tmp_path, monkeypatch, channels, wanted, fit, squeezed, kept_side):
    paths = sorted(path.name for path in photographs.iterdir())

    def read(row):
        image = picture(photographs / paths[row], channels, kept_side)
        return stretched(image, SIZE) if fit else image

    images = ImageSet("photographs", photographs, paths, np.zeros(3, np.int64), ["a"], channels, SIZE, read)
    _, kept, _ = keep(images, tmp_path / "cache", wanted, squeezed, quiet, kept_side)
    side = 21 if squeezed else SIZE
    feed = Feed(kept, np.arange(3), np.zeros(3), torch.device("cpu"), side if squeezed else 0, threads=1)
    given = (feed.images(np.arange(3)) * 255).round().byte().permute(0, 2, 3, 1).numpy()

    prepared = Prepared(side, kept_side, channels, stretched=fit, encoded=wanted == "encoded", squeezed=squeezed)
    monkeypatch.chdir(tmp_path)
    for row, name in enumerate(paths):
        np.testing.assert_array_equal(prepared.square(prepared.read(photographs / name)), given[row])
        (tmp_path / "image.png").write_bytes((photographs / name).read_bytes())
        names = {}
        exec("import io\nfrom PIL import Image, ImageOps\n" + prepared.code, names)
        np.testing.assert_array_equal(np.asarray(names["image"]).reshape(side, side, channels), given[row])


def test_what_is_kept_of_images_is_decided_by_their_number():
    assert form_of(1000, 256, 3, "auto", whole=False).ending == ".npy"
    assert form_of(1_000_000, 256, 3, "auto", whole=False).ending == ".jpegs"
    assert form_of(10, 256, 3, "auto", whole=True).ending == ".jpegs"


def test_the_steps_are_said_in_the_order_in_which_they_are_done():
    words = Prepared(21, SIZE, 3, encoded=True, squeezed=True).words
    assert "draft(None, (48, 48))" in words[0]
    assert "keep the aspect" in words[2]
    assert "JPEG of quality 90" in words[3]
    assert "21 x 21 pixels, whatever its aspect (bilinear)" in words[4]
