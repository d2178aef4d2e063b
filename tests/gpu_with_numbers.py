"""A GPU that is only pretended, with numbers: tensors of the CPU that say "cuda", and may not meet those that do not.

What runs on it has the values and gradients of the CPU. As on a GPU, an operation on tensors of different devices, an
array of a tensor there, and a generator of the other device are errors. `waits` holds each operation for which a
program would wait. Half-precision operations are those of the CPU.
"""

import contextlib
import threading
import types
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch._C import _disabled_torch_function_impl
from torch._C._nn import _parse_to
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map

from tests.pretended_gpu import COPYING, INDEXING, reads

GPUS = 2
BYTES = 8 << 30  # that each GPU says it has


class OnGpu(Tensor):
    """A tensor that says that it is on a GPU."""

    __torch_function__ = _disabled_torch_function_impl
    place: int

    @property
    def device(self) -> torch.device:
        return torch.device("cuda", self.place)

    @property
    def is_cuda(self) -> bool:
        return True

    def __reduce_ex__(self, protocol: Any) -> Any:
        return self.as_subclass(Tensor).__reduce_ex__(protocol)

    def numpy(self, *args: Any, **kwargs: Any) -> Any:
        raise TypeError("can't convert cuda device type tensor to numpy")

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise TypeError("can't convert cuda device type tensor to numpy")

    def record_stream(self, stream: Any) -> None:
        """Nothing is freed early here."""


def _there(real: Tensor, place: int) -> Tensor:
    if real.is_leaf:
        return _leaf(real, place)
    moved = real.as_subclass(OnGpu)
    moved.place = place
    return moved


def _leaf(real: Tensor, place: int) -> Tensor:
    moved = Tensor._make_subclass(OnGpu, real, real.requires_grad)
    moved.place = place
    return moved


class _Operations(TorchDispatchMode):
    """Refuses mixed devices; results of what is on a GPU are there."""

    def __init__(self, state: "_State") -> None:
        super().__init__()
        self._waits, self._state = state.waits, state

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        tensors = [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, Tensor)]
        places = {tensor.place for tensor in tensors if isinstance(tensor, OnGpu)}
        if not places:
            made = func(*args, **kwargs)
            if func is torch.ops.aten.zeros.default and not self._state.asked:
                made.any_device = True
            self._state.asked.clear()
            return made
        here = [tensor for tensor in tensors if not isinstance(tensor, OnGpu) and tensor.dim()]
        here = [tensor for tensor in here if not getattr(tensor, "any_device", False)]
        if (str(func) not in COPYING and len(places) > 1) or (here and str(func) not in (*COPYING, *INDEXING)):
            raise RuntimeError(f"{func}: expected all tensors to be on the same device")
        if str(func) in INDEXING and (
            not isinstance(args[0], OnGpu) or (len(args) > 2 and any(args[2] is one for one in here))
        ):
            raise RuntimeError(f"{func}: expected all tensors to be on the same device")
        if reads(func, tensors, args, kwargs) or (here and not kwargs.get("non_blocking") and not _queued(func, args)):
            self._waits.append(str(func))
        place = places.pop()
        own = {id(tensor) for tensor in tensors}

        def placed(out: Any) -> Any:
            if not isinstance(out, Tensor) or id(out) in own:
                return out
            return _leaf(out, place)

        return tree_map(placed, func(*args, **kwargs))


def _queued(func: Any, args: Any) -> bool:
    return str(func) == "aten.copy_.default" and len(args) > 2 and bool(args[2])


