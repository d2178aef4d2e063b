"""GPUs as the driver describes them: in the order that the program sees, without a driver, with one that is silent."""

from types import SimpleNamespace

import pytest

from workbench.running.devices.gpus import gpus

GIB = 2**30


class DriverError(Exception):
    pass


def driver(*, there=True):
    """pynvml of a machine with three GPUs, of which one does not tell its load."""
    names = ["H200", b"A100", "L4"]

    def answer(value, refused=False):
        if refused:
            raise DriverError
        return value

    return SimpleNamespace(
        NVMLError=DriverError,
        nvmlInit=lambda: answer(None, not there),
        nvmlShutdown=lambda: None,
        nvmlDeviceGetCount=lambda: len(names),
        nvmlDeviceGetHandleByIndex=lambda index: index,
        nvmlDeviceGetHandleByUUID=lambda uuid: answer(2, uuid != "GPU-l4"),
        nvmlDeviceGetName=lambda handle: names[handle],
        nvmlDeviceGetMemoryInfo=lambda handle: SimpleNamespace(used=(handle + 1) * GIB, total=80 * GIB),
        nvmlDeviceGetUtilizationRates=lambda handle: SimpleNamespace(gpu=answer(10 * handle, handle == 2)),
    )


@pytest.fixture(autouse=True)
def all_visible(monkeypatch):
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)


def test_each_gpu_has_name_memory_and_load():
    assert [gpu.words for gpu in gpus(driver())] == [
        "cuda:0 H200: 1.1 GB of 85.9 GB in use, load 0%",
        "cuda:1 A100: 2.1 GB of 85.9 GB in use, load 10%",
        "cuda:2 L4: 3.2 GB of 85.9 GB in use",
    ]


@pytest.mark.parametrize(
    ("visible", "names"), [("2,0", ["L4", "H200"]), ("GPU-l4", ["L4"]), ("", []), ("-1", []), ("GPU-gone", [])]
)
def test_gpus_are_numbered_as_the_program_sees_them(monkeypatch, visible, names):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    assert [(gpu.number, gpu.name) for gpu in gpus(driver())] == list(enumerate(names))


def test_without_a_driver_there_are_none():
    assert gpus(driver(there=False)) == []
