"""The only image loader: safe with arbitrary files, the same for training and for the window."""

import os
import re
import stat
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO, TypeVar, cast

import numpy as np
from PIL import Image, ImageOps, UnidentifiedImageError

from workbench.files.unreadable import reason

FORMATS = ("JPEG", "PNG", "BMP", "GIF", "TIFF", "WEBP", "PPM")
ENDINGS = (".jpg", ".jpeg", ".jfif", ".png", ".bmp", ".gif", ".tif", ".tiff", ".webp", ".ppm", ".pgm")
MOST_PIXELS = 50_000_000
MOST_BYTES = 256 << 20
READ_ONLY = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0)
READ_AT_ONCE = 16 << 20  # bytes of a file; Pillow's many small reads would each release the interpreter lock
WHOLE = 16  # bits of a 16-bit file that are used where nothing else is known
BAND = 4 << 20  # pixels that are converted at once
ORIENTATION = 0x0112  # EXIF
PHOTOMETRIC = 262  # of TIFF: 0 where white is 0, as radiographs store it; Pillow heeds it in files of up to 8 bits
WHITE_IS_0 = "white is 0"  # in an image's `info`, which its parts and turned copies have, too
UPRIGHT = {  # by it; ImageOps.exif_transpose also rewrites the rest of the EXIF, and fails where that is damaged
    2: Image.Transpose.FLIP_LEFT_RIGHT, 3: Image.Transpose.ROTATE_180, 4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE, 6: Image.Transpose.ROTATE_270, 7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}  # fmt: skip
UNREAD = {  # by the brand at the beginning of the file
    **dict.fromkeys((b"heic", b"heix", b"heim", b"heis", b"hevc", b"mif1", b"msf1"), "HEIC"),
    **dict.fromkeys((b"avif", b"avis"), "AVIF"),
}
Picture = np.ndarray | Image.Image
"""uint8 [h, w] or [h, w, 3], or a Pillow image of mode L or RGB: what is resized next is spared two copies, during
which no other thread could decode."""
Made = TypeVar("Made")
Image.MAX_IMAGE_PIXELS = None  # Pillow only warns up to twice its limit; `decode` refuses earlier


class BadImage(Exception):  # noqa: N818 - the word the user reads
    """A file that is left out; its reason continues a sentence that begins with its name: "is empty (0 bytes)"."""


def load(path: Path | str | bytes, channels: int = 3, size: int = 0, bits: int = WHOLE) -> np.ndarray:
    """A file as uint8 [h, w, 3], or [h, w] for one channel.

    Rotated by EXIF; transparency on white; 16 bits scaled to 8, also where white is 0; the first frame of an animation.

    Args:
        path: the file.
        channels: 1 or 3.
        size: px; if set, a JPEG may be decoded smaller, with a short side of at least twice this (much faster).
        bits: that 16-bit grey files use, 8 to 16: 2^bits - 1 becomes white, and so does what is above it.

    Raises:
        BadImage: not a regular file, empty, too large, truncated, of an unknown format, or without a value range.
    """
    return _loaded(path, channels, size, partial(_in_bands, bits=bits))


def picture(path: Path | str | bytes, channels: int = 3, size: int = 0, bits: int = WHOLE) -> Image.Image:
    """As `load`, but a Pillow image of mode L or RGB, for resizing."""
    return _loaded(path, channels, size, partial(_in_one, bits=bits))


