"""The pretended GPU with numbers refuses what a GPU refuses, and has the numbers of the CPU."""

import numpy as np
import pytest
import torch

from tests.gpu_with_numbers import gpu_with_numbers, is_there
from workbench.evaluation.clusters import nmi


@pytest.fixture
def pretended(monkeypatch):
    with gpu_with_numbers(monkeypatch) as state:
        yield state


@pytest.mark.parametrize(
    ("operation", "error"),
    [
        (lambda x: x + torch.ones(3), RuntimeError),
        (lambda x: x + torch.ones(3, device="cuda:1"), RuntimeError),
        (lambda x: torch.nn.Linear(3, 2)(x), RuntimeError),
        (lambda x: x.numpy(), TypeError),
        (lambda x: np.asarray(x), TypeError),
        (lambda x: torch.rand(3, device="cuda", generator=torch.Generator()), RuntimeError),
        (lambda x: torch.rand(3, generator=torch.Generator("cuda")), RuntimeError),
    ],
)
def test_what_a_gpu_refuses_is_refused(operation, error, pretended):
    with pytest.raises(error):
        operation(torch.ones(3, device="cuda"))


def test_a_module_trains_there_as_on_the_cpu(pretended):
    torch.manual_seed(0)
    layer, images = torch.nn.Linear(3, 2), torch.randn(4, 3)
    layer(images).square().sum().backward()
    expected = layer.weight.grad.clone()
    layer.zero_grad()
    layer.to("cuda:1")
    assert is_there(layer)
    layer(images.to("cuda:1")).square().sum().backward()
    assert layer.weight.grad.device == torch.device("cuda:1")
    assert torch.equal(layer.weight.grad.cpu(), expected)


@pytest.mark.parametrize("operation", [lambda x: x.sum().item(), lambda x: x.cpu(), lambda x: (x > 0).nonzero()])
def test_a_wait_is_noted(operation, pretended):
    ones = torch.ones(3, device="cuda")
    (ones + 1).sum()
    assert not pretended.waits
    operation(ones)
    assert pretended.waits


def test_clusters_are_those_of_the_cpu(pretended):
    vectors, labels = np.random.default_rng(0).normal(size=(200, 8)).astype(np.float32), np.arange(200) % 10
    assert nmi(vectors, labels, device="cuda:1") == pytest.approx(nmi(vectors, labels))
