"""Pictures of many points, made with NumPy: a stamp for each point, or the density if there are too many points."""

from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor, QImage, QPainter, QPen, QTransform

DIMMED = 46  # of 255, opacity
CROWDED = 12  # points per 100 px from which stamps are grown in the picture instead of set one by one
PIXELS_AT_ONCE = 200_000
FAINTEST = 0.5  # opacity of a pixel of a density picture that holds one point
FULL_AT = 24  # from this many points on, a pixel of a density picture is opaque


@dataclass(frozen=True, slots=True, eq=False)
class Ink:
    """Points on a picture: positions in px (x right, y down), premultiplied ARGB, and whether each is a cross.

    Later ones lie on top of earlier ones.
    """

    x: np.ndarray  # [k] float
    y: np.ndarray  # [k] float
    colours: np.ndarray  # [k] uint32
    crosses: np.ndarray  # [k] bool


def splat(ink: Ink, size: tuple[int, int], wide: float, onto: QImage | None = None) -> QImage:
    """Stamp a disc, or a cross, of `wide` pixels at each position of a picture of `size`, or of an existing one."""
    margin = 2 * int(wide) + 4
    row, tall = size[0] + 2 * margin, size[1] + 2 * margin
    index, kept = _pixels(ink, (row, tall), margin)
    colours, crossed = ink.colours[kept], ink.crosses[kept]
    shapes = [(disc(wide), ~crossed), (cross(wide), crossed)]
    if 100 * len(index) > CROWDED * row * tall:
        buffer = _grown(index, colours, shapes, (row, tall), margin)
    else:
        buffer = np.zeros(row * tall, np.uint32)
        for offsets, mine in shapes:
            shifts = np.array([dy * row + dx for dx, dy in offsets])
            _stamp(buffer, index[mine], colours[mine], shifts)
    made = _picture(buffer.reshape(tall, row)[margin:-margin, margin:-margin])
    if onto is None:
        return made
    painter = QPainter(onto)
    painter.drawImage(0, 0, made)
    painter.end()
    return onto


def painted(ink: Ink, size: tuple[int, int], wide: float, onto: QImage | None = None) -> QImage:
    """As `splat`, with smooth edges and centres to half a pixel: for few points, each is drawn separately."""
    image = onto
    if image is None:
        image = QImage(*size, QImage.Format.Format_ARGB32_Premultiplied)
        image.fill(0)
    painter = QPainter(image)
    half = (int(wide) + 4) // 2
    stamps: dict[tuple[int, bool, int, int], QImage] = {}
    twice_x, twice_y = (np.round(2 * column).astype(np.int64) for column in (ink.x, ink.y))
    columns = (twice_x.tolist(), twice_y.tolist(), ink.colours.tolist(), ink.crosses.tolist())
    for x, y, colour, crossed in zip(*columns, strict=True):
        key = (colour, crossed, x & 1, y & 1)
        stamp = stamps.get(key)
        if stamp is None:
            stamp = stamps[key] = _smooth(colour, crossed, wide, QPointF(half + (x & 1) / 2, half + (y & 1) / 2))
        painter.drawImage((x >> 1) - half, (y >> 1) - half, stamp)
    painter.end()
    return image


def _smooth(colour: int, crossed: bool, wide: float, centre: QPointF) -> QImage:
    """A disc, or a diagonal cross, of `wide` pixels around a point of the smallest picture that holds it."""
    side = 2 * int(centre.x()) + 1
    image = QImage(side, side, QImage.Format.Format_ARGB32_Premultiplied)
    image.fill(0)
    painter = QPainter(image)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    ink = QColor.fromRgba(unmultiplied(colour))
    arm = wide * 0.45
    if crossed:
        painter.setPen(QPen(ink, max(1.5, wide / 4)))
        painter.drawLine(centre - QPointF(arm, arm), centre + QPointF(arm, arm))
        painter.drawLine(centre + QPointF(-arm, arm), centre + QPointF(arm, -arm))
    else:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(ink)
        painter.drawEllipse(centre, wide / 2, wide / 2)
    painter.end()
    return image


