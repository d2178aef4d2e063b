"""Augmentation of whole batches on the device they are trained on."""

from collections.abc import Callable
from functools import cache
from math import log, pi
from typing import Literal

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from workbench.params import NoParams, Params, param
from workbench.registry import register

LUMA = (0.299, 0.587, 0.114)
TO_YIQ = (LUMA, (0.596, -0.274, -0.322), (0.211, -0.523, 0.312))
TRIES = 10  # draws of a crop until one fits


@register("augmentation", "none", title="None", params=NoParams, source="Workbench 2026", changes=False)
class Unchanged:
    """No change to images, in training and in evaluation."""

    each_alone = True
    own_draws = True

    def __init__(self, params: NoParams) -> None:
        """It has no parameters."""

    def __call__(self, images: Tensor, generator: torch.Generator) -> Tensor:
        return images

    def evaluate(self, images: Tensor) -> Tensor:
        """The images as they are."""
        return images


class ShiftParams(Params):
    """Parameters of the random shift."""

    pixels: int = param(2, ge=1, le=64, unit="px", help="Largest shift in each direction; the border is repeated.")


@register(
    "augmentation", "shift", title="Random shift", params=ShiftParams, source="Common for small images; Workbench 2026"
)
class Shift:
    """Every image moved by a few pixels in both directions."""

    each_alone = True
    own_draws = True

    def __init__(self, params: ShiftParams) -> None:
        self._most = params.pixels

    def __call__(self, images: Tensor, generator: torch.Generator) -> Tensor:
        n, channels, height, width = images.shape
        most, device = self._most, images.device
        moves = torch.randint(-most, most + 1, (2, n, 1), generator=generator, device=device)
        rows = (moves[0] + torch.arange(height, device=device)).clamp(0, height - 1)
        columns = (moves[1] + torch.arange(width, device=device)).clamp(0, width - 1)
        places = (rows[:, :, None] * width + columns[:, None, :]).view(n, 1, -1).expand(n, channels, -1)
        return images.reshape(n, channels, -1).gather(2, places).view(images.shape)

    def evaluate(self, images: Tensor) -> Tensor:
        """The images as they are."""
        return images


class CropFlipParams(Params):
    """Parameters of the random crop, the flip and the crop of evaluation."""

    crop: float = param(
        0.875, gt=0, le=1, label="Crop", help="Side of the crop as a share of the image: 0.875 is 224 of 256."
    )
    smallest_area: float = param(
        0.16, gt=0, le=1, label="Smallest area", help="Smallest share of the image's area that a training crop shows."
    )
    aspect: float = param(4 / 3, ge=1, le=10, help="Largest aspect ratio of what a training crop shows.")
    uniform: Literal["area", "side"] = param(
        "area", label="Uniform",
        help="Quantities of a training crop that are drawn uniformly: area and logarithm of the aspect, as by "
        "torchvision; or height and aspect, as by TensorFlow, which makes more small crops, all within the image.",
    )  # fmt: skip
    flip: bool = param(True, help="Mirror half of the images.")
    jitter: float = param(0.0, ge=0, le=1, help="Largest change of brightness, contrast and saturation, as a share.")
    hue: float = param(0.0, ge=0, le=0.5, help="Largest rotation of the hue, as a share of the colour circle.")
    jittered: float = param(1.0, ge=0, le=1, help="Share of the images that jitter and hue change.")
    jitter_order: Literal["fixed", "random"] = param(
        "fixed", label="Order of jitter",
        help="fixed: brightness, contrast, saturation, hue; random: each image has its own order.",
    )  # fmt: skip
    jitter_first: bool = param(
        False, label="Jitter before the crop",
        help="Change the colours of the whole square, and then crop it: contrast is relative to the square's grey, not "
        "to the crop's. Not for crops of whole images.",
    )  # fmt: skip
    redraw: bool = param(
        False, label="Draw again",
        help="Redraw a training crop that would leave the square, up to ten times; otherwise it is cut off there. "
        "Crops of whole images are always drawn again.",
    )  # fmt: skip
    fixed: bool = param(
        False, label="Fixed size", help="Training crops differ only in position: they are never scaled or stretched."
    )
    crops_of: Literal["square", "whole"] = param(
        "square", label="Crops of",
        help="What training crops are taken from: the centre square, or the whole image, which is then kept as JPEG.",
    )  # fmt: skip
    resizing: Literal["bilinear", "bicubic"] = param(
        "bilinear", help="How training crops are resized; those of a fixed size are not."
    )
    evaluated: Literal["centre", "whole"] = param(
        "centre", label="Evaluated on", help="The centre crop, or all of the image squeezed into a square of that side."
    )


