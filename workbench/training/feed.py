"""Batches from the pixel cache to the device: gathered, scaled and augmented together."""

from collections.abc import Callable, Iterator
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from workbench.training.device import CHANNELS_LAST

RESIDENT = 2 << 30  # bytes; smaller data sets live on the device as uint8


class Sampler(Protocol):
    """Which images stand together in a batch; a pure function of the epoch."""

    steps_per_epoch: int
    places: np.ndarray
    """[m] int64, of the training half: all that may be drawn, and nothing else may be learned from."""

    def batches(self, epoch: int) -> list[np.ndarray]: ...


class Augmentation(Protocol):
    """Changes a batch of images [n, C, H, W] in 0..1; `evaluate` is its deterministic twin."""

    def __call__(self, images: Tensor, generator: torch.Generator) -> Tensor: ...

    def evaluate(self, images: Tensor) -> Tensor: ...


class Feed:
    """Images of some rows of the pixel cache, as float batches on the device.

    Args:
        pixels: uint8 [n, H, W, C], usually a memory map.
        rows: [m] int64, the rows that belong to this half.
        labels: [m] int64.
        device: where batches go.
    """

    def __init__(self, pixels: np.ndarray, rows: np.ndarray, labels: np.ndarray, device: torch.device) -> None:
        self._pixels, self._rows, self._device = pixels, rows, device
        self.labels = torch.from_numpy(np.ascontiguousarray(labels, np.int64)).to(device)
        self._resident: Tensor | None = None
        if len(rows) * pixels[0].nbytes <= RESIDENT:
            chosen = np.ascontiguousarray(pixels[rows].transpose(0, 3, 1, 2))
            self._resident = torch.from_numpy(chosen).to(device)

    def __len__(self) -> int:
        return len(self._rows)

    def images(self, index: np.ndarray) -> Tensor:
        """Images [n, C, H, W] float in 0..1 of those places of this half."""
        if self._resident is not None:
            chosen = self._resident[torch.from_numpy(index).to(self._device)]
        else:
            gathered = np.ascontiguousarray(self._pixels[self._rows[index]].transpose(0, 3, 1, 2))
            chosen = torch.from_numpy(gathered).to(self._device, non_blocking=True)
        images = chosen.float().div_(255)
        last = self._device.type in CHANNELS_LAST
        return images.contiguous(memory_format=torch.channels_last) if last else images

    def training(
        self, sampler: Sampler, augmentation: Augmentation, seed: int, views: int = 1
    ) -> Callable[[int, int], Iterator[tuple[Tensor, Tensor]]]:
        """`batches(epoch, skip)` for the Trainer; the same batch again for the same seed, epoch and place.

        With v views a batch [n v, C, H, W] holds each image v times, each time augmented anew.
        """
        generator = torch.Generator(self._device)

        def batches(epoch: int, skip: int) -> Iterator[tuple[Tensor, Tensor]]:
            for place, index in enumerate(sampler.batches(epoch)):
                if place < skip:
                    continue
                generator.manual_seed(_mix(seed, epoch, place))
                index = np.tile(index, views)
                yield augmentation(self.images(index), generator), self.labels[torch.from_numpy(index).to(self._device)]

        return batches

    def in_order(self, batch: int, index: np.ndarray | None = None) -> Iterator[Tensor]:
        """Images in order, for evaluation."""
        every = np.arange(len(self)) if index is None else index
        for start in range(0, len(every), batch):
            yield self.images(every[start : start + batch])


def _mix(seed: int, epoch: int, place: int) -> int:
    return int(np.random.SeedSequence([seed, epoch, place]).generate_state(1, np.uint64)[0] >> 1)
