"""On a GPU a thread of its own makes finished batches: here with a stream that is only pretended, on the CPU."""

import contextlib
import threading

import numpy as np
import pytest
import torch

from tests.unit.training.test_feed import CPU, Drawn, Ramps, same
from workbench.datasets.batches.augment import CropFlip, CropFlipParams
from workbench.training import feed as module
from workbench.training.ahead import Source
from workbench.training.feed import Feed


class Stream:
    """A stream of a GPU: what is done on it, and who waits for what."""

    def __init__(self):
        self.recorded, self.awaited = [], []

    def record_event(self):
        self.recorded.append(object())
        return self.recorded[-1]

    def wait_event(self, event):
        self.awaited.append(event)


@pytest.fixture
def streams(monkeypatch):
    """The stream of copies and the network's own; batches that the network's own uses are recorded."""
    copies, own = Stream(), Stream()
    on = threading.local()

    @contextlib.contextmanager
    def stream(chosen):
        on.chosen = chosen
        yield
        on.chosen = None

    own.used = []
    monkeypatch.setattr(torch.cuda, "stream", stream)
    monkeypatch.setattr(torch.cuda, "current_stream", lambda device: own)
    monkeypatch.setattr(torch.Tensor, "record_stream", lambda batch, by: own.used.append((batch, by)), raising=False)
    monkeypatch.setattr(torch.Tensor, "pin_memory", lambda batch: batch)
    copies.on = lambda: getattr(on, "chosen", None) is copies
    return copies, own


def watched(streams, own_draws):
    """An augmentation of whole images that notes on which thread and stream it runs."""
    where = []

    class Watched(CropFlip):
        def __call__(self, images, generator):
            where.append((threading.get_ident(), streams[0].on()))
            return super().__call__(images, generator)

    augmentation = Watched(CropFlipParams(crops_of="whole", crop=0.75))
    augmentation.own_draws = own_draws
    return augmentation, where


@pytest.fixture
def on_stream(monkeypatch, streams):
    """Makes a feed that has a stream for its copies, as on a GPU."""

    def made(*args, **named):
        with monkeypatch.context() as patch:
            patch.setattr(module, "Source", lambda *parts: Source(*parts[:-1], streams[0]))
            return Feed(*args, **named)

    return made


@pytest.fixture
def unpinned(monkeypatch):
    """Memory as it is: only a GPU pins it."""
    empty = torch.empty
    monkeypatch.setattr(torch, "empty", lambda *size, pin_memory=False, **named: empty(*size, **named))


@pytest.mark.usefixtures("unpinned")
@pytest.mark.parametrize("own_draws", [True, False])
def test_the_batches_are_the_same_and_each_is_awaited(monkeypatch, streams, on_stream, own_draws):
    monkeypatch.setattr(module, "RESIDENT", 0)
    rows = np.arange(100)
    augmentation, where = watched(streams, own_draws)
    plain = CropFlip(CropFlipParams(crops_of="whole", crop=0.75))
    wanted = list(Feed(Ramps(), rows, rows, CPU, threads=2).training(Drawn(), plain, seed=3)(1, 0))
    feed = on_stream(Ramps(), rows, rows, CPU, threads=2)
    assert same(wanted, list(feed.training(Drawn(), augmentation, seed=3)(1, 0)))
    copies, own = streams
    assert own.awaited == copies.recorded, "each batch, in their order"
    assert len(own.used) == (10 if own_draws else 5), "images, and labels where the thread makes them"
    assert all(by is own for _, by in own.used)
    assert len({thread for thread, _ in where}) == 1
    apart = where[0][0] != threading.get_ident()
    assert apart is own_draws, "what draws from torch's own generator stays on the network's thread"
    assert all(on_copies is own_draws for _, on_copies in where)


@pytest.mark.usefixtures("unpinned")
def test_an_epoch_that_is_left_ends_its_threads(monkeypatch, on_stream):
    monkeypatch.setattr(module, "RESIDENT", 0)
    rows, before = np.arange(100), threading.active_count()
    feed = on_stream(Ramps(), rows, rows, CPU, threads=2)
    epoch = feed.training(Drawn(), CropFlip(CropFlipParams(crops_of="whole", crop=0.75)), seed=3)(1, 0)
    next(epoch)
    assert threading.active_count() > before
    epoch.close()
    assert threading.active_count() == before
