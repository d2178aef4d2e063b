"""Sockets between the ranks of one machine, for small and frequent messages: gloo takes ten times as long."""

import os
import select
import socket
import sys
from collections import deque
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

import torch
from torch import Tensor

LONGEST = 48 << 10  # bytes of a message: a socket buffers two, so all ranks can send before they read
LOOKING = 0.0002  # seconds of polling for an answer
LOOKING_LONG = 0.005  # seconds of polling if all of the last answers came within them: no other program needs the core
ANSWERS = 32  # the last answers; more than in one step of a small network
ROOM = 256 << 10  # bytes requested for each socket's buffers
LACKING = "Windows has no such sockets."
LONGEST_ADDRESS = 100  # bytes: of 108 on Linux and 104 on macOS


class Lines:
    """A socket from this rank to every other rank. Windows lacks such sockets; `there` is whether this system has them.

    Args:
        meeting: file whose name, with a rank's number behind it, is that rank's address.
        rank: of this process, from 0.
        count: of ranks.
        meet: returns when all ranks have called it.
        patience: seconds that one answer may take; None for no limit while the other rank lives.
    """

    there = sys.platform != "win32" and hasattr(socket, "AF_UNIX")

    @classmethod
    def can_meet(cls, meeting: Path, count: int) -> bool:
        """Whether so many ranks can have addresses that begin with the name of the file: their length is limited."""
        return cls.there and len(os.fsencode(f"{meeting}-{count}")) <= LONGEST_ADDRESS

    def __init__(
        self, meeting: Path, rank: int, count: int, meet: Callable[[], object], patience: float | None
    ) -> None:
        self.rank, self.count = rank, count
        self._waited = deque([LOOKING_LONG], ANSWERS)  # seconds that each of the last answers took
        self._received = torch.empty(count, LONGEST, dtype=torch.uint8)
        self._rows = [row.numpy().data for row in self._received]
        self._others = _connected(meeting, rank, count, meet)
        for line in self._others.values():
            line.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, ROOM)
            line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, ROOM)
            line.settimeout(patience)
        self._arrived = {line: _arrival(line) for line in self._others.values()}

    def of_each(self, own: Tensor) -> Tensor:
        """Tensors [k, ...] of all ranks, in memory that the next call reuses; on the CPU.

        They have the same shape, and each is contiguous and has at most LONGEST bytes.

        Raises:
            OSError: another rank has ended; TimeoutError: it does not answer.
        """
        size = own.nbytes
        sent = own.view(-1).view(torch.uint8).numpy().data
        for line in self._others.values():
            line.sendall(sent)
        self._rows[self.rank][:size] = sent
        for other, line in self._others.items():
            self.receive(line, self._rows[other][:size])
        return self._received[:, :size].view(own.dtype).view(self.count, *own.shape)

    def flag(self, value: bool) -> bool:
        """Rank 0's value, on every rank; rank 0 does not wait. Raises as `of_each`."""
        if self.rank == 0:
            for line in self._others.values():
                line.sendall(bytes([value]))
            return value
        letter = bytearray(1)
        self.receive(self._others[0], memoryview(letter))
        return bool(letter[0])

    def meet(self) -> None:
        """Return once all ranks have called it. Raises as `of_each`."""
        for line in self._others.values():
            line.sendall(b"m")
        letter = memoryview(bytearray(1))
        for line in self._others.values():
            self.receive(line, letter)

    def shared_file(self, own: int | None) -> int:
        """Descriptor of a file that rank 0 has opened, `own`, on every rank; the caller closes it.

        Raises:
            OSError: another rank has ended, or this process may not open more files.
        """
        if sys.platform == "win32":
            raise OSError(LACKING)
        if own is not None:
            for line in self._others.values():
                socket.send_fds(line, [b"f"], [own])
            return own
        _, descriptors, _, _ = socket.recv_fds(self._others[0], 1, 1)
        if not descriptors:
            raise ConnectionError("its connection was closed")
        return descriptors[0]

    def close(self) -> None:
        """Close all sockets; the other ranks then notice that this one has ended."""
        for line in self._others.values():
            line.close()

    def receive(self, line: socket.socket, into: memoryview) -> None:
        """Fill `into`: poll for a moment first, because a sleeping core takes longer to wake up."""
        since = perf_counter()
        until = since + (LOOKING_LONG if max(self._waited) < LOOKING_LONG else LOOKING)
        arrived = self._arrived[line]
        while not arrived(0) and perf_counter() < until:
            pass  # yielding would cost a time slice on a busy machine, sleeping a wake-up on an idle one
        while into:
            count = line.recv_into(into)
            if not count:
                raise ConnectionError("its connection was closed")
            into = into[count:]
        self._waited.append(perf_counter() - since)


def _connected(meeting: Path, rank: int, count: int, meet: Callable[[], object]) -> dict[int, socket.socket]:
    """A socket to each other rank, by its number; the arguments are those of Lines. Raises OSError."""
    if sys.platform == "win32":
        raise OSError(LACKING)
    others: dict[int, socket.socket] = {}
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(f"{meeting}-{rank}")
        listening.listen(count)
        meet()
        for other in range(rank):
            others[other] = line = socket.socket(socket.AF_UNIX)
            line.connect(f"{meeting}-{other}")
            line.sendall(bytes([rank]))
        meet()  # so that no wait is needed below
        for _ in range(rank + 1, count):
            line, _address = listening.accept()
            others[line.recv(1)[0]] = line
    return others


def _arrival(line: socket.socket) -> Callable[[int], object]:
    """A call that is true if something has arrived, after at most so many milliseconds. Raises OSError."""
    if sys.platform == "win32":
        raise OSError(LACKING)
    looking = select.poll()
    looking.register(line, select.POLLIN)
    return looking.poll
