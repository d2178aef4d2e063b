"""Batches of images that threads make a little ahead of the reader, from one epoch into the next."""

import contextlib
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from threading import Lock
from typing import cast

import numpy as np
import torch
from torch import Tensor

from workbench import jobs
from workbench.training.feed_contract import Boxes, Crops, Images, WholeImages

TOGETHER = 32  # images that one thread makes at a time: fewer at a time disturb the training thread more often ...
FEWEST = 4  # ... but the first batches, for which it waits, are spread over all threads
AHEAD = 2  # batches that are made ahead ...
MOST_AHEAD = 4  # ... or so many, in larger parts, if they wait in pinned memory ...
HELD = 256 << 20  # bytes; ... and take no more of it
Share = Callable[[int], slice]  # of n images, the wanted part: a contiguous slice
EVERY: Share = lambda n: slice(0, n)  # noqa: E731 - one expression


@dataclass(frozen=True, slots=True)
class Wanted:
    """A batch that is to be made."""

    epoch: int  # 0 if it is for an evaluation
    place: int  # in its epoch
    index: np.ndarray  # [n] int64, places in the half
    last: bool = False  # of its epoch


def wanted_of(epoch: int, batches: Iterable[np.ndarray], skip: int = 0) -> Iterator[Wanted]:
    """The batches of an epoch without the first `skip`; the last one is marked."""
    before = None
    for place, index in islice(enumerate(batches), skip, None):
        if before is not None:
            yield before
        before = Wanted(epoch, place, index)
    if before is not None:
        yield replace(before, last=True)


@dataclass(frozen=True, slots=True)
class Finish:
    """What is done to a batch after its images have been read."""

    work: Callable[[Wanted, Tensor], Tensor]  # uint8 [n, C, H, W] -> what is yielded
    apart: bool  # whether the threads that make batches do it, too, if batches stay on the CPU
    read: Share = EVERY  # of a batch; other images are black


@dataclass(frozen=True, slots=True)
class Source:
    """Where images come from, and who makes them.

    Args:
        images: of the whole set.
        rows: [m] int64, the row of each place.
        crops: makes the images for the threads; None if they make them themselves.
        threads: number of threads.
        device: where batches go.
        copies: the stream on which a GPU copies them.
    """

    images: Images
    rows: np.ndarray
    crops: Crops | None
    threads: int
    device: torch.device
    copies: torch.cuda.Stream | None


@dataclass(slots=True)
class _Batch:
    """A batch that is being made."""

    wanted: Wanted
    images: Tensor  # uint8 [n, C, H, W], on the CPU; finished by the thread that fills its last part
    lacking: int  # parts that are not filled yet
    lock: Lock = field(default_factory=Lock)


@dataclass(slots=True)
class _Part:
    """Some neighbouring images of a batch."""

    batch: _Batch
    rows: np.ndarray
    boxes: Boxes | None  # None for squares
    start: int
    last: bool


def made_ahead(
    source: Source, wanted: Iterator[Wanted], side: int, boxes: Callable[[Wanted, np.ndarray], Boxes | None],
    finish: Finish,
) -> Generator[tuple[Wanted, Tensor], None, None]:  # fmt: skip
    """Finished batches on the device, in their order; close it if it is not read to its end.

    Args:
        source: of the images.
        wanted: read a little ahead, by the thread that reads the batches; the first is the largest.
        side: of the images, px.
        boxes: what is cut out of the images of those rows; None for their centre squares.
        finish: what is done to a batch on the device.
    """
    if (largest := next(wanted, None)) is None:
        return
    most = len(range(len(largest.index))[finish.read(len(largest.index))])
    size = _Sizes(source, most, most * source.images.shape[-1] * side**2)
    pinned, apart = source.copies is not None, finish.apart and source.device.type == "cpu"
    blank = torch.empty if finish.read is EVERY else torch.zeros

    def parts() -> Iterator[_Part]:
        for number, batch in enumerate(chain([largest], wanted)):
            rows = source.rows[batch.index]
            shape = (len(rows), source.images.shape[-1], side, side)
            images, cut = blank(shape, dtype=torch.uint8, pin_memory=pinned), boxes(batch, rows)
            together, own = size.of_part(number), range(len(rows))[finish.read(len(rows))]
            starts = own[::together] or [own.start]
            made = _Batch(batch, images, len(starts))
            for start in starts:
                stop = min(start + together, own.stop)
                part = None if cut is None else cut[start:stop]
                yield _Part(made, rows[start:stop], part, start, start == starts[-1])

    def fill(part: _Part) -> _Part:
        _fill(source, part)
        batch = part.batch
        with batch.lock:
            batch.lacking -= 1
            whole = not batch.lacking
        if whole and apart:
            batch.images = finish.work(batch.wanted, batch.images)
        return part

    with contextlib.closing(jobs.in_threads(fill, parts(), source.threads, size.waiting)) as filled:
        batches = ((part.batch.wanted, part.batch.images) for part in filled if part.last)
        arrived = batches if source.copies is None else _copied(batches, source.device, source.copies)
        for batch, images in arrived:
            yield batch, images if apart else finish.work(batch, images.to(source.device))


class _Sizes:
    """How many images the threads make at a time, and how many parts wait for the reader.

    Args:
        source: of the images.
        most: images of a batch, at most.
        size: bytes of such a batch.
    """

    def __init__(self, source: Source, most: int, size: int) -> None:
        more = source.copies is not None and size * MOST_AHEAD <= HELD
        self._ahead = MOST_AHEAD if more else AHEAD
        self._first = min(TOGETHER, max(FEWEST, -(-most // source.threads)))
        # Larger parts would take more batches at once.
        self._later = min(TOGETHER, max(self._first, self._ahead * most // source.threads))
        self.waiting = max(AHEAD, -(-self._ahead * most // (self._later * source.threads)))
        """Parts that wait for the reader, for each thread."""

    def of_part(self, number: int) -> int:
        """Images of a part of the batch with this number, from 0."""
        return min(self._later, self._first * (1 + number // AHEAD))


def _fill(source: Source, part: _Part) -> None:
    """Put the images of a part into its batch; several threads do so at once."""
    target = part.batch.images.numpy()[part.start : part.start + len(part.rows)]
    if source.crops is not None and len(part.rows):
        source.crops.fill(target, part.rows, part.boxes)
        return
    for position, row in enumerate(part.rows.tolist()):
        if part.boxes is None:
            image = source.images[row]
        else:
            left, top, right, bottom = part.boxes[position].tolist()
            image = cast(WholeImages, source.images).crop(row, (left, top, right, bottom), target.shape[-1])
        target[position] = image.transpose(2, 0, 1)


def _copied(
    batches: Iterable[tuple[Wanted, Tensor]], device: torch.device, stream: torch.cuda.Stream
) -> Generator[tuple[Wanted, Tensor], None, None]:
    """Pinned batches on the GPU; each is copied while the network works on the previous one."""
    ready: tuple[Wanted, Tensor, torch.cuda.Event] | None = None
    for wanted, batch in batches:
        with torch.cuda.stream(stream):
            copied = batch.to(device, non_blocking=True)
            following = wanted, copied, stream.record_event()
        if ready is not None:
            yield _arrived(*ready)
        ready = following
    if ready is not None:
        yield _arrived(*ready)


def _arrived(wanted: Wanted, batch: Tensor, copied: torch.cuda.Event) -> tuple[Wanted, Tensor]:
    """The batch, once the current stream may use it."""
    current = torch.cuda.current_stream(batch.device)
    current.wait_event(copied)
    batch.record_stream(current)
    return wanted, batch
