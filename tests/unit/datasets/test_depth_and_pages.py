"""16-bit files whose values have fewer bits, as of microscopes: dark, which is said; `bits` makes them light.

All images of a set are scaled alike.
"""

import io
import struct
import tarfile
import zlib
from contextlib import closing

import numpy as np
import pyarrow
import pytest
from PIL import Image
from pyarrow import parquet

from workbench.config import RunConfig
from workbench.datasets.images.loader import bits_of, load
from workbench.datasets.prepared import Prepared
from workbench.datasets.reading.depth_and_pages import MOST_PAGES, seen
from workbench.running.search.image_search import OwnImage
from workbench.workspace import Workspace
from workbench.workspace.recorder import Recorder


def drawn(folder, highest, ending="png"):
    """Two classes of three grey images each, whose highest value is that of each image's number, times `highest`."""
    for name in ("cell", "void"):
        (folder / name).mkdir(parents=True)
        for number in (1, 2, 3):
            values = np.zeros((20, 30), np.uint16)
            values[4:16] = highest * number // 3
            Image.fromarray(values).save(folder / name / f"{number}.{ending}")
    return folder


@pytest.mark.parametrize("ending", ["png", "tif"])
def test_images_of_twelve_bits_are_dark_which_is_said_with_what_to_do(tmp_path, build, ending):
    dark = build("folder", folder=str(drawn(tmp_path, 4095, ending)))
    ((subject, said),) = dark.remarks
    assert (subject, said) == (
        "16-bit images",
        "have no value above 4,095 in 6 that were looked at, and are dark: set Bits of 16-bit files to 12",
    )
    assert np.asarray(dark.read(2)).max() == 16


@pytest.mark.parametrize("ending", ["png", "tif"])
def test_with_their_bits_the_highest_value_is_white_and_all_images_are_scaled_alike(tmp_path, build, ending):
    light = build("folder", folder=str(drawn(tmp_path, 4095, ending)), bits=12, colour="grey")
    assert [int(np.asarray(light.read(row)).max()) for row in range(3)] == [85, 170, 255]
    assert light.remarks == [("16-bit images", "are read as 12 bits: 4,095 and above is white")]


def test_what_lies_above_is_white_and_said(tmp_path, build):
    light = build("folder", folder=str(drawn(tmp_path, 9000)), bits=12, colour="grey")
    assert np.asarray(light.read(2)).max() == 255
    assert light.remarks[0][1].endswith("; the highest in 6 that were looked at is 9,000")


def test_other_bits_are_other_pixels(tmp_path, build):
    folder = str(drawn(tmp_path, 4095))
    assert build("folder", folder=folder).fingerprint != build("folder", folder=folder, bits=12).fingerprint


@pytest.mark.parametrize("highest", [65535, 20_000])
def test_nothing_is_said_of_images_that_use_their_bits_and_of_those_of_eight(tmp_path, build, draw, highest):
    assert build("folder", folder=str(drawn(tmp_path / "wide", highest))).remarks == []
    for name in ("one", "two"):
        draw(tmp_path / "plain" / name / "1.png")
        draw(tmp_path / "plain" / name / "2.png")
    assert build("folder", folder=str(tmp_path / "plain")).remarks == []
    assert build("folder", folder=str(tmp_path / "plain"), bits=12).remarks == []


@pytest.mark.parametrize(("size", "said"), [((3000, 200), "15 times"), ((100, 400), "4 times"), ((390, 100), "")])
def test_of_long_images_the_share_of_the_centre_square_is_said(tmp_path, build, size, said):
    for name in ("street", "beach"):
        (tmp_path / name).mkdir()
        Image.new("RGB", size).save(tmp_path / name / "1.jpg")
        Image.new("RGB", size).save(tmp_path / name / "2.png")
    (tmp_path / "beach" / "3.jpg").write_bytes(b"no image")
    remarks = build("folder", folder=str(tmp_path)).remarks
    if not said:
        assert remarks == []
        return
    ((subject, words),) = remarks
    assert subject == "the images"
    assert words.startswith(f"are {said} as long as wide in 4 that were looked at: their centre square is ")
    assert f" {100 * min(size) / max(size):.0f}% of each. " in words


def test_a_list_reads_them_too(tmp_path, build):
    drawn(tmp_path, 1000)
    (tmp_path / "list.csv").write_text("path,label\ncell/3.png,a\nvoid/3.png,b\n", "utf-8")
    assert "to 10" in build("csv", file=str(tmp_path / "list.csv")).remarks[0][1]
    light = build("csv", file=str(tmp_path / "list.csv"), bits=10)
    assert np.asarray(light.read(0)).max() == round(1000 / 1023 * 255)


def test_so_do_shards(tmp_path, build):
    drawn(tmp_path / "files", 4095)
    with tarfile.open(tmp_path / "all.tar", "w") as shard:
        for name in ("cell", "void"):
            for ending, content in (
                ("png", (tmp_path / "files" / name / "3.png").read_bytes()),
                ("cls", name.encode()),
            ):
                member = tarfile.TarInfo(f"{name}3.{ending}")
                member.size = len(content)
                shard.addfile(member, io.BytesIO(content))
    assert "to 12" in build("webdataset", folder=str(tmp_path)).remarks[0][1]
    assert np.asarray(build("webdataset", folder=str(tmp_path), bits=12).read(0)).max() == 255


