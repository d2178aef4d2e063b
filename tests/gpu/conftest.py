"""Where there is no GPU, these tests run on the CPU, among the slow ones: every line of them is exercised there."""

import pytest
import torch

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


def pytest_collection_modifyitems(items):
    if DEVICE == "cpu":
        for item in items:
            if "tests/gpu/" in item.path.as_posix():
                item.add_marker(pytest.mark.slow)


@pytest.fixture
def device():
    return DEVICE
