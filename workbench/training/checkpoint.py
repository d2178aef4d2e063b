"""Whole checkpoints or none: tensors and plain values only, written beside and then moved into place."""

import zipfile
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np
import torch

from workbench import files
from workbench.problem import Problem

LARGEST = 16 << 30  # bytes


def save(path: Path, state: dict[str, Any]) -> None:
    """Write `state` (tensors, numbers, text, lists and dicts of them) so that `path` is always a whole file.

    Raises:
        Problem: the disk is full, or the place cannot be written; the file that was there stays.
    """
    with files.atomic_write(path) as file:
        told = _Told(file)
        torch.save(state, cast(BinaryIO, told))  # it only writes and flushes
        if told.error is not None:
            raise told.error


class _Told:
    """A file for torch.save, which makes a RuntimeError of what the disk says: the first error is kept instead."""

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
        """Left to the end of the file."""


def load(path: Path) -> dict[str, Any]:
    """Read a checkpoint onto the CPU.

    Raises:
        Problem: missing, cut short, damaged, over 16 GiB, or holding anything but tensors and plain values.
    """
    try:
        _look(path)
        state = torch.load(path, map_location="cpu", weights_only=True)
    except (OSError, zipfile.BadZipFile, RuntimeError, ValueError, EOFError) as error:
        raise _bad(path, str(error).partition("\n")[0]) from None
    except Exception as error:
        if type(error).__name__ == "UnpicklingError":
            raise _bad(path, "it holds more than tensors and plain values") from None
        raise
    if not isinstance(state, dict):
        raise _bad(path, "it holds no named values")
    _refuse_hollow_tensors(path, state)
    return state


def rng_state() -> dict[str, Any]:
    """torch's random state, of the CPU and of every GPU."""
    state: dict[str, Any] = {"torch": torch.get_rng_state()}
    if torch.cuda.is_available():
        state["cuda"] = torch.cuda.get_rng_state_all()
    return state


def set_rng_state(state: dict[str, Any]) -> None:
    """Put back what `rng_state` took."""
    torch.set_rng_state(state["torch"])
    if "cuda" in state and torch.cuda.is_available():
        torch.cuda.set_rng_state_all(state["cuda"])


def _look(path: Path) -> None:
    if path.stat().st_size > LARGEST:
        raise ValueError("it is over 16 GiB")
    with zipfile.ZipFile(path) as archive:
        if sum(entry.file_size for entry in archive.infolist()) > LARGEST:
            raise ValueError("it unpacks to over 16 GiB")
        damaged = archive.testzip()  # torch.load itself does not check the sums
        if damaged:
            raise ValueError(f"its part {damaged} is damaged")


def _refuse_hollow_tensors(path: Path, state: Any) -> None:
    match state:
        case torch.Tensor():
            if state.numel() * state.element_size() > state.untyped_storage().nbytes():
                raise _bad(path, "a tensor in it is larger than its stored data")
        case dict():
            for value in state.values():
                _refuse_hollow_tensors(path, value)
        case list() | tuple():
            for value in state:
                _refuse_hollow_tensors(path, value)


def _bad(path: Path, why: str) -> Problem:
    return Problem(f"{path} is not a whole checkpoint: {why}.", kept="It was not changed.", todo="Use another one.")


def seed_everything(seed: int, deterministic: bool) -> None:
    """Seed torch and NumPy's old global state (libraries still read it)."""
    torch.manual_seed(seed)
    np.random.seed(seed)
    torch.use_deterministic_algorithms(deterministic, warn_only=True)
    torch.backends.cudnn.benchmark = not deterministic
