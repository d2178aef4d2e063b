"""Two views: each image of a batch twice, each time augmented anew, with its label."""

import numpy as np
import torch

from workbench.config import EmbeddingParams, EvaluationParams, RunConfig, TrainingParams
from workbench.control import Control
from workbench.datasets.batches.augment import Shift, ShiftParams
from workbench.entries import catalog
from workbench.progress import quiet
from workbench.running.building import load_data
from workbench.running.engine import Engine
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


def test_a_loss_of_images_is_told_which_rows_are_views_of_one_image(tmp_path):
    config = RunConfig(
        device="cpu", loss="nt_xent", augmentation="shift", backbone={"name": "conv4", "width": 4},
        embedding=EmbeddingParams(dim=8), evaluation=EvaluationParams(probe_size=0, untrained=False),
        training=TrainingParams(epochs=1, batch_size=256, views=2),
    )  # fmt: skip
    assert config.check(catalog.current()) == {}
    engine = Engine(config, load_data(config, quiet), tmp_path, Control(), lambda event: None)
    assert engine.parts.targets(torch.zeros(6)).tolist() == [0, 1, 2, 0, 1, 2]
    assert engine.parts.loss.num_classes == 256
    step = engine.parts.loss.forward
    shapes = []
    engine.parts.loss.forward = lambda z, y: shapes.append((len(z), len(set(y.tolist())))) or step(z, y)
    engine.run()
    assert set(shapes) == {(512, 256)}


def test_a_loss_of_images_needs_views():
    said = RunConfig(loss="nt_xent", augmentation="shift").check(catalog.current())
    assert said == {"training.views": "NT-Xent (SimCLR) compares views of each image: set 2 or more."}
