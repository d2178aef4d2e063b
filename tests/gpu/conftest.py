"""Where there is no GPU, runs and metrics have one that is only pretended, the rest has the CPU; all are slow there."""

import pytest
import torch

from tests.gpu_with_numbers import gpu_with_numbers

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


def pytest_collection_modifyitems(items):
    if DEVICE == "cpu":
        for item in items:
            if "tests/gpu/" in item.path.as_posix():
                item.add_marker(pytest.mark.slow)


@pytest.fixture
def device():
    return DEVICE


@pytest.fixture
def gpu(monkeypatch):
    """A GPU; where there is none, one that is pretended: mixed devices are an error there, too."""
    if DEVICE == "cuda":
        yield DEVICE
        return
    with gpu_with_numbers(monkeypatch):
        yield "cuda"