@register(
    "augmentation", "crop_flip", title="Random crop and flip", params=CropFlipParams,
    source="Boudiaf et al. 2020, Section 6.3; area scale 0.16 to 1: the authors' dml_cross_entropy", mirrored_by="flip",
)  # fmt: skip
class CropFlip:
    """A random crop of each image, resized and perhaps mirrored; evaluation takes the centre crop."""

    each_alone = True
    own_draws = True
    """Whether it draws from the generator it is given and from nothing else: threads may then run it."""

    def __init__(self, params: CropFlipParams) -> None:
        self._params = params
        self.whole_training = params.crops_of == "whole"
        """Whether `__call__` gets crops of whole images, each cut out by one of `boxes`, instead of squares."""
        self.resizing = params.resizing
        self.whole_evaluation = params.evaluated == "whole"
        """Whether `evaluate` gets whole images squeezed into a square of `side`."""

    def __call__(self, images: Tensor, generator: torch.Generator) -> Tensor:
        n, device = len(images), images.device

        def draw(low: float, high: float, *times: int) -> Tensor:
            return low + (high - low) * torch.rand(n, *times, generator=generator, device=device)

        first = self._params.jitter_first
        if first:
            images = self._coloured(images, draw)
        if self.whole_training:
            cropped = mirrored(images, draw(0, 1) < 0.5) if self._params.flip else images
        elif self._params.fixed:
            cropped = self._fixed(images, draw)
        else:
            cropped = self._resized(images, draw)
        return cropped if first else self._coloured(cropped, draw)

    def boxes(self, sizes: Tensor, generator: torch.Generator) -> Tensor:
        """Boxes of training crops in whole images: left, top, right, bottom in px, float64 [n, 4].

        Args:
            sizes: [n, 2] height and width, px.
            generator: of the CPU.
        """
        if not self._params.fixed:
            resized = resized_boxes if self._params.uniform == "area" else boxes_by_side
            return resized(sizes, self._params.smallest_area, self._params.aspect, generator)
        sides = sizes.double().amin(1) * self._params.crop
        high, wide = (sizes.double() - sides[:, None]).unbind(1)
        left, top = torch.rand(2, len(sizes), generator=generator, dtype=torch.float64) * torch.stack([wide, high])
        return torch.stack([left, top, left + sides, top + sides], 1)

    def side(self, size: int) -> int:
        """Side of the crops of images whose short side is `size`, px."""
        return max(1, round(size * self._params.crop))

    def _resized(self, images: Tensor, draw: Callable[..., Tensor]) -> Tensor:
        n, device = len(images), images.device
        wide, high = self._sides(draw)
        x, y = draw(-1, 1) * (1 - wide), draw(-1, 1) * (1 - high)
        mirror = torch.where(draw(0, 1) < 0.5, -1.0, 1.0) if self._params.flip else torch.ones(n, device=device)
        side = self.side(images.shape[-1])
        # Centres of pixels, where -1 and 1 are the outer edges of the image.
        places = (2 * torch.arange(side, device=device) + 1) / side - 1
        grid = torch.empty(n, side, side, 2, dtype=images.dtype, device=device)
        grid[..., 0] = (x[:, None] + (wide * mirror)[:, None] * places)[:, None, :]
        grid[..., 1] = (y[:, None] + high[:, None] * places)[:, :, None]
        return sampled(images, grid, self.resizing)

    def _sides(self, draw: Callable[..., Tensor]) -> tuple[Tensor, Tensor]:
        """Width and height [n] of crops of the square, as shares of its side."""
        if self._params.uniform == "side":
            ratio = draw(1 / self._params.aspect, self._params.aspect)
            tallest = (1 / ratio).clamp(max=1)
            lowest = torch.minimum((self._params.smallest_area / ratio).sqrt(), tallest)
            side = lowest + draw(0, 1) * (tallest - lowest)
            return side * ratio, side
        times = (TRIES,) if self._params.redraw else ()
        area = draw(self._params.smallest_area, 1.0, *times)
        most = log(self._params.aspect)
        aspect = torch.exp(draw(-most, most, *times))
        wide, high = (area * aspect).sqrt(), (area / aspect).sqrt()
        if not times:
            return wide.clamp(max=1), high.clamp(max=1)
        fits = (wide <= 1) & (high <= 1)
        first, fitted = fits.int().argmax(1, keepdim=True), fits.any(1)
        wide, high = (torch.where(fitted, sides.gather(1, first)[:, 0], 1.0) for sides in (wide, high))
        return wide, high

    def _fixed(self, images: Tensor, draw: Callable[..., Tensor]) -> Tensor:
        """Crops without resizing."""
        side = self.side(images.shape[-1])
        left, top = (
            (draw(0, 1) * (length - side + 1)).long().clamp(max=length - side)
            for length in (images.shape[-1], images.shape[-2])
        )
        along = torch.arange(side, device=images.device)
        rows, columns = (top[:, None] + along)[:, :, None], (left[:, None] + along)[:, None, :]
        cropped = images.permute(0, 2, 3, 1)[
            torch.arange(len(images), device=images.device)[:, None, None], rows, columns
        ]
        cropped = cropped.permute(0, 3, 1, 2)
        return mirrored(cropped, draw(0, 1) < 0.5) if self._params.flip else cropped

    def evaluate(self, images: Tensor) -> Tensor:
        """The images, or their centre crop at the crop's side; (batch, channels, height, width), the same type."""
        if self.whole_evaluation:
            return images
        side = self.side(images.shape[-1])
        top = (images.shape[-1] - side) // 2
        return images[..., top : top + side, top : top + side]

    def _coloured(self, images: Tensor, draw: Callable[..., Tensor]) -> Tensor:
        """The images with other colours, those of a share `jittered`."""
        if self._params.jitter_order == "random" and (self._params.jitter or self._params.hue):
            changed = self._in_random_order(images, draw)
        else:
            changed = self._jittered(images, draw) if self._params.jitter else images
            if self._params.hue and images.shape[1] == 3:
                changed = turned(changed, draw(-1, 1) * self._params.hue)
        if self._params.jittered < 1 and changed is not images:
            changed = torch.where((draw(0, 1) < self._params.jittered).view(-1, 1, 1, 1), changed, images)
        return changed

    def _jittered(self, images: Tensor, draw: Callable[..., Tensor]) -> Tensor:
        """Brightness, contrast and saturation by the formulas of torchvision's ColorJitter, always in this order."""
        most = self._params.jitter
        bright, contrast = (draw(1 - most, 1 + most).view(-1, 1, 1, 1) for _ in range(2))
        changed = _with_contrast((images * bright).clamp(0, 1), contrast)
        if images.shape[1] == 3:
            changed = _with_colour(changed, draw(1 - most, 1 + most).view(-1, 1, 1, 1))
        return changed

    def _in_random_order(self, images: Tensor, draw: Callable[..., Tensor]) -> Tensor:
        """The same changes and the hue's in one of the 24 orders for each image, as torchvision's ColorJitter does."""
        most, coloured = self._params.jitter, images.shape[1] == 3
        order, factors = draw(0, 1, 4).argsort(1), draw(1 - most, 1 + most, 3)
        shares, changed = draw(-1, 1) * self._params.hue, images
        for place in range(4):
            now = order[:, place, None] == torch.arange(4, device=images.device)  # a factor of 1 changes nothing
            bright, contrast, colour = (
                torch.where(now[:, kind], factors[:, kind], 1.0).view(-1, 1, 1, 1) for kind in range(3)
            )
            changed = _with_contrast((changed * bright).clamp(0, 1), contrast)
            changed = _with_colour(changed, colour) if coloured else changed
            if self._params.hue and coloured:
                changed = torch.where(now[:, 3].view(-1, 1, 1, 1), turned(changed, shares), changed)
        return changed


