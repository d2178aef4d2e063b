"""The value and the gradient of every loss are added up in one order, so that they are the same in every call.

A GPU adds floats at repeated places with atomics: by index_add, scatter_add and what has these as its gradient,
index_select and gather; before index_put it sorts the places. A processor with several threads does so by index_put,
the gradient of x[places]. Sums of whole numbers are exact in any order.
"""

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from tests.unit.losses.test_on_a_pretended_gpu import CASES, STEPS, D, K, N, built
from workbench.losses.shared.pair_lists import FILLED_ON_GPU

LABELS = {
    "even": torch.arange(N) // 4 % K,
    "uneven": torch.tensor([0] * 9 + [1] * 2 + [2] * 5 + [3] + [4] * 5 + [5] * 2 + [6] + [7] * 7),
    "one class": torch.zeros(N, dtype=torch.int64),
}
IN_ANY_ORDER = {
    "cuda": ("index_add", "scatter_add", "scatter_reduce", "cumsum", "bincount"),
    "cpu": ("index_put", "_index_put_impl"),
}


class AnyOrder(TorchDispatchMode):
    """Notes the operations that would add up floats, not all of them whole, in any order on a kind of device."""

    def __init__(self, device):
        super().__init__()
        self.seen, self._names = [], IN_ANY_ORDER[device]

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        name = func.name().removeprefix("aten::").partition(".")[0].rstrip("_")
        if name in self._names and self._any_order(name, args, kwargs or {}):
            self.seen.append(func.name())
        return func(*args, **(kwargs or {}))

    def _any_order(self, name, args, kwargs):
        if name == "cumsum":
            return not _whole(args[0])
        if name == "bincount":
            weights = args[1] if len(args) > 1 else kwargs.get("weights")
            return weights is not None and not _whole(weights)
        if "index_put" in name:
            places = torch.stack(torch.broadcast_tensors(*(index for index in args[1] if index is not None)))
            accumulates = args[3] if len(args) > 3 else kwargs.get("accumulate", False)
            return accumulates and not _whole(args[2]) and len(places.flatten(1).unique(dim=1).T) < places[0].numel()
        dim, places, added = args[1:4]
        if (name == "scatter_reduce" and args[4] not in ("sum", "mean")) or _whole(added):
            return False
        along = dim if places.dim() > 1 else 0
        nothing = (added == 0) if places.dim() > 1 else (added == 0).movedim(dim, 0).reshape(len(places), -1).all(1)
        apart = -1 - torch.arange(places.numel()).view_as(places)  # a 0 changes no sum, in whatever order it is added
        places = torch.where(nothing, apart, places)
        return bool((places.sort(along).values.diff(dim=along) == 0).any())


def _whole(numbers):
    return bool((numbers.double() == numbers.double().round()).all())


@pytest.mark.parametrize("labels", LABELS)
@pytest.mark.parametrize("device", IN_ANY_ORDER)
@pytest.mark.parametrize("case", CASES)
def test_sums_are_added_up_in_one_order(case, device, labels, monkeypatch):
    if device == "cuda":
        monkeypatch.setattr("workbench.losses.batch.SORTING", ("cpu",))
        monkeypatch.setattr("workbench.losses.batch.SLOW", ())
        monkeypatch.setattr("workbench.losses.shared.pair_lists.FILLED", FILLED_ON_GPU)
    torch.manual_seed(0)
    loss = built(case)
    for _ in range(STEPS):
        with AnyOrder(device) as adding:
            value = loss(torch.randn(N, D, requires_grad=True), LABELS[labels])
            if value.requires_grad:
                value.backward()
        assert adding.seen == []


@pytest.mark.parametrize(
    ("adds", "device", "wrong"),
    [
        (lambda x: x.index_select(0, torch.tensor([1, 1])), "cuda", True),
        (lambda x: x.index_select(0, torch.tensor([1, 0])), "cuda", False),
        (lambda x: x.index_select(0, torch.tensor([1, 1, 1])) * torch.tensor([[1.0], [0], [0]]), "cuda", False),
        (lambda x: x.gather(1, torch.tensor([[1, 1], [0, 1]])), "cuda", True),
        (lambda x: x.gather(1, torch.tensor([[1, 1], [0, 1]])) * torch.tensor([[0.0, 1], [1, 1]]), "cuda", False),
        (lambda x: x.gather(1, torch.tensor([[1, 0], [0, 1]])), "cuda", False),
        (lambda x: x[torch.tensor([1, 1])], "cuda", False),
        (lambda x: x[torch.tensor([1, 1])], "cpu", True),
        (lambda x: x[torch.tensor([1, 0])], "cpu", False),
        (lambda x: x[torch.tensor([1, 1]), torch.tensor([0, 1])], "cpu", False),
    ],
)
def test_places_that_repeat_are_seen(adds, device, wrong):
    x = torch.rand(2, 2).requires_grad_()
    with AnyOrder(device) as adding:
        found = adds(x)
        (found * torch.rand(found.shape)).sum().backward()
    assert bool(adding.seen) == wrong
