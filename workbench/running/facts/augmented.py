"""One training image as the network sees it: in evaluation, and with several random augmentations."""

from contextlib import closing
from typing import cast

import numpy as np
import torch  # noqa: TID253 - running/preflight.py imports this file when it is called
from torch import Tensor  # noqa: TID253

from workbench import registry
from workbench.config import RunConfig
from workbench.running.building import Data, build_entry, build_feed
from workbench.training.feed_contract import Augmentation

DRAWS = 5  # augmented images beside the one for evaluation


class _OneImage:
    """A sampler of one batch: the same image again and again."""

    steps_per_epoch, places = 1, np.zeros(1, np.int64)

    def batches(self, epoch: int) -> list[np.ndarray]:
        """One batch of the first place."""
        return [np.zeros(DRAWS, np.int64)]


def augmented_pictures(config: RunConfig, data: Data, row: int) -> list[np.ndarray]:
    """An image under the config's augmentation, on the CPU, by the code that makes batches.

    Args:
        config: names the augmentation, with its parameters, and the seed.
        data: the decoded data set.
        row: of the image.

    Returns:
        Images uint8 [h, w, 3]: one as in evaluation, then five random ones as in training.
    """
    facts = registry.entry("augmentation", config.augmentation.name).facts
    if not getattr(facts, "changes", True):
        return []
    augmentation = cast(Augmentation, build_entry("augmentation", config))
    feed = build_feed(data, np.array([row]), np.zeros(1, np.int64), augmentation, torch.device("cpu"))
    with closing(feed.training(_OneImage(), augmentation, config.seed)(1, 0)) as batches:
        drawn, _ = next(batches)
    evaluated = augmentation.evaluate(feed.images(np.zeros(1, np.int64)))
    return [_picture(image) for image in (*evaluated, *drawn)]


def _picture(image: Tensor) -> np.ndarray:
    """An image [C, H, W] in 0..1 as uint8 [H, W, 3]."""
    shown = (image.clamp(0, 1) * 255).round().byte().permute(1, 2, 0).numpy()
    return np.array(np.broadcast_to(shown, (*shown.shape[:2], 3)))
