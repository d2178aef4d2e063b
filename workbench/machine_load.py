"""How busy this machine is: processor, memory, disk, and what NVIDIA's library says of one GPU."""

from collections.abc import Callable
from functools import partial
from time import monotonic
from typing import Any

import psutil

from workbench import machine_memory

GPU_LOAD, GPU_MEMORY, POWER, TEMPERATURE = "gpu_load", "gpu_memory", "gpu_power", "gpu_temperature"
PROCESSOR, MEMORY, DISK = "processor", "machine_memory", "disk_read"
GROUP_LIMIT = "limit/group_memory"  # in place of the memory that is installed: of a container or a job
LIMITS = {  # by the name of what they limit
    GPU_MEMORY: "limit/gpu_memory", POWER: "limit/gpu_power", TEMPERATURE: "limit/gpu_temperature",
    MEMORY: "limit/machine_memory",
}  # fmt: skip


class MachineLoad:
    """Measures the machine, and one GPU where it is NVIDIA's and its library is there; else the GPU is left out.

    Args:
        gpu: its UUID as the driver names it, or its number; None for no GPU.
    """

    def __init__(self, gpu: str | int | None = None) -> None:
        self._asked = _questions(gpu) if gpu is not None else {}
        self._since, self._read = monotonic(), _bytes_read()
        psutil.cpu_percent(None)  # the next call tells the load since this one

    def measure(self) -> dict[str, float]:
        """Loads as fractions, memory in bytes, watts, °C, and bytes read a second since the last call.

        Where a container or a job limits the memory, that of its programs is measured in place of the machine's.

        A value that the machine does not give is left out.
        """
        now, read = monotonic(), _bytes_read()
        values = {PROCESSOR: psutil.cpu_percent(None) / 100, MEMORY: float(machine_memory.used())}
        if read is not None and self._read is not None and now > self._since:
            values[DISK] = max(0.0, (read - self._read) / (now - self._since))
        self._since, self._read = now, read
        return values | _answers({name: ask for name, ask in self._asked.items() if name not in LIMITS.values()})

    def limits(self) -> dict[str, float]:
        """What the values of `measure` cannot or should not exceed, by the names in LIMITS, or GROUP_LIMIT."""
        name = LIMITS[MEMORY] if machine_memory.limit() is None else GROUP_LIMIT
        own = {name: float(machine_memory.whole())}
        return own | _answers({name: ask for name, ask in self._asked.items() if name in LIMITS.values()})


def _bytes_read() -> float | None:
    try:
        counted = psutil.disk_io_counters()
    except (OSError, RuntimeError):  # a container may hide its disks
        return None
    return None if counted is None else float(counted.read_bytes)


def _answers(asked: dict[str, Callable[[], float]]) -> dict[str, float]:
    values: dict[str, float] = {}
    for name, ask in asked.items():
        try:
            values[name] = ask()
        except Exception as error:  # a card that does not give this one
            if type(error).__module__ != "pynvml":
                raise
    return values


def _questions(gpu: str | int) -> dict[str, Callable[[], float]]:
    """What can be asked of this GPU; empty if there is no driver or no such GPU."""
    import pynvml

    try:
        pynvml.nvmlInit()
        by_number = isinstance(gpu, int)
        card = pynvml.nvmlDeviceGetHandleByIndex(gpu) if by_number else pynvml.nvmlDeviceGetHandleByUUID(str(gpu))
    except pynvml.NVMLError:
        return {}
    return _of_card(pynvml, card)


def _of_card(nvml: Any, card: Any) -> dict[str, Callable[[], float]]:
    slowdown = partial(nvml.nvmlDeviceGetTemperatureThreshold, card, nvml.NVML_TEMPERATURE_THRESHOLD_SLOWDOWN)
    temperature = partial(nvml.nvmlDeviceGetTemperature, card, nvml.NVML_TEMPERATURE_GPU)
    return {
        GPU_LOAD: lambda: nvml.nvmlDeviceGetUtilizationRates(card).gpu / 100,
        GPU_MEMORY: lambda: float(nvml.nvmlDeviceGetMemoryInfo(card).used),
        POWER: lambda: nvml.nvmlDeviceGetPowerUsage(card) / 1000,
        TEMPERATURE: lambda: float(temperature()),
        LIMITS[GPU_MEMORY]: lambda: float(nvml.nvmlDeviceGetMemoryInfo(card).total),
        LIMITS[POWER]: lambda: nvml.nvmlDeviceGetEnforcedPowerLimit(card) / 1000,
        LIMITS[TEMPERATURE]: lambda: float(slowdown()),
    }
