"""Images stay on a GPU only where it has free memory for them and for the network; what is left out is said."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from workbench.running.facts import remarks
from workbench.training import device, feed
from workbench.training.feed import Feed

CPU, GPU = torch.device("cpu"), torch.device("cuda", 1)
PIXELS = np.random.default_rng(0).integers(0, 255, (100, 10, 10, 3), np.uint8)  # 30,000 bytes


class Plain:
    def evaluate(self, images):
        return images


def test_the_free_memory_of_a_gpu_counts_what_torch_keeps_unused(monkeypatch):
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda gpu: (700, 1000))
    monkeypatch.setattr(torch.cuda, "memory_reserved", lambda gpu: 200)
    monkeypatch.setattr(torch.cuda, "memory_allocated", lambda gpu: 150)
    assert device.free_memory(GPU) == 750
    assert device.free_memory(CPU) is None


@pytest.mark.parametrize(
    ("free", "largest", "kept", "left_out"),
    [
        (120_000, 30_000, True, None), (119_999, 30_000, False, (30_000, 119_999)), (119_999, 29_999, False, None),
        (None, 30_000, True, None), (None, 29_999, False, None),
    ],
)  # fmt: skip
def test_images_take_at_most_a_quarter_of_it(monkeypatch, free, largest, kept, left_out):
    monkeypatch.setattr(feed, "RESIDENT", largest)
    monkeypatch.setattr(feed, "free_memory", lambda on: free)
    made = Feed(PIXELS, np.arange(100), np.zeros(100, np.int64), CPU)
    assert made.made_ahead(Plain()) is not kept
    assert made.left_out == left_out
    assert torch.equal(made.images(np.arange(3)), torch.from_numpy(PIXELS[:3].transpose(0, 3, 1, 2)).float() / 255)


def test_images_that_are_left_out_are_noted():
    parts = SimpleNamespace(device=CPU, precision="float32")
    engine = SimpleNamespace(parts=parts, feed=SimpleNamespace(left_out=(1_800_000_000, 4_000_000_000)))
    assert remarks.device_notes(engine) == [
        (
            "the training images",
            "are not kept on the GPU: they have 1.8 GB, and 4.0 GB are free there, of which they may take a quarter; "
            "each batch is copied to it",
        )
    ]
    engine.feed.left_out = None
    assert remarks.device_notes(engine) == []
