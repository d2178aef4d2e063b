"""Two views: each image of a batch twice, each time augmented anew, with its label."""

import numpy as np
import torch

from workbench.datasets.augment import Shift, ShiftParams
from workbench.training.feed import Feed


class Whole:
    steps_per_epoch = 1

    def batches(self, epoch):
        return [np.arange(6)]


def test_views_hold_every_image_again_augmented_anew():
    pixels = np.random.default_rng(0).integers(0, 255, (6, 16, 16, 1), dtype=np.uint8)
    feed = Feed(pixels, np.arange(6), np.arange(6), torch.device("cpu"))
    ((images, labels),) = feed.training(Whole(), Shift(ShiftParams()), seed=0, views=2)(1, 0)
    assert images.shape == (12, 1, 16, 16)
    assert labels.tolist() == [0, 1, 2, 3, 4, 5] * 2
    assert not torch.equal(images[:6], images[6:])
    ((again, _),) = feed.training(Whole(), Shift(ShiftParams()), seed=0, views=2)(1, 0)
    assert torch.equal(images, again)
