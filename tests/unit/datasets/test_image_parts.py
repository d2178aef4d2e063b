"""Images that are parts of files: each line of a list names a box."""

import numpy as np
import pytest
from listeners import silent
from PIL import Image

from workbench.datasets.cache.pixels import decoded
from workbench.datasets.images.image_parts import WholeFiles, edges, part_name, part_of, whole_files
from workbench.datasets.images.loader import BadImage
from workbench.files.spreadsheet import csv_text
from workbench.problem import Problem

COLUMNS = "left top width height"
QUARTERS = {"sizes": (20, 16, 20, 16), "corners": (20, 16, 40, 32), "fractions": (0.5, 0.5, 0.5, 0.5)}


@pytest.fixture
def listed(tmp_path):
    """write(rows, numbers) -> the set of the list; two images of 40 x 32 px have quarters of four values each."""
    (tmp_path / "photographs").mkdir()
    for number in range(2):
        pixels = np.zeros((32, 40, 3), np.uint8)
        pixels[:16, 20:], pixels[16:, :20], pixels[16:, 20:] = 50, 100, 150
        Image.fromarray(pixels + np.uint8(10 * number)).save(tmp_path / "photographs" / f"{number}.png")

    def write(build, rows, columns=f"path label {COLUMNS}", **fields):
        (tmp_path / "list.csv").write_text(csv_text(columns.split(), rows), "utf-8")
        fields = {"box": COLUMNS, "image_size": 8} | fields
        return build("csv", file=str(tmp_path / "list.csv"), **fields)

    return write


@pytest.mark.parametrize("numbers", QUARTERS)
def test_a_box_is_cut_out_of_its_file(listed, build, tmp_path, numbers):
    box = QUARTERS[numbers]
    images = listed(build, [["photographs/1.png", "a", *box], ["photographs/0.png", "b", *box]], box_numbers=numbers)
    assert images.paths == [f"photographs/{row}.png#{','.join(map(str, box))}" for row in range(2)]
    _, pixels, _ = decoded(images, tmp_path / "cache", silent)
    assert [np.unique(image).tolist() for image in pixels] == [[150], [160]]
    assert [image.size for image in map(images.read, range(2))] == [(20, 16)] * 2


def test_a_file_may_have_several_boxes_each_an_image_with_a_class_and_a_half(listed, build, tmp_path):
    rows = [["photographs/0.png", "b", 0, 16, 20, 16, "test"], ["photographs/0.png", "a", 20, 0, 20, 16, "train"]]
    images = listed(build, rows, columns=f"path label {COLUMNS} split")
    assert len(set(images.sample_ids.tolist())) == 2
    assert [images.class_names[label] for label in images.labels] == ["b", "a"]
    assert images.official == ["test", "train"]
    _, pixels, _ = decoded(images, tmp_path / "cache", silent)
    assert pixels[:, 4, 4, 0].tolist() == [100, 50]


def test_numbers_may_be_written_in_any_way_and_the_name_stays_the_same(listed, build):
    first = listed(build, [["photographs/0.png", "a", "20", "16", "20", "16"]])
    again = listed(build, [["photographs/0.png", "a", "20,0", "16.00", " 2e1", "16"]])
    assert first.paths == again.paths
    assert first.fingerprint == again.fingerprint


def test_a_zero_with_a_minus_is_the_same_box(listed, build):
    rows = [["photographs/0.png", "a", 0, 0, 5, 5], ["photographs/0.png", "b", "-0.0", 0, 5, 5]]
    with pytest.raises(Problem, match=r"line 3: the same box of photographs/0\.png is already in line 2"):
        listed(build, rows)


def test_a_box_that_leaves_the_image_is_cut_at_its_edge_and_one_outside_is_left_out(listed, build, tmp_path):
    rows = [["photographs/0.png", "a", -10, 20, 22, 50], ["photographs/0.png", "a", 39, 0, 20, 20]]
    images = listed(build, rows)
    assert images.read(0).size == (12, 12)
    with pytest.raises(BadImage, match="outside the image of 40 x 32 px"):
        images.read(1)
    kept, _, _ = decoded(images, tmp_path / "cache", silent)
    assert [path for path, _ in kept.problems] == ["photographs/0.png#39,0,20,20"]


def test_a_box_lies_in_the_upright_image(tmp_path, build):
    pixels = np.zeros((8, 16), np.uint8)
    pixels[:, 8:] = 200  # on the right in the file; below once the image is turned by 90 degrees
    exif = Image.Exif()
    exif[0x0112] = 6
    Image.fromarray(pixels).save(tmp_path / "turned.jpg", exif=exif, quality=95)
    (tmp_path / "list.csv").write_text("path,label,x,y,w,h\nturned.jpg,a,0,8,8,8\n", "utf-8")
    images = build("csv", file=str(tmp_path / "list.csv"), box="x y w h", image_size=8)
    assert np.asarray(images.read(0)).min() > 150


def test_a_set_of_parts_is_decoded_again_when_one_of_its_files_is_written_again(listed, build, tmp_path):
    rows = [["photographs/0.png", "a", 0, 0, 20, 16], ["photographs/0.png", "a", 20, 0, 20, 16]]
    before = listed(build, rows)
    seen = before.fingerprint, before.stamp
    Image.new("RGB", (40, 32), "white").save(tmp_path / "photographs" / "0.png")
    after = listed(build, rows)
    assert before.sample_ids.tolist() == after.sample_ids.tolist()
    assert (after.fingerprint, after.stamp) != seen


