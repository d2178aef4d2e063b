"""A person's own folders: odd names, links in circles, pipes, and what is missing."""

import os
import shutil

import numpy as np
import pytest
from listeners import give_up, silent
from PIL import Image

from workbench.control import Cancelled
from workbench.datasets.cache.pixels import decoded
from workbench.datasets.images import scan
from workbench.problem import Problem


def test_a_folder_per_class_is_read_back(tmp_path, build, draw):
    names = ["Ångström/a b.PNG", "cats and dogs/1.jpg", "cats and dogs/deep/er/2.jpeg", "漢字/ü.webp", "漢字/v.tif"]
    for value, name in enumerate(names):
        draw(tmp_path / "data" / name, 40 * value)
    (tmp_path / "data" / "漢字" / "notes.txt").write_text("no image")
    kept, pixels, _ = decoded(build("folder", folder=str(tmp_path / "data"), image_size=8), tmp_path / "cache", silent)
    assert sorted(kept.paths) == sorted(names)
    assert kept.class_names == sorted({name.split("/")[0] for name in names})
    for row, path in enumerate(kept.paths):
        assert kept.class_names[kept.labels[row]] == path.split("/")[0]
        assert pixels[row].mean() == pytest.approx(40 * names.index(path), abs=3)
    assert kept.official is None
    assert (kept.root, kept.channels) == (tmp_path / "data", 3)


@pytest.mark.parametrize("half", ["", "train/", "test/"])
def test_two_folders_are_a_class_and_the_first_is_scored_too(tmp_path, build, draw, half):
    names = ["cat/lynx/1.png", "cat/lynx/2.png", "cat/puma/deep/1.png", "dog/lynx/1.png"]
    for name in names:
        for folder in {half, "train/", "test/"} if half else {""}:
            draw(tmp_path / "data" / f"{folder}{name}")
    draw(tmp_path / "data" / f"{half}cat/high.png")
    images = build("folder", folder=str(tmp_path / "data"), levels=2)
    assert images.class_names == ["cat/lynx", "cat/puma", "dog/lynx"]
    (level,) = images.levels
    assert (level.name, level.class_names) == ("folder 1", ["cat", "dog"])
    for row, path in enumerate(images.paths):
        _, genus, species, *_ = ("", *path.removeprefix("train/").removeprefix("test/").split("/"))
        assert images.class_names[images.labels[row]] == f"{genus}/{species}"
        assert level.class_names[level.labels[row]] == genus
    assert images.problems == [(f"{half}cat/high.png", "lies in fewer than 2 folders")]


def test_order_and_numbers_do_not_depend_on_the_disk(tmp_path, build, draw):
    names = [f"{label}/{number}.png" for label in "ab" for number in range(3)]
    for folder, order in (("one", names), ("two", names[::-1])):
        for name in order:
            draw(tmp_path / folder / name)
    one, two = (build("folder", folder=str(tmp_path / folder)) for folder in ("one", "two"))
    assert one.paths == two.paths == sorted(names)
    assert one.fingerprint == two.fingerprint
    assert one.labels.tolist() == two.labels.tolist() == [0, 0, 0, 1, 1, 1]


def test_grey_has_one_channel(tmp_path, build, draw):
    draw(tmp_path / "a" / "1.png", 90)
    _, pixels, _ = decoded(
        build("folder", folder=str(tmp_path), colour="grey", image_size=8), tmp_path / ".cache", silent
    )
    assert pixels.shape == (1, 8, 8, 1)
    assert (pixels == 90).all()


def test_a_class_with_one_image_is_reported_and_kept(tmp_path, build, draw):
    for name in ("a/1.png", "a/2.png", "lonely/1.png"):
        draw(tmp_path / name)
    found = build("folder", folder=str(tmp_path))
    assert len(found.paths) == 3
    assert found.problems == [], "nothing is left out"
    assert found.notes == [("1 class", "has one image: nothing can match it (lonely)")]


def test_hidden_files_and_folders_are_passed_over(tmp_path, build, draw):
    for name in ("a/1.png", "a/2.png", "a/._1.png", ".cache/3.png", "a/.thumbs/4.png"):
        draw(tmp_path / name)
    found = build("folder", folder=str(tmp_path))
    assert found.paths == ["a/1.png", "a/2.png"]
    assert found.problems == []
    assert found.remarks == [("1 folder of images", "is not read: its name begins with a dot (.cache)")]


def test_a_folder_whose_classes_all_begin_with_a_dot_says_so(tmp_path, build, draw):
    for name in (".a/1.png", ".b/1.png"):
        draw(tmp_path / name)
    said = r"^2 folders of images are not read: their names begin with a dot \(\.a, \.b\), and .* has no other images\."
    with pytest.raises(Problem, match=said):
        build("folder", folder=str(tmp_path))