def _loaded(path: Path | str | bytes, channels: int, size: int, made: Callable[[Image.Image, str], Made]) -> Made:
    """The image of a file, which is read by few calls, because each may switch to another thread."""
    try:
        descriptor = os.open(path, READ_ONLY)
    except OSError as error:
        raise BadImage(_why_closed(path, error)) from None
    try:
        facts = os.fstat(descriptor)
        if not stat.S_ISREG(facts.st_mode):
            raise BadImage("is not a regular file")
        if facts.st_size == 0:
            raise BadImage("is empty (0 bytes)")
        if facts.st_size > MOST_BYTES:
            raise BadImage(f"is over {MOST_BYTES >> 20} MiB")
        if facts.st_size <= READ_AT_ONCE and len(content := os.read(descriptor, facts.st_size)) == facts.st_size:
            file: BinaryIO = BytesIO(content)
        else:
            os.lseek(descriptor, 0, os.SEEK_SET)
            file = os.fdopen(descriptor, "rb", closefd=False)  # Pillow leaks its own handle on errors
        return _decoded(file, channels, size, made)
    except OSError as error:
        raise BadImage(f"cannot be read ({error.strerror or error})") from None
    finally:
        os.close(descriptor)


def _why_closed(path: Path | str | bytes, error: OSError) -> str:
    """Why a file could not be opened: it is a folder or a pipe, or missing."""
    try:
        regular = stat.S_ISREG(os.stat(path).st_mode)
    except OSError as gone:
        return f"cannot be opened ({gone.strerror})"
    return f"cannot be read ({error.strerror or error})" if regular else "is not a regular file"


def bits_of(params: Mapping[str, Any]) -> int:
    """The bits that 16-bit grey files use, of a data set's parameters; all where they do not say or make no sense."""
    bits = params.get("bits")
    return bits if isinstance(bits, int) and 8 <= bits <= WHOLE else WHOLE


def decode(file: BinaryIO, channels: int = 3, size: int = 0, bits: int = WHOLE) -> np.ndarray:
    """As `load`, from an open file."""
    return _decoded(file, channels, size, partial(_in_bands, bits=bits))


def decode_picture(file: BinaryIO, channels: int = 3, size: int = 0) -> Image.Image:
    """As `picture`, from an open file; at its own size, or with sides of at least 2 * `size` px if that is faster."""
    return _decoded(file, channels, size, partial(_in_one, bits=WHOLE))


def _decoded(file: BinaryIO, channels: int, size: int, made: Callable[[Image.Image, str], Made]) -> Made:
    """The result of `made` for the image of the file and the wanted mode."""
    try:
        image = Image.open(file, formats=FORMATS)
        width, height = image.size
        if width * height > MOST_PIXELS:
            raise BadImage(f"has {width} x {height} pixels, more than {MOST_PIXELS:,}")
        if width < 2 or height < 2:
            raise BadImage(f"has only {width} x {height} pixels")
        image.seek(0)
        if size:
            image.draft(None, (2 * size, 2 * size))
        image.load()
        if image.mode.startswith("I;16") and getattr(image, "tag_v2", {}).get(PHOTOMETRIC) == 0:
            image.info[WHITE_IS_0] = True
        turn, upright = UPRIGHT.get(image.getexif().get(ORIENTATION, 1)), cast(Image.Image, image)
        if turn is not None:
            upright = image.transpose(turn)
            upright.format = image.format
        return made(upright, "L" if channels == 1 else "RGB")
    except (BadImage, MemoryError):
        raise
    except UnidentifiedImageError:
        raise BadImage(_why_unknown(file)) from None
    except Exception as error:  # noqa: BLE001 - Pillow raises OSError, SyntaxError, ValueError, struct.error and more
        raise BadImage(f"is not an image that can be read ({reason(error)})") from None


def _why_unknown(file: BinaryIO) -> str:
    """Why Pillow knows no format: telephones and web shops name HEIC and AVIF like JPEG."""
    file.seek(0)
    head = file.read(12)
    if head[4:8] == b"ftyp" and head[8:12] in UNREAD:
        return f"is {UNREAD[head[8:12]]}, whatever its name says: save it as JPEG or PNG"
    return "is not an image of a known format"


def _in_bands(image: Image.Image, wanted: str, bits: int) -> np.ndarray:
    """The pixels in that mode, some lines at a time: a large image is not in memory in three modes at once."""
    if _is_small(image):
        return np.asarray(_converted(image, wanted, image.format, bits))
    width, height = image.size
    pixels = np.empty((height, width) if wanted == "L" else (height, width, 3), np.uint8)
    for top, band in _bands(image, wanted, bits):
        pixels[top : top + band.height] = np.asarray(band)
    return pixels


