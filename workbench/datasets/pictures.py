"""Pictures by sample id for the window and the report: small from the pixel cache, full from the original file."""

from pathlib import Path

import numpy as np

from workbench.datasets.images import BadImage, load
from workbench.problem import Problem


class Pictures:
    """Images of one data set, looked up by id.

    Args:
        rows: sample id -> row of the pixel cache.
        pixels: the cache (.npy, uint8 [n, S, S, C]); None when it is gone.
        originals: sample id -> file; empty for data sets that live in one file.
    """

    def __init__(self, rows: dict[int, int], pixels: Path | None, originals: dict[int, Path]) -> None:
        self._rows, self._originals = rows, originals
        self._pixels: np.ndarray | None = None
        if pixels is not None:
            try:
                self._pixels = np.load(pixels, mmap_mode="r", allow_pickle=False)
            except (OSError, ValueError, EOFError):
                self._pixels = None

    def thumbnail(self, sample_id: int) -> np.ndarray:
        """The square image as it was trained on, uint8 [h, w, 3].

        Raises:
            KeyError: no such sample.
            Problem: neither the cache nor the original file is there any more.
        """
        row = self._rows[sample_id]
        if self._pixels is not None and row < len(self._pixels):
            found = self._pixels[row]
            return np.ascontiguousarray(np.broadcast_to(found, (*found.shape[:2], 3)))
        return self._original(sample_id)

    def full(self, sample_id: int) -> np.ndarray:
        """The original image, uint8 [h, w, 3]; from the cache where there is no file of its own. Raises as `thumbnail`."""
        if sample_id in self._originals and self._originals[sample_id].is_file():
            return self._original(sample_id)
        return self.thumbnail(sample_id)

    def path(self, sample_id: int) -> Path | None:
        """The original file, whether or not it is still there; None for data sets that live in one file."""
        return self._originals.get(sample_id)

    def _original(self, sample_id: int) -> np.ndarray:
        path = self._originals.get(sample_id)
        if path is None:
            raise Problem(
                "The cache of decoded images is gone.", kept="The run is kept.", todo="Run its preflight again."
            )
        try:
            return load(path)
        except BadImage as reason:
            raise Problem(f"The image {path} {reason}.", kept="The run is kept.", todo="Put the images back.") from None
