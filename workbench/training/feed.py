"""Batches for the device, augmented together: small sets stay in its memory, for others threads make them ahead."""

import contextlib
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass, field
from threading import Lock
from typing import cast

import numpy as np
import torch
from torch import Tensor

from workbench import jobs
from workbench.losses.pair_lists import keep_on_cpu, to_device
from workbench.training.device import CHANNELS_LAST, free_memory
from workbench.training.feed_contract import Augmentation, Box, Cropping, Crops, Images, Sampler, WholeImages

RESIDENT = 2 << 30  # bytes; smaller data sets are kept on the device as uint8
OF_FREE = 4  # at most a quarter of a GPU's free memory is taken for them: the network needs the rest
TOGETHER = 32  # images that one thread makes at a time: fewer at a time disturb the training thread more often ...
FEWEST = 4  # ... but the first batches, for which it waits, are spread over all threads
AHEAD = 2  # batches that are made ahead
CROPS = 1  # seeds the crops beside seed, epoch and place, so that they have their own random numbers
Share = Callable[[int], slice]  # of n images, the wanted part: a contiguous slice
EVERY: Share = lambda n: slice(0, n)  # noqa: E731 - one expression


@dataclass(slots=True)
class _Batch:
    """A batch that is being made."""

    number: int
    images: Tensor  # uint8 [n, C, H, W], on the CPU; finished by the thread that fills its last part
    lacking: int  # parts that are not filled yet
    lock: Lock = field(default_factory=Lock)


@dataclass(slots=True)
class _Part:
    """Some neighbouring images of a batch."""

    batch: _Batch
    rows: np.ndarray
    boxes: list[Box] | None  # None for squares
    start: int
    last: bool


@dataclass(frozen=True, slots=True)
class _Finish:
    """What is done to a batch after its images have been read."""

    work: Callable[[int, Tensor], Tensor]  # number of the batch, uint8 [n, C, H, W] -> what is yielded
    apart: bool  # whether the threads that make batches do it, too, if batches stay on the CPU
    read: Share = EVERY  # of a batch; other images are black


