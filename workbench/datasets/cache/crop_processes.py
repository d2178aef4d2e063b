"""Crops of encoded images, made by processes: Pillow holds the interpreter lock for a sixth of a crop's time.

With the lock of one interpreter six threads are the most that work at once, and training needs it, too.
`python -m workbench.datasets.cache.crop_processes FILE` is one of the processes.
"""

import sys
from base64 import b64decode, b64encode
from pathlib import Path
from typing import cast

import numpy as np

from workbench.datasets.cache.encoded_images import Box, EncodedImages
from workbench.jobs import BytePool, Request, serve_bytes

MODULE = "workbench.datasets.cache.crop_processes"


class CropProcesses:
    """Processes that read one file of encoded images; all are started when the first image is needed.

    Args:
        path: the file.
        count: of processes.
    """

    def __init__(self, path: Path, count: int) -> None:
        self._pool = BytePool(MODULE, [str(path)], count)

    @property
    def count(self) -> int:
        """How many there are."""
        return self._pool.count

    def fill(self, target: np.ndarray, rows: np.ndarray, boxes: np.ndarray | None, resizing: str = "bilinear") -> None:
        """Put images into `target`, uint8 [n, C, side, side], contiguous; several threads may do so at once.

        Args:
            rows: [n] of the file.
            boxes: what is cut out of each, float64 [n, 4]; None for the centre squares.
            resizing: of what is cut out, "bilinear" or "bicubic".

        Raises:
            ValueError: an image is damaged.
            Problem: a process cannot be started, or has ended.
        """
        request: Request = {
            "rows": _words(rows.astype(np.int64)),
            "boxes": None if boxes is None else _words(boxes.astype(np.float64)),
            "side": target.shape[-1],
            "resizing": resizing,
        }
        self._pool.fill(request, target.data.cast("B"))

    def close(self) -> None:
        """End all of them; a later `fill` starts them again."""
        self._pool.close()


def crops(images: EncodedImages, request: Request) -> memoryview:
    """The bytes of the images [n, C, side, side] that a process was asked for. Raises ValueError as `fill`."""
    rows, side = np.frombuffer(b64decode(request["rows"]), np.int64), int(request["side"])
    resizing = str(request["resizing"])
    cut = request["boxes"] and np.frombuffer(b64decode(request["boxes"])).reshape(-1, 4)
    target = np.empty((len(rows), images.shape[-1], side, side), np.uint8)
    for position, row in enumerate(rows.tolist()):
        if cut is None:
            image = images[row]
        else:
            image = images.crop(row, cast(Box, tuple(cut[position].tolist())), side, resizing)
        target[position] = image.transpose(2, 0, 1)
    return target.data.cast("B")


def _words(array: np.ndarray) -> str:
    """The array for a request: as JSON's numbers it would hold the interpreter lock five times as long."""
    return b64encode(array.tobytes()).decode()


def main() -> None:
    """Serve crops of the file that the command line names."""
    images = EncodedImages(Path(sys.argv[1]))
    serve_bytes(lambda request: crops(images, request))


if __name__ == "__main__":
    main()