def test_folders_of_classes_that_begin_with_a_dot_are_counted(tmp_path, build, draw):
    for name in (
        "train/a/1.png",
        "train/a/2.png",
        "test/b/1.png",
        "train/.c/1.png",
        "test/.d/1.png",
        "test/b/.e/1.png",
    ):
        draw(tmp_path / name)
    (tmp_path / ".git" / "objects").mkdir(parents=True)
    (tmp_path / ".git" / "objects" / "pack").write_bytes(b"")
    said = ("2 folders of images", "are not read: their names begin with a dot (test/.d, train/.c)")
    assert build("folder", folder=str(tmp_path)).remarks == [said]


def test_an_empty_folder_says_so_and_names_what_it_saw(tmp_path, build, draw):
    (tmp_path / "empty" / "a").mkdir(parents=True)
    with pytest.raises(Problem, match=r"There are no images in .*empty"):
        build("folder", folder=str(tmp_path / "empty"))
    draw(tmp_path / "flat" / "1.png")
    with pytest.raises(
        Problem, match=r"No image in .* has a class: 1\.png lies in no class folder\. .* a folder of their own"
    ):
        build("folder", folder=str(tmp_path / "flat"))
    with pytest.raises(Problem, match=r"There is no .*missing"):
        build("folder", folder=str(tmp_path / "missing"))
    with pytest.raises(Problem, match=r"x.png is neither a folder nor an archive"):
        build("folder", folder=str(draw(tmp_path / "x.png")))
    with pytest.raises(Problem, match="No folder or archive is chosen for your images"):
        build("folder")


def test_a_folder_above_that_of_the_classes_names_the_one_to_choose(tmp_path, build, draw):
    for name in ("images/a/1.png", "images/a/2.png", "images/b/1.png"):
        draw(tmp_path / name)
    with pytest.raises(Problem, match=r"holds one class, images, .*If those are the classes, choose .*images\."):
        build("folder", folder=str(tmp_path))
    assert build("folder", folder=str(tmp_path), levels=2).class_names == ["images/a", "images/b"]
    draw(tmp_path / "images" / "3.png")
    assert build("folder", folder=str(tmp_path)).class_names == ["images"], "its folders are no classes alone"


def test_photographs_in_a_format_that_is_not_read_are_named(tmp_path, build, draw):
    for name in ("ant/1.HEIC", "bee/2.avif", "bee/notes.txt"):
        (tmp_path / "in" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "in" / name).write_bytes(b"x")
    reason = "is an image of a format that is not read: save it as JPEG or PNG"
    with pytest.raises(Problem, match=rf"There are no images in .* 2 were left out: ant/1\.HEIC {reason}\."):
        build("folder", folder=str(tmp_path / "in"))
    draw(tmp_path / "in" / "ant" / "3.png", 90)
    images = build("folder", folder=str(tmp_path / "in"))
    assert images.paths == ["ant/3.png"]
    assert images.problems == [("ant/1.HEIC", reason), ("bee/2.avif", reason)]
    shutil.make_archive(str(tmp_path / "packed"), "zip", tmp_path / "in", "bee")
    with pytest.raises(Problem, match=reason):
        build("folder", folder=str(tmp_path / "packed.zip"))


def test_an_empty_class_and_a_stray_image_are_reported(tmp_path, build, draw):
    for name in ("a/1.png", "a/2.png", "stray.png"):
        draw(tmp_path / name)
    (tmp_path / "nothing").mkdir()
    found = build("folder", folder=str(tmp_path))
    assert found.problems == [("stray.png", "lies in no class folder")]
    assert found.notes == [("nothing", "is a folder without images")]


def test_links_in_a_circle_are_met_once(tmp_path, build, draw):
    for name in ("a/1.png", "a/2.png", "b/1.png", "b/2.png"):
        draw(tmp_path / name)
    try:
        (tmp_path / "a" / "up").symlink_to("..", target_is_directory=True)
    except OSError:
        pytest.skip("links need a right that this account does not have")
    (tmp_path / "a" / "self").symlink_to("self")
    (tmp_path / "z").symlink_to("a", target_is_directory=True)
    (tmp_path / "b" / "broken.png").symlink_to("nowhere.png")
    found = build("folder", folder=str(tmp_path))
    assert found.paths == ["a/1.png", "a/2.png", "b/1.png", "b/2.png"]  # the real folder keeps its name
    reasons = dict(found.problems)
    assert "loop of links" in reasons["a/up"]
    assert "loop of links" in reasons["z"]
    assert reasons["b/broken.png"].startswith("cannot be opened")


