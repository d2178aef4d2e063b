"""The interfaces of samplers, augmentations and images that a feed uses."""

from typing import Protocol

import numpy as np
import torch
from torch import Tensor

Box = tuple[float, float, float, float]  # left, top, right, bottom in px
Boxes = np.ndarray  # float64 [n, 4] of them


class Sampler(Protocol):
    """Chooses the images of each batch; a pure function of the epoch, which any thread may call."""

    steps_per_epoch: int
    places: np.ndarray
    """[m] int64, places in the training set that may be drawn; training must not use any other image."""

    def batches(self, epoch: int) -> list[np.ndarray]:
        """Places in the training set, [n] int64 for each batch of an epoch."""


class Augmentation(Protocol):
    """Changes a batch of images [n, C, H, W] in 0..1; `evaluate` is its deterministic version.

    One that crops whole images sets `whole_training`, and has `boxes` and `side`; one that is evaluated on whole images
    sets `whole_evaluation`, and has `side`, as CropFlip in batches/augment.py. One that draws random numbers only from
    its generator sets `own_draws`: threads may then run it ahead of the step. One that changes each image independently
    of the others may set `each_alone`: if several ranks train, each then reads only its own images of a batch. One that
    crops whole images may set `resizing`, "bilinear" or "bicubic".
    """

    def __call__(self, images: Tensor, generator: torch.Generator) -> Tensor:
        """The images of a training batch, changed randomly."""

    def evaluate(self, images: Tensor) -> Tensor:
        """The images of an evaluation."""


class Cropping(Augmentation, Protocol):
    """An augmentation that crops whole images."""

    whole_training: bool
    whole_evaluation: bool

    def boxes(self, sizes: Tensor, generator: torch.Generator) -> Tensor:
        """The box of each crop in an image of that height and width: [n, 4], left, top, right, bottom in px."""

    def side(self, size: int) -> int:
        """Side of the crops in px for images whose short side is `size` px."""


class Images(Protocol):
    """Decoded images of a set: a memory map of squares, or encoded images."""

    @property
    def shape(self) -> tuple[int, ...]:
        """[n, S, S, C] of the squares."""

    def __getitem__(self, rows: np.ndarray | int) -> np.ndarray:
        """Squares [m, S, S, C] uint8 of some rows, or the one [S, S, C] of a row."""


class Crops(Protocol):
    """Makes images of one set outside this interpreter; several threads use it at once."""

    def fill(self, target: np.ndarray, rows: np.ndarray, boxes: Boxes | None, resizing: str = "bilinear") -> None:
        """Put the crops of some rows, or their centre squares, into `target`, uint8 [n, C, side, side], contiguous."""


class WholeImages(Images, Protocol):
    """Images with their original aspect ratio; several threads use them at once."""

    sizes: np.ndarray
    """[n, 2] int64: height and width, px."""

    def crop(self, row: int, box: Box, side: int, resizing: str = "bilinear") -> np.ndarray:
        """The part of an image in a box, resized to uint8 [side, side, C], "bilinear" or "bicubic"."""
