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
from workbench.training.feed_contract import Box, Boxes, Crops, Images, WholeImages

TOGETHER = 32  # images that one thread makes at a time: fewer at a time disturb the training thread more often ...
FEWEST = 4  # ... but the first batches, for which it waits, are spread over all threads
AHEAD = 2  # batches that are made ahead; more for a GPU, where a thread makes a whole batch at a time ...
DOUBLINGS = 16  # doublings from the first to the largest part, at most
HELD = 512 << 20  # bytes; ... if those that are begun then take no more pinned memory than this
Share = Callable[[int], slice]  # of n images, the wanted part: a contiguous slice
EVERY: Share = lambda n: slice(0, n)  # noqa: E731 - one expression


@dataclass(frozen=True, slots=True)
class Wanted:
    """A batch that is to be made."""

    epoch: int  # 0 if it is for an evaluation
    place: int  # in its epoch
    index: np.ndarray  # [n] int64, places in the half
    last: bool = False  # of its epoch
    there: Tensor | None = None  # the index on the device, if the images are chosen there


def wanted_of(epoch: int, batches: Iterable[np.ndarray], skip: int = 0) -> Iterator[Wanted]:
    """The batches of an epoch without the first `skip`; the last one is marked."""
    before = None
    for place, index in islice(enumerate(batches), skip, None):
        if before is not None:
            yield before
        before = Wanted(epoch, place, index)
    if before is not None:
        yield replace(before, last=True)


Finished = tuple[Tensor, ...]  # on the device: the images as float, and for training their labels


@dataclass(frozen=True, slots=True)
class Finish:
    """What is done to a batch after its images have been read."""

    work: Callable[[Wanted, Tensor], Finished]  # uint8 [n, C, H, W] -> what is yielded
    apart: bool  # whether another thread than the reader's may do it
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
        resizing: of crops, "bilinear" or "bicubic".
    """

    images: Images
    rows: np.ndarray
    crops: Crops | None
    threads: int
    device: torch.device
    copies: torch.cuda.Stream | None
    resizing: str = "bilinear"


@dataclass(slots=True)
class _Batch:
    """A batch that is being made."""

    wanted: Wanted
    images: Tensor  # uint8 [n, C, H, W], on the CPU
    lacking: int  # parts that are not filled yet
    lock: Lock = field(default_factory=Lock)
    finished: Finished = ()  # by the thread that fills its last part, if it may


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
) -> Generator[tuple[Wanted, Finished], None, None]:  # fmt: skip
    """Finished batches on the device, in their order; close it if it is not read to its end.

    Args:
        source: of the images.
        wanted: read a little ahead, for a GPU by another thread than the batches; the first is the largest.
        side: of the images, px.
        boxes: what is cut out of the images of those rows; None for their centre squares.
        finish: what is done to a batch on the device.
    """
    if (largest := next(wanted, None)) is None:
        return
    most = len(range(len(largest.index))[finish.read(len(largest.index))])
    size = _Sizes(source, most, most * source.images.shape[-1] * side**2)
    pinned = source.copies is not None
    apart = finish.apart and not pinned and source.device.type == "cpu"  # the threads finish what they have made
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
            batch.finished = finish.work(batch.wanted, batch.images)
        return part

    with contextlib.closing(jobs.in_threads(fill, parts(), source.threads, size.waiting)) as filled:
        batches = (part.batch for part in filled if part.last)
        if source.copies is not None:
            arrived = ((batch.wanted, batch.images) for batch in batches)
            yield from _on_a_stream(arrived, finish, source.device, source.copies)
            return
        for batch in batches:
            finished = batch.finished if apart else finish.work(batch.wanted, batch.images.to(source.device))
            yield batch.wanted, finished


def _on_a_stream(
    batches: Iterator[tuple[Wanted, Tensor]], finish: Finish, device: torch.device, stream: torch.cuda.Stream
) -> Generator[tuple[Wanted, Finished], None, None]:
    """Finished batches on a GPU; a thread of their own copies them on that stream, and finishes them if it may.

    What Python does for a batch is done while the network's thread waits for the backward pass, and the copy while the
    GPU works on the batch before. Close it if it is not read to its end.
    """

    def arriving() -> Iterator[tuple[Wanted, Finished, torch.cuda.Event]]:
        for wanted, pinned in batches:
            with torch.cuda.stream(stream):
                images = pinned.to(device, non_blocking=True)
                made = finish.work(wanted, images) if finish.apart else (images,)
                done = stream.record_event()
            yield wanted, made, done

    current = torch.cuda.current_stream(device)
    with contextlib.closing(jobs.read_ahead(arriving())) as ready:
        for wanted, made, done in ready:
            current.wait_event(done)
            for tensor in made:
                tensor.record_stream(current)
            yield wanted, made if finish.apart else finish.work(wanted, made[0])


class _Sizes:
    """How many images the threads make at a time, and how many parts wait for the reader.

    Args:
        source: of the images.
        most: images of a batch, at most.
        size: bytes of such a batch.
    """

    def __init__(self, source: Source, most: int, size: int) -> None:
        threads, gpu = source.threads, source.copies is not None
        begun = HELD * most // size - AHEAD * most if gpu else AHEAD * most  # images that the threads may have begun
        self._first = min(TOGETHER, max(FEWEST, -(-most // threads)))
        self._later = min(most if gpu else TOGETHER, max(self._first, begun // threads))
        self.waiting = max(1 if gpu else AHEAD, -(-AHEAD * most // (self._later * threads)))
        """Parts that wait for the reader, for each thread."""

    def of_part(self, number: int) -> int:
        """Images of a part of the batch with this number, from 0."""
        return min(self._later, self._first << min(number // AHEAD, DOUBLINGS))


def _fill(source: Source, part: _Part) -> None:
    """Put the images of a part into its batch; several threads do so at once."""
    target = part.batch.images.numpy()[part.start : part.start + len(part.rows)]
    if source.crops is not None and len(part.rows):
        source.crops.fill(target, part.rows, part.boxes, source.resizing)
        return
    for position, row in enumerate(part.rows.tolist()):
        if part.boxes is None:
            image = source.images[row]
        else:
            box = cast(Box, tuple(part.boxes[position].tolist()))
            image = cast(WholeImages, source.images).crop(row, box, target.shape[-1], source.resizing)
        target[position] = image.transpose(2, 0, 1)
