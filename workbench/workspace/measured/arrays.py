"""Array files of a run, read completely or refused: the only place that checks hashes, sizes and shapes."""

import contextlib
import os
import zipfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from workbench import files
from workbench.files.array_header import check_header
from workbench.files.unreadable import NO_ARRAY
from workbench.problem import Problem

KEPT = "The rest of the run is kept."
ADVICE = "Restore a copy of it, or train the run again; `workbench doctor --workspace` names all that is damaged."

_hashed: dict[tuple[str, int, int, int, int], str] = {}  # a file is hashed again only if it changes


def hash_of(path: Path) -> str:
    """The file's hash by files.digest, computed once for each state of the file. Raises OSError."""
    state = os.stat(path)
    key = (str(path), state.st_ino, state.st_size, state.st_mtime_ns, state.st_ctime_ns)
    digest = _hashed.get(key)
    if digest is None:
        digest = _hashed[key] = files.digest(path)
    return digest


def hash_ahead(path: Path) -> None:
    """Hash a file that is about to be read, on another thread; errors are raised when it is read."""
    with contextlib.suppress(OSError):
        hash_of(path)


def check_hash(path: Path, stored: str | None) -> None:
    """Raises Problem if the file is missing or was changed; a hash of None (older Workbench) is not checked."""
    try:
        if stored is None or hash_of(path) == stored:
            path.stat()
            return
    except FileNotFoundError:
        raise Problem(f"The file {path} is missing.", kept=KEPT, todo="Put it back.") from None
    except OSError as error:
        raise Problem(f"The file {path} cannot be read ({error.strerror}).", kept=KEPT, todo=ADVICE) from None
    raise Problem(f"The file {path} is damaged: it is not what was written (its hash differs).", kept=KEPT, todo=ADVICE)


def read_array(path: Path, stored: str | None = None) -> np.ndarray:
    """One array of a .npy file as a read-only memory map. Raises Problem: missing, damaged, or no plain array."""
    check_hash(path, stored)
    try:
        with path.open("rb") as file:
            check_header(file, path.stat().st_size)
        array: np.ndarray = np.load(path, mmap_mode="r", allow_pickle=False)
    except NO_ARRAY as error:
        raise _unreadable(path, error) from None
    return array


def read_arrays(path: Path, names: Sequence[str], stored: str | None = None) -> dict[str, np.ndarray]:
    """Arrays of a .npz file by name; a name that ends with "?" may be missing. Raises Problem as `read_array`."""
    check_hash(path, stored)
    columns: dict[str, np.ndarray] = {}
    try:
        with zipfile.ZipFile(path) as archive:
            known = set(archive.namelist())
            for name in names:
                member = f"{name.rstrip('?')}.npy"
                if name.endswith("?") and member not in known:
                    continue
                entry = archive.getinfo(member)
                if entry.compress_type != zipfile.ZIP_STORED or entry.file_size > path.stat().st_size:
                    raise ValueError("it unpacks to more than it holds")
                with archive.open(member) as file:
                    check_header(file, entry.file_size)
                with archive.open(member) as file:
                    columns[name.rstrip("?")] = np.lib.format.read_array(file, allow_pickle=False)
    except NO_ARRAY as error:
        raise _unreadable(path, error) from None
    return columns


def check_form(path: Path, array: np.ndarray, shape: Sequence[int | None], what: str, kinds: str = "f") -> np.ndarray:
    """The array, checked to have this shape (None: any length) and numbers of one of NumPy's `kinds`.

    Raises:
        Problem: it has not. Its hash says nothing of that: a workspace from elsewhere has the hashes of its own files.
    """
    if array.ndim == 0 or shape[0] not in (None, len(array)):
        held = f"it holds {len(array) if array.ndim else 0:,} {what} for {shape[0] or 0:,}"
        raise Problem(f"The file {path} is damaged: {held}.", kept=KEPT, todo=ADVICE)
    fits = array.ndim == len(shape) and all(map(lambda side, wanted: wanted in (None, side), array.shape, shape))
    if not fits or array.dtype.kind not in kinds:
        form = f"{array.dtype.name} {list(array.shape)}"
        raise Problem(f"The file {path} is damaged: its {what} are {form}.", kept=KEPT, todo=ADVICE)
    return array


def check_range(path: Path, array: np.ndarray, least: int, most: int, what: str) -> np.ndarray:
    """The array, checked to have no number below `least` or above `most`. Raises Problem otherwise."""
    if array.size and not (least <= array.min() and array.max() <= most):
        raise Problem(f"The file {path} is damaged: its {what} are out of range.", kept=KEPT, todo=ADVICE)
    return array


def _unreadable(path: Path, error: BaseException) -> Problem:
    said = str(error).partition("\n")[0].rstrip(".") or type(error).__name__
    return Problem(f"The file {path} cannot be read ({said}).", kept=KEPT, todo=ADVICE)


def broken_member(path: Path) -> str | None:
    """The first part of a zip file with a wrong checksum, or None. Raises the errors in NO_ARRAY."""
    with zipfile.ZipFile(path) as archive:
        return archive.testzip()