def _stamp(buffer: np.ndarray, centres: np.ndarray, colours: np.ndarray, shifts: np.ndarray) -> None:
    """Set the pixels of a stamp around each centre, the last centre on top.

    It sets many points per NumPy call: every call releases the interpreter lock, and a training thread may take it.
    """
    step = max(1, PIXELS_AT_ONCE // len(shifts))
    for first in range(0, len(centres), step):
        part = slice(first, first + step)
        buffer[(centres[part, None] + shifts).ravel()] = np.repeat(colours[part], len(shifts))


def pixels_of(ink: Ink, size: tuple[int, int]) -> tuple[np.ndarray, slice | np.ndarray]:
    """For `density`: where the points that are on a picture of `size` are [k], and which points these are."""
    return _pixels(ink, (size[0] + 2, size[1] + 2), 1)


def density(
    index: np.ndarray, colours: np.ndarray, size: tuple[int, int], bright: np.ndarray | None, faint: np.uint32
) -> QImage:
    """The number of points in each pixel as opacity, in the colour of one of them chosen at random.

    A mean of colours would be the colour of another class.

    Args:
        index: [k], as `pixels_of` found them for this size.
        colours: [k] premultiplied ARGB.
        bright: bool [k], the selected points, which alone keep their colours; None if all do.
        faint: premultiplied ARGB of pixels without a selected point.
    """
    row, tall = size[0] + 2, size[1] + 2
    buffer = np.zeros(row * tall, np.uint32)
    counts = np.bincount(index, minlength=row * tall)
    if bright is None:
        buffer[index] = colours
    else:
        there = np.flatnonzero(counts)
        buffer[there] = thinned(np.full(len(there), faint), OPACITY[np.minimum(counts[there], FULL_AT)])
        index = index[bright]
        counts = np.bincount(index, minlength=row * tall)
        buffer[index] = colours[bright]
    there = np.flatnonzero(counts)
    buffer[there] = thinned(buffer[there], OPACITY[np.minimum(counts[there], FULL_AT)])
    return _picture(buffer.reshape(tall, row)[1:-1, 1:-1])


OPACITY = (256 * (FAINTEST + (1 - FAINTEST) * np.log1p(np.arange(FULL_AT + 1)) / np.log1p(FULL_AT))).astype(np.uint32)


def thinned(colours: np.ndarray, opacity: np.ndarray) -> np.ndarray:
    """Premultiplied ARGB [k] times an opacity [k] of 0..256, two channels at a time."""
    even = ((colours & 0x00FF00FF) * opacity >> np.uint32(8)) & np.uint32(0x00FF00FF)
    odd = ((colours >> np.uint32(8)) & np.uint32(0x00FF00FF)) * opacity & np.uint32(0xFF00FF00)
    both: np.ndarray = even | odd
    return both


def _pixels(ink: Ink, size: tuple[int, int], margin: int) -> tuple[np.ndarray, slice | np.ndarray]:
    """Indices into a picture of `size`, margins included, of the points on it, and which points these are."""
    row, tall = size
    low, right, below = -margin // 2, row - 2 * margin + margin // 2, tall - 2 * margin + margin // 2
    kept: slice | np.ndarray = slice(None)
    if len(ink.x) and (min(ink.x.min(), ink.y.min()) < low or ink.x.max() >= right or ink.y.max() >= below):
        kept = np.flatnonzero((ink.x >= low) & (ink.x < right) & (ink.y >= low) & (ink.y < below))
    x, y = ink.x[kept] + ink.x.dtype.type(margin), ink.y[kept] + ink.y.dtype.type(margin)
    index = y.astype(np.int64)  # never negative, because of the margin: truncation rounds down
    index *= row
    index += x.astype(np.int32)
    return index, kept


def _grown(
    index: np.ndarray,
    colours: np.ndarray,
    shapes: list[tuple[list[tuple[int, int]], np.ndarray]],
    size: tuple[int, int],
    margin: int,
) -> np.ndarray:
    """Give each pixel the number of the topmost point whose stamp covers it, then that point's colour.

    This takes one pass over the picture for each pixel of the stamp; it does not depend on the number of points.
    """
    row, tall = size
    top = np.zeros(row * tall, np.int32)
    for offsets, mine in shapes:
        chosen = np.flatnonzero(mine)
        if len(chosen):
            centres = np.zeros(row * tall, np.int32)
            centres[index[chosen]] = chosen + 1
            for dx, dy in offsets:
                by = dy * row + dx
                inner = slice(margin * row, -margin * row)
                shifted = centres[margin * row - by : len(centres) - margin * row - by]
                np.maximum(top[inner], shifted, out=top[inner])
    return np.concatenate([np.zeros(1, np.uint32), colours])[top]


def _picture(pixels: np.ndarray) -> QImage:
    """uint32 [h, w] as a picture with its own memory."""
    tall, wide = pixels.shape
    image = QImage(wide, tall, QImage.Format.Format_ARGB32_Premultiplied)
    np.frombuffer(image.bits(), np.uint32).reshape(tall, wide)[:] = pixels  # four bytes a pixel: no padding
    return image


def disc(wide: float) -> list[tuple[int, int]]:
    """Pixels of a disc around (0, 0)."""
    reach = int(wide / 2)
    grid = range(-reach, reach + 1)
    return [(x, y) for y in grid for x in grid if x * x + y * y <= wide * wide / 4 + 0.25]


def cross(wide: float) -> list[tuple[int, int]]:
    """Pixels of a diagonal cross around (0, 0), at least 5 px wide so that it does not look like a disc."""
    reach = max(2, round(wide * 0.6))
    thick = int(wide / 7)
    grid = range(-reach, reach + 1)
    return [(x, y) for y in grid for x in grid if abs(abs(x) - abs(y)) <= thick]


def on_screen(transform: QTransform, points: np.ndarray) -> np.ndarray:
    """Points [n, 2] through an affine transform, float64 [n, 2]."""
    return np.stack(placed(transform, points[:, 0].astype(float), points[:, 1].astype(float)), 1)


def placed(transform: QTransform, x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """x and y of points through an affine transform, in the precision of the input."""
    kind = x.dtype.type
    m11, m12, m21, m22, dx, dy = (kind(value) for value in values_of(transform))
    across, down = x * m11, y * m22
    across += dx
    down += dy
    if m21 or m12:
        across += y * m21
        down += x * m12
    return across, down


def values_of(transform: QTransform) -> tuple[float, ...]:
    """The values of an affine transform, as a key to compare transforms by."""
    return (transform.m11(), transform.m12(), transform.m21(), transform.m22(), transform.dx(), transform.dy())


def faded(colour: str) -> np.uint32:
    """ "#RRGGBB" as nearly transparent premultiplied ARGB."""
    channels = [int(colour[at : at + 2], 16) * DIMMED // 255 for at in (1, 3, 5)]
    return np.uint32(DIMMED << 24 | channels[0] << 16 | channels[1] << 8 | channels[2])


def unmultiplied(colour: int) -> int:
    """A premultiplied ARGB number as plain ARGB."""
    alpha = colour >> 24
    channels = [min(255, (colour >> shift & 255) * 255 // max(1, alpha)) for shift in (16, 8, 0)]
    return alpha << 24 | channels[0] << 16 | channels[1] << 8 | channels[2]