class Feed:
    """Images of some rows of a data set, as float batches on the device.

    Args:
        images: uint8 [n, H, W, C], a memory map or encoded images.
        rows: [m] int64, the rows that belong to this half.
        labels: [m] int64.
        device: where batches go.
        squeezed: px; above 0, evaluation gets whole images squeezed into squares of this side.
        threads: number of threads that make batches if the set is not on the device; by default all cores but one.
        crops: makes the images for the threads; None if they make them themselves.

    Attributes:
        left_out: bytes of the images, and those that were free, if a GPU has not enough free memory to keep them; else
            None.
    """

    def __init__(
        self, images: Images, rows: np.ndarray, labels: np.ndarray, device: torch.device, squeezed: int = 0,
        threads: int | None = None, crops: Crops | None = None,
    ) -> None:  # fmt: skip
        self._images, self._rows, self._device, self._squeezed = images, rows, device, squeezed
        self._crops = crops
        self.threads = threads or max(1, jobs.cores() - 1)
        self._copies = torch.cuda.Stream(device) if device.type == "cuda" else None
        self._classes = np.ascontiguousarray(labels, np.int64)
        self.labels = torch.from_numpy(self._classes).to(device)
        self._resident: Tensor | None = None
        shape = images.shape[1:]
        if squeezed:
            shape = (squeezed, squeezed, shape[-1])
        size, free = len(rows) * int(np.prod(shape)), free_memory(device)
        fits = free is None or size <= free // OF_FREE
        self.left_out = None if fits or free is None or size > RESIDENT else (size, free)
        if fits and size <= RESIDENT:
            squares = self._squeezed_images(rows) if squeezed else images[rows]
            chosen = np.ascontiguousarray(squares.transpose(0, 3, 1, 2))
            self._resident = torch.from_numpy(chosen).to(device)

    def __len__(self) -> int:
        return len(self._rows)

    def release(self) -> None:
        """Free the images that are kept on the device; the feed is of no use afterwards."""
        self._resident = None

    def images(self, index: np.ndarray) -> Tensor:
        """Images [n, C, H, W] float in 0..1 at these places of this half, as in evaluation."""
        with contextlib.closing(self.in_order(len(index), index)) as batches:
            return next(batches)

    def in_order(self, batch: int, index: np.ndarray | None = None) -> Generator[Tensor, None, None]:
        """Batches as from `images`, in the order of this half or of some places in it."""
        every = np.arange(len(self)) if index is None else index
        chosen = [every[at : at + batch] for at in range(0, len(every), batch)]
        finish = _Finish(lambda number, images: self._scaled(images), apart=True)
        with contextlib.closing(self._evaluated(chosen, finish)) as batches:
            yield from batches

    def made_ahead(self, augmentation: Augmentation) -> bool:
        """Whether threads make training batches while the network works on the previous one."""
        return self._resident is None or getattr(augmentation, "whole_training", False)

    def training(
        self, sampler: Sampler, augmentation: Augmentation, seed: int, views: int = 1, share: Share = EVERY
    ) -> Callable[[int, int], Generator[tuple[Tensor, Tensor], None, None]]:
        """`batches(epoch, skip)` for `trainer.train`; a batch depends only on the seed, the epoch and its place in it.

        With v views a batch [n v, C, H, W] has each image v times, each time with another augmentation. Threads make
        batches ahead until the generator is closed. `share(n)` is the part of a batch of n images that is yielded, with
        the labels of the whole batch; its images are the same as without `share`.
        """
        one_for_all = torch.Generator(self._device)
        apart = self._device.type == "cpu" and getattr(augmentation, "own_draws", False)
        read = share if getattr(augmentation, "each_alone", False) else EVERY

        def batches(epoch: int, skip: int) -> Generator[tuple[Tensor, Tensor], None, None]:
            chosen = [np.tile(index, views) for index in sampler.batches(epoch)][skip:]

            def augmented(number: int, images: Tensor) -> Tensor:
                generator = torch.Generator() if apart else one_for_all  # threads finish several batches at a time
                generator.manual_seed(_mix(seed, epoch, skip + number))
                return augmentation(self._scaled(images), generator)[share(len(images))]

            finish = _Finish(augmented, apart, read)
            if getattr(augmentation, "whole_training", False):
                made = self._cropped(chosen, cast(Cropping, augmentation), (seed, epoch, skip), finish)
            else:
                made = self._evaluated(chosen, finish)
            with contextlib.closing(made):
                for index, images in zip(chosen, made, strict=True):
                    yield images, keep_on_cpu(self.labels[to_device(index, self._device)], self._classes[index])

        return batches

    def _evaluated(self, chosen: list[np.ndarray], finish: _Finish) -> Generator[Tensor, None, None]:
        """Finished batches of places of this half, as in evaluation."""
        if self._resident is not None:
            for number, index in enumerate(chosen):
                yield finish.work(number, self._resident[to_device(index, self._device)])
        elif self._squeezed:
            yield from self._made(chosen, self._squeezed, lambda number, rows: self._whole(rows), finish)
        else:
            yield from self._made(chosen, self._images.shape[1], lambda number, rows: None, finish)

    def _cropped(
        self, chosen: list[np.ndarray], augmentation: Cropping, start: tuple[int, int, int], finish: _Finish
    ) -> Generator[Tensor, None, None]:
        """Finished batches of crops; `start` is the seed, the epoch, and the place of the first batch in it."""
        generator, (seed, epoch, first) = torch.Generator(), start

        def boxes(number: int, rows: np.ndarray) -> list[Box]:
            generator.manual_seed(_mix(seed, epoch, first + number, CROPS))
            sizes = torch.from_numpy(cast(WholeImages, self._images).sizes[rows])
            return cast(list[Box], augmentation.boxes(sizes, generator).tolist())

        yield from self._made(chosen, augmentation.side(self._images.shape[1]), boxes, finish)

    def _made(
        self, chosen: list[np.ndarray], side: int, boxes: Callable[[int, np.ndarray], list[Box] | None],
        finish: _Finish,
    ) -> Generator[Tensor, None, None]:  # fmt: skip
        """Finished batches, made by threads a little ahead of the reader.

        Args:
            chosen: places of each batch. side: of its images, px. boxes: what is cut out of them.
            finish: what is done to a batch on the device.
        """
        most = max((len(range(len(index))[finish.read(len(index))]) for index in chosen), default=0)
        first = min(TOGETHER, max(FEWEST, -(-most // self.threads)))  # images of a part of the first batches
        later = min(TOGETHER, max(first, AHEAD * most // self.threads))  # larger parts would take more batches at once
        waiting = max(AHEAD, -(-AHEAD * most // (later * self.threads)))  # parts for each thread
        pinned = self._copies is not None
        apart = finish.apart and self._device.type == "cpu"
        blank = torch.empty if finish.read is EVERY else torch.zeros

        def parts() -> Iterator[_Part]:
            for number, index in enumerate(chosen):
                rows = self._rows[index]
                shape = (len(rows), self._images.shape[-1], side, side)
                images, cut = blank(shape, dtype=torch.uint8, pin_memory=pinned), boxes(number, rows)
                together = min(later, first * (1 + number // AHEAD))
                own = range(len(rows))[finish.read(len(rows))]
                starts = own[::together] or [own.start]
                batch = _Batch(number, images, len(starts))
                for start in starts:
                    stop = min(start + together, own.stop)
                    yield _Part(batch, rows[start:stop], cut and cut[start:stop], start, start == starts[-1])

        def fill(part: _Part) -> _Part:
            self._fill(part)
            batch = part.batch
            with batch.lock:
                batch.lacking -= 1
                whole = not batch.lacking
            if whole and apart:
                batch.images = finish.work(batch.number, batch.images)
            return part

        with contextlib.closing(jobs.in_threads(fill, parts(), self.threads, waiting)) as filled:
            batches = (part.batch.images for part in filled if part.last)
            arrived = batches if self._copies is None else self._copied(batches, self._copies)
            for number, images in enumerate(arrived):
                yield images if apart else finish.work(number, images.to(self._device))

    def _fill(self, part: _Part) -> None:
        """Put the images of a part into its batch; several threads do so at once."""
        target = part.batch.images.numpy()[part.start : part.start + len(part.rows)]
        if self._crops is not None and len(part.rows):
            self._crops.fill(target, part.rows, part.boxes)
            return
        for position, row in enumerate(part.rows.tolist()):
            if part.boxes is None:
                image = self._images[row]
            else:
                image = cast(WholeImages, self._images).crop(row, part.boxes[position], target.shape[-1])
            target[position] = image.transpose(2, 0, 1)

    def _copied(self, batches: Iterable[Tensor], stream: torch.cuda.Stream) -> Generator[Tensor, None, None]:
        """Pinned batches on the GPU; each is copied while the network works on the previous one."""
        ready: tuple[Tensor, torch.cuda.Event] | None = None
        for batch in batches:
            with torch.cuda.stream(stream):
                copied = batch.to(self._device, non_blocking=True)
                following = copied, stream.record_event()
            if ready is not None:
                yield self._arrived(*ready)
            ready = following
        if ready is not None:
            yield self._arrived(*ready)

    def _arrived(self, batch: Tensor, copied: torch.cuda.Event) -> Tensor:
        """The batch, once the current stream may use it."""
        current = torch.cuda.current_stream(self._device)
        current.wait_event(copied)
        batch.record_stream(current)
        return batch

    def _whole(self, rows: np.ndarray) -> list[Box]:
        """Boxes of whole images."""
        return [(0.0, 0.0, float(wide), float(high)) for high, wide in cast(WholeImages, self._images).sizes[rows]]

    def _squeezed_images(self, rows: np.ndarray) -> np.ndarray:
        """Whole images in squares [n, side, side, C] uint8."""
        images, side = cast(WholeImages, self._images), self._squeezed
        squares = np.empty((len(rows), side, side, images.shape[-1]), np.uint8)
        cut = jobs.in_threads(
            lambda wanted: images.crop(int(wanted[0]), wanted[1], side),
            zip(rows, self._whole(rows), strict=True), jobs.cores(), AHEAD,
        )  # fmt: skip
        for position, image in enumerate(cut):
            squares[position] = image
        return squares

    def _scaled(self, batch: Tensor) -> Tensor:
        """The batch as float in 0..1, in the order of memory that the device prefers."""
        last = self._device.type in CHANNELS_LAST
        order = torch.channels_last if last else torch.contiguous_format
        return batch.to(torch.float32, memory_format=order).div_(255)


def _mix(*numbers: int) -> int:
    return int(np.random.SeedSequence(numbers).generate_state(1, np.uint64)[0]) >> 1
