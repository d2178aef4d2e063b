"""Processes make the crops that threads make, say which image is damaged, and end."""

import contextlib
import threading

import numpy as np
import psutil
import pytest
import torch
from listeners import silent
from PIL import Image

from tests.processes import children_with
from workbench import jobs
from workbench.datasets.batches.augment import CropFlip, CropFlipParams
from workbench.datasets.cache.crop_processes import CropProcesses
from workbench.datasets.cache.keeping import keep
from workbench.problem import Problem
from workbench.running.building import MOST_PROCESSES, load_data
from workbench.training.feed import Feed

SIDE, COUNT = 32, 40
CPU = torch.device("cpu")
LONG = 60  # seconds, against a hang


class InOrder:
    steps_per_epoch, places = 2, np.arange(COUNT)

    def batches(self, epoch):
        return np.array_split(np.arange(COUNT), 2)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place, rng = tmp_path_factory.mktemp("photographs"), np.random.default_rng(0)
    for row in range(COUNT):
        (place / f"class {row % 2}").mkdir(exist_ok=True)
        pixels = rng.integers(0, 255, (6, 5 + row % 7, 3), np.uint8)
        Image.fromarray(pixels).resize((40 + row, 50)).save(place / f"class {row % 2}" / f"{row}.png")
    return place


@pytest.fixture
def kept(folder, tmp_path, build):
    """The encoded images, and the file that holds them."""
    _, images, path = keep(build("folder", folder=str(folder), image_size=SIDE), tmp_path, "encoded", True, silent)
    return images, path


@pytest.fixture
def crops(kept):
    processes = CropProcesses(kept[1], 2)
    yield processes
    processes.close()


def children():
    return {child.pid for child in children_with("crop_processes")}


def test_crops_are_resized_bicubically_if_the_augmentation_says_so(kept):
    rows = np.arange(COUNT)

    def first(**fields):
        feed = Feed(kept[0], rows, rows, CPU, threads=2)
        augmentation = CropFlip(CropFlipParams(crops_of="whole", flip=False, **fields))
        with contextlib.closing(feed.training(InOrder(), augmentation, seed=3)(1, 0)) as batches:
            return next(batches)[0]

    bilinear, bicubic = first(), first(resizing="bicubic")
    assert torch.equal(bilinear, first(resizing="bilinear"))
    assert 0 < (bilinear - bicubic).abs().mean() < 0.05  # the same crops


@pytest.mark.parametrize("resizing", ["bilinear", "bicubic"])
def test_they_make_what_threads_make(kept, crops, resizing):
    rows = np.arange(COUNT)[::-1].copy()
    augmentation = CropFlip(CropFlipParams(crops_of="whole", evaluated="whole", crop=0.75, resizing=resizing))
    feeds = [Feed(kept[0], rows, rows, CPU, SIDE, threads=3, crops=by) for by in (None, crops)]
    own, apart = (list(feed.training(InOrder(), augmentation, seed=3)(1, 0)) for feed in feeds)
    for (images, labels), (others, of_others) in zip(own, apart, strict=True):
        assert torch.equal(images, others)
        assert torch.equal(labels, of_others)
        assert len(images.unique()) > 100
    assert len(children()) == 2
    squares, by_processes = np.empty((2, 5, 3, SIDE, SIDE), np.uint8)
    crops.fill(by_processes, rows[:5], None)
    for position, row in enumerate(rows[:5]):
        squares[position] = kept[0][row].transpose(2, 0, 1)
    assert (squares == by_processes).all()


def test_a_damaged_image_is_named_and_the_next_one_is_made(kept, crops):
    images, path = kept
    start, _ = images.span(3)
    with path.open("r+b") as file:
        file.seek(start)
        file.write(bytes(40))
    target = np.empty((1, 3, SIDE, SIDE), np.uint8)
    for _ in range(3):
        with pytest.raises(ValueError, match="image 3 of the cache is not an image"):
            crops.fill(target, np.array([3]), None)
    crops.fill(target, np.array([4]), None)
    assert (target[0] == images[4].transpose(2, 0, 1)).all()


def test_one_that_was_killed_is_a_problem_and_is_replaced(kept, crops):
    target = np.empty((1, 3, SIDE, SIDE), np.uint8)
    crops.fill(target, np.array([1]), None)
    killed = children()
    for pid in killed:
        psutil.Process(pid).kill()
    for _ in killed:
        with pytest.raises(Problem, match=r"A process that reads images ended"):
            crops.fill(target, np.array([1]), None)
    crops.fill(target, np.array([1]), None)
    assert children()
    assert not children() & killed


def test_more_threads_than_processes_wait_for_their_turn(kept, crops):
    targets = np.empty((6, 4, 3, SIDE, SIDE), np.uint8)
    threads = [threading.Thread(target=crops.fill, args=(part, np.arange(4), None)) for part in targets]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LONG)
    assert all((part == targets[0]).all() for part in targets)
    assert len(children()) == 2


def test_they_end_when_closed_and_when_forgotten(kept):
    target = np.empty((1, 3, SIDE, SIDE), np.uint8)
    processes = CropProcesses(kept[1], 1)
    processes.fill(target, np.array([1]), None)
    processes.close()
    assert not children()
    processes.fill(target, np.array([1]), None)
    assert len(children()) == 1
    del processes
    assert not children()


@pytest.mark.parametrize(
    ("cores", "ranks", "count"),
    [(1, "1", 0), (3, "1", 0), (4, "1", 3), (64, "1", MOST_PROCESSES), (64, "4", MOST_PROCESSES // 4)],
)
def test_a_run_has_them_where_there_are_cores_for_several(cores, ranks, count, folder, monkeypatch):
    from workbench.config import Choice, RunConfig

    monkeypatch.setattr(jobs, "cores", lambda: cores)
    monkeypatch.setenv("LOCAL_WORLD_SIZE", ranks)
    config = RunConfig(
        dataset=Choice(name="folder", params={"folder": str(folder), "image_size": SIDE}),
        split=Choice(name="random"), backbone=Choice(name="conv4"),
        augmentation=Choice(name="crop_flip", params={"crops_of": "whole"}),
    )  # fmt: skip
    data = load_data(config, silent)
    assert (0 if data.crops is None else data.crops.count) == count
    squares = config.model_copy(update={"augmentation": Choice(name="none")})
    assert load_data(squares, silent).crops is None, "squares are copied, not decoded"
