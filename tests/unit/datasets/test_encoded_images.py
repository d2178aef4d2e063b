"""Images kept as JPEG with their whole aspect stand for the same samples as those kept as pixels."""

import os
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from listeners import silent
from PIL import Image

from workbench.control import Cancelled
from workbench.datasets.cache import keeping, unfinished
from workbench.datasets.cache.encoded_images import Encoded, EncodedImages
from workbench.datasets.cache.keeping import keep, words_of
from workbench.datasets.images.loader import BadImage
from workbench.datasets.images.packed_images import PackedImages
from workbench.datasets.inspection import copies
from workbench.datasets.pictures import Pictures
from workbench.problem import Problem

FORMS = ["pixels", "encoded"]
HEAD_OF_BEFORE = b"Workbench images 1 32 3 ".ljust(63) + b"\n"


@pytest.fixture
def photographs(tmp_path, build):
    """Smooth pictures of several aspects, one unreadable, as a folder of classes."""
    x, y = np.meshgrid(np.linspace(0, 3, 90), np.linspace(0, 2, 90))
    for row, (high, wide) in enumerate([(60, 90), (90, 40), (30, 30), (50, 50), (20, 80)]):
        values = np.stack([np.sin(x + row), np.cos(y - row), np.sin(x * y)], 2)[:high, :wide]
        place = tmp_path / "data" / f"class {row % 2}" / f"{row}.png"
        place.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(((values + 1) * 127).astype(np.uint8)).save(place)
    (tmp_path / "data" / "class 0" / "bad.png").write_bytes(b"no picture")
    return build("folder", folder=str(tmp_path / "data"), image_size=32)


@pytest.fixture
def slow(in_memory):
    """A set that counts how often it is read, each row by its own value; rows from `stop_at` on ask to give up."""
    reads = []

    def read(row):
        reads.append(row)
        if row == 3:
            raise BadImage("is bad")
        return np.full((6, 6), row % 256, np.uint8)

    return in_memory([0] * 300, read=read), reads


@pytest.fixture
def noted_often(monkeypatch):
    """After some images of 6 px, not after 4 MiB."""
    monkeypatch.setattr(unfinished, "NOTED", 1000)


def give_up_after(rows):
    def tell(text, done, total):
        if text == "Decoding images" and done >= rows:
            raise Cancelled

    return tell


def test_samples_problems_and_pictures_are_those_of_pixels(tmp_path, photographs):
    (one, pixels, place), (other, encoded, where) = (
        keep(photographs, tmp_path / "cache", wanted, False, silent) for wanted in FORMS
    )
    assert one.paths == other.paths
    assert one.sample_ids.tolist() == other.sample_ids.tolist()
    assert one.fingerprint == other.fingerprint
    assert one.problems == other.problems
    assert one.problems[0][0] == "class 0/bad.png"
    assert encoded.shape == pixels.shape
    assert encoded.sizes.tolist() == [[32, 48], [30, 30], [20, 80], [72, 32], [32, 32]]
    rows = np.array([4, 0])
    assert np.array_equal(encoded[rows], np.stack([encoded[4], encoded[0]]))
    for row in range(len(one.paths)):
        difference = np.abs(encoded[row].astype(int) - pixels[row]).mean()
        assert difference < 6, "of 255: JPEG, and the square cut out after the image is made smaller"
    shown = [Pictures({7: 0}, cache, {}).thumbnail(7) for cache in (place, where)]
    assert np.abs(shown[0].astype(int) - shown[1]).mean() < 6


def test_more_is_kept_of_each_image_than_the_squares_have(tmp_path, photographs):
    _, plain, _ = keep(photographs, tmp_path / "cache", "encoded", False, silent)
    _, larger, place = keep(photographs, tmp_path / "cache", "encoded", False, silent, 45)
    assert larger.shape == plain.shape
    assert (plain.side, larger.side) == (32, 45)
    assert larger.sizes.tolist() == [[45, 68], [30, 30], [20, 80], [90, 40], [45, 45]], "at most 45, never enlarged"
    assert np.abs(larger[0].astype(int) - plain[0]).mean() < 6
    again = EncodedImages(place)
    assert (again.side, again.shape) == (45, larger.shape)
    assert "short side at most 45 px" in words_of(larger)
    assert Encoded(32, 3).head(5) == HEAD_OF_BEFORE, "without it a file is as it was"
    assert Encoded(32, 3, 45).room(8) == 45 * 45 * 4


@pytest.mark.parametrize("larger", [0, 8, 32])
def test_nothing_more_is_kept_where_the_image_size_is_as_large(tmp_path, photographs, larger):
    place = keep(photographs, tmp_path / "cache", "encoded", False, silent, larger)[2]
    assert place.name == f"{photographs.fingerprint}-32w3q90-{photographs.stamp}.jpegs"


