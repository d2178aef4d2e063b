"""Checkpoints of tensors and plain values, written to a temporary file that is then renamed, so never partly."""

import os
import stat
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np
import torch
from torch import Tensor

from workbench import files
from workbench.files.tensor_files import read_tensors
from workbench.files.unreadable import refusing
from workbench.problem import Problem

LARGEST = 16 << 30  # bytes
CUBLAS = "CUBLAS_WORKSPACE_CONFIG"  # read by cuBLAS when it starts; without it torch's products are not the same twice


def save(path: Path, state: dict[str, Any]) -> None:
    """Write `state` (tensors, numbers, text, lists and dicts of them) so that `path` is always a complete file.

    Raises:
        Problem: the disk is full, or the file cannot be written; the previous file stays.
    """
    with files.atomic_write(path) as file:
        counted = _Told(file)
        torch.save(state, cast(BinaryIO, counted))  # it only writes and flushes
        if counted.error is not None:
            raise counted.error


def tensor_bytes(state: Any) -> int:
    """The bytes of all tensors in a state, at any depth: nearly the size of its checkpoint."""
    if isinstance(state, Tensor):
        return state.numel() * state.element_size()
    if isinstance(state, dict):
        state = list(state.values())
    return sum(map(tensor_bytes, state)) if isinstance(state, list | tuple) else 0


class _Told:
    """A file for torch.save, which raises RuntimeError for an OSError; `error` keeps the first OSError."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.error: OSError | None = None

    def write(self, data: bytes) -> int:
        if self.error is None:
            try:
                return self._file.write(data)
            except OSError as error:
                self.error = error
        return len(data)

    def flush(self) -> None:
        """Do nothing: the file is flushed at its end."""


def load(path: Path) -> dict[str, Any]:
    """Read a checkpoint onto the CPU.

    Raises:
        Problem: the file is missing, truncated, damaged, over 16 GiB, or contains other than tensors and plain values.
    """
    with refusing(partial(_bad, path)):
        facts = path.stat()
        if not stat.S_ISREG(facts.st_mode):  # a pipe in a workspace from elsewhere would never end
            raise ValueError("it is not a regular file")
        if facts.st_size > LARGEST:
            raise ValueError("it is over 16 GiB")
        if not zipfile.is_zipfile(path):
            raise ValueError("it is not a zip file")
    state = read_tensors(path, partial(_bad, path))
    if not isinstance(state, dict):
        raise _bad(path, "it holds no named values")
    return state


def rng_state(device: torch.device) -> dict[str, Any]:
    """torch's random states: of the CPU, and of `device` if that is a GPU."""
    state: dict[str, Any] = {"torch": torch.get_rng_state()}
    if device.type == "cuda":
        state["cuda"] = torch.cuda.get_rng_state(device)
    elif device.type == "mps":
        state["mps"] = torch.mps.get_rng_state()
    return state


def set_rng_state(state: dict[str, Any], device: torch.device) -> None:
    """Restore the states that `rng_state` returned, perhaps for another GPU; the state of another kind is left out."""
    torch.set_rng_state(state["torch"])
    if device.type == "cuda" and "cuda" in state:
        of_gpu: Tensor | list[Tensor] = state["cuda"]
        if isinstance(of_gpu, list):  # an older Workbench stored all GPUs of its machine
            number = device.index or 0
            of_gpu = of_gpu[number if number < len(of_gpu) else 0]
        torch.cuda.set_rng_state(of_gpu, device)
    elif device.type == "mps" and "mps" in state:
        torch.mps.set_rng_state(state["mps"])


def _bad(path: Path, why: str) -> Problem:
    return Problem(f"{path} is not a complete checkpoint: {why}.", kept="It was not changed.", todo="Use another one.")


def seed_everything(seed: int, deterministic: bool) -> None:
    """Seed torch and NumPy's old global state (libraries still read it).

    `deterministic` holds on a GPU only if this process has computed nothing there before. It is set for the whole
    process, until another call or the end of `settings_of_one_run`.
    """
    if deterministic:
        os.environ.setdefault(CUBLAS, ":4096:8")
    torch.manual_seed(seed)
    np.random.seed(seed)
    torch.use_deterministic_algorithms(deterministic, warn_only=True)
    torch.backends.cudnn.benchmark = not deterministic


@contextmanager
def settings_of_one_run() -> Iterator[None]:
    """For the block of one run: what `seed_everything` sets there besides the seeds is afterwards as it was before.

    Otherwise a later run of this process, or a process that it starts, would have the settings of this one.
    """
    config, fastest = os.environ.get(CUBLAS), torch.backends.cudnn.benchmark
    deterministic = torch.are_deterministic_algorithms_enabled()
    warns = torch.is_deterministic_algorithms_warn_only_enabled()
    try:
        yield
    finally:
        if config is None:
            os.environ.pop(CUBLAS, None)
        else:
            os.environ[CUBLAS] = config
        torch.use_deterministic_algorithms(deterministic, warn_only=warns)
        torch.backends.cudnn.benchmark = fastest
