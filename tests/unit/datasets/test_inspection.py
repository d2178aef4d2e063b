"""The look at a data set: counts, sizes, what is there twice, and what both sets share."""

import numpy as np
import pytest
from listeners import give_up, silent

from workbench.control import Cancelled
from workbench.datasets.cache.pixels import decoded
from workbench.datasets.inspection import copies, inspect, shared_images
from workbench.datasets.split import ClassesParams, Split, classes


@pytest.fixture
def looked_at(build, draw, tmp_path, tmp_path_factory):
    """Four classes of three; the first image of the last class is a copy of the first of the first."""
    for label in range(4):
        for number in range(3):
            draw(
                tmp_path / f"c{label}" / f"{number}.png",
                0 if (label, number) == (3, 0) else 20 * label + number,
                (20, 10 + label),
            )
    (tmp_path / "c1" / "broken.png").write_bytes(b"no image")
    whole = build("folder", folder=str(tmp_path), image_size=8)
    kept, pixels, _ = decoded(whole, tmp_path_factory.mktemp("cache"), silent)
    return kept, pixels, classes(ClassesParams(), kept, 0)


def test_everything_is_counted(looked_at):
    found = inspect(*looked_at, seed=0, progress=silent)
    assert (found.images, found.side, found.halves) == (12, 8, ("train", "test"))
    assert found.counts.tolist() == [[3, 0], [3, 0], [0, 3], [0, 3]]
    assert len(found.sheet) == 12
    assert found.sheet[0][2].shape == (8, 8, 3)
    assert sorted(map(tuple, found.sizes.tolist())) == sorted((20, 10 + label) for label in range(4) for _ in range(3))
    assert [path for path, _ in found.problems] == ["c1/broken.png"]
    assert found.copies == [[("c0/0.png", "train", "c0"), ("c3/0.png", "test", "c3")]]
    assert (found.shared, found.of_two_classes) == (1, 1)
    assert shared_images(looked_at[1], looked_at[2], silent) == (1, 0)


def test_a_look_can_be_given_up(looked_at):
    with pytest.raises(Cancelled):
        inspect(*looked_at, seed=0, progress=give_up)


def test_copies_are_grouped_largest_first():
    pixels = np.zeros((9, 2, 2, 1), np.uint8)
    pixels[[1, 4], 0, 0] = 7
    pixels[[2, 3, 5], 0, 0] = 9
    pixels[8, 0, 0] = 1
    assert copies(pixels, silent) == [[0, 6, 7], [2, 3, 5], [1, 4]]


def test_only_images_with_equal_middles_are_read_whole():
    class Counted(np.ndarray):
        read = 0

        def __getitem__(self, key):
            Counted.read += isinstance(key, int)
            return super().__getitem__(key)

    pixels = np.arange(20 * 6 * 6, dtype=np.uint8).reshape(20, 6, 6, 1)
    pixels[7], pixels[9] = pixels[3], pixels[3]
    pixels[9, 0, 0] += 1  # the same middle, another picture
    assert copies(pixels.view(Counted), silent) == [[3, 7]]
    assert Counted.read == 3


def test_a_query_whose_copy_is_in_the_gallery_is_counted():
    pixels = np.arange(6, dtype=np.uint8)[:, None, None, None] * np.ones((1, 4, 4, 1), np.uint8)
    pixels[4] = pixels[2]
    split = Split(np.array([0, 1]), np.array([2, 3, 4, 5]), True, is_query=np.array([True, True, False, False]))
    assert shared_images(pixels, split, silent) == (0, 1)


def test_held_out_classes_are_a_part_of_their_own(looked_at):
    kept, pixels, _ = looked_at
    found = inspect(kept, pixels, classes(ClassesParams(train_fraction=0.75, validation=0.3), kept, 0), 0, silent)
    assert found.halves == ("train", "held out", "test")
    assert found.counts.tolist() == [[3, 0, 0], [3, 0, 0], [0, 3, 0], [0, 0, 3]]
