"""A data set is listed once for several runs, and again when its files came or went."""

import os

import pytest
from PIL import Image

from tests.unit.class_folders import draw_classes
from workbench import files
from workbench.config import Choice, RunConfig
from workbench.datasets.cache.keeping import keep
from workbench.datasets.images.scan import find_images
from workbench.datasets.own import folder
from workbench.progress import quiet
from workbench.running.building import list_images
from workbench.running.listed import Listed


@pytest.fixture
def place(tmp_path):
    draw_classes(tmp_path / "images", "ant", "bee/wild", count=3)
    for inside in (".", "ant", "bee", "bee/wild"):
        os.utime(tmp_path / "images" / inside, ns=(1, 1))  # a clock that ticks slowly would hide a change
    return tmp_path / "images"


@pytest.fixture
def of_run(place, monkeypatch):
    """of_run() is the set that the next run gets; of_run.times is how often it was listed."""
    listed = Listed()

    def counted(*words):
        images.times += 1
        return find_images(*words)

    def images(**fields):
        config = RunConfig(dataset=Choice(name="folder", params={"folder": str(place), "image_size": 8, **fields}))
        return list_images(config, quiet, listed)

    images.times = 0
    monkeypatch.setattr(folder, "find_images", counted)
    return images


def test_a_set_is_listed_once_while_its_folders_stay_as_they_are(of_run):
    first = of_run()
    assert of_run() is first
    assert of_run.times == 1


def test_other_parameters_ask_for_another_list(of_run):
    of_run()
    assert of_run(levels=2).class_names == ["bee/wild"]
    assert of_run.times == 2


@pytest.mark.parametrize("change", ["another", "gone", "renamed", "class", "replaced"])
def test_files_that_came_or_went_are_noticed(of_run, place, change):
    before = of_run().fingerprint
    image = place / "bee" / "wild" / "1.png"
    if change == "another":
        (image.parent / "9.png").write_bytes(image.read_bytes())
    elif change == "gone":
        image.unlink()
    elif change == "renamed":
        image.rename(image.with_name("7.png"))
    elif change == "class":
        (place / "cat").mkdir()
        (place / "cat" / "1.png").write_bytes(image.read_bytes())
    else:
        with files.atomic_write(image) as file:
            file.write(image.read_bytes() + b"more")
    assert of_run().fingerprint != before
    assert of_run.times == 2


def test_an_image_that_is_written_in_place_is_used_as_it_was_decoded_before(of_run, place, tmp_path):
    _, pixels, cache = keep(of_run(), tmp_path / "cache", "pixels", False, quiet)
    before = pixels[0].copy()
    with open(place / "ant" / "0.png", "r+b") as file:
        Image.new("RGB", (40, 40), (0, 200, 0)).save(file, "PNG")
        file.truncate()
    os.utime(place / "ant" / "0.png", ns=(1, 1))
    _, pixels, _ = keep(of_run(), tmp_path / "cache", "pixels", False, quiet)
    assert (pixels[0] == before).all()
    assert of_run.times == 1
    cache.unlink()  # what is decoded anew is stored as what it is
    images, pixels, now = keep(of_run(), tmp_path / "cache", "pixels", False, quiet)
    assert now != cache
    assert (pixels[0] != before).any()
    assert images.stamp != of_run().stamp
    assert now.stem.endswith(images.stamp)
