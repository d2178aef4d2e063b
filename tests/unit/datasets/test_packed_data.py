"""Every layout out of an archive: the same data set as from its folder."""

import gzip
import struct
import tarfile
import zipfile

import numpy as np
import pytest
from listeners import give_up, silent

from workbench.control import Cancelled
from workbench.datasets.cache.pixels import decoded
from workbench.problem import Problem


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setattr("workbench.datasets.reading.data_folder.cache_folder", lambda: tmp_path / "cache")
    return tmp_path / "cache" / "unpacked"


def pack(folder, place, above=""):
    """All of a folder in an archive, perhaps below another folder."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    names = [above + path.relative_to(folder).as_posix() for path in files]
    if place.suffix == ".zip":
        with zipfile.ZipFile(place, "w") as archive:
            for path, name in zip(files, names, strict=True):
                archive.write(path, name)
    else:
        with tarfile.open(
            place, f"w:{place.suffix.removeprefix('.').replace('tgz', 'gz').replace('tar', '')}"
        ) as archive:
            for path, name in zip(files, names, strict=True):
                archive.add(path, name)
    return str(place)


@pytest.fixture
def digits(tmp_path):
    """A small MNIST: image i of a half has the value i."""
    root = tmp_path / "digits"
    root.mkdir()
    for half, count in (("train", 30), ("t10k", 20)):
        images = np.broadcast_to(np.arange(count, dtype=np.uint8)[:, None, None], (count, 28, 28))
        (root / f"{half}-images-idx3-ubyte.gz").write_bytes(
            gzip.compress(struct.pack(">4I", 2051, *images.shape) + images.tobytes())
        )
        (root / f"{half}-labels-idx1-ubyte").write_bytes(
            struct.pack(">2I", 2049, count) + (np.arange(count) % 10).astype(np.uint8).tobytes()
        )
    return root


@pytest.mark.parametrize("name", ["mnist", "fashion_mnist", "kmnist"])
@pytest.mark.parametrize("ending", ["zip", "tar", "tgz"])
@pytest.mark.parametrize("above", ["", "x-master/data/fashion/"])
def test_mnist_and_its_family(build, digits, tmp_path, name, ending, above):
    place = pack(digits, tmp_path / f"a.{ending}", above)
    found, plain = build(name, folder=place), build(name, folder=str(digits))
    assert found.fingerprint == plain.fingerprint
    assert found.read(49)[0, 0] == 19


def test_mnist_whose_unpacked_files_lie_in_folders_of_their_names(build, digits, tmp_path):
    for path in list(digits.iterdir()):
        data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        renamed = path.name.removesuffix(".gz")
        path.unlink()
        (digits / renamed).mkdir()
        (digits / renamed / renamed).write_bytes(data)
        (digits / renamed.replace("-idx", ".idx")).write_bytes(data)
    assert len(build("mnist", folder=pack(digits, tmp_path / "a.zip")).paths) == 50


@pytest.fixture
def images(tmp_path, draw):
    for value, name in enumerate(["cats/1.png", "cats/2.png", "dogs/1.png", "dogs/2.png"]):
        draw(tmp_path / "images" / name, 40 * value)
    return tmp_path / "images"


@pytest.mark.parametrize("ending", ["zip", "tar", "tgz"])
@pytest.mark.parametrize("above", ["", "pets/", "a/pets/"])
def test_a_folder_per_class(build, images, tmp_path, ending, above, cache):
    place = pack(images, tmp_path / f"pets.{ending}", above)
    found, plain = build("folder", folder=place), build("folder", folder=str(images))
    assert found.paths == plain.paths
    assert found.fingerprint == plain.fingerprint, "the same numbers, selections and tags"
    kept, pixels, _ = decoded(found, tmp_path / "pixels", silent)
    assert pixels[:, 0, 0, 0].tolist() == [0, 40, 80, 120]
    assert kept.problems == kept.notes == []
    (unpacked,) = cache.iterdir()
    stamp = unpacked.stat().st_mtime_ns
    build("folder", folder=place)
    assert unpacked.stat().st_mtime_ns == stamp, "unpacked once"


def test_folders_as_imagenets(build, tmp_path, draw):
    for name in ("train/n01/a.png", "train/n02/b.png", "val/n01/c.png", "val/n02/d.png"):
        draw(tmp_path / "imagenet" / name)
    found = build("folder", folder=pack(tmp_path / "imagenet", tmp_path / "i.tar", "imagenet/"))
    assert found.official == ["train", "train", "test", "test"]
    assert found.class_names == ["n01", "n02"]


def test_one_class_is_no_wrapping(build, tmp_path, draw):
    draw(tmp_path / "one" / "cats" / "1.png")
    draw(tmp_path / "one" / "cats" / "2.png")
    assert build("folder", folder=pack(tmp_path / "one", tmp_path / "one.zip")).class_names == ["cats"]


def test_what_macos_adds_is_no_class(build, images, tmp_path):
    place = pack(images, tmp_path / "a.zip", "pets/")
    with zipfile.ZipFile(place, "a") as archive:
        archive.writestr("__MACOSX/pets/cats/._1.png", b"junk")
    found = build("folder", folder=place)
    assert (found.class_names, found.problems, found.notes) == (["cats", "dogs"], [], [])


def test_an_archive_without_images_is_named_and_so_are_archives_in_it(build, images, tmp_path):
    (tmp_path / "text").mkdir()
    (tmp_path / "text" / "a.txt").write_text("a")
    with pytest.raises(Problem, match=r"There are no images in .*text\.zip"):
        build("folder", folder=pack(tmp_path / "text", tmp_path / "text.zip"))
    (tmp_path / "classes").mkdir()
    for name in ("n01", "n02"):
        pack(images, tmp_path / "classes" / f"{name}.tar")
    with pytest.raises(Problem, match=r"train\.tar holds no images but 2 archives") as told:
        build("folder", folder=pack(tmp_path / "classes", tmp_path / "train.tar"))
    assert "Unpack each into a folder of its class" in told.value.todo


def test_a_list_with_its_images(build, images, tmp_path):
    (images / "list.csv").write_text("path,label\ncats/1.png,cat\ndogs/1.png,dog\ndogs/2.png,dog\n")
    place = pack(images, tmp_path / "a.zip", "pets/")
    found = build("csv", file=place)
    assert found.paths == ["cats/1.png", "dogs/1.png", "dogs/2.png"]
    assert (found.problems, found.notes) == ([], [("1 class", "has one image: nothing can match it (cat)")])
    beside = build("csv", file=str(images / "list.csv"), folder=pack(images, tmp_path / "b.tgz"))
    assert beside.fingerprint == found.fingerprint
    (images / "more.csv").write_text("path,label\n")
    with pytest.raises(Problem, match=r"c\.zip holds 2 CSV files \(list\.csv, more\.csv\)"):
        build("csv", file=pack(images, tmp_path / "c.zip"))
    for path in images.glob("*.csv"):
        path.unlink()
    with pytest.raises(Problem, match=r"d\.zip holds no CSV file"):
        build("csv", file=pack(images, tmp_path / "d.zip"))


def test_omniglot_as_tar(build, tmp_path, draw):
    for name in ("Greek/character01/1.png", "Greek/character01/2.png", "Latin/character01/1.png"):
        draw(tmp_path / "images_background_small1" / name)
    root = tmp_path / "images_background_small1"
    sets = [
        build("omniglot", place=str(root)),
        build("omniglot", place=pack(root, tmp_path / "a.tgz", "images_background_small1/")),
        build("omniglot", place=pack(root, tmp_path / "images_background_small1.tar")),
        build("omniglot", place=pack(root, tmp_path / "images_background_small1.zip")),
    ]
    assert len({tuple(each.sample_ids.tolist()) for each in sets}) == 1
    assert [len(each.unlike_published) for each in sets] == [2, 2, 2, 2], "each is known by its published name"


@pytest.mark.parametrize("name", ["mnist", "folder", "csv", "cub", "cars", "sop", "inshop", "cifar10", "cifar100"])
def test_unpacking_can_be_given_up_and_leaves_nothing(build, images, tmp_path, name, cache):
    place = pack(images, tmp_path / "a.zip")
    with pytest.raises(Cancelled):
        build(name, give_up, **{"file" if name == "csv" else "folder": place})
    assert list(cache.iterdir()) == []


@pytest.mark.parametrize("name", ["mnist", "folder", "csv", "omniglot", "cub", "cars", "sop", "inshop", "cifar10"])
def test_a_hostile_archive_is_one_sentence(build, tmp_path, name):
    with tarfile.open(tmp_path / "a.tar", "w") as archive:
        archive.addfile(tarfile.TarInfo("../escaped.txt"))
    field = {"csv": "file", "omniglot": "place"}.get(name, "folder")
    with pytest.raises(Problem, match=r"entry '\.\./escaped\.txt' leaves the folder"):
        build(name, **{field: str(tmp_path / "a.tar")})
    assert not (tmp_path / "escaped.txt").exists()
