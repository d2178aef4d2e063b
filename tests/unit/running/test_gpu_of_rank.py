"""A rank of a GPU makes it the current one, so that nothing of it is computed on the first rank's."""

import pytest
import torch

from workbench.config import RunConfig
from workbench.running.devices import launched_ranks, together
from workbench.training import device


@pytest.fixture
def chosen(monkeypatch):
    taken = []
    monkeypatch.setattr(torch.cuda, "set_device", lambda own: taken.append(str(own)))
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    return taken


def test_a_started_rank_computes_on_its_own_gpu(chosen):
    order = together.Order("meeting", 1, ("cuda:0", "cuda:1"), "", "")
    with together.device_of_rank(order) as own:
        assert own == torch.device("cuda:1")
    assert chosen == ["cuda:1"]
    with together.device_of_rank(together.Order("meeting", 0, ("cpu", "cpu"), "", "")):
        assert chosen == ["cuda:1"]


def test_a_launched_rank_computes_on_its_own_gpu(chosen, monkeypatch):
    monkeypatch.setattr(device, "choose", torch.device)
    place = launched_ranks.Launched(3, 4, 1, "tcp://127.0.0.1:1")
    assert launched_ranks.own_device(place, RunConfig(device="cuda")) == torch.device("cuda:1")
    assert chosen == ["cuda:1"]