def test_a_photograph_is_decoded_as_large_as_it_is_kept(tmp_path, build):
    """A JPEG of 512 px is decoded at an eighth for squares of 32 px, which would leave 64."""
    place = tmp_path / "data" / "class" / "large.jpg"
    place.parent.mkdir(parents=True)
    Image.effect_noise((512, 512), 80).save(place)
    for packed in (False, True):
        images = build("folder", folder=str(tmp_path / "data"), image_size=32)
        if packed:
            images = replace(images, read=PackedImages(lambda row: place.read_bytes(), np.arange(1), 3, 32, 16))
        _, kept, _ = keep(images, tmp_path / f"cache {packed}", "encoded", True, silent, 300)
        assert kept.sizes.tolist() == [[300, 300]], packed


def test_a_full_disk_names_what_makes_the_images_large(tmp_path, photographs, monkeypatch):
    monkeypatch.setattr(
        "workbench.datasets.cache.kept_images.shutil.disk_usage", lambda place: SimpleNamespace(free=500)
    )
    for larger, todo in ((0, "a smaller image size"), (64, "Short side kept")):
        with pytest.raises(Problem, match=r"are free") as refused:
            keep(photographs, tmp_path / "cache", "encoded", True, silent, larger)
        assert todo in refused.value.todo