def test_links_to_a_store_elsewhere_are_read_under_their_own_names(tmp_path, build, draw):
    """As by ImageFolder: who made the folder made its links. A path that a list names may not lead out of it."""
    draw(tmp_path / "elsewhere" / "1.png")
    draw(tmp_path / "data" / "a" / "1.png")
    try:
        (tmp_path / "data" / "b").symlink_to(tmp_path / "elsewhere", target_is_directory=True)
    except OSError:
        pytest.skip("links need a right that this account does not have")
    (tmp_path / "data" / "a" / "2.png").symlink_to(tmp_path / "elsewhere" / "1.png")
    images = build("folder", folder=str(tmp_path / "data"))
    assert (images.paths, images.problems) == (["a/1.png", "a/2.png", "b/1.png"], [])
    (tmp_path / "data" / "list.csv").write_text("path,label\na/2.png,x\nb/1.png,y\n", "utf-8")
    assert build("csv", file=str(tmp_path / "data" / "list.csv")).paths == ["a/2.png", "b/1.png"]
    (tmp_path / "data" / "list.csv").write_text("path,label\n../elsewhere/1.png,x\n", "utf-8")
    with pytest.raises(Problem, match="lies outside"):
        build("csv", file=str(tmp_path / "data" / "list.csv"))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes on this system")
def test_a_pipe_is_reported_and_never_opened(tmp_path, build, draw):
    draw(tmp_path / "a" / "1.png")
    os.mkfifo(tmp_path / "a" / "pipe.png")
    found = build("folder", folder=str(tmp_path))
    assert found.paths == ["a/1.png"]
    assert ("a/pipe.png", "is not a regular file") in found.problems


def test_names_that_are_no_text_stay_apart(tmp_path, build):
    base = os.fsencode(tmp_path / "data")
    try:
        for value, name in enumerate([b"/\xe9/1.png", b"/\xe8/1.png", b"/\xe8/\xff.png"]):
            os.makedirs(os.path.dirname(base + name), exist_ok=True)
            Image.new("L", (8, 8), value).save(os.fsdecode(base + name))
    except OSError:
        pytest.skip("this file system has only names that are text")
    kept, pixels, _ = decoded(build("folder", folder=str(tmp_path / "data"), image_size=8), tmp_path / "cache", silent)
    assert kept.class_names == ["\\xe8", "\\xe9"]
    assert [path.encode().decode() for path in kept.paths] == ["\\xe8/1.png", "\\xe8/\\xff.png", "\\xe9/1.png"]
    assert pixels[:, 0, 0, 0].tolist() == [1, 2, 0]
    assert len(set(kept.sample_ids.tolist())) == 3


def test_bad_images_do_not_end_the_run(tmp_path, build, draw):
    for number in range(3):
        draw(tmp_path / "data" / "a" / f"{number}.png", number)
    (tmp_path / "data" / "a" / "zero.jpg").write_bytes(b"")
    (tmp_path / "data" / "a" / "page.png").write_bytes(b"<html>")
    draw(tmp_path / "data" / "b" / "cut.png").write_bytes(b"\x89PNG")
    kept, pixels, _ = decoded(build("folder", folder=str(tmp_path / "data"), image_size=8), tmp_path / "cache", silent)
    assert kept.paths == ["a/0.png", "a/1.png", "a/2.png"]
    assert len(pixels) == 3
    assert {"a/zero.jpg", "a/page.png", "b/cut.png"} <= {path for path, _ in kept.problems}
    assert dict(kept.problems)["a/zero.jpg"] == "is empty (0 bytes)"


def test_a_jpeg_may_be_named_as_browsers_of_windows_name_it(tmp_path, build, draw):
    for name in ("a/1.jpg", "b/1.jpg"):
        draw(tmp_path / name)
    (tmp_path / "b" / "1.jpg").rename(tmp_path / "b" / "1.JFIF")
    images = build("folder", folder=str(tmp_path))
    assert (images.paths, images.notes[1:]) == (["a/1.jpg", "b/1.JFIF"], [])
    assert np.asarray(images.read(1)).any()


