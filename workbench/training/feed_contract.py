"""What a feed asks of samplers, augmentations and images."""

from typing import Protocol

import numpy as np
import torch
from torch import Tensor

Box = tuple[float, float, float, float]  # left, top, right, bottom in px


class Sampler(Protocol):
    """Which images form a batch; a pure function of the epoch."""

    steps_per_epoch: int
    places: np.ndarray
    """[m] int64, of the training half: all that may be drawn, and nothing else may be learned from."""

    def batches(self, epoch: int) -> list[np.ndarray]:
        """Places in the training half, [n] int64 for each batch of an epoch."""


class Augmentation(Protocol):
    """Changes a batch of images [n, C, H, W] in 0..1; `evaluate` is its deterministic twin.

    One that cuts its crops out of whole images has `whole_training` set, and then `boxes` and `side`; one that is
    evaluated on whole images has `whole_evaluation` set, and `side`: as datasets/augment.py's CropFlip. One that draws
    from the generator it is given and from nothing else has `own_draws` set: threads may run it ahead of the step. One
    that makes each image of itself alone, whatever the others show, may set `each_alone`: where several ranks train,
    each then reads its own images of a batch only.
    """

    def __call__(self, images: Tensor, generator: torch.Generator) -> Tensor:
        """The images of a training batch, changed at random."""

    def evaluate(self, images: Tensor) -> Tensor:
        """The images of an evaluation."""


class Cropping(Augmentation, Protocol):
    """An augmentation that takes whole images."""

    whole_training: bool
    whole_evaluation: bool

    def boxes(self, sizes: Tensor, generator: torch.Generator) -> Tensor:
        """What each crop shows of an image of that height and width: [n, 4], left, top, right, bottom in px."""

    def side(self, size: int) -> int:
        """Side of the crops where the short side of images is `size`, px."""


class Images(Protocol):
    """Decoded images of a set: a memory map of squares, or encoded images."""

    @property
    def shape(self) -> tuple[int, ...]:
        """[n, S, S, C] of the squares."""

    def __getitem__(self, rows: np.ndarray | int) -> np.ndarray:
        """Squares [m, S, S, C] uint8 of some rows, or the one [S, S, C] of a row."""


class WholeImages(Images, Protocol):
    """Images with their whole aspect; used by several threads at once."""

    sizes: np.ndarray
    """[n, 2] int64: height and width, px."""

    def crop(self, row: int, box: Box, side: int) -> np.ndarray:
        """What a box shows of an image, uint8 [side, side, C]."""
