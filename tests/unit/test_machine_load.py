"""What the machine's load is measured to be, with NVIDIA's library played by a fake."""

import sys
from types import SimpleNamespace

import pytest

from workbench import machine_load
from workbench.machine_load import GPU_LOAD, GPU_MEMORY, LIMITS, MEMORY, POWER, PROCESSOR, TEMPERATURE, MachineLoad


class NVMLError(Exception):
    """As the library raises it; its module is the library's."""


NVMLError.__module__ = "pynvml"


def unsupported(*_):
    raise NVMLError("Not Supported")


@pytest.fixture
def nvml(monkeypatch):
    """A card of 24 GB that is 71 % busy."""
    card = SimpleNamespace(
        NVMLError=NVMLError,
        NVML_TEMPERATURE_GPU=0,
        NVML_TEMPERATURE_THRESHOLD_SLOWDOWN=1,
        nvmlInit=lambda: None,
        nvmlDeviceGetHandleByUUID=lambda uuid: uuid,
        nvmlDeviceGetHandleByIndex=lambda number: number,
        nvmlDeviceGetUtilizationRates=lambda _: SimpleNamespace(gpu=71),
        nvmlDeviceGetMemoryInfo=lambda _: SimpleNamespace(used=6 * 2**30, total=24 * 2**30),
        nvmlDeviceGetPowerUsage=lambda _: 212_000,
        nvmlDeviceGetEnforcedPowerLimit=lambda _: 350_000,
        nvmlDeviceGetTemperature=lambda _, sensor: 65,
        nvmlDeviceGetTemperatureThreshold=lambda _, threshold: 83,
    )
    monkeypatch.setitem(sys.modules, "pynvml", card)
    return card


@pytest.mark.parametrize("gpu", [0, "GPU-1234"])
def test_a_gpu_tells_load_memory_power_temperature_and_their_limits(nvml, gpu):
    load = MachineLoad(gpu)
    values, limits = load.measure(), load.limits()
    assert values.items() >= {GPU_LOAD: 0.71, GPU_MEMORY: 6 * 2**30, POWER: 212, TEMPERATURE: 65}.items()
    assert limits.items() >= {LIMITS[GPU_MEMORY]: 24 * 2**30, LIMITS[POWER]: 350, LIMITS[TEMPERATURE]: 83}.items()


def test_what_a_card_does_not_give_is_left_out(nvml):
    nvml.nvmlDeviceGetPowerUsage = nvml.nvmlDeviceGetTemperatureThreshold = unsupported
    load = MachineLoad(0)
    assert POWER not in load.measure()
    assert LIMITS[TEMPERATURE] not in load.limits()
    assert GPU_LOAD in load.measure()


def test_without_a_driver_the_machine_alone_is_measured(nvml):
    nvml.nvmlInit = unsupported
    values = MachineLoad(0).measure()
    assert GPU_LOAD not in values
    assert 0 <= values[PROCESSOR] <= 1
    assert values[MEMORY] > 0


def test_a_machine_that_hides_its_disks_is_measured_without_them(monkeypatch):
    monkeypatch.setattr(machine_load.psutil, "disk_io_counters", lambda: None)
    assert machine_load.DISK not in MachineLoad().measure()