@pytest.mark.parametrize(
    ("names", "halves"),
    [
        (["train/a/1.png", "test/a/2.png"], {"train/a/1.png": "train", "test/a/2.png": "test"}),
        (["Train/a/1.png", "Val/b/2.png"], {"Train/a/1.png": "train", "Val/b/2.png": "test"}),
        (
            ["train/a/1.png", "val/a/2.png", "test/a/3.png"],
            {"train/a/1.png": "train", "val/a/2.png": "validation", "test/a/3.png": "test"},
        ),
        (["train/a/1.png", "test/a/2.png", "stray.png"], {"train/a/1.png": "train", "test/a/2.png": "test"}),
        (["train_set/a/1.png", "test_set/a/2.png"], {"train_set/a/1.png": "train", "test_set/a/2.png": "test"}),
        (["Trainset/a/1.png", "val images/a/2.png"], {"Trainset/a/1.png": "train", "val images/a/2.png": "test"}),
        (["train/a/1.png", "other/a/2.png"], None),
        (["train_set/1.png", "test_set/2.png"], None),
        (["train/1.png", "test/2.png"], None),  # photographs of trains and of tests
        (["train/a/1.png"], None),
    ],
)
def test_train_and_test_folders_are_the_official_split(tmp_path, build, draw, names, halves):
    for name in names:
        draw(tmp_path / name)
    found = build("folder", folder=str(tmp_path))
    if halves is None:
        assert found.official is None
        assert found.class_names == sorted({name.split("/")[0] for name in names})
    else:
        assert dict(zip(found.paths, found.official, strict=True)) == halves
        assert found.class_names == sorted({path.split("/")[1] for path in halves})
    if "stray.png" in names:
        assert ("stray.png", "lies in no class folder") in found.problems


def test_classes_whose_images_are_all_in_folders_inside_may_be_levels_above_the_classes(tmp_path, build, draw):
    for name in ("greek/alpha/1.png", "greek/beta/1.png", "latin/a/1.png", "latin/a/old/2.png"):
        draw(tmp_path / name)
    said = (
        "have all of their images in 3 folders inside them: if those are the classes, set Levels (dataset.levels) to 2"
    )
    assert build("folder", folder=str(tmp_path)).remarks == [("2 classes", said)]
    assert build("folder", folder=str(tmp_path), levels=2).remarks == []
    draw(tmp_path / "latin" / "1.png")
    assert build("folder", folder=str(tmp_path)).remarks == [], "one class has an image of its own"


def test_a_folder_that_keeps_train_and_test_from_being_halves_is_named(tmp_path, build, draw):
    for name in ("train/a/1.png", "train/b/1.png", "test/a/1.png", "unlabelled/1.png"):
        draw(tmp_path / name)
    images = build("folder", folder=str(tmp_path))
    assert (images.class_names, images.official) == (["test", "train", "unlabelled"], None)
    assert images.notes[0] == ("train", "is read as a class, not as the training set: unlabelled is beside it")
    (tmp_path / "unlabelled").rename(tmp_path / ".unlabelled")
    assert build("folder", folder=str(tmp_path)).official == ["test", "train", "train"]


def test_folders_that_may_be_halves_with_other_names_are_named(tmp_path, build, draw):
    for name in ("train2017/cat/1.png", "train2017/dog/1.png", "val2017/cat/2.png", "val2017/dog/2.png"):
        draw(tmp_path / name)
    assert build("folder", folder=str(tmp_path)).remarks == [
        (
            "train2017 and val2017",
            "are read as classes, and hold folders of the same names (cat, dog): "
            "if they are the two sets, name them train and test",
        )
    ]
    shutil.rmtree(tmp_path / "val2017")
    draw(tmp_path / "val2017" / "fox" / "1.png")
    assert not any("halves" in said for _, said in build("folder", folder=str(tmp_path)).remarks)


def test_looking_for_images_can_be_given_up(tmp_path, build, draw, monkeypatch):
    monkeypatch.setattr(scan, "TELL_EVERY", 3)
    for number in range(5):
        (tmp_path / f"{number}.txt").write_text("no image, but looked at")
    with pytest.raises(Cancelled):
        build("folder", give_up, folder=str(tmp_path))


def test_a_folder_that_may_not_be_read_is_reported(tmp_path, build, draw, monkeypatch):
    """Played by hand: the tests may run as root, who may read everything."""
    draw(tmp_path / "a" / "1.png")
    draw(tmp_path / "b" / "1.png")
    real = os.scandir

    def locked(place):
        if os.fsencode(place).endswith(b"b"):
            raise PermissionError(13, "Permission denied", place)
        return real(place)

    monkeypatch.setattr(os, "scandir", locked)
    found = build("folder", folder=str(tmp_path))
    assert found.paths == ["a/1.png"]
    assert ("b", "cannot be opened (Permission denied)") in found.problems
    assert [path for path, _ in found.problems].count("b") == 1


def test_labels_are_int64(tmp_path, build, draw):
    draw(tmp_path / "a" / "1.png")
    assert build("folder", folder=str(tmp_path)).labels.dtype == np.int64
