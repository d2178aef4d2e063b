"""The same batch for the same seed, epoch and place: with any number of threads, after a skip, from any place."""

import threading

import numpy as np
import pytest
import torch

from workbench import jobs
from workbench.datasets.batches.augment import CropFlip, CropFlipParams, boxes_by_side, resized_boxes
from workbench.training import ahead
from workbench.training import feed as module
from workbench.training.feed import Feed

CPU = torch.device("cpu")


class Drawn:
    steps_per_epoch, places = 5, np.arange(100)

    def batches(self, epoch):
        return np.array_split(np.random.default_rng(epoch).permutation(100), 5)


class Ramps:
    """Whole images of several sizes, each a ramp of its own: what encoded images are to a feed."""

    shape = (100, 12, 12, 3)

    def __init__(self):
        rng = np.random.default_rng(1)
        self.sizes = rng.integers(12, 40, (100, 2))
        self.threads = set()

    def __getitem__(self, rows):
        if isinstance(rows, np.ndarray):
            return np.stack([self[int(row)] for row in rows])
        self.threads.add(threading.get_ident())
        return np.full((12, 12, 3), rows, np.uint8)

    def crop(self, row, box, side, resizing="bilinear"):
        self.threads.add(threading.get_ident())
        left, top, right, bottom = box
        assert 0 <= left < right <= self.sizes[row, 1]
        assert 0 <= top < bottom <= self.sizes[row, 0]
        across = np.linspace(left, right, side)[None, :, None]
        return np.broadcast_to(across + top + row, (side, side, 3)).astype(np.uint8)


def batches(feed, augmentation, epoch, skip=0, views=1):
    return list(feed.training(Drawn(), augmentation, seed=3, views=views)(epoch, skip))


def same(ones, others):
    return len(ones) == len(others) and all(
        torch.equal(one, other) for pair in zip(ones, others, strict=True) for one, other in zip(*pair, strict=True)
    )


@pytest.mark.parametrize("params", [{}, {"fixed": True}, {"jitter": 0.2, "hue": 0.1}], ids=["resized", "fixed", "hue"])
@pytest.mark.parametrize("views", [1, 2])
def test_any_number_of_threads_gives_the_same_batches(params, views):
    augmentation = CropFlip(CropFlipParams(crops_of="whole", crop=0.75, **params))
    images, rows = Ramps(), np.arange(100)[::-1].copy()
    feeds = [Feed(images, rows, rows, CPU, threads=threads) for threads in (1, 2, 5)]
    first = batches(feeds[0], augmentation, 2, views=views)
    assert first[0][0].shape == (20 * views, 3, 9, 9)
    assert same(first, batches(feeds[1], augmentation, 2, views=views))
    assert same(first, batches(feeds[2], augmentation, 2, views=views))
    assert same(first[3:], batches(feeds[1], augmentation, 2, skip=3, views=views)), "gone on with in the epoch"
    assert not same(first, batches(feeds[1], augmentation, 1, views=views))
    assert len(images.threads) > 1


@pytest.mark.parametrize("own_draws", [True, False])
def test_a_batch_is_finished_by_the_thread_that_makes_it_where_that_changes_no_draw(own_draws):
    threads = []

    class Watched(CropFlip):
        def __call__(self, images, generator):
            threads.append(threading.get_ident())
            return super().__call__(images, generator)

    params = CropFlipParams(crops_of="whole", crop=0.75, jitter=0.2, hue=0.1)
    Watched.own_draws = own_draws
    feed = Feed(Ramps(), np.arange(100), np.arange(100), CPU, threads=2)
    drawn = batches(feed, Watched(params), 1)
    assert (threading.get_ident() in threads) != own_draws
    assert same(drawn, batches(feed, CropFlip(params), 1))


@pytest.mark.parametrize("channels", [1, 3])
def test_batches_made_by_threads_are_those_from_the_device_s_memory(monkeypatch, channels):
    pixels = np.random.default_rng(0).integers(0, 255, (120, 12, 12, channels), np.uint8)
    rows, augmentation = np.arange(100) + 7, CropFlip(CropFlipParams())
    resident = Feed(pixels, rows, rows, CPU)
    monkeypatch.setattr(module, "RESIDENT", 0)
    streamed = Feed(pixels, rows, rows, CPU, threads=2)
    assert not resident.made_ahead(augmentation)
    assert streamed.made_ahead(augmentation)
    assert same(batches(resident, augmentation, 1), batches(streamed, augmentation, 1))
    assert all(map(torch.equal, resident.in_order(33), streamed.in_order(33)))
    index = np.array([5, 2, 2])
    assert torch.equal(resident.images(index), streamed.images(index))
    strides = {images.stride() for feed in (resident, streamed) for images in feed.in_order(100)}
    assert channels == 1 or len(strides) == 1, "the same order in memory: the same numbers behind a convolution"


