"""Near-duplicates: saved again, resized or brightened images are found, others are not."""

import tracemalloc

import numpy as np
import pytest
from listeners import give_up, silent
from PIL import Image

from workbench.control import Cancelled
from workbench.datasets import near_duplicates
from workbench.datasets.cache.encoded_images import Encoded
from workbench.datasets.cache.kept_images import kept_images
from workbench.datasets.cache.pixels import decoded
from workbench.datasets.near_duplicates import brightness, find
from workbench.datasets.split import Split
from workbench.problem import Problem

PLAIN = 6  # unlike images


def scene(seed, width=120, height=90):
    """A smooth picture with large shapes, as photographs have them."""
    coarse = np.random.default_rng(seed).integers(0, 220, (6, 8, 3), dtype=np.uint8)
    return Image.fromarray(coarse).resize((width, height), Image.Resampling.BICUBIC)


@pytest.fixture
def folder(tmp_path):
    """Six scenes, of two classes, and four changed versions of the first three."""
    for label in ("a", "b"):
        (tmp_path / label).mkdir()
    for number in range(PLAIN):
        scene(number).save(tmp_path / ("a" if number < 3 else "b") / f"{number}.png")
    scene(0).save(tmp_path / "a" / "again.jpg", quality=60)
    scene(1).resize((60, 45)).save(tmp_path / "a" / "half.png")
    scene(1).point(lambda value: min(255, int(1.15 * value))).save(tmp_path / "b" / "bright.png")
    scene(2).convert("L").convert("RGB").save(tmp_path / "b" / "grey.png")
    return tmp_path


def kept(whole, cache, encoded):
    if encoded:
        images, pixels, _ = kept_images(whole, cache, Encoded(32, 3), silent)
    else:
        images, pixels, _ = decoded(whole, cache, silent)
    return images, pixels


def halves_of(images):
    """Class a, whose names begin with one, trains; class b is tested."""
    first = np.array([path.startswith("a") for path in images.paths])
    return Split(np.flatnonzero(first), np.flatnonzero(~first), classes_disjoint=True)


@pytest.mark.parametrize("encoded", [False, True])
def test_changed_versions_are_found(build, folder, tmp_path_factory, encoded):
    whole = build("folder", folder=str(folder), image_size=32)
    images, pixels = kept(whole, tmp_path_factory.mktemp("cache"), encoded)
    near = find(images, pixels, halves_of(images), [], silent)
    pairs = {frozenset((pair.first.path, pair.second.path)) for pair in near.pairs}
    assert pairs == {
        frozenset(names)
        for names in (
            ("a/0.png", "a/again.jpg"), ("a/1.png", "a/half.png"), ("a/1.png", "b/bright.png"),
            ("a/half.png", "b/bright.png"), ("a/2.png", "b/grey.png"),
        )
    }  # fmt: skip
    assert (near.total, near.shared, near.other_class) == (5, 2, 3)
    similarities = [pair.similarity for pair in near.pairs]
    assert similarities == sorted(similarities, reverse=True)
    assert all(0.98 <= similarity <= 1 for similarity in similarities)
    across = next(pair for pair in near.pairs if pair.second.path == "b/grey.png")
    assert (across.first.class_name, across.first.half) == ("a", "train")
    assert (across.second.class_name, across.second.half) == ("b", "test")
    assert across.first.picture.dtype == np.uint8
    assert max(across.first.picture.shape[:2]) <= 96
    assert across.first.picture.shape[2] == 3


def test_the_similarity_is_the_correlation_of_brightness():
    squares = np.random.default_rng(0).integers(0, 256, (3, 16, 16, 1), dtype=np.uint8)
    values = brightness(squares, silent)
    expected = np.corrcoef(squares.reshape(3, -1).astype(np.float64))
    np.testing.assert_allclose(values @ values.T, expected, atol=1e-5)


def set_of(count, build, tmp_path, pixel=0):
    for number in range(count):
        Image.new("RGB", (8, 8), (pixel, pixel, number)).save(tmp_path / f"{number:03}.png")
    return build("folder", folder=str(tmp_path.parent), image_size=8)


