"""Batches of the next epoch are made while one ends, and are the same as without."""

import threading
from contextlib import closing
from time import monotonic, sleep

import numpy as np
import pytest
import torch

from tests.unit.training.test_feed import CPU, Drawn, Ramps, same
from workbench.datasets.batches.augment import CropFlip, CropFlipParams
from workbench.training import feed as module
from workbench.training.epochs import Epochs
from workbench.training.feed import Feed

WHOLE = CropFlip(CropFlipParams(crops_of="whole", crop=0.75, jitter=0.2))
SQUARES = CropFlip(CropFlipParams(crop=0.75))
PATIENCE = 60  # seconds; guards against a hang only


def fed(images=None):
    return Feed(images or Ramps(), np.arange(100), np.arange(100), CPU, threads=2)


@pytest.mark.parametrize("kept", [True, False], ids=["kept on the device", "made by threads"])
@pytest.mark.parametrize("augmentation", [WHOLE, SQUARES], ids=["whole", "squares"])
def test_batches_are_those_of_each_epoch_alone(monkeypatch, kept, augmentation):
    if not kept:
        monkeypatch.setattr(module, "RESIDENT", 0)
    feed = fed()
    alone = feed.training(Drawn(), augmentation, seed=3, views=2)
    with closing(feed.training(Drawn(), augmentation, seed=3, views=2, epochs=4)) as batches:
        for epoch, skip in ((2, 3), (3, 0), (4, 0), (1, 4), (2, 0)):
            assert same(list(batches(epoch, skip)), list(alone(epoch, skip)))


def test_the_next_epoch_is_begun_before_one_has_ended():
    feed, begun = fed(), []

    class Watched(Drawn):
        def batches(self, epoch):
            begun.append(epoch)
            return super().batches(epoch)

    with closing(feed.training(Watched(), WHOLE, seed=0, epochs=2)) as batches:
        first = batches(1, 0)
        for _ in range(5):
            next(first)
        assert begun == [1, 2], "while the last batch is worked on"
        assert next(first, None) is None
        assert len(list(batches(2, 0))) == 5
    assert begun == [1, 2], "nothing after the last epoch"


def test_images_are_made_between_two_epochs():
    images = Ramps()
    made = []
    crop = images.crop
    images.crop = lambda *given: made.append(given) or crop(*given)
    with closing(fed(images).training(Drawn(), WHOLE, seed=0, epochs=2)) as batches:
        assert len(list(batches(1, 0))) == 5
        end = monotonic() + PATIENCE
        while len(made) < 120 and monotonic() < end:
            sleep(0.01)
        assert len(made) >= 120, "a whole batch of the second epoch, which nobody has asked for"


@pytest.mark.parametrize("left_at", [2, 5])
def test_threads_end_when_training_is_left_at_any_place(left_at):
    before = threading.active_count()
    batches = fed().training(Drawn(), WHOLE, seed=0, epochs=3)
    with closing(batches), closing(batches(1, 0)) as first:
        for _ in range(left_at):
            next(first)
    assert threading.active_count() == before


def test_threads_end_with_the_last_epoch():
    before = threading.active_count()
    batches = fed().training(Drawn(), WHOLE, seed=0, epochs=2)
    assert [len(list(batches(epoch, 0))) for epoch in (1, 2)] == [5, 5]
    assert threading.active_count() == before


def test_an_error_in_a_batch_of_the_next_epoch_is_raised_when_that_is_read():
    images = Ramps()
    crop = images.crop

    def failing(row, box, *how):
        if row >= 50:
            raise ValueError("a damaged image")
        return crop(row, box, *how)

    class Halves(Drawn):
        def batches(self, epoch):
            return [np.arange(20) + 50 * (epoch - 1) + 10 * place for place in range(3)]

    images.crop = failing
    with closing(fed(images).training(Halves(), WHOLE, seed=0, epochs=2)) as batches:
        assert len(list(batches(1, 0))) == 3
        with pytest.raises(ValueError, match="a damaged image"):
            list(batches(2, 0))
    assert len(list(fed(images).training(Halves(), WHOLE, seed=0)(1, 0))) == 3


def test_an_epoch_without_batches_takes_none_of_the_next():
    places = {1: [], 2: [np.arange(3)], 3: [np.arange(4)]}

    def made(wanted):
        for batch in wanted:
            yield batch, (torch.zeros(len(batch.index)), torch.from_numpy(batch.index))

    batches = Epochs(made, places.__getitem__, last=3)
    assert [[len(images) for images, _ in batches(epoch, 0)] for epoch in (1, 2, 3)] == [[], [3], [4]]
    assert list(batches(2, 1)) == [], "all of the epoch is skipped"
