"""Batches for the device, augmented together: small sets stay in its memory, for others threads make them ahead."""

import contextlib
from collections.abc import Generator, Iterator
from dataclasses import replace
from typing import cast

import numpy as np
import torch
from torch import Tensor

from workbench import jobs
from workbench.losses.shared.pair_lists import keep_on_cpu, to_device
from workbench.training.ahead import AHEAD, EVERY, Finish, Finished, Share, Source, Wanted, made_ahead, wanted_of
from workbench.training.device import CHANNELS_LAST, free_memory
from workbench.training.epochs import Epochs, Made
from workbench.training.feed_contract import Augmentation, Box, Boxes, Cropping, Crops, Images, Sampler, WholeImages

RESIDENT = 2 << 30  # bytes; smaller data sets are kept on the device as uint8
OF_FREE = 4  # at most a quarter of a GPU's free memory is taken for them: the network needs the rest
APART = 2  # seeds what is drawn beside the batches of training
CROPS = 1  # seeds the crops beside seed, epoch and place, so that they have their own random numbers


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
        self.threads = threads or max(1, jobs.cores() - 1)
        copies = torch.cuda.Stream(device) if device.type == "cuda" else None
        self._source = Source(images, rows, crops, self.threads, device, copies)
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

    def augmented(self, index: np.ndarray, augmentation: Augmentation, seed: int, number: int) -> Tensor:
        """Images at these places of this half as in training; another number or seed has other draws."""
        with contextlib.closing(self.training(_Once(index), augmentation, _mix(seed, APART, number))) as epochs:
            images, _ = next(epochs(1))
        return images

    def in_order(self, batch: int, index: np.ndarray | None = None) -> Generator[Tensor, None, None]:
        """Batches as from `images`, in the order of this half or of some places in it."""
        every = np.arange(len(self)) if index is None else index
        chosen = wanted_of(0, (every[at : at + batch] for at in range(0, len(every), batch)))
        finish = Finish(lambda wanted, images: (self._scaled(images),), apart=True)
        with contextlib.closing(self._evaluated(chosen, finish)) as batches:
            for _, (images,) in batches:
                yield images

    def made_ahead(self, augmentation: Augmentation) -> bool:
        """Whether threads make training batches while the network works on the previous one."""
        return self._resident is None or getattr(augmentation, "whole_training", False)

    def training(
        self, sampler: Sampler, augmentation: Augmentation, seed: int, views: int = 1, share: Share = EVERY,
        epochs: int = 0,
    ) -> Epochs:  # fmt: skip
        """`batches(epoch, skip)` for `trainer.train`; a batch depends only on the seed, the epoch and its place in it.

        With v views a batch [n v, C, H, W] has each image v times, each time with another augmentation. Threads make
        batches ahead until the generator is closed. `share(n)` is the part of a batch of n images that is yielded, with
        the labels of the whole batch; its images are the same as without `share`. With the number of `epochs` of the
        run, batches of the next epoch are made while one ends; what is returned must be closed then.
        """
        one_for_all = torch.Generator(self._device)
        apart = getattr(augmentation, "own_draws", False)
        read = share if getattr(augmentation, "each_alone", False) else EVERY

        def augmented(wanted: Wanted, images: Tensor) -> Finished:
            several = self._device.type == "cpu"  # threads finish several batches at a time
            generator = torch.Generator() if several else one_for_all
            generator.manual_seed(_mix(seed, wanted.epoch, wanted.place))
            classes = self._classes[wanted.index]
            labels = to_device(classes, self._device) if wanted.there is None else self.labels[wanted.there]
            return augmentation(self._scaled(images), generator)[share(len(images))], keep_on_cpu(labels, classes)

        def made(wanted: Iterator[Wanted]) -> Made:
            finish = Finish(augmented, apart, read)
            if getattr(augmentation, "whole_training", False):
                return self._cropped(wanted, cast(Cropping, augmentation), seed, finish)
            return self._evaluated(wanted, finish)

        def places(epoch: int) -> list[np.ndarray]:
            return [np.tile(index, views) for index in sampler.batches(epoch)]

        return Epochs(made, places, epochs)

    def _evaluated(self, wanted: Iterator[Wanted], finish: Finish) -> Made:
        """Finished batches of images as in evaluation."""
        if self._resident is not None:
            for batch in wanted:
                there = to_device(batch.index, self._device)
                yield batch, finish.work(replace(batch, there=there), self._resident[there])
        elif self._squeezed:
            yield from made_ahead(self._source, wanted, self._squeezed, lambda batch, rows: self._whole(rows), finish)
        else:
            yield from made_ahead(self._source, wanted, self._images.shape[1], lambda batch, rows: None, finish)

    def _cropped(self, wanted: Iterator[Wanted], augmentation: Cropping, seed: int, finish: Finish) -> Made:
        """Finished batches of crops."""
        generator, whole = torch.Generator(), cast(WholeImages, self._images)

        def boxes(batch: Wanted, rows: np.ndarray) -> Boxes:
            generator.manual_seed(_mix(seed, batch.epoch, batch.place, CROPS))
            return augmentation.boxes(torch.from_numpy(whole.sizes[rows]), generator).numpy()

        source = replace(self._source, resizing=getattr(augmentation, "resizing", "bilinear"))
        return made_ahead(source, wanted, augmentation.side(self._images.shape[1]), boxes, finish)

    def _whole(self, rows: np.ndarray) -> Boxes:
        """Boxes of whole images."""
        high, wide = cast(WholeImages, self._images).sizes[rows].T
        return np.stack([np.zeros(len(rows)), np.zeros(len(rows)), wide, high], 1)

    def _squeezed_images(self, rows: np.ndarray) -> np.ndarray:
        """Whole images in squares [n, side, side, C] uint8."""
        images, side = cast(WholeImages, self._images), self._squeezed
        squares = np.empty((len(rows), side, side, images.shape[-1]), np.uint8)
        cut = jobs.in_threads(
            lambda row_and_box: images.crop(row_and_box[0], cast(Box, tuple(row_and_box[1])), side),
            zip(rows.tolist(), self._whole(rows).tolist(), strict=True), jobs.cores(), AHEAD,
        )  # fmt: skip
        for position, image in enumerate(cut):
            squares[position] = image
        return squares

    def _scaled(self, batch: Tensor) -> Tensor:
        """The batch as float in 0..1, in the order of memory that the device prefers."""
        last = self._device.type in CHANNELS_LAST
        order = torch.channels_last if last else torch.contiguous_format
        return batch.to(torch.float32, memory_format=order).div_(255)


class _Once(Sampler):
    """One batch of some places."""

    steps_per_epoch = 1

    def __init__(self, places: np.ndarray) -> None:
        self.places = places

    def batches(self, epoch: int) -> list[np.ndarray]:
        return [self.places]


def _mix(*numbers: int) -> int:
    return int(np.random.SeedSequence(numbers).generate_state(1, np.uint64)[0]) >> 1
