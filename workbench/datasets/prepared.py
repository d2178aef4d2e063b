"""How an image becomes the square of pixels that a run's network was given: the one place that knows every step."""

import io
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image

from workbench.datasets.cache.encoded_images import QUALITY, Encoded, cut
from workbench.datasets.images.loader import WHOLE, Picture, as_picture, decode_picture, picture, square, stretched

READ = """\
image = Image.open("image.png")
image.draft(None, ({twice}, {twice}))
image = ImageOps.exif_transpose(image).convert("{mode}")
"""
FIT = "image = ImageOps.fit(image, ({side}, {side}), Image.Resampling.BICUBIC)\n"
STRETCH = "image = image.resize(({kept}, {kept}), Image.Resampling.BICUBIC)\n"
SHRINK = """\
scale = min(1, {kept} / min(image.size))
image = image.resize([round(scale * length) for length in image.size], Image.Resampling.BICUBIC)
"""
ENCODE = """\
image.save(encoded := io.BytesIO(), "JPEG", quality={quality})
image = Image.open(encoded)
"""
SQUEEZE = "image = image.resize(({side}, {side}), Image.Resampling.BILINEAR)\n"


@dataclass(frozen=True, slots=True)
class Prepared:
    """The steps from an image of any size to a square of uint8, as the images of a run went through them."""

    side: int  # px, of the square
    kept: int  # px: the short side of what the run kept of an image
    channels: int  # 1 or 3
    stretched: bool = False  # whether the data set made a square of each image first, whatever its aspect
    encoded: bool = False  # whether images were kept as JPEG with their aspect
    squeezed: bool = False  # whether all of a kept image fills the square, whatever its aspect, or its centre
    bits: int = WHOLE  # that 16-bit grey files use

    def read(self, path: Path) -> Image.Image:
        """The image of a file as the run's data set read it. Raises BadImage as `images.load`."""
        return picture(path, self.channels, self.kept, self.bits)

    def square(self, image: Picture) -> np.ndarray:
        """The pixels that the network is given, uint8 [side, side, channels]."""
        shown = as_picture(image)
        if self.stretched:
            shown = as_picture(stretched(shown, self.kept))
        if self.encoded:
            content, _ = Encoded(self.kept, self.channels).kept(shown)
            shown = decode_picture(io.BytesIO(content), self.channels)
            if self.squeezed:
                return cut(shown, (0, 0, *shown.size), self.side)
        return square(shown, self.side, self.channels)

    @property
    def code(self) -> str:
        """The same in Python with Pillow: lines that make `image`, of `side` px, of the file image.png."""
        lines = READ
        if self.stretched:
            lines += STRETCH
        if self.encoded:
            lines += ENCODE if self.stretched else SHRINK + ENCODE
        if self.squeezed:
            lines += SQUEEZE
        elif not self.stretched:
            lines += FIT
        mode = "L" if self.channels == 1 else "RGB"
        return lines.format(twice=2 * self.kept, mode=mode, kept=self.kept, side=self.side, quality=QUALITY)

    @property
    def words(self) -> list[str]:
        """The same in sentences, a step each."""
        steps = [
            f"Decode a JPEG at the smallest of 1/8, 1/4, 1/2 and all of its size that leaves both sides at least "
            f"{2 * self.kept} px: in Pillow image.draft(None, ({2 * self.kept}, {2 * self.kept})). Decoded at another "
            "size or by another decoder the embedding is slightly another (cosine .998 for some photographs).",
            f"Turn it as its EXIF says, scale {self._range} to 8, put transparency on white, convert it to "
            f"{'grey' if self.channels == 1 else 'RGB'}.",
        ]
        if self.stretched:
            steps.append(f"Resize all of it to {self.kept} x {self.kept} pixels, whatever its aspect (bicubic).")
        elif self.encoded:
            steps.append(f"Resize the short side to {self.kept} pixels if it is longer, and keep the aspect (bicubic).")
        if self.encoded:
            steps.append(f"Store it as JPEG of quality {QUALITY} and read it again: the run kept its images so.")
        if self.squeezed:
            steps.append(f"Resize all of it to {self.side} x {self.side} pixels, whatever its aspect (bilinear).")
        elif not self.stretched:
            steps.append(f"Resize the short side to {self.side} pixels, then take the centre square (bicubic).")
        return steps

    @property
    def _range(self) -> str:
        """What is scaled to 8 bits, in words."""
        return "16 bits" if self.bits == WHOLE else f"the lower {self.bits} of 16 bits"
