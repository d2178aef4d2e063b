"""Pictures by sample id: small from the cache, large from the file, and never a picture of nothing."""

import os

import numpy as np
import pytest
from listeners import silent
from PIL import Image

from workbench.datasets.cache.keeping import keep
from workbench.datasets.cache.pixels import decoded
from workbench.datasets.pictures import LARGE, Pictures
from workbench.problem import Problem


@pytest.fixture
def photographs(tmp_path, build, draw):
    """Two photographs, decoded: (ids, cache file, files by id)."""
    for name, value in (("a/one two.png", 50), ("b/漢字.png", 150)):
        draw(tmp_path / "data" / name, value, size=(40, 20))
    kept, _, place = decoded(build("folder", folder=str(tmp_path / "data"), image_size=16), tmp_path / "cache", silent)
    ids = kept.sample_ids.tolist()
    return ids, place, dict(zip(ids, (kept.root / path for path in kept.paths), strict=True))


def test_small_and_large_are_the_same_picture(photographs):
    ids, place, originals = photographs
    pictures = Pictures({number: row for row, number in enumerate(ids)}, place, originals)
    for number, value in zip(ids, (50, 150), strict=True):
        assert pictures.thumbnail(number).shape == (16, 16, 3)
        assert pictures.full(number).shape == (20, 40, 3)
        assert (pictures.thumbnail(number) == value).all()
        assert (pictures.full(number) == value).all()
        assert pictures.path(number) == originals[number]
    assert pictures.thumbnail(ids[0]).flags.c_contiguous


def test_rows_are_found_by_id_and_not_by_order(photographs):
    ids, place, originals = photographs
    turned = Pictures({ids[1]: 1, ids[0]: 0}, place, originals)
    assert turned.thumbnail(ids[1]).mean() == 150
    with pytest.raises(KeyError):
        turned.thumbnail(12345)


def _zip(place):
    np.savez(place.with_suffix(".npz"), pixels=np.zeros((2, 16, 16, 3), np.uint8))
    place.with_suffix(".npz").replace(place)


def _wide(place):
    with place.open("wb") as file:
        header = {"descr": "|u1", "fortran_order": False, "shape": (2, 20_000, 20_000, 3)}
        np.lib.format.write_array_header_1_0(file, header)
        file.truncate(file.tell() + 2 * 20_000**2 * 3)  # takes no room on most disks


HARMS = {
    "a zip": _zip,
    "seven channels": lambda place: np.save(place, np.zeros((2, 16, 16, 7), np.uint8)),
    "no pixels": lambda place: np.save(place, np.zeros((2, 0, 0, 3), np.uint8)),
    "a picture of 1.2 GB": _wide,
    "a list without an end": lambda place: place.with_suffix(".json").write_text("[" * 100_000),
}


@pytest.mark.parametrize("harm", HARMS)
def test_a_cache_of_a_workspace_from_elsewhere_may_hold_anything(photographs, harm):
    ids, place, originals = photographs
    place.with_suffix(".json").unlink()  # with its hashes
    HARMS[harm](place)
    pictures = Pictures({number: row for row, number in enumerate(ids)}, place, originals)
    assert pictures.thumbnail(ids[1]).mean() == 150
    assert pictures.full(ids[1]).shape == (20, 40, 3)


def test_a_damaged_picture_of_a_cache_without_hashes_comes_from_the_file(tmp_path, build, photographs):
    _, _, originals = photographs
    image_set = build("folder", folder=str(tmp_path / "data"), image_size=16)
    kept, images, place = keep(image_set, tmp_path / "encoded", "encoded", False, silent)
    (start, end), ids = images.span(0), kept.sample_ids.tolist()
    place.with_suffix(".json").unlink()
    content = bytearray(place.read_bytes())
    content[start:end] = bytes(end - start)
    place.write_bytes(content)
    pictures = Pictures({number: row for row, number in enumerate(ids)}, place, originals)
    assert [pictures.thumbnail(number).mean() for number in ids] == pytest.approx([50, 150], abs=1)


@pytest.mark.parametrize("harm", ["gone", "cut", "another array", "unknown"])
def test_without_its_cache_a_thumbnail_comes_from_the_file(photographs, harm):
    ids, place, originals = photographs
    if harm == "gone":
        place.unlink()
    elif harm == "cut":
        place.write_bytes(place.read_bytes()[:-1])
    elif harm == "another array":
        np.save(place, np.zeros(3))
    pictures = Pictures(
        {number: row for row, number in enumerate(ids)}, None if harm == "unknown" else place, originals
    )
    assert pictures.thumbnail(ids[1]).mean() == 150


def test_without_the_file_the_large_picture_is_the_small_one_enlarged(photographs):
    ids, place, originals = photographs
    originals[ids[1]].unlink()
    pictures = Pictures({number: row for row, number in enumerate(ids)}, place, originals)
    found = pictures.full(ids[1])
    assert found.shape == (LARGE, LARGE, 3)
    assert found.mean() == 150


def test_nothing_is_never_shown_as_a_picture(photographs):
    ids, place, originals = photographs
    place.unlink()
    originals[ids[0]].write_bytes(b"")
    originals[ids[1]].unlink()
    pictures = Pictures({number: row for row, number in enumerate(ids)}, place, originals)
    with pytest.raises(Problem, match="is empty"):
        pictures.full(ids[0])
    for number in ids:
        with pytest.raises(Problem, match=originals[number].name):
            pictures.thumbnail(number)
    with pytest.raises(Problem, match="cache of decoded images is gone") as gone:
        Pictures({1: 0}, place, {}).thumbnail(1)
    assert "Duplicate with changes in the window" in gone.value.todo
    assert "`workbench data CONFIG`" in gone.value.todo


def test_grey_sets_in_one_file_give_three_channels(tmp_path, in_memory):
    kept, _, place = decoded(in_memory([0, 0]), tmp_path, silent)
    pictures = Pictures({number: row for row, number in enumerate(kept.sample_ids.tolist())}, place, {})
    number = int(kept.sample_ids[1])
    assert pictures.thumbnail(number).shape == (6, 6, 3)
    found = pictures.full(number)
    assert found.shape == (252, 252, 3)  # 42 times, pixel by pixel
    assert (found == 1).all()
    assert pictures.path(number) is None


def test_a_name_that_is_no_text_is_opened_all_the_same(tmp_path, build):
    folder = os.fsencode(tmp_path / "data") + b"/caf\xe9"
    try:
        os.makedirs(folder)
    except OSError:
        pytest.skip("this file system has only names that are text")
    for value in (30, 60):
        Image.new("RGB", (9, 9), (value,) * 3).save(os.fsdecode(folder + b"/%d.png" % value))
    kept, _, place = decoded(build("folder", folder=str(tmp_path / "data"), image_size=8), tmp_path / "cache", silent)
    assert kept.class_names == ["caf\\xe9"]
    assert kept.paths == ["caf\\xe9/30.png", "caf\\xe9/60.png"]
    ids = kept.sample_ids.tolist()
    pictures = Pictures({}, None, {number: kept.root / path for number, path in zip(ids, kept.paths, strict=True)})
    assert [pictures.full(number).mean() for number in ids] == [30, 60]
    assert place.is_file()
