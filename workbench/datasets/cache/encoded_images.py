"""Images stored as JPEG with their aspect ratio, in one indexed file: for large sets, and for crops of whole images."""

import io
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np
from PIL import Image

from workbench import jobs
from workbench.datasets.cache.unfinished import Facts
from workbench.datasets.images.loader import BadImage, Picture, as_picture, decode_picture, square

QUALITY = 90  # JPEG quality, chroma subsampled: 2.4 bits per pixel of photographs, ImageNet at 256 px in 34 GB
BITS = 4  # per pixel, for the estimate of the room that is needed
LONGEST = 32  # times the short side: both ends of a longer image are cut off
HEAD = 64  # bytes: the format, then S and C, and the short side that is kept where that is not S
WORDS = b"Workbench images 1"
ENDING = ".jpegs"
Box = tuple[float, float, float, float]  # left, top, right, bottom in px


class EncodedImages:
    """The images of such a file; safe to use from several threads.

    `images[row]` is the centre square [S, S, C] uint8 as the pixel cache has it, `images[rows]` [n, S, S, C].

    Args:
        place: the file.

    Raises:
        OSError, ValueError: no such file, or a file of another format.
    """

    def __init__(self, path: Path) -> None:
        self._bytes = np.memmap(path, np.uint8, "r")
        head = self._bytes[:HEAD].tobytes()
        words = head.removeprefix(WORDS).split()
        if len(self._bytes) < HEAD + 8 or not head.startswith(WORDS) or len(words) < 2:
            raise ValueError("it holds no encoded images")
        self._size, self._channels = int(words[0]), int(words[1])
        self._side = int(words[2]) if len(words) > 2 else self._size
        count = int(self._bytes[-8:].view("<i8")[0])
        start = len(self._bytes) - 8 - 24 * count
        if count < 0 or start < HEAD:
            raise ValueError("its index is truncated")
        index = self._bytes[start : start + 24 * count].view("<i8").reshape(count, 3)
        if (index < 1).any() or (index[:, 0] > start).any():
            raise ValueError("its index is damaged")
        self._ends = HEAD + np.cumsum(index[:, 0])
        if count and self._ends[-1] != start:
            raise ValueError("its index is damaged")
        self._starts = self._ends - index[:, 0]
        self.sizes: np.ndarray = np.ascontiguousarray(index[:, 1:])
        """[n, 2] int64: height and width, px."""

    def __len__(self) -> int:
        return len(self.sizes)

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """Of the squares: (n, S, S, C)."""
        return len(self), self._size, self._size, self._channels

    @property
    def nbytes(self) -> int:
        """Bytes on disk."""
        return len(self._bytes)

    def __getitem__(self, rows: int | np.integer | np.ndarray) -> np.ndarray:
        if isinstance(rows, int | np.integer):
            return square(self._picture(int(rows)), self._size, self._channels)
        squares = np.empty((len(rows), *self.shape[1:]), np.uint8)
        for position, image in enumerate(jobs.in_threads(lambda row: self[int(row)], rows, jobs.cores(), ahead=4)):
            squares[position] = image
        return squares

    @property
    def side(self) -> int:
        """The short side that is kept of an image at most, px."""
        return self._side

    def span(self, row: int) -> tuple[int, int]:
        """The first byte of an image in the file, and the byte after its last."""
        return int(self._starts[row]), int(self._ends[row])

    def encoded(self, row: int, last: int | None = None) -> bytes:
        """The stored JPEG of one image, or its last bytes only."""
        start, end = self.span(row)
        return self._bytes[start if last is None else max(start, end - last) : end].tobytes()

    def whole(self, row: int) -> np.ndarray:
        """One whole image, uint8 [h, w, 3], or [h, w] for one channel. Raises ValueError if it is damaged."""
        return np.asarray(self._picture(row))

    def small(self, row: int, side: int) -> Image.Image:
        """One whole image, made smaller if that is faster: its sides keep 2 * `side` px. Raises as `whole`."""
        return self._picture(row, side)

    def _picture(self, row: int, side: int = 0) -> Image.Image:
        try:
            return decode_picture(io.BytesIO(self.encoded(row)), self._channels, side)
        except BadImage as reason:
            raise ValueError(f"image {row} of the cache {reason}") from None

    def crop(self, row: int, box: Box, side: int, resizing: str = "bilinear") -> np.ndarray:
        """The part of one image in the box, smoothly resized, "bilinear" or "bicubic": uint8 [side, side, C]."""
        return cut(self._picture(row), box, side, resizing)


@dataclass(frozen=True, slots=True)
class Encoded:
    """JPEG of quality 90: the short side at most S px, the whole image if at most 32 times as long as wide.

    Args:
        size: S, px.
        channels: 1 or 3.
        larger: px; where it is above S, the short side is at most this instead, and the squares still have S.
    """

    size: int
    channels: int
    larger: int = 0
    ending: str = ENDING

    @property
    def name(self) -> str:
        """The part of the cache's file name that states sizes, channels and quality."""
        larger = f"k{self.side}" if self.side > self.size else ""
        return f"{self.size}w{self.channels}q{QUALITY}{larger}"

    @property
    def side(self) -> int:
        """The short side that is kept at most, px."""
        return max(self.size, self.larger)

    def room(self, count: int) -> int:
        """Bytes on disk to expect for `count` images."""
        return count * self.side**2 * BITS // 8

    def head(self, count: int) -> bytes:
        """The first HEAD bytes of the file; they state sizes and channels."""
        larger = b"%d " % self.side if self.side > self.size else b""
        return (WORDS + b" %d %d " % (self.size, self.channels) + larger).ljust(HEAD - 1) + b"\n"

    def kept(self, image: Picture) -> tuple[bytes, Facts]:
        """The bytes that are stored for one image (height, width[, 3]) of uint8, and its entry in the index."""
        small = _smaller(image, self.side)
        wanted = "L" if self.channels == 1 else "RGB"
        file = io.BytesIO()
        (small if small.mode == wanted else small.convert(wanted)).save(file, "JPEG", quality=QUALITY)
        return file.getvalue(), (file.tell(), small.height, small.width)

    def finish(self, file: BinaryIO, facts: np.ndarray) -> None:
        """Appends the index and the number of images to a file that holds all images."""
        file.write(facts.astype("<i8").tobytes() + np.array([len(facts)], "<i8").tobytes())

    def opened(self, path: Path, count: int) -> EncodedImages:
        """The images of a finished file. Raises ValueError if it does not have `count` images of this size."""
        images = EncodedImages(path)
        if images.shape != (count, self.size, self.size, self.channels):
            raise ValueError(f"it holds images {list(images.shape)}")
        return images


def cut(image: Image.Image, box: Box, side: int, resizing: str = "bilinear") -> np.ndarray:
    """What the box shows of an image, smoothly resized, "bilinear" or "bicubic": uint8 [side, side, C]."""
    way = Image.Resampling[resizing.upper()]
    return np.asarray(image.resize((side, side), way, box=box)).reshape(side, side, -1)


def _smaller(image: Picture, size: int) -> Image.Image:
    """The image with a short side of at most `size` px, and a long one of at most 32 times that."""
    picture = as_picture(image)
    short = min(picture.size)
    wide, high = (min(side, LONGEST * short) for side in picture.size)
    left, top = (picture.width - wide) / 2, (picture.height - high) / 2
    scale = min(1.0, size / short)
    to = max(1, round(wide * scale)), max(1, round(high * scale))
    if to == picture.size:
        return picture
    return picture.resize(to, Image.Resampling.BICUBIC, box=(left, top, left + wide, top + high))
