"""Embeddings, labels and paths in a .npz file: its arrays, told apart by their names."""

import math
import zipfile
from functools import partial
from pathlib import Path

import numpy as np

from workbench.files.archives import CheckedZip
from workbench.files.array_header import check_header
from workbench.files.unreadable import refusing
from workbench.problem import Problem

KEPT = "Nothing was imported."
NAMES = {  # the name of an array in small letters -> what it holds; arr_0 and arr_1 are those of numpy.savez
    **dict.fromkeys(("embedding", "embeddings", "vectors", "features", "feats", "x", "arr_0"), "vectors"),
    **dict.fromkeys(("label", "labels", "class", "target", "targets", "y", "arr_1"), "label"),
    **dict.fromkeys(("path", "paths", "file", "files", "filename", "filenames"), "path"),
}
KNOWN = "embeddings, labels and, perhaps, paths"
PACKED = 20  # compression ratio above which an array is no array of embeddings or labels
SMALL = 64 << 20  # bytes that an array may have whatever its ratio


def read_named(path: Path, *wanted: str) -> dict[str, np.ndarray]:
    """The arrays of these kinds: "vectors", "label", "path"; a kind that the file lacks is missing.

    A file with one array is taken for embeddings or labels, whatever the array's name. Other arrays are not read.
    Nothing is allocated before the header of an array was compared with the size of the file.

    Raises:
        Problem: no zip of arrays, two arrays of one kind, Python objects, or arrays that are larger than their data.
    """
    with refusing(partial(_refused, path)), CheckedZip(path) as archive:
        entries = {entry.filename.removesuffix(".npy"): entry for entry in archive.infolist()}
        kinds = {name: NAMES.get(name.lower(), "") for name in entries}
        if len(kinds) == 1:
            kinds = dict.fromkeys(kinds, wanted[0])
        arrays: dict[str, np.ndarray] = {}
        for kind in wanted:
            named = [name for name, meant in kinds.items() if meant == kind]
            if len(named) > 1:
                raise _ambiguous(path, named)
            if named:
                arrays[kind] = _array(archive, entries[named[0]], path.stat().st_size)
    if wanted[0] not in arrays:
        held = ", ".join(list(kinds)[:9]) or "nothing"
        raise Problem(f"The arrays of {path} have other names: {held}.", kept=KEPT, todo=f"Call them {KNOWN}.")
    return arrays


def _array(archive: CheckedZip, entry: zipfile.ZipInfo, size: int) -> np.ndarray:
    """One array of a file of `size` bytes. Raises ValueError, and the errors of zipfile and numpy."""
    with archive.open(entry) as file:
        shape, dtype = check_header(file, entry.file_size)
    needed = math.prod(shape) * dtype.itemsize
    if needed > max(SMALL, PACKED * size):
        raise ValueError(f"its array {entry.filename} asks for {needed:,} bytes and more")
    with archive.open(entry) as file:
        array = np.lib.format.read_array(file, allow_pickle=False)
        if file.read(1):  # also lets zipfile compare the checksum
            raise ValueError(f"its array {entry.filename} is longer than it announces")
    return array


def _refused(path: Path, why: str) -> Problem:
    return Problem(
        f"{path} cannot be read as NumPy arrays: {why}.", kept=KEPT,
        todo="Save plain numbers and text by numpy.savez, labels for example by labels.astype(str).",
    )  # fmt: skip


def _ambiguous(path: Path, names: list[str]) -> Problem:
    listed = " and ".join(names)
    return Problem(f"{path} holds {listed}, which are one kind of array.", kept=KEPT, todo="Save one of them only.")