def test_exact_copies_and_images_of_one_colour_are_left_out(build, tmp_path):
    (tmp_path / "c").mkdir()
    images = set_of(5, build, tmp_path / "c")
    pixels = np.zeros((5, 8, 8, 3), np.uint8)
    pixels[:2, ::2] = 200  # a copy of each other
    pixels[2, ::2] = 180  # the same stripes, darker
    pixels[3], pixels[4] = 90, 250
    near = find(images, pixels, Split(np.arange(3), np.arange(3, 5), False), [[0, 1]], silent)
    assert {(pair.first.path, pair.second.path) for pair in near.pairs} == {
        ("c/000.png", "c/002.png"), ("c/001.png", "c/002.png"),
    }  # fmt: skip


def test_only_the_most_similar_are_listed_and_all_are_counted(build, tmp_path, monkeypatch):
    (tmp_path / "c").mkdir()
    images = set_of(30, build, tmp_path / "c")
    rng = np.random.default_rng(0)
    ground = rng.integers(40, 200, (16, 16, 1))
    noisy = ground + rng.integers(-1, 2, (30, 16, 16, 1)) * np.arange(30)[:, None, None, None] // 6
    pixels = np.clip(noisy, 0, 255).astype(np.uint8)
    monkeypatch.setattr(near_duplicates, "AT_ONCE", 90)  # blocks of three rows
    everything = find(images, pixels, Split(np.arange(15), np.arange(15, 30), False), [], silent)
    assert everything.total == len(everything.pairs) == 30 * 29 // 2
    assert everything.shared == 15
    monkeypatch.setattr(near_duplicates, "MOST_PAIRS", 7)
    few = find(images, pixels, Split(np.arange(15), np.arange(15, 30), False), [], silent)
    assert (few.total, few.shared) == (everything.total, everything.shared)
    assert [pair.similarity for pair in few.pairs] == [pair.similarity for pair in everything.pairs[:7]]


def test_frames_of_a_still_scene_do_not_fill_the_memory(build, tmp_path):
    (tmp_path / "c").mkdir()
    images = set_of(250, build, tmp_path / "c")
    rng = np.random.default_rng(0)
    pixels = (rng.integers(40, 200, (16, 16, 1)) + rng.integers(0, 2, (250, 16, 16, 1))).astype(np.uint8)
    pixels[1::2] = pixels[::2]  # whose correlation is 1, give or take the last digit
    tracemalloc.start()
    try:
        near = find(images, pixels, Split(np.arange(125), np.arange(125, 250), False), [], silent)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert near.total == 250 * 249 // 2
    assert max(pair.similarity for pair in near.pairs) <= 1
    assert most < 16 << 20, "two kilobytes for each pair are 64 MB"


def test_the_part_of_an_image_is_named_and_that_of_one_that_is_left_out_is_empty(build, tmp_path):
    (tmp_path / "c").mkdir()
    images = set_of(4, build, tmp_path / "c")
    pixels = np.zeros((4, 120, 120, 3), np.uint8)
    for row in range(4):
        pixels[row, ::2] = 200 - row
    split = Split(np.array([1]), np.array([2]), False, validation=np.array([0]))
    near = find(images, pixels, split, [], silent)
    members = {member.path: member for pair in near.pairs for member in (pair.first, pair.second)}
    assert [members[path].half for path in images.paths] == ["held out", "train", "test", ""]
    assert {member.picture.shape for member in members.values()} == {(96, 96, 3)}


@pytest.mark.parametrize("stage", ["Reading images", "Comparing images"])
def test_it_can_be_given_up_while_it_reads_and_while_it_compares(build, folder, tmp_path_factory, stage):
    whole = build("folder", folder=str(folder), image_size=32)
    images, pixels = kept(whole, tmp_path_factory.mktemp("cache"), encoded=False)

    def give_up_then(text, done, total):
        if text == stage:
            give_up(text, done, total)

    with pytest.raises(Cancelled):
        find(images, pixels, halves_of(images), [], give_up_then)


def test_what_would_take_hours_is_refused(build, folder, tmp_path_factory, monkeypatch):
    whole = build("folder", folder=str(folder), image_size=32)
    images, pixels = kept(whole, tmp_path_factory.mktemp("cache"), encoded=False)
    monkeypatch.setattr(near_duplicates, "MOST_IMAGES", 10)
    assert find(images, pixels, halves_of(images), [], silent).total
    monkeypatch.setattr(near_duplicates, "MOST_IMAGES", 9)
    with pytest.raises(Problem, match="images; this data set has 10"):
        find(images, pixels, halves_of(images), [], silent)
