"""A GPU that is only pretended: tensors without numbers on "cuda", on which mixed devices and waits are errors."""

import contextlib
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

aten = torch.ops.aten
NEEDS_CUDA_BUILD = pytest.mark.skipif(torch.version.cuda is None, reason="torch is built without CUDA")
INDEXING = ("aten.index.Tensor", "aten.index_put.default", "aten.index_put_.default", "aten._index_put_impl_.default")
COPYING = ("aten._to_copy.default", "aten.copy_.default")


class WaitError(RuntimeError):
    """An operation for which the program would wait until the GPU has done all before it."""


class NoWaits(TorchDispatchMode):
    """Raises WaitError for operations that wait for a GPU; tensors on `device` count as being on it."""

    def __init__(self, device: str = "cuda") -> None:
        super().__init__()
        self.device = device

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if func is aten.is_pinned.default:  # pretended tensors have no memory
            return False
        if str(func) == "aten._pin_memory.default":
            return args[0]
        tensors = [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, Tensor)]
        if self._copies_between_devices(func, tensors, kwargs):
            raise WaitError(f"{func} copies between CPU and GPU without non_blocking")
        if any(tensor.device.type == self.device for tensor in tensors) and reads(func, tensors, args, kwargs):
            raise WaitError(f"{func} waits for the GPU")
        return func(*args, **kwargs)

    def _copies_between_devices(self, func: Any, tensors: list[Tensor], kwargs: dict[str, Any]) -> bool:
        if str(func) not in COPYING or kwargs.get("non_blocking"):
            return False
        devices = {tensor.device.type for tensor in tensors}
        if kwargs.get("device") is not None:
            devices.add(torch.device(kwargs["device"]).type)
        return len(devices) > 1


def reads(func: Any, tensors: list[Tensor], args: Any, kwargs: dict[str, Any]) -> bool:
    """Whether the operation needs a number, or the size of its result, from the GPU."""
    if str(func) in INDEXING:
        chosen = [index for index in args[1] if index is not None]
        return any(index.dtype in (torch.bool, torch.uint8) or index.device != args[0].device for index in chosen)
    if func is aten.multinomial.default:  # its fast way looks whether the weights are valid
        replaced = args[2] if len(args) > 2 else kwargs.get("replacement", False)
        return not replaced or args[1] == 1
    return torch.Tag.data_dependent_output in func.tags or torch.Tag.dynamic_output_shape in func.tags


@contextlib.contextmanager
def pretended_gpu() -> Iterator[None]:
    """Inside, tensors have no numbers and may be on "cuda"; waits raise WaitError, mixed devices torch's own errors."""
    with FakeTensorMode(allow_non_fake_inputs=True), NoWaits():
        yield


def on_pretended_gpu(module: torch.nn.Module) -> torch.nn.Module:
    """The module, with pretended parameters and buffers on "cuda" in place of its own; call inside `pretended_gpu`."""
    for part in module.modules():
        for name, weight in list(part.named_parameters(recurse=False)):
            there = torch.empty(weight.shape, dtype=weight.dtype, device="cuda")
            part.register_parameter(name, torch.nn.Parameter(there, requires_grad=weight.requires_grad))
        for name, buffer in list(part.named_buffers(recurse=False)):
            setattr(part, name, torch.empty(buffer.shape, dtype=buffer.dtype, device="cuda"))
    return module
