"""Weights and checkpoints as torch saves them: checked before torch reads them, tensors and plain values only."""

import pickletools
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

from workbench.files.archives import CheckedZip
from workbench.files.unreadable import refusing
from workbench.problem import Problem

MOST_STEPS = 5_000_000  # opcodes of a file's pickle
ZIPPED = b"PK\x03\x04"  # how a zip file begins
PICKLES = 5  # pickles at the beginning of a file in the old format


def read_tensors(path: Path, refused: Callable[[str], Problem]) -> Any:
    """What the file holds, on the CPU.

    Args:
        path: an uncompressed zip of torch.save, or a file in torch's old format.
        refused: returns the Problem for a reason.

    Raises:
        Problem: damaged, compressed, with more than tensors and plain values, or with tensors larger than their data.
    """
    import torch

    with refusing(refused):
        if zipfile.is_zipfile(path):
            _check_zip(path)
        else:
            with path.open("rb") as file:
                if file.read(len(ZIPPED)) == ZIPPED:
                    raise ValueError("its end is missing, as after an interrupted download")
                file.seek(0)
                for _ in range(PICKLES):
                    _check_steps(file)
        try:
            state = torch.load(path, map_location="cpu", weights_only=True)
        except Exception as error:
            if type(error).__name__ == "UnpicklingError":
                raise ValueError("it holds more than tensors and plain values, or is not a weights file") from None
            raise
        if any(
            tensor.numel() * tensor.element_size() > tensor.untyped_storage().nbytes() for tensor in _tensors(state)
        ):
            raise ValueError("a tensor in it is larger than its stored data")
    return state


def _check_zip(path: Path) -> None:
    with CheckedZip(path) as archive:
        if sum(entry.file_size for entry in archive.infolist()) > path.stat().st_size:
            raise ValueError("its parts are compressed")
        damaged = archive.testzip()  # torch.load itself does not check the checksums
        if damaged:
            raise ValueError(f"its part {damaged} is damaged")
        for name in archive.namelist():
            if name.endswith("data.pkl"):
                with archive.open(name) as file:
                    _check_steps(file)


def _check_steps(file: IO[bytes]) -> None:
    """Check one pickle: only torch's names, because others can allocate any amount before torch refuses them."""
    for number, (opcode, argument, _) in enumerate(pickletools.genops(file)):
        if number == MOST_STEPS:
            raise ValueError(f"it has more than {MOST_STEPS:,} steps")
        named = "GLOBAL" in opcode.name or opcode.name == "INST"
        if named and not str(argument).startswith(("torch", "collections OrderedDict")):
            raise ValueError("it holds more than tensors and plain values, or is not a weights file")


def _tensors(state: Any) -> Iterator[Any]:
    """The tensors in it, at any depth."""
    match state:
        case dict():
            for value in state.values():
                yield from _tensors(value)
        case list() | tuple():
            for value in state:
                yield from _tensors(value)
        case _ if hasattr(state, "untyped_storage"):
            yield state
