"""A device without memory for a trained network, or for a batch of it, is told in words."""

from pathlib import Path

import numpy as np
import pytest
import torch

from workbench.problem import Problem
from workbench.running.trained_network import Trained


class Full(torch.nn.Module):
    """A network for which its device has no memory."""

    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(1))

    def to(self, device):
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 GiB.\nMore words of the driver")

    def forward(self, batch):
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")


@pytest.fixture
def network():
    return Trained(Full(), lambda batch: batch, Path("best.pt"), None, 1, 1, None, lambda embedding: embedding)


def test_a_network_that_does_not_fit_is_told(network):
    with pytest.raises(Problem, match=r"do not fit into the memory of the device .*20\.00 GiB\.\)") as raised:
        network.move_to("cpu")
    assert raised.value.kept == "The run is unchanged."
    assert "choose another device, such as cpu" in raised.value.todo
    assert "driver" not in str(raised.value)


def test_a_batch_that_does_not_fit_is_told(network):
    with pytest.raises(Problem, match=r"do not fit into the memory of the device .* 2\.00 GiB"):
        network.embed_inputs(np.zeros((2, 3, 4, 4), np.float32))


def test_other_errors_stay_as_they_are(network, monkeypatch):
    def wrong(batch):
        raise RuntimeError("expected 4 channels")

    monkeypatch.setattr(network.model, "forward", wrong)
    with pytest.raises(RuntimeError, match="expected 4 channels"):
        network.embed_inputs(np.zeros((2, 3, 4, 4), np.float32))
