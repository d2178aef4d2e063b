"""Images of queries and neighbours as small files."""

from io import BytesIO

import numpy as np
from PIL import Image

LARGEST = 256  # px of an image in a card, as it opens
SMALLEST = 64


def thumbnail(image: np.ndarray) -> tuple[bytes, str]:
    """A file and its kind: PNG for a small image, whose pixels stay sharp when enlarged, else JPEG.

    Args:
        image: uint8 [h, w, 3].
    """
    out = BytesIO()
    shown = Image.fromarray(image)
    if shown.width < SMALLEST:
        shown = shown.resize((SMALLEST, SMALLEST), Image.Resampling.NEAREST)
        shown.save(out, "PNG", optimize=True)
        return out.getvalue(), "png"
    shown.thumbnail((LARGEST, LARGEST))
    shown.save(out, "JPEG", quality=85)
    return out.getvalue(), "jpeg"
