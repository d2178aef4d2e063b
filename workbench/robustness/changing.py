"""Changes the pixels of one image, the same ones each time: by Pillow and NumPy, without torch."""

import io
import zlib
from collections.abc import Callable

import numpy as np
from PIL import Image, ImageFilter

from workbench.robustness.kinds import REFERENCE_SIDE, Change

SEED = 0
GREY = 127  # of the square that covers a part


def changed(pixels: np.ndarray, change: Change, level: int, side: int, sample_id: int) -> np.ndarray:
    """An image with a change of one strength, uint8 of the same shape [S, S, C].

    What is drawn (noise, the side to which it is turned, a place) depends on SEED, the change and the image alone, and
    is the same at each strength.

    Args:
        pixels: uint8 [S, S, C], C = 1 or 3.
        level: which strength, from 0.
        side: px of the network's input: lengths in pixels are scaled by it.
        sample_id: of the image; a damaged workspace may have one below 0.
    """
    random = np.random.default_rng([SEED, zlib.crc32(change.name.encode()), int(sample_id) % 2**64])
    made = WAYS[change.name](pixels, change.strengths[level], side, random)
    return np.ascontiguousarray(made.reshape(pixels.shape))


def _jpeg(pixels: np.ndarray, quality: float, side: int, random: np.random.Generator) -> np.ndarray:
    file = io.BytesIO()
    _image(pixels).save(file, "JPEG", quality=round(quality))
    return np.asarray(Image.open(file))


def _blur(pixels: np.ndarray, sigma: float, side: int, random: np.random.Generator) -> np.ndarray:
    return np.asarray(_image(pixels).filter(ImageFilter.GaussianBlur(sigma * side / REFERENCE_SIDE)))


def _noise(pixels: np.ndarray, sigma: float, side: int, random: np.random.Generator) -> np.ndarray:
    return _bytes(pixels + 255 * sigma * random.standard_normal(pixels.shape))


def _bright(pixels: np.ndarray, added: float, side: int, random: np.random.Generator) -> np.ndarray:
    """Raise V of HSV: a colour keeps its hue and saturation as it is multiplied; black becomes grey."""
    value = pixels.max(axis=2, keepdims=True).astype(np.float64)
    raised = np.minimum(value + 255 * added, 255)
    scaled = pixels * np.divide(raised, value, out=np.ones_like(value), where=value > 0)
    return _bytes(np.where(value > 0, scaled, raised))


def _contrast(pixels: np.ndarray, share: float, side: int, random: np.random.Generator) -> np.ndarray:
    mean = pixels.mean(axis=(0, 1), keepdims=True)
    return _bytes((pixels - mean) * share + mean)


def _pixelate(pixels: np.ndarray, share: float, side: int, random: np.random.Generator) -> np.ndarray:
    whole = len(pixels)
    small = max(1, int(whole * share))
    shrunk = _image(pixels).resize((small, small), Image.Resampling.BOX)
    return np.asarray(shrunk.resize((whole, whole), Image.Resampling.BOX))


def _dark(pixels: np.ndarray, share: float, side: int, random: np.random.Generator) -> np.ndarray:
    return _bytes(pixels * share)


def _rotate(pixels: np.ndarray, degrees: float, side: int, random: np.random.Generator) -> np.ndarray:
    way = 1 if random.random() < 0.5 else -1
    mean = tuple(round(value) for value in pixels.mean(axis=(0, 1)))
    fill = mean if len(mean) > 1 else mean[0]
    return np.asarray(_image(pixels).rotate(way * degrees, Image.Resampling.BICUBIC, fillcolor=fill))


def _crop(pixels: np.ndarray, share: float, side: int, random: np.random.Generator) -> np.ndarray:
    whole = len(pixels)
    kept = max(1, round(whole * share))
    left, top = random.integers(0, 2, 2) * (whole - kept)
    box = (int(left), int(top), int(left) + kept, int(top) + kept)
    return np.asarray(_image(pixels).resize((whole, whole), Image.Resampling.BICUBIC, box=box))


def _cover(pixels: np.ndarray, share: float, side: int, random: np.random.Generator) -> np.ndarray:
    length = max(1, round(len(pixels) * share))
    left, top = (round(place * (len(pixels) - length)) for place in random.random(2))
    covered = pixels.copy()
    covered[top : top + length, left : left + length] = GREY
    return covered


def _colour(pixels: np.ndarray, share: float, side: int, random: np.random.Generator) -> np.ndarray:
    grey = np.asarray(_image(pixels).convert("L"), np.float64)[:, :, None]
    return _bytes(share * pixels + (1 - share) * grey)


def _image(pixels: np.ndarray) -> Image.Image:
    return Image.fromarray(pixels[:, :, 0] if pixels.shape[2] == 1 else pixels)


def _bytes(values: np.ndarray) -> np.ndarray:
    whole: np.ndarray = np.rint(np.clip(values, 0, 255)).astype(np.uint8)
    return whole


WAYS: dict[str, Callable[[np.ndarray, float, int, np.random.Generator], np.ndarray]] = {
    "jpeg": _jpeg, "blur": _blur, "noise": _noise, "bright": _bright, "contrast": _contrast, "pixelate": _pixelate,
    "dark": _dark, "rotate": _rotate, "crop": _crop, "cover": _cover, "colour": _colour,
}  # fmt: skip
