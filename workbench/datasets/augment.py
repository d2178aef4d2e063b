"""Augmentation of whole batches on the device they are trained on."""

from collections.abc import Callable
from math import log, pi

import torch
from torch import Tensor
from torch.nn import functional as F

from workbench.params import NoParams, Params, param
from workbench.registry import register

LUMA = (0.299, 0.587, 0.114)


@register("augmentation", "none", title="None", params=NoParams, source="Workbench 2026", changes=False)
class Unchanged:
    """Images as they are, in training and in evaluation."""

    def __init__(self, params: NoParams) -> None:
        """Nothing to set."""

    def __call__(self, images: Tensor, generator: torch.Generator) -> Tensor:
        return images

    def evaluate(self, images: Tensor) -> Tensor:
        return images


class ShiftParams(Params):
    pixels: int = param(2, ge=1, le=64, unit="px", help="Farthest shift in each direction; the border is repeated.")


@register(
    "augmentation", "shift", title="Random shift", params=ShiftParams, source="Common for small images; Workbench 2026"
)
class Shift:
    """Every image moved by some pixels in both directions."""

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
        return images


class CropFlipParams(Params):
    crop: float = param(
        0.875, gt=0, le=1, label="Crop", help="Side of the crop as a share of the image: 0.875 is 224 of 256."
    )
    smallest_area: float = param(
        0.16, gt=0, le=1, label="Smallest area", help="Least share of the image's area that a training crop shows."
    )
    aspect: float = param(4 / 3, ge=1, le=10, help="Longest side of what a training crop shows, by its shortest.")
    flip: bool = param(True, help="Mirror half of the images.")
    jitter: float = param(0.0, ge=0, le=1, help="Largest change of brightness, contrast and saturation, as a share.")
    hue: float = param(0.0, ge=0, le=0.5, help="Largest turn of the hues, as a share of the circle.")


@register(
    "augmentation", "crop_flip", title="Random crop and flip", params=CropFlipParams,
    source="Boudiaf et al. 2020, Section 6.3; area scale 0.16 to 1: the authors' published settings",
)  # fmt: skip
class CropFlip:
    """A random part of each image at the size of the crop, perhaps mirrored; evaluation takes the centre crop."""

    def __init__(self, params: CropFlipParams) -> None:
        self._params = params

    def __call__(self, images: Tensor, generator: torch.Generator) -> Tensor:
        n, channels, device = len(images), images.shape[1], images.device

        def draw(low: float, high: float) -> Tensor:
            return low + (high - low) * torch.rand(n, generator=generator, device=device)

        area = draw(self._params.smallest_area, 1.0)
        most = log(self._params.aspect)
        aspect = torch.exp(draw(-most, most))
        wide, high = (area * aspect).sqrt().clamp(max=1), (area / aspect).sqrt().clamp(max=1)
        x, y = draw(-1, 1) * (1 - wide), draw(-1, 1) * (1 - high)
        mirror = torch.where(draw(0, 1) < 0.5, -1.0, 1.0) if self._params.flip else torch.ones(n, device=device)
        side = self._side(images)
        # Centres of pixels, where -1 and 1 are the outer edges of the image.
        places = (2 * torch.arange(side, device=device) + 1) / side - 1
        grid = torch.empty(n, side, side, 2, dtype=images.dtype, device=device)
        grid[..., 0] = (x[:, None] + (wide * mirror)[:, None] * places)[:, None, :]
        grid[..., 1] = (y[:, None] + high[:, None] * places)[:, :, None]
        cropped = F.grid_sample(images, grid, mode="bilinear", padding_mode="border", align_corners=False)
        if self._params.jitter:
            cropped = self._jittered(cropped, draw)
        return turned(cropped, draw(-1, 1) * self._params.hue) if self._params.hue and channels == 3 else cropped

    def evaluate(self, images: Tensor) -> Tensor:
        side = self._side(images)
        top = (images.shape[-1] - side) // 2
        return images[..., top : top + side, top : top + side]

    def _side(self, images: Tensor) -> int:
        return max(1, round(images.shape[-1] * self._params.crop))

    def _jittered(self, images: Tensor, draw: Callable[[float, float], Tensor]) -> Tensor:
        most = self._params.jitter
        bright, contrast = (draw(1 - most, 1 + most).view(-1, 1, 1, 1) for _ in range(2))
        mean = images.mean((1, 2, 3), keepdim=True)
        changed = (images - mean) * contrast + mean * bright
        if images.shape[1] == 3:
            grey = (changed * changed.new_tensor(LUMA).view(1, 3, 1, 1)).sum(1, keepdim=True)
            changed = grey + (changed - grey) * draw(1 - most, 1 + most).view(-1, 1, 1, 1)
        return changed.clamp(0, 1)


def turned(images: Tensor, share: Tensor) -> Tensor:
    """Hues of colour images [n, 3, H, W] turned by shares [n] of the circle, at the same luma (in the YIQ space)."""
    to_yiq = images.new_tensor([LUMA, (0.596, -0.274, -0.322), (0.211, -0.523, 0.312)])
    angle = 2 * pi * share
    zero, one = torch.zeros_like(angle), torch.ones_like(angle)
    turn = torch.stack([one, zero, zero, zero, angle.cos(), -angle.sin(), zero, angle.sin(), angle.cos()], 1)
    whole = torch.linalg.inv(to_yiq) @ turn.view(-1, 3, 3) @ to_yiq
    return torch.einsum("nij,njhw->nihw", whole, images).clamp(0, 1)
