"""The one image loader: safe with what is found in the wild, the same for training and for the window."""

import os
import stat
from pathlib import Path
from typing import BinaryIO

import numpy as np
from PIL import Image, ImageOps

FORMATS = ("JPEG", "PNG", "BMP", "GIF", "TIFF", "WEBP", "PPM")
ENDINGS = (".jpg", ".jpeg", ".png", ".bmp", ".gif", ".tif", ".tiff", ".webp", ".ppm", ".pgm")
MOST_PIXELS = 50_000_000
MOST_BYTES = 256 << 20
Image.MAX_IMAGE_PIXELS = None  # Pillow would only warn up to twice its limit; `decode` refuses before any pixel is read


class BadImage(Exception):  # noqa: N818 - the word the person reads
    """One file that is left out, with its reason in a few words."""


def load(path: Path | str | bytes, channels: int = 3) -> np.ndarray:
    """A file as uint8 [h, w, 3], or [h, w] for one channel.

    Turned as EXIF says; transparency on white; 16 bits scaled to 8; the first frame of an animation.

    Raises:
        BadImage: not a regular file, empty, too large, cut short, of an unknown format, or without a value range.
    """
    try:
        facts = os.stat(path)
    except OSError as error:
        raise BadImage(f"cannot be opened ({error.strerror})") from None
    if not stat.S_ISREG(facts.st_mode):
        raise BadImage("is not a regular file")
    if facts.st_size == 0:
        raise BadImage("is empty (0 bytes)")
    if facts.st_size > MOST_BYTES:
        raise BadImage(f"is over {MOST_BYTES >> 20} MiB")
    try:
        with open(path, "rb") as file:  # our own handle: Pillow leaks it on errors
            return decode(file, channels)
    except OSError as error:
        raise BadImage(f"cannot be read ({error.strerror or error})") from None


def decode(file: BinaryIO, channels: int = 3) -> np.ndarray:
    """As `load`, from an open file."""
    try:
        image = Image.open(file, formats=FORMATS)
        width, height = image.size
        if width * height > MOST_PIXELS:
            raise BadImage(f"has {width} x {height} pixels, more than {MOST_PIXELS:,}")
        if width < 2 or height < 2:
            raise BadImage(f"has only {width} x {height} pixels")
        image.seek(0)
        image.load()
        return np.asarray(_plain(image).convert("L" if channels == 1 else "RGB"))
    except BadImage:
        raise
    except Exception as error:  # noqa: BLE001 - Pillow raises OSError, SyntaxError, ValueError, struct.error and more
        raise BadImage(f"is not an image that can be read ({_words(error)})") from None


def _plain(image: Image.Image) -> Image.Image:
    turned: Image.Image = ImageOps.exif_transpose(image)
    if turned.mode.startswith("I;16"):  # Pillow's own conversion would clip 16 bits to white
        return Image.fromarray((np.asarray(turned).astype(np.float32) / 257).round().astype(np.uint8))
    if turned.mode in ("I", "F"):
        raise BadImage("has 32-bit values without a defined range")
    if turned.mode in ("RGBA", "LA", "PA") or "transparency" in turned.info:
        coloured = turned.convert("RGBA")
        white = Image.new("RGBA", coloured.size, (255, 255, 255, 255))
        white.alpha_composite(coloured)
        return white
    return turned


def square(image: np.ndarray, size: int, channels: int) -> np.ndarray:
    """Short side to `size` (smoothly), then the centre: uint8 [size, size, channels].

    Args:
        image: uint8 [h, w], [h, w, 1] or [h, w, 3].
        size: px.
        channels: 1 or 3.
    """
    picture = Image.fromarray(image[..., 0] if image.ndim == 3 and image.shape[2] == 1 else image)
    picture = picture.convert("L" if channels == 1 else "RGB")
    if picture.size != (size, size):
        picture = ImageOps.fit(picture, (size, size), Image.Resampling.BICUBIC)
    return np.asarray(picture).reshape(size, size, channels)


def display_name(path: str | bytes) -> str:
    """A path as text for labels and the database; bytes that are no UTF-8 are replaced."""
    return os.fsencode(path).decode("utf-8", "replace")


def _words(error: Exception) -> str:
    return str(error).partition("\n")[0][:120] or type(error).__name__
