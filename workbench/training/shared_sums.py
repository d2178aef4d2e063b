"""Sums of large tensors of the ranks of one machine in shared memory; gloo would copy them over sockets."""

import contextlib
import mmap
import os
import sys
import tempfile

import torch
from torch import Tensor

from workbench.training.lines import Lines


class SharedSums:
    """Memory for a vector of each rank and for their sum.

    Args:
        lines: to the other ranks.
        own: a vector on the CPU, of the same length and type on every rank.

    Raises:
        OSError: the system has no such memory, or another rank has ended; then no rank has any.
    """

    def __init__(self, lines: Lines, own: Tensor) -> None:
        self._lines = lines
        file = shared_memory((lines.count + 1) * own.nbytes) if lines.rank == 0 else None
        self.there = lines.flag(file is not None)
        """Whether the system gave the memory."""
        if not self.there:
            return
        descriptor = lines.shared_file(file)
        try:
            mapped = mmap.mmap(descriptor, (lines.count + 1) * own.nbytes)
        finally:
            os.close(descriptor)
        self._rows = torch.frombuffer(mapped, dtype=own.dtype).view(lines.count + 1, -1)

    @property
    def own(self) -> Tensor:
        """This rank's vector, to be filled before `mean`."""
        row: Tensor = self._rows[self._lines.rank]
        return row

    def mean(self) -> Tensor:
        """The mean of the vectors of all ranks, the same on each of them; valid until the next call.

        Every rank sums a part of it, in the order of the ranks.

        Raises:
            OSError: another rank has ended; TimeoutError: it does not answer.
        """
        lines = self._lines
        self._lines.meet()
        vectors, together = self._rows[:-1], self._rows[-1]
        size = len(together)
        part = slice(size * lines.rank // lines.count, size * (lines.rank + 1) // lines.count)
        torch.add(vectors[0][part], vectors[1][part], out=together[part])
        for vector in vectors[2:]:
            together[part] += vector[part]
        together[part] /= lines.count
        self._lines.meet()
        return together


def shared_memory(size: int) -> int | None:
    """An anonymous file in memory, if the system has such files; None if there is no room."""
    with contextlib.suppress(OSError):
        if sys.platform == "linux":
            descriptor = os.memfd_create("workbench-ranks")
        else:
            with tempfile.TemporaryFile() as file:
                descriptor = os.dup(file.fileno())
        try:
            if sys.platform == "linux":
                os.posix_fallocate(descriptor, 0, size)
            else:
                os.ftruncate(descriptor, size)
        except OSError:
            os.close(descriptor)
            raise
        return descriptor
    return None
