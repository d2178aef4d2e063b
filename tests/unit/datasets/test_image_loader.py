"""The corpus of bad images: each is read as a person would expect, or left out with one sentence."""

import io
import os
import struct
import zlib

import numpy as np
import pytest
from PIL import Image, ImageFile

from workbench.datasets.images import loader
from workbench.datasets.images.loader import BadImage, decode, display_name, load, on_disk, picture, square


def halves(mode="RGB", size=(40, 30)):
    """Left half dark, right half light, in any mode."""
    grey = Image.new("L", size, 50)
    grey.paste(200, (size[0] // 2, 0, *size))
    return grey.convert(mode)


def bytes_of(image, form, **options):
    out = io.BytesIO()
    image.save(out, form, **options)
    return out.getvalue()


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png_header(width, height, bits=8):
    """A PNG that claims a size and ends where its pixels should start."""
    head = struct.pack(">IIBBBBB", width, height, bits, 2 if bits == 8 else 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + b"\0\0\0\x09IDAT"


@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize(
    ("mode", "form"),
    [
        ("RGB", "JPEG"), ("L", "JPEG"), ("CMYK", "JPEG"), ("CMYK", "TIFF"), ("P", "PNG"), ("P", "GIF"), ("1", "PNG"),
        ("LA", "PNG"), ("RGBA", "PNG"), ("RGBA", "WEBP"), ("RGB", "BMP"), ("RGB", "TIFF"), ("L", "PPM"),
        ("YCbCr", "JPEG"),
    ],
)  # fmt: skip
def test_every_mode_becomes_eight_bits(tmp_path, mode, form, channels):
    (tmp_path / "a").write_bytes(bytes_of(halves(mode), form))
    found = load(tmp_path / "a", channels)
    assert found.dtype == np.uint8
    assert found.shape == ((30, 40, 3) if channels == 3 else (30, 40))
    dark, light = (0, 255) if mode == "1" else (50, 200)
    inner = found[:, 2:14].mean(), found[:, 26:38].mean()  # clear of the edge, where JPEG rings and "1" is dithered
    if mode == "1":
        assert inner[0] < inner[1]
    else:
        assert inner == pytest.approx((dark, light), abs=4)


@pytest.mark.parametrize("form", ["PNG", "TIFF", "PPM"])
def test_sixteen_bits_are_scaled_and_not_clipped_to_white(tmp_path, form):
    wide = np.full((8, 8), 30_000, np.uint16)
    wide[:, 4:] = 65_535
    (tmp_path / "a").write_bytes(bytes_of(Image.fromarray(wide), form))
    found = load(tmp_path / "a", 1)
    assert found[0, 0] == round(30_000 / 257)
    assert found[0, 7] == 255


@pytest.mark.parametrize(("bits", "middle"), [(16, round(45_535 / 257)), (15, round(12_767 / 32_767 * 255))])
def test_where_white_is_0_sixteen_bits_are_inverted_also_in_parts_and_turned(monkeypatch, bits, middle):
    wide = np.zeros((8, 8), np.uint16)
    wide[:, 4:] = 20_000
    black_is_0, white_is_0 = (struct.pack("<HHIHH", 262, 3, 1, value, 0) for value in (1, 0))
    exif = Image.Exif()
    exif[0x112] = 3  # upside down
    stored = bytes_of(Image.fromarray(wide), "TIFF", exif=exif).replace(black_is_0, white_is_0)
    assert decode(io.BytesIO(stored), 1, bits=bits)[0, [0, 7]].tolist() == [middle, 255]
    monkeypatch.setattr(loader, "BAND", 2 * 8)
    assert decode(io.BytesIO(stored), 1, bits=bits)[7, [0, 7]].tolist() == [middle, 255]


@pytest.mark.parametrize(("orientation", "bright"), [(1, "right"), (3, "left"), (6, "bottom"), (8, "top")])
def test_exif_rotation_is_obeyed(orientation, bright):
    exif = Image.Exif()
    exif[0x112] = orientation
    found = decode(io.BytesIO(bytes_of(halves(), "JPEG", exif=exif)), 1).astype(int)
    height, width = found.shape
    assert (height, width) == ((30, 40) if orientation in (1, 3) else (40, 30))
    sides = {
        "right": found[:, -8:], "left": found[:, :8], "bottom": found[-8:], "top": found[:8],
    }  # fmt: skip
    assert max(sides, key=lambda side: sides[side].mean()) == bright


def test_damage_elsewhere_in_the_exif_does_not_matter_to_the_rotation():
    orientation = struct.pack("<HHII", 0x0112, 3, 1, 6)
    gps = struct.pack("<HHIi", 0x8825, 9, 1, -20)  # the place of its table lies before the file
    exif = b"Exif\0\0II*\0" + struct.pack("<IH", 8, 2) + orientation + gps + bytes(4)
    plain = bytes_of(halves(), "JPEG")
    damaged = plain[:2] + b"\xff\xe1" + struct.pack(">H", len(exif) + 2) + exif + plain[2:]
    expected = np.rot90(decode(io.BytesIO(plain)), -1)
    assert np.array_equal(decode(io.BytesIO(damaged)), expected)


def test_an_animation_gives_its_first_frame():
    frames = [Image.new("L", (8, 8), value).convert("P") for value in (10, 240)]
    for form in ("GIF", "PNG"):
        data = bytes_of(frames[0].convert("RGB"), form, save_all=True, append_images=[frames[1].convert("RGB")])
        assert decode(io.BytesIO(data), 1).mean() == pytest.approx(10, abs=2)


def test_transparency_is_laid_on_white():
    clear = Image.new("RGBA", (8, 8), (0, 0, 0, 0))
    assert decode(io.BytesIO(bytes_of(clear, "PNG")), 3).min() == 255
    palette = Image.new("P", (8, 8), 0)
    assert decode(io.BytesIO(bytes_of(palette, "PNG", transparency=0)), 3).min() == 255


def jpeg_cut():
    noise = np.random.default_rng(0).integers(0, 255, (64, 64, 3), np.uint8)
    return bytes_of(Image.fromarray(noise), "JPEG")[:-400]


BAD = {
    "empty": (b"", "is empty"),
    "cut JPEG": (jpeg_cut(), "truncated"),
    "cut PNG": (bytes_of(halves(), "PNG")[:-40], "not an image that can be read"),
    "cut after the header": (png_header(40, 30), "not an image that can be read"),
    "HEIC": (b"\0\0\0\x18ftypheic\0\0\0\0mif1heic", "is HEIC, whatever its name says: save it as JPEG or PNG"),
    "AVIF": (b"\0\0\0\x1cftypavif\0\0\0\0avifmif1", "is AVIF, whatever its name says: save it as JPEG or PNG"),
    "HTML": (b"<html>not found</html>", "not an image of a known format"),
    "text that says PNG": (b"\x89PNG\r\n\x1a\n" + b"x" * 50, "not an image"),
    "20,000 x 20,000": (png_header(20_000, 20_000), "20000 x 20000 pixels"),
    "4 billion pixels a side": (png_header(2**31 - 1, 2**31 - 1), "pixels"),
    "one pixel": (bytes_of(Image.new("L", (1, 1)), "PNG"), "only 1 x 1"),
    "float": (bytes_of(Image.new("F", (4, 4)), "TIFF"), "without a defined range"),
    "32 bits": (bytes_of(Image.new("I", (4, 4)), "TIFF"), "without a defined range"),
    "an unexpected format": (bytes_of(halves(), "PCX"), "not an image of a known format"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_is_refused_with_its_reason(tmp_path, name):
    data, words = BAD[name]
    place = tmp_path / "a.png"
    place.write_bytes(data)
    with pytest.raises(BadImage, match=words) as told:
        load(place)
    assert "\n" not in str(told.value)


def test_what_is_no_file_is_refused(tmp_path):
    with pytest.raises(BadImage, match="cannot be opened"):
        load(tmp_path / "missing.png")
    with pytest.raises(BadImage, match="not a regular file"):
        load(tmp_path)
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe.png")
        with pytest.raises(BadImage, match="not a regular file"):  # and does not wait for a writer
            load(tmp_path / "pipe.png")


def test_a_giant_is_refused_before_it_is_decoded(monkeypatch):
    """A whole, honest image of 400 million pixels in a file of 50 kB."""
    rows = zlib.compress(bytes(20_000 * (1 + 20_000 // 8)))
    head = png_header(20_000, 20_000, bits=1)[:-8]
    data = head + chunk(b"IDAT", rows) + chunk(b"IEND", b"")
    decoding = []
    monkeypatch.setattr(ImageFile.ImageFile, "load", lambda self: decoding.append(self.size))
    with pytest.raises(BadImage, match="20000 x 20000"):
        decode(io.BytesIO(data))
    assert decoding == []
    with pytest.raises(BadImage):
        decode(io.BytesIO(bytes_of(halves(), "PNG")))
    assert decoding[0] == (40, 30)  # the listening works


def test_running_out_of_memory_is_not_blamed_on_the_image(monkeypatch):
    def empty(*_, **__):
        raise MemoryError

    monkeypatch.setattr(Image, "open", empty)
    with pytest.raises(MemoryError):
        decode(io.BytesIO(b""))


def test_a_large_photograph_comes_smaller_when_only_a_small_one_is_needed():
    data = bytes_of(halves(size=(1600, 1200)), "JPEG")
    whole, small = decode(io.BytesIO(data)), decode(io.BytesIO(data), size=128)
    assert whole.shape == (1200, 1600, 3)
    assert 256 <= min(small.shape[:2]) < 600
    difference = square(whole, 128, 3).astype(int) - square(small, 128, 3)
    assert abs(difference).mean() < 1


@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("shape", [(20, 40), (40, 20), (16, 16), (8, 8), (20, 40, 3), (16, 16, 3), (16, 16, 1)])
def test_a_square_is_the_centre_at_the_wanted_size(shape, channels):
    image = np.zeros(shape, np.uint8)
    long = 1 if shape[1] > shape[0] else 0
    middle = [slice(None)] * len(shape)
    if shape[0] != shape[1]:
        middle[long] = slice(10, 30)  # what the centre square shows
    image[tuple(middle)] = 180
    found = square(image, 16, channels)
    assert (found.shape, found.dtype) == ((16, 16, channels), np.uint8)
    assert found[:, 2:-2].min() >= 170


def test_shrinking_is_smooth():
    """A board of single black and white pixels becomes grey, not a pattern."""
    board = ((np.indices((128, 128)).sum(0) % 2) * 255).astype(np.uint8)
    found = square(board, 32, 1)[2:-2, 2:-2]
    assert found.mean() == pytest.approx(127.5, abs=2)
    assert found.std() < 3


def test_names_that_are_no_text_are_shown_apart_and_found_again(tmp_path):
    raw = [os.fsencode(tmp_path) + b"/\xff.png", os.fsencode(tmp_path) + b"/\xfe.png"]
    try:
        for value, place in enumerate(raw):
            Image.new("L", (4, 4), value).save(os.fsdecode(place))
    except OSError:
        pytest.skip("this file system has only names that are text")
    shown = [display_name(os.path.basename(place)) for place in raw]
    assert shown == ["\\xff.png", "\\xfe.png"]
    assert [load(on_disk(tmp_path, name), 1).mean() for name in shown] == [0, 1]


def test_a_name_that_looks_like_an_escape_is_left_alone(tmp_path):
    if os.name == "nt":
        pytest.skip("a backslash is no part of a name here")
    Image.new("L", (4, 4), 7).save(tmp_path / "\\xff.png")
    assert display_name("\\xff.png") == "\\xff.png"
    assert load(on_disk(tmp_path, "\\xff.png"), 1).mean() == 7
    assert display_name("Größe/漢字 1.png") == "Größe/漢字 1.png"


@pytest.mark.parametrize("mode", ["RGB", "L", "RGBA", "P", "CMYK", "I;16"])
@pytest.mark.parametrize("channels", [1, 3])
def test_a_picture_has_the_pixels_of_the_array(tmp_path, monkeypatch, mode, channels):
    path = tmp_path / ("image.jpg" if mode == "CMYK" else "image.png")
    grey = Image.fromarray(np.arange(1200, dtype=np.uint16).reshape(30, 40) * 50)
    (grey if mode == "I;16" else Image.effect_noise((40, 30), 80).convert("RGB").convert(mode)).save(path)
    expected = load(path, channels)
    assert np.array_equal(np.asarray(picture(path, channels)), expected)
    assert picture(path, channels).mode == ("L" if channels == 1 else "RGB")
    for wanted in (1, 3):
        assert np.array_equal(square(picture(path, channels), 16, wanted), square(expected, 16, wanted))
    monkeypatch.setattr("workbench.datasets.images.loader.BAND", 100)  # a few lines at once
    assert np.array_equal(np.asarray(picture(path, channels)), expected)
