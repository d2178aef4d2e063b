"""MNIST's family as published: four idx files, plain or gzip-compressed, and what can be wrong with them."""

import gzip
import os
import struct

import numpy as np
import pytest
from listeners import silent

from workbench.datasets.cache.pixels import decoded
from workbench.datasets.reading.published import Counts
from workbench.problem import Problem

NAMES = {"train": 30, "t10k": 20}


def idx(array, magic=None):
    """Bytes of an idx file, written from the format's description."""
    kind = magic if magic is not None else 0x0800 + array.ndim
    return struct.pack(f">{1 + array.ndim}I", kind, *array.shape) + array.astype(np.uint8).tobytes()


@pytest.fixture
def published(tmp_path):
    """A small MNIST; image i of a half has the value i, its label is i modulo 10."""
    for half, count in NAMES.items():
        images = np.broadcast_to(np.arange(count)[:, None, None], (count, 28, 28))
        (tmp_path / f"{half}-images-idx3-ubyte").write_bytes(idx(images))
        (tmp_path / f"{half}-labels-idx1-ubyte").write_bytes(idx(np.arange(count) % 10))
    return tmp_path


def compress(folder):
    for name in os.listdir(folder):
        data = (folder / name).read_bytes()
        (folder / name).unlink()
        (folder / f"{name}.gz").write_bytes(gzip.compress(data))


def rename(folder):
    for name in os.listdir(folder):
        os.rename(folder / name, folder / name.replace("-idx", ".idx"))


@pytest.mark.parametrize("name", ["mnist", "fashion_mnist", "kmnist"])
@pytest.mark.parametrize("changes", [(), (compress,), (rename,), (rename, compress)])
def test_the_four_files_are_read_back(published, tmp_path_factory, build, name, changes):
    for change in changes:
        change(published)
    whole = build(name, folder=str(published))
    kept, pixels, _ = decoded(whole, tmp_path_factory.mktemp("cache"), silent)
    assert pixels.shape == (50, 28, 28, 1)
    assert pixels[:, 0, 0, 0].tolist() == [*range(30), *range(20)]
    assert kept.labels.tolist() == [row % 10 for row in [*range(30), *range(20)]]
    assert kept.official == ["train"] * 30 + ["test"] * 20
    assert len(kept.class_names) == len(set(kept.class_names)) == 10
    assert (kept.paths[0], kept.paths[30], kept.channels) == ("train/00000.png", "test/00000.png", 1)
    assert kept.problems == []
    assert kept.unlike_published == [(name, "was published with 70,000 images and has 50 here: 69,950 are missing")]


def test_halves_of_other_sizes_are_not_those_published(published, build, monkeypatch):
    monkeypatch.setattr("workbench.datasets.benchmarks.idx.COUNTS", Counts(10, 50, (("train", 40), ("test", 10))))
    assert [difference for _, difference in build("mnist", folder=str(published)).unlike_published] == [
        "was published with 40 training images and has 30 here: 10 are missing",
        "was published with 10 test images and has 20 here: 10 too many",
    ]


def test_the_three_sets_tell_themselves_apart(published, build):
    found = [build(name, folder=str(published)) for name in ("mnist", "fashion_mnist", "kmnist")]
    assert len({each.fingerprint for each in found}) == 3
    assert found[1].class_names[9] == "Ankle boot"


def test_other_images_with_the_same_labels_never_meet_the_old_cache(published, tmp_path_factory, build):
    cache = tmp_path_factory.mktemp("cache")
    _, before, _ = decoded(build("mnist", folder=str(published)), cache, silent)
    place = published / "t10k-images-idx3-ubyte"
    data = bytearray(place.read_bytes())
    data[-1] = 255
    place.write_bytes(data)
    _, after, _ = decoded(build("mnist", folder=str(published)), cache, silent)
    assert (before[-1, -1, -1, 0], after[-1, -1, -1, 0]) == (19, 255)


def cut(path):
    path.write_bytes(path.read_bytes()[:-100])


def cut_to_nothing(path):
    path.write_bytes(b"\0\0")


def lengthen(path):
    path.write_bytes(path.read_bytes() + b"more")


def exchange(path):
    path.write_bytes((path.parent / "t10k-labels-idx1-ubyte").read_bytes())


def unlink(path):
    path.unlink()


def claim_more(path):
    path.write_bytes(struct.pack(">4I", 2051, 2**32 - 1, 2**32 - 1, 2**32 - 1))


def one_less(path):
    path.write_bytes(idx(np.zeros((29, 28, 28))))


def none_at_all(path):
    path.write_bytes(idx(np.zeros((0, 28, 28))))
    (path.parent / "train-labels-idx1-ubyte").write_bytes(idx(np.zeros(0)))


def other_size(path):
    path.write_bytes(idx(np.zeros((30, 14, 28))))


def a_folder(path):
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize(
    ("harm", "words"),
    [
        (cut, r"is truncated: its header announces 23,520 bytes, it has 23,420"),
        (cut_to_nothing, "is truncated: it has 2 bytes"),
        (lengthen, "is too long"),
        (exchange, "is not an idx file of this kind: its magic number is 2049, not 2051"),
        (unlink, "holds no train-images-idx3-ubyte or"),
        (a_folder, "holds no train-images-idx3-ubyte or"),
        (claim_more, "is truncated"),
        (one_less, "holds 29 images and train-labels-idx1-ubyte 30 labels"),
        (none_at_all, "holds no images"),
        (other_size, "are 14 x 28 px and the test images 28 x 28 px"),
    ],
)
def test_a_wrong_file_is_one_sentence_that_names_it(published, build, harm, words):
    harm(published / "train-images-idx3-ubyte")
    with pytest.raises(Problem, match=words) as told:
        build("mnist", folder=str(published))
    assert str(published) in told.value.what
    assert told.value.todo


@pytest.mark.parametrize("keep", [20, 200])
def test_a_cut_gzip_file_is_named(published, build, keep):
    noise = np.random.default_rng(0).integers(0, 256, (30, 28, 28))
    whole = gzip.compress(idx(noise))
    (published / "train-images-idx3-ubyte").unlink()
    place = published / "train-images-idx3-ubyte.gz"
    place.write_bytes(whole[:keep])
    with pytest.raises(Problem, match="damaged or truncated") as told:
        build("mnist", folder=str(published))
    assert str(place) in told.value.what
    place.write_bytes(b"no gzip at all")
    with pytest.raises(Problem, match="damaged or truncated"):
        build("mnist", folder=str(published))


def test_a_label_that_is_no_class_is_named(published, build):
    (published / "t10k-labels-idx1-ubyte").write_bytes(idx(np.full(20, 10)))
    with pytest.raises(Problem, match="holds the label 10; mnist has 10 classes"):
        build("mnist", folder=str(published))


def test_no_folder_is_said_plainly(build, tmp_path):
    with pytest.raises(Problem, match="No folder or archive is chosen"):
        build("mnist")
    with pytest.raises(Problem, match=r"There is no .*nowhere"):
        build("mnist", folder=str(tmp_path / "nowhere"))
