"""Reading the images of a set that are files below one folder."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from workbench.datasets.images.loader import WHOLE, Picture, on_disk, picture, stretched


@dataclass(frozen=True, slots=True)
class ImageFiles:
    """What an image set reads its images by, if they are files; other processes can do the same.

    Args:
        root: the folder.
        paths: [n], relative, as `images.display_name` shows them.
        channels: 1 or 3.
        size: px, of the squares that are made of the images.
        stretch: whether all of an image is squeezed into its square.
        bits: that 16-bit grey files use, as for `loader.load`.
    """

    root: Path
    paths: Sequence[str]
    channels: int
    size: int
    stretch: bool = False
    bits: int = WHOLE

    def at_least(self, side: int) -> "ImageFiles":
        """The same files, of which so many px are wanted; squares into which images are squeezed stay as they are."""
        return self if self.stretch or side <= self.size else replace(self, size=side)

    def __call__(self, row: int) -> Picture:
        """One image. Raises BadImage."""
        image = picture(on_disk(self.root, self.paths[row]), self.channels, self.size, self.bits)
        return stretched(image, self.size) if self.stretch else image