class _Calls(TorchFunctionMode):
    """Answers what names a GPU, or moves tensors between devices."""

    def __init__(self, state: "_State") -> None:
        super().__init__()
        self._state = state

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = dict(kwargs or {})
        if func in (torch.device, _parse_to):
            return func(*args, **kwargs)
        kwargs.pop("pin_memory", None)
        name = getattr(func, "__name__", "")
        if name == "pin_memory":
            return args[0]
        if name == "new_tensor" and "device" not in kwargs and isinstance(args[0], OnGpu):
            return _there(func(*args, **kwargs), args[0].place)
        if name == "zeros":
            self._state.asked.append(name)
        if name in ("cpu", "to"):
            return self._to(*args, **kwargs) if name == "to" else self._moved(args[0], torch.device("cpu"), False)
        named = [value for value in (*args, kwargs.get("device")) if _is_device(value)]
        if not named:
            self._check_generator(kwargs.get("generator"), any(isinstance(leaf, OnGpu) for leaf in tree_leaves(args)))
            return func(*args, **kwargs)
        device = torch.device(named[0])
        if device.type != "cuda":
            return func(*args, **kwargs)
        args = tuple("cpu" if _is_device(value) else value for value in args)
        if "device" in kwargs:
            kwargs["device"] = "cpu"
        self._check_generator(kwargs.get("generator"), True)
        made = func(*args, **kwargs)
        return _there(made, self._place(device)) if isinstance(made, Tensor) else made

    def _place(self, device: torch.device) -> int:
        return self._state.current() if device.index is None else device.index

    def _to(self, tensor: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        copy = kwargs.pop("copy", False)
        if isinstance(other := kwargs.pop("other", args[0] if args else None), Tensor):
            device, dtype, args = other.device, other.dtype, args[1:]
            _, _, queued, order = _parse_to(device, dtype, *args, **kwargs)
        else:
            device, dtype, queued, order = _parse_to(*args, **kwargs)
        moved = tensor if device is None else self._moved(tensor, device, queued)
        order = torch.preserve_format if order is None else order
        return Tensor.to(moved, dtype=moved.dtype if dtype is None else dtype, copy=copy, memory_format=order)

    def _moved(self, tensor: Tensor, device: torch.device, queued: bool) -> Tensor:
        was = tensor.place if isinstance(tensor, OnGpu) else None
        becomes = self._place(device) if device.type == "cuda" else None
        if was == becomes:
            return tensor
        if not queued:
            self._state.waits.append("copy")
        copied = torch.clone(tensor.as_subclass(Tensor))
        return copied if becomes is None else _there(copied, becomes)

    def _check_generator(self, generator: torch.Generator | None, there: bool) -> None:
        if generator is not None and (id(generator) in self._state.generators) != there:
            raise RuntimeError("Expected a generator of the tensor's device")


def _is_device(value: Any) -> bool:
    return isinstance(value, torch.device) or (isinstance(value, str) and value.partition(":")[0] in ("cpu", "cuda"))


class _State:
    """What the pretended GPUs share."""

    def __init__(self) -> None:
        self.waits: list[str] = []
        self.asked: list[str] = []  # zeros that Python asked for; others are made by autograd, for any device
        self.generators: dict[int, torch.Generator] = {}
        self._threads = threading.local()

    def current(self) -> int:
        return getattr(self._threads, "place", 0)

    def go_to(self, place: Any) -> None:
        self._threads.place = torch.device(place).index if isinstance(place, str | torch.device) else int(place)


class _Stream:
    """A stream on which all is done at once."""

    def __init__(self, device: Any = None) -> None:
        self.device = device

    def record_event(self) -> object:
        return object()

    def wait_event(self, event: object) -> None:
        """It has happened."""


class _Half(torch.autocast):
    """Autocast of the CPU for every device."""

    def __init__(self, kind: str, *args: Any, **kwargs: Any) -> None:
        super().__init__("cpu", *args, **kwargs)


def _generators_of(state: _State) -> type:
    """What stands for torch.Generator: a type, because annotations name it, that notes which are of a GPU."""
    real = torch.Generator

    class Named(type):
        def __instancecheck__(cls, instance: object) -> bool:
            return isinstance(instance, real)

        def __call__(cls, device: Any = "cpu") -> torch.Generator:
            new = real()
            if torch.device(device).type == "cuda":
                state.generators[id(new)] = new
            return new

    return Named("Generator", (), {})


@contextlib.contextmanager
def gpu_with_numbers(monkeypatch: pytest.MonkeyPatch) -> Iterator[_State]:
    """Inside, also in threads that begin inside, "cuda", "cuda:0" and "cuda:1" are there; yields `waits`."""
    state = _State()
    run = threading.Thread.run

    def in_thread(thread: threading.Thread) -> None:
        with _Operations(state), _Calls(state):
            run(thread)

    is_autocast = torch.is_autocast_enabled
    cuda: dict[str, Callable[..., Any]] = {
        "is_available": lambda: True, "device_count": lambda: GPUS, "current_device": state.current,
        "set_device": state.go_to, "Stream": _Stream, "current_stream": lambda device=None: _Stream(device),
        "stream": lambda stream: contextlib.nullcontext(), "synchronize": lambda device=None: None,
        "mem_get_info": lambda device=None: (BYTES // 2, BYTES), "memory_allocated": lambda device=None: 0,
        "memory_reserved": lambda device=None: 0, "max_memory_allocated": lambda device=None: 0,
        "reset_peak_memory_stats": lambda device=None: None, "empty_cache": lambda: None,
        "get_device_name": lambda device=None: "a pretended GPU", "is_bf16_supported": lambda **rest: True,
        "device": lambda device: contextlib.nullcontext(),
        "get_device_properties": lambda device=None: types.SimpleNamespace(total_memory=BYTES),
        "get_rng_state": lambda device=None: torch.get_rng_state(), "set_rng_state": lambda state, device=None: None,
    }  # fmt: skip
    for name, answer in cuda.items():
        monkeypatch.setattr(torch.cuda, name, answer)
    for check in (
        "_accelerator_graph_capture_health_check",
        "_cuda_graph_capture_health_check",
    ):  # the second: torch 2.11
        monkeypatch.setattr(torch.optim.Optimizer, check, lambda optimiser: None, raising=False)
    monkeypatch.setattr(torch, "Generator", _generators_of(state))
    monkeypatch.setattr(torch, "autocast", _Half)
    monkeypatch.setattr(torch, "is_autocast_enabled", lambda kind="cpu": is_autocast("cpu"))
    monkeypatch.setattr(threading.Thread, "run", in_thread)
    swaps = torch.__future__.get_swap_module_params_on_conversion()
    torch.__future__.set_swap_module_params_on_conversion(True)
    try:
        with _Operations(state), _Calls(state):
            yield state
    finally:
        torch.__future__.set_swap_module_params_on_conversion(swaps)
        monkeypatch.undo()


def is_there(module: nn.Module) -> bool:
    """Whether all of a module's numbers are on a pretended GPU."""
    return all(isinstance(tensor, OnGpu) for tensor in (*module.parameters(), *module.buffers()))
