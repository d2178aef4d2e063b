"""An Apple GPU that is only pretended: numbers on the CPU that say they are on "mps", without float64 and some ops."""

from typing import Any

import torch
from torch import Tensor, nn
from torch._C import DisableTorchFunctionSubclass
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_leaves, tree_map

LACKING = {  # in torch 2.10, the oldest that is supported: torch/testing/_internal/common_mps.py
    torch.pdist: "pdist", torch.linalg.eigvalsh: "eigvalsh", torch.linalg.eigh: "eigh", torch.linalg.qr: "qr",
}  # fmt: skip


class OnApple(Tensor):
    """A tensor that says that it is on an Apple GPU."""

    @property
    def device(self) -> torch.device:
        return torch.device("mps", 0)


class AppleGpu(TorchFunctionMode):
    """Inside, tensors asked for on "mps" are OnApple. What torch cannot do there is an error, as are mixed devices."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = dict(kwargs or {})
        tensors = [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, Tensor)]
        there = any(isinstance(tensor, OnApple) for tensor in tensors)
        name = getattr(func, "__name__", "")
        asked = kwargs.get("device")
        if func is Tensor.cpu:
            return args[0].as_subclass(Tensor)
        if func is Tensor.to:
            there, args, asked = self._moved(args, there)
        elif asked is not None and torch.device(asked).type == "mps":
            there, kwargs["device"] = True, "cpu"
        elif (
            there and name not in ("__get__", "__set__", "copy_", "__getitem__", "__setitem__")
            and any(not isinstance(tensor, OnApple) and tensor.ndim for tensor in tensors)
        ):  # fmt: skip
            raise RuntimeError(f"{name}: tensors on mps and cpu")
        if there:
            self._refuse(func, name, args, kwargs)
        if name == "norm":  # in Python, where torch warns about every subclass
            args = tree_map(lambda leaf: leaf.as_subclass(Tensor) if isinstance(leaf, OnApple) else leaf, args)
        with DisableTorchFunctionSubclass():
            result = func(*args, **kwargs)
        if not there or (name == "__get__" and not isinstance(result, Tensor)):
            return result
        return tree_map(_put, result)

    def _moved(self, args: Any, there: bool) -> tuple[bool, Any, Any]:
        """Whether the result of `to` is on the GPU, and its arguments on the CPU."""
        tensor, *targets = args
        for target in targets:
            if isinstance(target, Tensor):
                return isinstance(target, OnApple), (tensor.as_subclass(Tensor), target.dtype), None
            if isinstance(target, str | torch.device):
                rest = [other for other in targets if other is not target]
                return torch.device(target).type == "mps", (tensor.as_subclass(Tensor), "cpu", *rest), target
        return there, args, None

    def _refuse(self, func: Any, name: str, args: Any, kwargs: dict[str, Any]) -> None:
        if func in LACKING:
            raise NotImplementedError(f"{LACKING[func]} is not implemented for the MPS device")
        if name == "grid_sample" and kwargs.get("padding_mode") == "border":
            raise RuntimeError("MPS: Unsupported Border padding mode")
        if name == "adaptive_max_pool2d" and any(side % args[1] for side in args[0].shape[2:]):
            raise RuntimeError("wrong values: the sides are not divisible")
        if name in ("double", "float64") or torch.float64 in (*args, *kwargs.values()):
            raise TypeError("Cannot convert a MPS Tensor to float64 dtype as the MPS framework doesn't support float64")


def _put(value: Any) -> Any:
    if not isinstance(value, Tensor) or isinstance(value, OnApple):
        return value
    if value.dtype == torch.float64:
        raise TypeError("the MPS framework doesn't support float64")
    return value.as_subclass(OnApple)


def on_apple(module: nn.Module) -> nn.Module:
    """The module with its parameters and buffers on the pretended GPU; call it outside of AppleGpu."""
    for part in module.modules():
        for name, weight in list(part.named_parameters(recurse=False)):
            there = nn.Parameter(weight.detach().as_subclass(OnApple), requires_grad=weight.requires_grad)
            part.register_parameter(name, there)
        for name, buffer in list(part.named_buffers(recurse=False)):
            setattr(part, name, buffer.as_subclass(OnApple))
    return module