def test_other_numbers_are_another_set(listed, build):
    rows = [["photographs/0.png", "a", 0, 0, 1, 1]]
    sets = [listed(build, rows, box_numbers=numbers) for numbers in QUARTERS]
    assert len({images.fingerprint for images in sets}) == 3


@pytest.mark.parametrize(
    ("box", "numbers", "reason"),
    [
        (("a", 0, 5, 5), "sizes", "'a' is not a number"),
        ((0, 0, "", 5), "sizes", "'' is not a number"),
        ((0, 0, 0, 5), "sizes", "its width or height is not above 0"),
        ((10, 10, 10, 20), "corners", "its width or height is not above 0"),
        ((0, 0, 20, 16), "fractions", "its width or height is above 1, so these are not fractions"),
        (("nan", 0, 5, 5), "sizes", "one of its numbers is not finite or too large"),
        ((0, 0, "1e300", 5), "sizes", "one of its numbers is not finite or too large"),
    ],
)
def test_a_box_that_is_none_is_named_with_its_line(listed, build, box, numbers, reason):
    with pytest.raises(Problem, match=rf"list\.csv, line 2: the box cannot be used: {reason}"):
        listed(build, [["photographs/0.png", "a", *box]], box_numbers=numbers)


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        ("left top", "line 1: 2 box columns are named"),
        ("left top width high", "line 1: there is no column high"),
    ],
)
def test_columns_that_are_not_four_of_the_list_are_refused(listed, build, columns, reason):
    with pytest.raises(Problem, match=reason):
        listed(build, [["photographs/0.png", "a", 0, 0, 5, 5]], box=columns)


def test_the_same_box_of_a_file_twice_is_refused(listed, build):
    row = ["photographs/0.png", "a", 0, 0, 5, 5]
    with pytest.raises(Problem, match=r"line 3: the same box of photographs/0\.png is already in line 2"):
        listed(build, [row, row])


def test_of_an_image_in_two_lines_the_columns_of_boxes_are_asked_for(listed, build):
    rows = [["photographs/0.png", "a", 0, 0, 5, 5], ["photographs/0.png", "b", 5, 0, 5, 5]]
    with pytest.raises(Problem, match=r"already in line 2.* name their columns as Box columns \(dataset\.box\)"):
        listed(build, rows, box="")


def test_edges_are_rounded_to_whole_pixels():
    assert edges((0.1, 0.2, 0.25, 0.5), "fractions", 101, 99) == (10, 20, 35, 69)


@pytest.mark.parametrize("numbers", QUARTERS)
def test_the_whole_file_of_a_part_has_its_box_around_the_part(listed, build, tmp_path, numbers):
    images = listed(build, [["photographs/1.png", "a", *QUARTERS[numbers]]], box_numbers=numbers)
    drawn = np.asarray(WholeFiles(tmp_path, numbers).drawn(images.paths[0]))
    plain = np.asarray(Image.open(tmp_path / "photographs/1.png").convert("RGB"))
    changed = (drawn != plain).any(2)
    assert drawn.shape == (32, 40, 3)
    assert changed[12:16, 16:].all(), "four lines above the box"
    assert changed[16:, 16:20].all(), "and on its left; its other sides are drawn within the image"
    assert not changed[:12].any()
    assert not changed[:, :16].any()
    assert not changed[16:-2, 20:-2].any(), "what the box shows is as it was"


def test_a_box_that_leaves_its_file_is_drawn_within_it(tmp_path):
    Image.new("RGB", (40, 32)).save(tmp_path / "0.png")
    for box in ((-10, -10, 20, 20), (30, 20, 100, 100), (0, 0, 40, 32)):
        drawn = np.asarray(WholeFiles(tmp_path, "sizes").drawn(part_name("0.png", box)))
        assert drawn.shape == (32, 40, 3)
        assert drawn.any()
    assert not np.asarray(WholeFiles(tmp_path, "sizes").drawn("0.png#90,90,5,5")).any()


@pytest.mark.parametrize("name", ["a.png", "a.png#1,2,3", "#1,2,3,4", "a.png#1,2,0,4", "a.png#1,2,x,4"])
def test_a_name_without_a_box_names_no_part(name):
    with pytest.raises(ValueError, match=r"box|number|width"):
        part_of(name, "sizes")


def test_a_part_is_known_by_its_name_also_if_its_file_has_the_same_sign():
    assert part_of(part_name("a#1/b#2.png", (0.5, 0.25, 0.125, 0.1)), "fractions") == (
        "a#1/b#2.png",
        (0.5, 0.25, 0.125, 0.1),
    )


def test_whole_files_are_those_of_a_list_with_boxes_that_is_not_packed(tmp_path):
    listed = {"file": str(tmp_path / "list.csv"), "box": COLUMNS}
    assert whole_files("csv", listed) == WholeFiles(tmp_path, "sizes")
    elsewhere = {"folder": str(tmp_path / "elsewhere"), "box_numbers": "corners", "bits": 12}
    assert whole_files("csv", listed | elsewhere) == WholeFiles(tmp_path / "elsewhere", "corners", 12)
    (tmp_path / "packed.zip").write_bytes(b"")
    for refused in ({"box": ""}, {"file": ""}, {"box_numbers": "other"}, {"folder": str(tmp_path / "packed.zip")}):
        assert whole_files("csv", listed | refused) is None
    assert whole_files("folder", listed) is None
