"""Devices by number: which are refused, and in what words."""

import contextlib
from types import SimpleNamespace

import pytest
import torch

from workbench.problem import Problem
from workbench.running.facts.remarks import precision_notes
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


@pytest.mark.parametrize(
    ("gpu", "wanted", "taken"),
    [
        ("A100", "auto", "bf16"), ("T4", "auto", "float32"), ("T4", "bf16", "bf16"), ("T4", "fp16", "fp16"),
        ("A100", "float32", "float32"),
    ],
)  # fmt: skip
def test_auto_is_bf16_only_where_a_gpu_computes_in_it(monkeypatch, gpu, wanted, taken):
    """A T4 says that it supports bf16, because it emulates it; cuDNN has no convolutions for that."""
    monkeypatch.setattr(torch.cuda, "device", contextlib.nullcontext)
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda including_emulation=True: gpu == "A100")
    assert device.precision_on(torch.device("cuda:1"), wanted) == taken
    assert device.precision_on(torch.device("cpu"), "auto") == "float32"
    assert device.precision_on(torch.device("mps"), "auto") == "float32"


@pytest.mark.parametrize(
    ("gpu", "precision", "said"),
    [
        ("A100", "bf16", ""), ("T4", "fp16", ""), ("T4", "float32", "trains in float32"),
        ("T4", "bf16", "only emulates bf16"),
    ],
)  # fmt: skip
def test_a_gpu_without_bf16_is_noted(monkeypatch, gpu, precision, said):
    monkeypatch.setattr(device, "computes_bf16", lambda where: gpu == "A100")
    parts = SimpleNamespace(device=torch.device("cuda"), precision=precision)
    remarks = [remark for _, remark in precision_notes(SimpleNamespace(parts=parts))]
    assert [said in remark for remark in remarks] == [True] * bool(said)