@pytest.mark.parametrize("resident", [True, False])
def test_whole_images_are_squeezed_for_evaluation(monkeypatch, resident):
    if not resident:
        monkeypatch.setattr(module, "RESIDENT", 0)
    images = Ramps()
    feed = Feed(images, np.arange(100), np.arange(100), CPU, squeezed=8)
    found = feed.images(np.array([4, 9]))
    wide = images.sizes[[4, 9], 1]
    assert found.shape == (2, 3, 8, 8)
    assert torch.allclose(found[:, 0, 0, -1] * 255, torch.from_numpy(wide + np.array([4, 9])).float(), atol=1)


def test_a_feed_that_is_closed_ends_its_threads_and_what_waits_is_not_made():
    images = Ramps()
    made = []
    crop = images.crop
    images.crop = lambda *given: made.append(given) or crop(*given)
    augmentation = CropFlip(CropFlipParams(crops_of="whole"))
    feed = Feed(images, np.arange(100), np.arange(100), CPU, threads=2)
    reading = feed.training(Drawn(), augmentation, seed=0)(1, 0)
    next(reading)
    reading.close()
    assert len(made) <= 20 * (1 + ahead.AHEAD) + 2 * 3 * ahead.TOGETHER


def test_a_result_that_fails_is_raised_where_it_is_read():
    images = Ramps()
    images.crop = lambda *given: 1 / 0
    feed = Feed(images, np.arange(100), np.arange(100), CPU, threads=2)
    with pytest.raises(ZeroDivisionError):
        batches(feed, CropFlip(CropFlipParams(crops_of="whole")), 1)


def test_threads_draw_their_items_only_a_little_ahead():
    drawn = []

    def items():
        for number in range(100):
            drawn.append(number)
            yield number

    results = jobs.in_threads(lambda number: number * 2, items(), threads=2, ahead=3)
    assert next(results) == 0
    assert len(drawn) == 7
    assert list(results) == [2 * number for number in range(1, 100)]


@pytest.mark.parametrize(("high", "wide"), [(375, 500), (256, 256), (900, 300)])
def test_boxes_by_side_are_drawn_as_tensorflow_draws_them(high, wide):
    """tensorflow/core/kernels/image/sample_distorted_bounding_box_op.cc, GenerateRandomCrop, with its whole pixels."""
    count, smallest, aspect, random = 20_000, 0.16, 4 / 3, np.random.default_rng(1)
    boxes = boxes_by_side(
        torch.tensor([[high, wide]]).repeat(count, 1), smallest, aspect, torch.Generator().manual_seed(0)
    ).numpy()
    left, top, right, bottom = boxes.T
    assert left.min() >= 0 <= top.min()
    assert right.max() <= wide + 1e-9
    assert bottom.max() <= high + 1e-9
    ratio = random.uniform(1 / aspect, aspect, count)
    lowest = np.rint(np.sqrt(smallest * high * wide / ratio))
    tallest = np.minimum(np.minimum(np.rint(np.sqrt(high * wide / ratio)), high), np.floor(wide / ratio + 0.5))
    heights = lowest + random.integers(0, (tallest - lowest + 1).astype(int))
    wanted, drawn = heights**2 * ratio / (high * wide), (right - left) * (bottom - top) / (high * wide)
    for share in (0.05, 0.25, 0.5, 0.75, 0.95):
        assert np.quantile(drawn, share) == pytest.approx(np.quantile(wanted, share), abs=0.012)
    assert (left / (wide - (right - left)).clip(1e-9)).mean() == pytest.approx(0.5, abs=0.02)


