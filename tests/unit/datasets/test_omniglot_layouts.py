"""Omniglot as a folder, as the official zip, and as zips that went through other hands."""

import io
import os
import zipfile

import numpy as np
import pytest
from listeners import silent
from PIL import Image

from workbench.datasets.cache.pixels import decoded
from workbench.problem import Problem

CHARACTERS = {"Greek/character01": 3, "Greek/character02": 2, "Old_Church/character01": 2}


def drawings():
    """(path, PNG bytes): one bit per pixel, a dark stroke on white, as published."""
    for place, count in CHARACTERS.items():
        for number in range(count):
            image = Image.new("1", (105, 105), 1)
            image.paste(0, (30 + 10 * number, 10, 50 + 10 * number, 95))
            out = io.BytesIO()
            image.save(out, "PNG")
            yield f"{place}/{number:04}_01.png", out.getvalue()


def make_zip(place, above="images_background_small1/", more=()):
    with zipfile.ZipFile(place, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(above or "readme/", b"") if above else None
        for name, data in [*((above + path, data) for path, data in drawings()), *more]:
            archive.writestr(name, data)
    return place


def make_folder(root):
    for path, data in drawings():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(data)
    return root


def test_zip_and_folder_are_one_data_set(tmp_path, build):
    make_folder(tmp_path / "data" / "images_background")
    places = [
        make_zip(tmp_path / "a.zip"),
        make_zip(tmp_path / "b.zip", above=""),
        tmp_path / "data" / "images_background",
        tmp_path / "data",
    ]
    sets = [build("omniglot", place=str(place)) for place in places]
    for each in sets:
        kept, pixels, _ = decoded(each, tmp_path / "cache", silent)
        assert kept.class_names == sorted(CHARACTERS)
        assert np.bincount(kept.labels).tolist() == [3, 2, 2]
        assert kept.sample_ids.tolist() == sets[0].sample_ids.tolist()
        assert pixels.shape == (7, 28, 28, 1)
        assert pixels[:, 0].min() == 255  # white paper
        assert (pixels.min((1, 2, 3)) < 60).all()  # dark strokes
        assert len({image.tobytes() for image in pixels[:3]}) == 3
    assert [each.root is None for each in sets] == [True, True, False, False]
    assert [len(each.unlike_published) for each in sets] == [0, 0, 2, 2], (
        "only a part under its published name is counted"
    )
    assert (sets[3].root / sets[3].paths[0]).is_file()
    assert sets[0].fingerprint == sets[1].fingerprint


@pytest.mark.parametrize(("part", "classes", "images"), [("small1", 136, "2,720"), ("small2", 156, "3,120")])
def test_counts_that_differ_from_the_published_ones_are_told(tmp_path, build, part, classes, images):
    name = f"images_background_{part}"
    found = build("omniglot", place=str(make_zip(tmp_path / f"{name}.zip")))
    assert [(path, reason.partition(" here")[0]) for path, reason in found.unlike_published] == [
        (name, f"was published with {classes} classes and has 3"),
        (name, f"was published with {images} images and has 7"),
    ]


def test_two_parts_together_keep_their_alphabets(tmp_path, build):
    make_folder(tmp_path / "images_background")
    make_folder(tmp_path / "images_evaluation")
    found = build("omniglot", place=str(tmp_path))
    assert len(found.paths) == 14
    assert len(found.class_names) == 6
    assert (found.root / found.paths[-1]).is_file()


def test_what_macos_adds_is_no_character(tmp_path, build):
    more = [("__MACOSX/images_background_small1/Greek/character01/._0000_01.png", b"junk")]
    more += [("images_background_small1/Greek/character01/.hidden.png", b"junk"), ("strokes/a.txt", b"text")]
    assert len(build("omniglot", place=str(make_zip(tmp_path / "a.zip", more=more))).paths) == 7


def test_other_drawings_under_the_same_names_never_meet_the_old_cache(tmp_path, build):
    one = build("omniglot", place=str(make_zip(tmp_path / "a.zip")))
    changed = [("images_background_small1/" + next(drawings())[0], list(drawings())[1][1])]
    with pytest.warns(UserWarning, match="Duplicate"):
        other = build("omniglot", place=str(make_zip(tmp_path / "b.zip", more=changed)))
    assert other.paths == one.paths
    assert other.fingerprint != one.fingerprint


def test_a_damaged_drawing_is_left_out_and_named(tmp_path, build):
    place = make_zip(tmp_path / "a.zip")
    with zipfile.ZipFile(place) as archive:
        offset = archive.getinfo("images_background_small1/Greek/character01/0001_01.png").header_offset
    data = bytearray(place.read_bytes())
    data[offset + 90 : offset + 110] = bytes(20)
    place.write_bytes(data)
    kept, pixels, _ = decoded(build("omniglot", place=str(place)), tmp_path / "cache", silent)
    assert len(pixels) == 6
    assert [path for path, _ in kept.problems] == ["Greek/character01/0001_01.png"]
    assert "cannot be read from the zip" in kept.problems[0][1]


@pytest.mark.parametrize("name", ["../escaped.png", "/etc/a/b/c.png", "a/../../../b.png"])
def test_a_hostile_zip_is_refused(tmp_path, build, name):
    with pytest.raises(Problem, match="leaves the folder"):
        build("omniglot", place=str(make_zip(tmp_path / "a.zip", more=[(name, b"x")])))


def test_what_is_no_omniglot_says_so(tmp_path, build):
    (tmp_path / "text.zip").write_bytes(b"text")
    (tmp_path / "text.png").write_bytes(b"text")
    whole = make_zip(tmp_path / "whole.zip").read_bytes()
    (tmp_path / "cut.zip").write_bytes(whole[:-50])
    with zipfile.ZipFile(tmp_path / "other.zip", "w") as archive:
        archive.writestr("a.txt", b"a")
    (tmp_path / "empty").mkdir()
    for name, words in {
        "text.png": "is neither a folder nor an archive",
        "text.zip": "is refused: File is not a zip file",
        "cut.zip": "is refused: File is not a zip file",
        "other.zip": "holds no ALPHABET/characterNN",
        "empty": "holds no ALPHABET/characterNN",
        "missing": "There is no",
    }.items():
        with pytest.raises(Problem, match=words) as told:
            build("omniglot", place=str(tmp_path / name))
        assert name in told.value.what
    with pytest.raises(Problem, match="No folder or archive is chosen"):
        build("omniglot")


def test_the_folder_reports_what_it_passes_over(tmp_path, build):
    make_folder(tmp_path / "data")
    os.symlink(tmp_path / "data", tmp_path / "data" / "Greek" / "loop")
    (tmp_path / "data" / "Greek" / "character01" / "broken.png").symlink_to("nowhere.png")
    found = build("omniglot", place=str(tmp_path / "data"))
    assert len(found.paths) == 7
    assert len(found.problems) == 2
