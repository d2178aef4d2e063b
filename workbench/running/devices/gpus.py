"""The GPUs of this machine as NVIDIA's driver sees them: name, memory and load. Light to import, without torch."""

import os
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from workbench.numerals import byte_size


@dataclass(frozen=True, slots=True)
class Gpu:
    """The memory and load of one GPU at this moment."""

    number: int  # of cuda:0, cuda:1
    name: str
    used: int  # bytes, by all programs
    total: int
    load: int | None = None  # percent of the last moment in which it was busy; None if the driver does not report it

    @property
    def words(self) -> str:
        """The GPU on one line."""
        memory = f"{byte_size(self.used)} of {byte_size(self.total)} in use"
        load = "" if self.load is None else f", load {self.load}%"
        return f"cuda:{self.number} {self.name}: {memory}{load}"


def gpus(nvml: Any = None) -> list[Gpu]:
    """Each GPU that this program may use; none without NVIDIA's driver and its library.

    GPUs are numbered by CUDA_VISIBLE_DEVICES, else in the order of the bus. torch orders GPUs of different kinds by
    their speed, unless CUDA_DEVICE_ORDER is PCI_BUS_ID.

    Args:
        nvml: the module that queries the driver; pynvml by default.
    """
    if nvml is None:
        try:
            import pynvml as nvml  # type: ignore[no-redef]
        except ImportError:
            return []
    try:
        nvml.nvmlInit()
    except nvml.NVMLError:
        return []
    try:
        return [_look(nvml, number, handle) for number, handle in enumerate(_handles(nvml))]
    except nvml.NVMLError:
        return []  # a GPU was lost meanwhile
    finally:
        with suppress(nvml.NVMLError):
            nvml.nvmlShutdown()


def _handles(nvml: Any) -> list[Any]:
    """Handles of the GPUs that this program may use, in their order."""
    chosen = os.environ.get("CUDA_VISIBLE_DEVICES")
    if chosen is None:
        return [nvml.nvmlDeviceGetHandleByIndex(index) for index in range(nvml.nvmlDeviceGetCount())]
    handles = []
    for word in filter(None, map(str.strip, chosen.split(","))):
        if word == "-1":
            break
        by_number = word.isdecimal()
        handles.append(
            nvml.nvmlDeviceGetHandleByIndex(int(word)) if by_number else nvml.nvmlDeviceGetHandleByUUID(word)
        )
    return handles


def _look(nvml: Any, number: int, handle: Any) -> Gpu:
    memory, name = nvml.nvmlDeviceGetMemoryInfo(handle), nvml.nvmlDeviceGetName(handle)
    load = None
    with suppress(nvml.NVMLError):
        load = int(nvml.nvmlDeviceGetUtilizationRates(handle).gpu)
    return Gpu(number, name if isinstance(name, str) else name.decode(), int(memory.used), int(memory.total), load)
