"""Images by sample id for the window and the report: small ones from the pixel cache, full ones from the file."""

from pathlib import Path

import numpy as np

from workbench.datasets.cache.encoded_images import ENDING, EncodedImages
from workbench.datasets.cache.pixel_blocks import Blocks
from workbench.datasets.images.image_parts import WholeFiles
from workbench.datasets.images.loader import WHOLE, BadImage, load, on_disk
from workbench.files.unreadable import NO_ARRAY
from workbench.names import visible_name
from workbench.problem import Problem

LARGEST = 4096  # px: the side of an image in a cache, at most
LARGE = 256  # px: an image without its own file is enlarged to about this, pixel by pixel


class Pictures:
    """Images of one data set, looked up by id.

    Args:
        rows: sample id -> row of the pixel cache.
        pixels: the cache (.npy, uint8 [n, S, S, C], or .jpegs); None when it is gone.
        originals: sample id -> file, named as in ImageSet; empty for data sets in one file.
        any_images: False for embeddings that were imported without images.
        bits: that 16-bit grey files use, as the data set was read.
        parts: sample id -> name of the part of a file that the image is, and where the files are; None: they are no
            parts.
    """

    def __init__(
        self, rows: dict[int, int], pixels: Path | None, originals: dict[int, Path], any_images: bool = True,
        bits: int = WHOLE, parts: tuple[dict[int, str], WholeFiles] | None = None,
    ) -> None:  # fmt: skip
        self._parts = parts
        self._rows, self._originals, self._any_images, self._bits = rows, originals, any_images, bits
        self._pixels = None if pixels is None else _mapped(pixels)
        self._blocks = None if pixels is None or self._pixels is None else Blocks(pixels)

    def thumbnail(self, sample_id: int) -> np.ndarray:
        """The square image that was used for training, uint8 [h, w, 3]; from the original file if the cache is gone.

        Raises:
            KeyError: no such sample.
            Problem: neither an intact cache nor the original file exists any more.
        """
        if not self._any_images:
            raise Problem("Imported without images.")
        row = self._rows[sample_id]
        if self._pixels is not None and row < len(self._pixels) and self._whole(self._pixels, row):
            try:
                pixels: np.ndarray = self._pixels[row]
            except ValueError:  # its file has no hashes, and it is damaged
                return self._original(sample_id)
            return np.ascontiguousarray(np.broadcast_to(pixels, (*pixels.shape[:2], 3)))
        return self._original(sample_id)

    def full(self, sample_id: int) -> np.ndarray:
        """The original image, uint8 [h, w, 3]; without a file, the enlarged cached image. Raises as `thumbnail`."""
        path = self.path(sample_id)
        if path is not None and path.is_file():
            return self._original(sample_id)
        small = self.thumbnail(sample_id)
        times = max(1, LARGE // max(small.shape[:2]))
        return small.repeat(times, axis=0).repeat(times, axis=1)

    @property
    def in_boxes(self) -> bool:
        """Whether the images are boxes in files."""
        return self._parts is not None

    def in_file(self, sample_id: int) -> np.ndarray:
        """The whole file that an image was cut from, uint8 [h, w, 3], with the box drawn into it.

        Raises:
            KeyError: no such sample, or the images are no boxes in files.
            Problem: the file is missing or cannot be read.
        """
        names, files = self._parts or ({}, None)
        name = names[sample_id]
        assert files is not None
        try:
            return np.asarray(files.drawn(name))
        except ValueError:
            raise Problem(f"{visible_name(name)} does not name a box in a file.", kept="The run is kept.") from None
        except BadImage as reason:
            raise Problem(
                f"The file of {visible_name(name)} {reason}.", kept="The run is kept.", todo="Put it back."
            ) from None

    def path(self, sample_id: int) -> Path | None:
        """The path of the original file, which may be missing; None for data sets in one file."""
        shown = self._originals.get(sample_id)
        return None if shown is None else Path(on_disk("", str(shown)))

    def _whole(self, pixels: np.ndarray | EncodedImages, row: int) -> bool:
        """Whether a row of the cache is undamaged."""
        if isinstance(pixels, EncodedImages):
            start, stop = pixels.span(row)
        else:
            size = pixels[row].nbytes
            start = getattr(pixels, "offset", 0) + row * size
            stop = start + size
        return self._blocks is None or self._blocks.whole(start, stop)

    def _original(self, sample_id: int) -> np.ndarray:
        path = self.path(sample_id)
        if path is None:
            raise Problem(
                "The cache of decoded images is gone or damaged.",
                kept="The run is kept.",
                todo="Decode its data again: by Duplicate with changes in the window, or by `workbench data CONFIG`.",
            )
        try:
            return load(path, bits=self._bits)
        except BadImage as reason:
            raise Problem(
                f"The image {self._originals[sample_id]} {reason}.", kept="The run is kept.", todo="Put it back."
            ) from None


def _mapped(path: Path) -> np.ndarray | EncodedImages | None:
    """The cache; None if it is missing or not such a file."""
    try:
        pixels = EncodedImages(path) if path.suffix == ENDING else np.load(path, mmap_mode="r", allow_pickle=False)
        if not isinstance(pixels, EncodedImages) and pixels.dtype != np.uint8:
            return None
        _, height, width, channels = pixels.shape
    except NO_ARRAY:  # also of a zip, which np.load opens as something without a type
        return None
    return pixels if channels in (1, 3) and min(height, width) > 0 and max(height, width) <= LARGEST else None