def test_crops_of_squares_are_drawn_by_side_as_those_of_whole_images():
    count, generator = 4_000, torch.Generator().manual_seed(0)
    boxes = boxes_by_side(torch.full((count, 2), 64), 0.16, 4 / 3, torch.Generator().manual_seed(1)).numpy()
    ramps = torch.linspace(0, 1, 64).expand(count, 1, 64, 64)
    shown = CropFlip(CropFlipParams(uniform="side", crop=1.0))(ramps, generator)[:, 0, 0]
    widths = (shown[:, -1] - shown[:, 0]).abs().numpy()
    for share in (0.1, 0.25, 0.5, 0.75, 0.9):
        assert np.quantile(widths, share) == pytest.approx(
            np.quantile((boxes[:, 2] - boxes[:, 0]) / 64, share), abs=0.03
        )
    by_area = CropFlip(CropFlipParams(crop=1.0))(ramps, generator)[:, 0, 0]
    assert widths.mean() < float((by_area[:, -1] - by_area[:, 0]).abs().mean()) - 0.03


def test_resized_boxes_show_the_wanted_area_within_the_image():
    sizes = torch.tensor([[256, 341], [400, 256], [256, 256], [100, 900]]).repeat(500, 1)
    boxes = resized_boxes(sizes, 0.16, 4 / 3, torch.Generator().manual_seed(0))
    high, wide = sizes.double().unbind(1)
    left, top, right, bottom = boxes.unbind(1)
    assert bool(
        (left >= 0).all() and (top >= 0).all() and (right <= wide + 1e-9).all() and (bottom <= high + 1e-9).all()
    )
    aspect, area = (right - left) / (bottom - top), (right - left) * (bottom - top) / (high * wide)
    assert 0.75 - 1e-9 <= aspect.min() < aspect.max() <= 4 / 3 + 1e-9
    usual = torch.arange(len(sizes)) % 4 != 3  # the last may be too long for any draw
    assert area[usual].min() >= 0.16 - 1e-9
    assert area[usual].max() > 0.9
    assert (left / (wide - (right - left)))[usual].std() > 0.2, "anywhere"


@pytest.mark.parametrize("crops_of", ["square", "whole"])
@pytest.mark.parametrize("each_alone", [True, False])
def test_shares_of_a_batch_are_that_batch_and_only_their_images_are_read(monkeypatch, crops_of, each_alone):
    monkeypatch.setattr(module, "RESIDENT", 0)
    augmentation = CropFlip(CropFlipParams(crops_of=crops_of, jitter=0.2))
    monkeypatch.setattr(CropFlip, "each_alone", each_alone)
    images = Ramps()
    feed = Feed(images, np.arange(100), np.arange(100), CPU, threads=2)
    whole = batches(feed, augmentation, epoch=1, views=2)
    read = []
    monkeypatch.setattr(Ramps, "__getitem__", counted(Ramps.__getitem__, read))
    monkeypatch.setattr(Ramps, "crop", counted(Ramps.crop, read))
    shares = [
        list(
            feed.training(
                Drawn(), augmentation, 3, 2, lambda n, third=third: slice(n * third // 3, n * (third + 1) // 3)
            )(1, 0)
        )
        for third in range(3)
    ]
    for number, (expected, labels) in enumerate(whole):
        parts = [share[number] for share in shares]
        assert torch.equal(torch.cat([part for part, _ in parts]), expected)
        assert all(torch.equal(told, labels) for _, told in parts)
    once = sum(len(labels) for _, labels in whole)
    assert len(read) == (once if each_alone else 3 * once)


@pytest.mark.parametrize("resident", [True, False])
@pytest.mark.parametrize("crops_of", ["square", "whole"])
def test_images_are_augmented_beside_training_by_seed_and_number_alone(monkeypatch, crops_of, resident):
    monkeypatch.setattr(module, "RESIDENT", module.RESIDENT if resident else 0)
    augmentation, places = CropFlip(CropFlipParams(crops_of=crops_of, jitter=0.2)), np.array([70, 3, 70])
    feeds = [Feed(Ramps(), np.arange(100), np.arange(100), CPU, threads=threads) for threads in (1, 3)]
    before = batches(feeds[0], augmentation, 1)
    first, again, other, seeded = (
        feed.augmented(places, augmentation, *drawn)
        for feed, drawn in ((feeds[0], (5, 0)), (feeds[1], (5, 0)), (feeds[0], (5, 1)), (feeds[0], (6, 0)))
    )
    assert torch.equal(first, again)
    assert not any(torch.equal(first, different) for different in (other, seeded))
    assert not torch.equal(first[0], first[2]), "the same image, drawn twice"
    assert same(before, batches(feeds[0], augmentation, 1))


def counted(method, read):
    def counting(self, row, *rest):
        read.append(row)
        return method(self, row, *rest)

    return counting