def test_so_do_rows_of_a_table(tmp_path, build):
    drawn(tmp_path / "files", 4095)
    files = [tmp_path / "files" / name / "3.png" for name in ("cell", "void")]
    (tmp_path / "data").mkdir()
    rows = {"image": [{"bytes": file.read_bytes(), "path": ""} for file in files], "label": ["cell", "void"]}
    parquet.write_table(pyarrow.table(rows), tmp_path / "data" / "train.parquet")
    assert "to 12" in build("huggingface", folder=str(tmp_path / "data")).remarks[0][1]
    assert np.asarray(build("huggingface", folder=str(tmp_path / "data"), bits=12).read(0)).max() == 255


def test_an_image_of_ones_own_is_read_as_the_run_s_were(tmp_path):
    file = drawn(tmp_path, 4095) / "cell" / "3.png"
    assert np.asarray(Prepared(8, 8, 1, bits=12).read(file)).max() == 255
    assert "the lower 12 of 16 bits" in Prepared(8, 8, 1, bits=12).words[1]


@pytest.mark.parametrize(("bits", "white"), [(12, 255), (16, 16), ("twelve", 16), (99, 16), (None, 16)])
def test_the_original_of_an_image_is_as_bright_as_what_trained(tmp_path, build, bits, white):
    images = build("folder", folder=str(drawn(tmp_path / "images", 4095)), bits=bits if bits == 12 else 16)
    with Workspace(tmp_path / "space", create=True) as workspace:
        dataset = workspace.register_dataset(images, None)
        if bits is not None:  # else its run was deleted
            config = RunConfig.model_validate({"dataset": {"name": "folder", "params": {"bits": bits}}})
            with closing(Recorder(workspace, workspace.create_run(config))) as recorder:
                recorder.dataset(dataset)
        shown = workspace.pictures(dataset).full(int(images.sample_ids[2]))
    assert shown.max() == white == OwnImage("own", images.root / images.paths[2]).read(bits_of({"bits": bits})).max()


def test_a_file_that_states_its_highest_value_is_scaled_by_it(tmp_path):
    (tmp_path / "a.pgm").write_bytes(b"P5 2 2 4095\n" + (b"\x0f\xff" * 4))
    assert load(tmp_path / "a.pgm", 1).min() == load(tmp_path / "a.pgm", 1, bits=12).min() == 255


def test_colour_of_twelve_bits_is_read_by_the_upper_eight_which_is_said(tmp_path, build):
    for name in ("cell", "void"):
        (tmp_path / name).mkdir()
        for number in (1, 2):
            (tmp_path / name / f"{number}.png").write_bytes(wide_colours(4000))
    (remark,) = build("folder", folder=str(tmp_path)).remarks
    assert remark == (
        "16-bit colour images",
        "are read by their upper 8 bits, are dark (no value above 15 of 255 in 4 that were looked at): "
        "save them with 8 bits",
    )
    for name in ("cell", "void"):
        (tmp_path / name / "1.png").write_bytes(wide_colours(60_000))
    assert build("folder", folder=str(tmp_path)).remarks == []


def wide_colours(value):
    """A PNG of three 16-bit colours, which Pillow does not write."""
    lines = (b"\0" + np.full(30 * 3, value, ">u2").tobytes()) * 20
    head = struct.pack(">IIBBBBB", 30, 20, 16, 2, 0, 0, 0)
    parts = ((b"IHDR", head), (b"IDAT", zlib.compress(lines)), (b"IEND", b""))
    whole = b"\x89PNG\r\n\x1a\n"
    for kind, body in parts:
        whole += struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
    return whole


def test_a_stack_is_read_by_its_first_page_which_is_said(tmp_path, build, draw):
    pages = [Image.new("L", (20, 20), value) for value in (9, 200, 250)]
    for name in ("cell", "void"):
        draw(tmp_path / name / "1.png")
        pages[0].save(tmp_path / name / "2.tif", save_all=True, append_images=pages[1:])
    found = build("folder", folder=str(tmp_path), colour="grey")
    assert found.remarks == [
        ("TIFF files", "have several pages, 3 at most in 2 that were looked at: only the first page of each is read")
    ]
    assert np.asarray(found.read(1)).max() == 9


def test_of_very_many_pages_a_thousand_are_counted(tmp_path):
    assert seen(str(stack(tmp_path / "few.tif", 999))).pages == 999
    assert seen(str(stack(tmp_path / "many.tif", 20_000))).pages == MOST_PAGES


def test_very_many_pages_are_said(tmp_path, build, draw):
    for name in ("cell", "void"):
        draw(tmp_path / name / "1.png")
        stack(tmp_path / name / "2.tif", 1_500)
    (remark,) = build("folder", folder=str(tmp_path), colour="grey").remarks
    assert remark[1].startswith("have several pages, 1,000 or more in 2 that were looked at")


def stack(path, pages):
    """A TIFF of so many pages of 4 x 4 px, which all show the same 16 bytes."""
    width, height, bits, packing, kind, start, samples, rows, size = 256, 257, 258, 259, 262, 273, 277, 278, 279
    values = {width: 4, height: 4, bits: 8, packing: 1, kind: 1, start: 8, samples: 1, rows: 4, size: 16}
    tags = b"".join(struct.pack("<HHII", tag, 4, 1, value) for tag, value in values.items())
    page = struct.pack("<H", len(values)) + tags
    after = [24 + (len(page) + 4) * (number + 1) for number in range(pages - 1)] + [0]
    chain = b"".join(page + struct.pack("<I", place) for place in after)
    path.write_bytes(b"II*\0" + struct.pack("<I", 24) + bytes(16) + chain)
    return path
