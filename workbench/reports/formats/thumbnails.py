"""Images of queries and neighbours as small files."""

from io import BytesIO

import numpy as np
from PIL import Image

LARGEST = 256  # px: the longer side of an image in a card, at most
SMALLEST = 64  # px: images with a shorter longer side are enlarged to at least this


def thumbnail(image: np.ndarray) -> tuple[bytes, str]:
    """A file and its kind: PNG for a small image, whose pixels stay sharp when enlarged, else JPEG.

    Args:
        image: uint8 [h, w, 3].
    """
    out = BytesIO()
    shown = Image.fromarray(image)
    if max(shown.size) < SMALLEST:
        times = -(-SMALLEST // max(shown.size))  # whole, so that all pixels stay equally large
        shown = shown.resize((times * shown.width, times * shown.height), Image.Resampling.NEAREST)
        shown.save(out, "PNG", optimize=True)
        return out.getvalue(), "png"
    shown.thumbnail((LARGEST, LARGEST))
    shown.save(out, "JPEG", quality=85)
    return out.getvalue(), "jpeg"
