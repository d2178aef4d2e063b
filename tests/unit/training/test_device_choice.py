"""Devices by number: which are refused, and in what words."""

import pytest
import torch

from workbench.problem import Problem
from workbench.training import device


def test_a_gpu_by_number_is_refused_without_any():
    if torch.cuda.is_available():
        pytest.skip("this machine has a GPU")
    with pytest.raises(Problem, match="no CUDA GPU"):
        device.choose("cuda:1")


def test_a_number_that_is_not_there_names_those_that_are(monkeypatch):
    taken = []
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.cuda, "set_device", taken.append)
    with pytest.raises(Problem, match="no cuda:2 here: the GPUs are cuda:0 to cuda:1"):
        device.choose("cuda:2")
    assert device.choose("cuda:1") == torch.device("cuda:1")
    assert taken == [1]
