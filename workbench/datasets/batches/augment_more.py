"""Stronger augmentation by torchvision.transforms.v2, image by image, after a random crop and flip."""

from collections.abc import Callable

import torch
from torch import Tensor

from workbench.datasets.batches.augment import CropFlip, CropFlipParams
from workbench.params import param
from workbench.registry import loading_for, register

BLUR = (0.1, 2.0)  # px, standard deviation


class StrongParams(CropFlipParams):
    """The parameters of random crop and flip, and of the augmentations of its crops."""

    operations: int = param(
        2, ge=0, le=10, symbol="N", help="RandAugment's operations for each image, drawn again each time; 0 is off."
    )
    magnitude: int = param(9, ge=0, le=30, symbol="M", help="Strength of RandAugment's operations, of 30.")
    grey: float = param(0.0, ge=0, le=1, help="Share of colour images that lose their colours.")
    blur: float = param(0.0, ge=0, le=1, help="Share of images that are blurred, by up to 2 px.")
    erased: float = param(0.0, ge=0, le=1, help="Share of images of which a random part is painted black.")


@register(
    "augmentation", "strong", title="Crop, flip and RandAugment", params=StrongParams,
    source="Cubuk et al. 2020 (RandAugment); Zhong et al. 2020 (random erasing); torchvision.transforms.v2",
    mirrored_by="flip",
)  # fmt: skip
class Strong(CropFlip):
    """A random crop of each image, perhaps mirrored, then RandAugment, grey, blur and erasing as chosen."""

    own_draws = False  # torchvision's transforms draw from torch's own generator

    def __init__(self, params: StrongParams) -> None:
        super().__init__(params)
        with loading_for(__name__):
            from torchvision.transforms import v2  # late: it takes as long to load as torch
        self._steps: list[Callable[[Tensor], Tensor]] = []
        if params.operations:
            self._steps.append(v2.RandAugment(params.operations, params.magnitude))
        if params.grey:
            self._steps.append(v2.RandomGrayscale(params.grey))
        if params.blur:
            self._steps.append(v2.RandomApply([v2.GaussianBlur(9, BLUR)], params.blur))
        if params.erased:
            self._steps.append(v2.RandomErasing(params.erased))

    def __call__(self, images: Tensor, generator: torch.Generator) -> Tensor:
        """The images [n, C, H, W] of a training batch in 0..1, each changed separately; repeatable by the seed."""
        cropped = super().__call__(images, generator)
        if not self._steps:
            return cropped
        with torch.random.fork_rng(devices=[]):  # torchvision draws from torch's own generator of the CPU alone
            torch.default_generator.manual_seed(generator.initial_seed())
            return torch.stack([self._changed(image) for image in cropped]).clamp(0, 1)

    def _changed(self, image: Tensor) -> Tensor:
        for step in self._steps:
            image = step(image)
        return image
