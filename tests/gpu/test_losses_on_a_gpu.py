"""Values and gradients of every loss on a GPU are those of the CPU."""

import pytest
import torch

from tests.unit.losses.test_on_a_pretended_gpu import CASES, D, K, N, built
from workbench.losses.batch import labels_in_range

STEPS = 3  # RankMI changes the embeddings in its second step alone; memories have something in it


def course(case, device, dtype, drawn=0):
    """The values and the gradients of the embeddings and the loss's own parameters in a few steps on a device."""
    torch.manual_seed(0)
    loss = built(case).to(dtype).to(device)
    data = torch.Generator().manual_seed(1)
    labels = (torch.arange(N) // 4 % K).to(device)
    torch.manual_seed(drawn)  # what the loss itself draws
    found = []
    with labels_in_range():
        for _ in range(STEPS):
            embeddings = torch.randn(N, D, generator=data, dtype=torch.float64).to(device, dtype).requires_grad_()
            loss.zero_grad()
            value = loss(embeddings, labels)
            value.backward()
            assert value.device.type == device
            gradients = [embeddings.grad, *(weight.grad for weight in loss.parameters())]
            found.append([value.detach(), *(gradient for gradient in gradients if gradient is not None)])
    return [[tensor.double().cpu() for tensor in step] for step in found]


def difference(one, other):
    """The largest relative difference of a value or gradient."""
    assert [len(step) for step in one] == [len(step) for step in other]
    pairs = [pair for steps in zip(one, other, strict=True) for pair in zip(*steps, strict=True)]
    return max(float((a - b).norm() / a.norm().clamp_min(1e-6)) for a, b in pairs)


@pytest.mark.parametrize("case", CASES)
def test_value_and_gradient_are_those_of_the_cpu(case, device):
    expected = course(case, "cpu", torch.float64)
    if difference(expected, course(case, "cpu", torch.float64, drawn=1)) > 1e-9:
        found = course(case, device, torch.float64)  # it draws, and a GPU draws other numbers
        assert all(tensor.isfinite().all() for step in found for tensor in step)
        return
    assert difference(expected, course(case, device, torch.float64)) < 1e-8
    assert difference(course(case, "cpu", torch.float32), course(case, device, torch.float32)) < 1e-3


@pytest.mark.parametrize("precision", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("case", CASES)
def test_a_loss_is_finite_under_autocast(case, precision, device):
    if device == "cpu" and precision is torch.float16:
        pytest.skip("torch has no float16 for all of these on the CPU")
    torch.manual_seed(0)
    loss = built(case).to(device)
    labels = (torch.arange(N) // 4 % K).to(device)
    with labels_in_range():
        for _ in range(STEPS):
            embeddings = torch.randn(N, D, device=device, dtype=precision).requires_grad_()
            with torch.autocast(device, precision):
                value = loss(embeddings, labels)
            value.backward()
            assert value.isfinite()
            # RankMI changes its statistic network alone in some steps
            assert embeddings.grad is None or embeddings.grad.isfinite().all()
