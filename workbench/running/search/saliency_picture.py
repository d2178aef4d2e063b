"""The saliency of a pair as pixels: orange where a part makes the images similar, blue where it makes them unlike."""

import numpy as np

from workbench.colours import OKABE_ITO
from workbench.running.search.saliency import PairSaliency, Saliency

FOR, AGAINST = OKABE_ITO[1], OKABE_ITO[0]
STRONGEST = 0.7  # opacity of the largest value
CELLS = 20  # along a side: the map is smooth between their centres, as windows are larger than pixels
SIDE, GAP = 512, 16  # px of the longer side of each image, and between them
FEW = 3  # px of the picture for a pixel, from which an image is small: its pixels stay sharp


def layer_of(heat: np.ndarray, largest: float) -> np.ndarray:
    """A layer to paint over an image, uint8 [H, W, 4]: the colour tells the sign, the opacity the size.

    Args:
        heat: [H, W]. largest: the size that is painted strongest, above 0.
    """
    share = np.clip(heat / largest, -1, 1)
    pixels = np.empty((*heat.shape, 4), np.uint8)
    for sign, colour in ((share >= 0, FOR), (share < 0, AGAINST)):
        pixels[sign, :3] = np.frombuffer(bytes.fromhex(colour.removeprefix("#")), np.uint8)
    pixels[..., 3] = np.rint(np.abs(share) * STRONGEST * 255)
    return pixels


def pair_picture(pair: PairSaliency) -> np.ndarray:
    """Query and neighbour side by side under their saliency, uint8 [h, w, 3]; both share one scale of colours."""
    parts = [_painted(part, pair.largest) for part in (pair.query, pair.neighbour)]
    height, width = max(part.shape[0] for part in parts), sum(part.shape[1] for part in parts) + GAP
    picture, left = np.full((height, width, 3), 255, np.uint8), 0
    for part in parts:
        top = (height - part.shape[0]) // 2
        picture[top : top + part.shape[0], left : left + part.shape[1]] = part
        left += part.shape[1] + GAP
    return picture


def _painted(part: Saliency, largest: float) -> np.ndarray:
    """An image under its layer, uint8 [h, w, 3] with SIDE px on the longer side."""
    from PIL import Image

    height, width = part.picture.shape[:2]
    scale = SIDE / max(height, width)
    size = max(1, round(width * scale)), max(1, round(height * scale))
    sharp = Image.Resampling.NEAREST if scale >= FEW else Image.Resampling.BICUBIC
    image = Image.fromarray(part.picture).resize(size, sharp).convert("RGBA")
    if largest > 0:
        cells = Image.fromarray(layer_of(part.heat, largest)).resize((min(width, CELLS), min(height, CELLS)))
        image.alpha_composite(cells.resize(size, Image.Resampling.BILINEAR))
    return np.asarray(image.convert("RGB"))
