"""The header of an array in NumPy's format, compared with the size of its file before anything is allocated."""

import math
from typing import IO

import numpy as np


def check_header(file: IO[bytes], size: int) -> tuple[tuple[int, ...], np.dtype]:
    """The shape and type that the header announces, for a file of `size` bytes.

    Raises:
        ValueError: another format, Python objects, numbers or texts of no bytes (of which any file holds any number),
            or an array that is larger than the file. Errors of numpy's parser.
    """
    version = np.lib.format.read_magic(file)
    read = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}.get(version)
    if read is None:
        raise ValueError(f"its format {version} is not known")
    shape, _, dtype = read(file)
    if dtype.hasobject:
        raise ValueError("it holds Python objects")
    if not dtype.itemsize:
        raise ValueError(f"it holds {dtype}, of no bytes")
    if any(side < 0 for side in shape) or math.prod(shape) * dtype.itemsize > size:
        raise ValueError("it is truncated: it holds fewer numbers than it announces")
    return shape, dtype