def _with_contrast(images: Tensor, contrast: Tensor) -> Tensor:
    return torch.lerp(_grey(images).mean((1, 2, 3), keepdim=True), images, contrast).clamp(0, 1)


def _with_colour(images: Tensor, saturation: Tensor) -> Tensor:
    return torch.lerp(_grey(images), images, saturation).clamp(0, 1)


def _grey(images: Tensor) -> Tensor:
    """Luma [n, 1, H, W] of images of one channel or three."""
    if images.shape[1] != 3:
        return images
    luma = colour_turn(images.device, images.dtype)[0][0].view(1, 3, 1, 1)
    return (images * luma).sum(1, keepdim=True)


@cache
def colour_turn(device: torch.device, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    """The matrices from RGB to YIQ and back on the device, [3, 3] each: copied once, because a copy stalls the GPU."""
    to_yiq = torch.tensor(TO_YIQ, dtype=dtype)
    return to_yiq.to(device), torch.linalg.inv(to_yiq).to(device)


def sampled(images: Tensor, grid: Tensor, mode: str = "bilinear") -> Tensor:
    """Values of images [n, C, H, W] in 0..1 at places [n, h, w, 2] (x, y), where -1 and 1 are the outer edges.

    The mode is "bilinear" or "bicubic"; what a cubic adds beyond 0..1 is cut off. Beyond the centre of a border pixel
    it is that pixel's value. torch before 2.13 has no such border on Apple's GPU;
    places are clamped to these centres there instead.
    """
    padding = "border"
    if images.device.type == "mps" and mode == "bicubic":  # a cubic also needs the pixels beyond these centres
        return sampled(images.cpu(), grid.cpu(), mode).to(images.device)
    if images.device.type == "mps":
        edges = [1 - 1 / side for side in (images.shape[-1], images.shape[-2])]
        grid = torch.stack([place.clamp(-edge, edge) for place, edge in zip(grid.unbind(-1), edges, strict=True)], -1)
        padding = "zeros"
    values = F.grid_sample(images, grid, mode=mode, padding_mode=padding, align_corners=False)
    return values.clamp(0, 1) if mode == "bicubic" else values


def mirrored(images: Tensor, which: Tensor) -> Tensor:
    """Images [n, C, H, W], those of `which` [n] bool with left and right exchanged."""
    return torch.where(which[:, None, None, None], images.flip(-1), images)


def resized_boxes(sizes: Tensor, smallest: float, aspect: float, generator: torch.Generator) -> Tensor:
    """Random parts of images of `sizes` [n, 2] (height, width): left, top, right, bottom in px, float64 [n, 4].

    Source: Szegedy et al. 2015 as torchvision's RandomResizedCrop does it: an area of `smallest` to 1 of the image's
    and an aspect of 1 / `aspect` to `aspect`, drawn up to ten times until it fits, else the middle of the image.
    """
    high, wide = sizes.numpy().T.astype(np.float64)  # NumPy: short operations of torch wait for the interpreter lock
    share, turn, x, y = torch.rand(4, len(sizes), TRIES, generator=generator, dtype=torch.float64).numpy()
    area = (smallest + (1 - smallest) * share) * (high * wide)[:, None]
    ratio = np.exp(log(aspect) * (2 * turn - 1))
    widths, heights = np.sqrt(area * ratio), np.sqrt(area / ratio)
    fits = (widths <= wide[:, None]) & (heights <= high[:, None])
    first, fitted = (np.arange(len(sizes)), fits.argmax(1)), fits.any(1)
    whole_ratio = (wide / high).clip(1 / aspect, aspect)
    w = np.where(fitted, widths[first], np.minimum(wide, high * whole_ratio))
    h = np.where(fitted, heights[first], np.minimum(high, wide / whole_ratio))
    left, top = np.where(fitted, x[first], 0.5) * (wide - w), np.where(fitted, y[first], 0.5) * (high - h)
    return torch.from_numpy(np.stack([left, top, left + w, top + h], 1))


def boxes_by_side(sizes: Tensor, smallest: float, aspect: float, generator: torch.Generator) -> Tensor:
    """As `resized_boxes`, with heights and aspects drawn uniformly among those that fit.

    Source: TensorFlow's sample_distorted_bounding_box, tensorflow/core/kernels/image of tensorflow/tensorflow. Where no
    crop has the smallest area and such an aspect, it is the largest with the aspect.
    """
    high, wide = sizes.numpy().T.astype(np.float64)
    turn, size, x, y = torch.rand(4, len(sizes), generator=generator, dtype=torch.float64).numpy()
    ratio = 1 / aspect + turn * (aspect - 1 / aspect)
    most = np.minimum(np.minimum(np.sqrt(high * wide / ratio), high), wide / ratio)
    least = np.minimum(np.sqrt(smallest * high * wide / ratio), most)
    h = least + size * (most - least)
    w = h * ratio
    left, top = x * (wide - w), y * (high - h)
    return torch.from_numpy(np.stack([left, top, left + w, top + h], 1))


def turned(images: Tensor, share: Tensor) -> Tensor:
    """Hues of colour images [n, 3, H, W] turned by shares [n] of the circle, at the same luma (in the YIQ space)."""
    to_yiq, from_yiq = colour_turn(images.device, images.dtype)
    angle = 2 * pi * share
    zero, ones = torch.zeros_like(angle), torch.ones_like(angle)
    turn = torch.stack([ones, zero, zero, zero, angle.cos(), -angle.sin(), zero, angle.sin(), angle.cos()], 1)
    whole = from_yiq @ turn.view(-1, 3, 3) @ to_yiq
    return torch.einsum("nij,njhw->nihw", whole, images).clamp(0, 1)