def test_images_that_are_smaller_than_what_is_kept_need_no_more_room_than_they_take(tmp_path, photographs, monkeypatch):
    bound = Encoded(32, 3, 512).room(len(photographs.paths))
    monkeypatch.setattr(
        "workbench.datasets.cache.kept_images.shutil.disk_usage", lambda place: SimpleNamespace(free=bound // 4)
    )
    _, kept, _ = keep(photographs, tmp_path / "cache", "encoded", True, silent, 512)
    assert len(kept) == len(photographs.paths) - 1, "all but the one that cannot be read"


def test_a_crop_is_what_the_box_shows(tmp_path, photographs):
    _, encoded, _ = keep(photographs, tmp_path / "cache", "encoded", False, silent)
    whole = encoded.whole(0)
    assert np.array_equal(encoded.crop(0, (10.0, 4.0, 30.0, 24.0), 20), whole[4:24, 10:30])


@pytest.mark.parametrize("resizing", ["bilinear", "bicubic"])
def test_a_crop_is_resized_as_pillow_does_it(tmp_path, photographs, resizing):
    _, encoded, _ = keep(photographs, tmp_path / "cache", "encoded", False, silent)
    shown = Image.fromarray(encoded.whole(0)).crop((10, 4, 30, 24))
    inside = np.s_[4:-4, 4:-4]  # at its borders a crop of the whole image knows the pixels around it
    expected = np.asarray(shown.resize((40, 40), Image.Resampling[resizing.upper()]))
    assert np.array_equal(encoded.crop(0, (10.0, 4.0, 30.0, 24.0), 40, resizing)[inside], expected[inside])


@pytest.mark.parametrize(
    ("wanted", "whole", "large", "kept"),
    [
        ("auto", False, 1 << 30, np.ndarray), ("auto", False, 10, EncodedImages),
        ("auto", True, 1 << 30, EncodedImages),
        ("pixels", False, 10, np.ndarray), ("encoded", False, 1 << 30, EncodedImages),
    ],
)  # fmt: skip
def test_the_form_is_chosen_by_size_and_by_what_is_needed(
    tmp_path, photographs, monkeypatch, wanted, whole, large, kept
):
    monkeypatch.setattr(keeping, "LARGE", large)
    images = keep(photographs, tmp_path / "cache", wanted, whole, silent)[1]
    assert isinstance(images, kept)
    assert ("JPEG of quality 90" in words_of(images)) == (kept is EncodedImages)


def test_squares_are_refused_where_whole_images_are_needed(tmp_path, photographs):
    with pytest.raises(Problem, match="only centre squares are kept"):
        keep(photographs, tmp_path / "cache", "pixels", True, silent)


@pytest.mark.parametrize("harm", ["bit", "cut", "empty", "no list", "text", "index"])
def test_damage_is_found_and_the_images_are_encoded_again(tmp_path, photographs, harm):
    _, encoded, place = keep(photographs, tmp_path / "cache", "encoded", False, silent)
    wanted, data = [encoded[row] for row in range(5)], bytearray(place.read_bytes())
    if harm == "bit":
        data[100] ^= 1
    elif harm == "index":
        data[-20] ^= 64
    elif harm == "no list":
        place.with_suffix(".json").unlink()
    else:
        data = {"cut": data[:-9], "empty": b"", "text": b"not a cache"}[harm]
    place.write_bytes(data)
    if harm == "bit":
        with pytest.raises(Problem, match="gone or damaged"):
            Pictures({7: 0}, place, {}).thumbnail(7)
    kept, again, _ = keep(photographs, tmp_path / "cache", "encoded", False, silent)
    assert all(np.array_equal(*pair) for pair in zip(wanted, (again[row] for row in range(5)), strict=True))
    assert any("nothing is lost" in said for _, said in kept.remarks)


@pytest.mark.parametrize("form", FORMS)
def test_what_was_given_up_is_gone_on_with_where_it_stopped(tmp_path, slow, noted_often, monkeypatch, form):
    images, reads = slow
    with monkeypatch.context() as changed:
        changed.setattr("workbench.datasets.cache.kept_images.TELL_EVERY", 0.0)
        with pytest.raises(Cancelled):
            keep(images, tmp_path, form, False, give_up_after(192))  # between two parts of 64
    reads.clear()
    kept, found, place = keep(images, tmp_path, form, False, silent)
    assert sorted(reads) == list(range(192, 300))
    assert kept.problems == [(images.paths[3], "is bad")]
    middles = [int(found[row][3, 3, 0]) for row in range(len(kept.paths))]
    wanted = [row % 256 for row in range(300) if row != 3]
    assert np.abs(np.subtract(middles, wanted)).max() <= (1 if form == "encoded" else 0)
    assert {path.name for path in tmp_path.iterdir()} == {place.name, place.with_suffix(".json").name}


@pytest.mark.parametrize("harm", ["torn data", "torn journal", "other data", "other journal"])
def test_only_what_is_whole_is_gone_on_with(tmp_path, slow, noted_often, monkeypatch, harm):
    images, reads = slow
    with monkeypatch.context() as changed:
        changed.setattr("workbench.datasets.cache.kept_images.TELL_EVERY", 0.0)
        with pytest.raises(Cancelled):
            keep(images, tmp_path, "pixels", False, give_up_after(200))
    [journal] = tmp_path.glob("*.rows")
    growing = journal.with_suffix("")
    if harm == "torn data":
        os.truncate(growing, growing.stat().st_size - 10)
    elif harm == "torn journal":
        os.truncate(journal, journal.stat().st_size - 10)
    elif harm == "other data":
        growing.write_bytes(b"x" * 5000)
    else:
        journal.write_bytes(b'{"rows": -1, "bytes": -1, "hash": 5, "bad": [], "facts": 7}\n')
    reads.clear()
    _, pixels, _ = keep(images, tmp_path, "pixels", False, silent)
    assert len(reads) > 100
    assert pixels[:, 3, 3, 0].tolist() == [row % 256 for row in range(300) if row != 3]


def test_unfinished_files_are_removed_after_a_month_and_not_before(tmp_path, slow, noted_often, monkeypatch, in_memory):
    monkeypatch.setattr("workbench.datasets.cache.kept_images.TELL_EVERY", 0.0)
    with pytest.raises(Cancelled):
        keep(slow[0], tmp_path, "pixels", False, give_up_after(200))
    keep(in_memory([0]), tmp_path, "pixels", False, silent)
    left = list(tmp_path.glob(".*"))
    assert len(left) == 2
    for path in left:
        os.utime(path, (1, 1))
    keep(in_memory([0, 1]), tmp_path, "pixels", False, silent)
    assert list(tmp_path.glob(".*")) == []


def test_copies_are_found_among_encoded_images(tmp_path, build, draw):
    for name, value in (("a/1.png", 10), ("a/2.png", 20), ("b/3.png", 10)):
        draw(tmp_path / "data" / name, value)
    _, encoded, _ = keep(
        build("folder", folder=str(tmp_path / "data"), image_size=8), tmp_path / "cache", "encoded", False, silent
    )
    assert copies(encoded, silent) == [[0, 2]]


def test_a_very_long_image_loses_its_ends(tmp_path, build):
    (tmp_path / "data" / "a").mkdir(parents=True)
    Image.new("L", (4, 900)).save(tmp_path / "data" / "a" / "1.png")
    images = build("folder", folder=str(tmp_path / "data"), image_size=8)
    assert keep(images, tmp_path / "cache", "encoded", False, silent)[1].sizes.tolist() == [[128, 4]]


def test_a_giant_is_left_out_in_this_form_too(tmp_path, photographs, monkeypatch):
    monkeypatch.setattr("workbench.datasets.images.loader.MOST_PIXELS", 3000)
    kept, _, _ = keep(photographs, tmp_path / "cache", "encoded", False, silent)
    assert sum("pixels, more than" in reason for _, reason in kept.problems) == 2