def _in_one(image: Image.Image, wanted: str, bits: int) -> Image.Image:
    """The same pixels as a Pillow image."""
    if _is_small(image):
        return _converted(image, wanted, image.format, bits)
    whole = Image.new(wanted, image.size)
    for top, band in _bands(image, wanted, bits):
        whole.paste(band, (0, top))
    return whole


def _is_small(image: Image.Image) -> bool:
    return image.height <= max(1, BAND // image.width)


def _bands(image: Image.Image, wanted: str, bits: int) -> Iterator[tuple[int, Image.Image]]:
    """The first line of each band, and the band in that mode."""
    width, height = image.size
    lines = max(1, BAND // width)
    for top in range(0, height, lines):
        band = image.crop((0, top, width, min(top + lines, height)))
        yield top, _converted(band, wanted, image.format, bits)


def _converted(image: Image.Image, wanted: str, form: str | None, bits: int) -> Image.Image:
    plain = _plain(image, form, bits)
    return plain if plain.mode == wanted else plain.convert(wanted)


def _plain(turned: Image.Image, form: str | None, bits: int) -> Image.Image:
    """Eight bits, without transparency; `form` is the format of the file, `bits` what its 16 are used of."""
    if turned.mode.startswith("I;16") or (turned.mode == "I" and form == "PPM"):
        highest = (1 << (WHOLE if form == "PPM" else bits)) - 1  # Pillow scales PPM by the file's own highest value
        values = np.asarray(turned).astype(np.float32)  # Pillow's own conversion would clip 16 bits to white
        if turned.info.get(WHITE_IS_0):
            values = highest - values
        return Image.fromarray((values / (highest / 255)).round().clip(0, 255).astype(np.uint8))
    if turned.mode in ("I", "F"):
        raise BadImage("has 32-bit values without a defined range")
    if turned.mode in ("RGBA", "LA", "PA") or "transparency" in turned.info:
        coloured = turned.convert("RGBA")
        white = Image.new("RGBA", coloured.size, (255, 255, 255, 255))
        white.alpha_composite(coloured)
        return white
    return turned


def square(image: Picture, size: int, channels: int) -> np.ndarray:
    """Short side to `size` (smoothly), then the centre: uint8 [size, size, channels].

    Args:
        image: as `Picture`, or [h, w, 1].
        size: px.
        channels: 1 or 3.
    """
    shown = as_picture(image)
    wanted = "L" if channels == 1 else "RGB"
    if shown.mode != wanted:
        shown = shown.convert(wanted)
    if shown.size != (size, size):
        shown = ImageOps.fit(shown, (size, size), Image.Resampling.BICUBIC)
    return np.asarray(shown).reshape(size, size, channels)


def as_picture(image: Picture) -> Image.Image:
    """An array, also [h, w, 1], as a Pillow image; a Pillow image is returned unchanged."""
    if isinstance(image, Image.Image):
        return image
    return Image.fromarray(image.reshape(image.shape[:2]) if image.shape[2:] == (1,) else image)


def display_name(path: str | bytes | Path) -> str:
    """A path as text for labels and the database; a byte that is not UTF-8 becomes \\xNN: names stay different."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def on_disk(root: Path | str, path: str) -> str:
    """The file below `root` whose `display_name` is `path`."""
    full = os.path.join(root, path)
    if "\\x" not in path or os.path.exists(full):
        return full
    raw = re.sub(rb"\\x([89a-f][0-9a-f])", lambda match: bytes([int(match[1], 16)]), path.encode())
    return os.path.join(root, os.fsdecode(raw))


def stretched(image: Picture, size: int) -> np.ndarray:
    """The whole colour image squeezed into a square of `size` px [size, size, 3]."""
    return np.asarray(as_picture(image).resize((size, size), Image.Resampling.BICUBIC))
