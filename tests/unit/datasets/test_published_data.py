"""Data sets as published, read whole; and Digits, which comes with the program."""

import subprocess
import sys
from dataclasses import replace
from hashlib import md5

import numpy as np
import pytest
from listeners import silent

from workbench.datasets.cache.pixels import decoded


def test_digits_come_with_the_program(tmp_path, build):
    kept, pixels, _ = decoded(build("digits"), tmp_path, silent)
    assert pixels.shape == (1797, 16, 16, 1)
    assert kept.class_names == list("0123456789")
    assert np.bincount(kept.labels).tolist() == [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]
    assert (int(pixels.min()), int(pixels.max())) == (0, 255)
    means = np.stack([pixels[kept.labels == label].mean(0).ravel() for label in range(10)])
    nearest = ((pixels.reshape(1797, 1, -1) - means) ** 2).sum(2).argmin(1)
    assert (nearest == kept.labels).mean() > 0.85  # the pictures are those of their labels


def test_mnist_has_its_official_halves(real_data, build):
    found = build("mnist", folder=str(real_data / "mnist"))
    assert (found.official.count("train"), found.official.count("test")) == (60_000, 10_000)
    assert np.bincount(found.labels[60_000:]).tolist() == [980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009]
    tests = np.stack([found.read(row) for row in range(60_000, 70_000)])
    header = bytes.fromhex("00000803 00002710 0000001c 0000001c")
    assert md5(header + tests.tobytes()).hexdigest() == "2646ac647ad5339dbf082846283269ea"  # as published


def test_omniglot_small1_is_read_from_its_zip(real_data, build, tmp_path):
    found = build("omniglot", place=str(real_data / "omniglot" / "images_background_small1.zip"))
    assert (len(found.paths), len(found.class_names)) == (2720, 136)
    assert set(np.bincount(found.labels)) == {20}
    assert found.read(0).shape == (105, 105)
    kept, pixels, _ = decoded(found, tmp_path, silent)
    assert kept.problems == []
    assert 0.75 < pixels.mean() / 255 < 0.99  # dark strokes on white


@pytest.mark.slow
def test_caltech_is_decoded_once(real_data, build, tmp_path):
    found = build("folder", folder=str(real_data / "caltech101"), image_size=128)
    assert (len(found.paths), len(found.class_names)) == (3030, 101)
    assert set(np.bincount(found.labels)) == {30}
    kept, pixels, _ = decoded(found, tmp_path, silent)
    assert pixels.shape == (3030, 128, 128, 3)
    assert kept.problems == []
    unread = replace(found, read=lambda row: pytest.fail("the cache was not used"))
    assert np.array_equal(decoded(unread, tmp_path, silent)[1], pixels)


def test_nothing_heavy_is_imported_before_it_is_needed():
    code = (
        "import sys, workbench.datasets.pictures, workbench.datasets.cache.pixels, workbench.files; print(*sys.modules)"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"torch", "sklearn", "scipy", "matplotlib"} & set(found)
    assert "workbench.datasets.pictures" in found
