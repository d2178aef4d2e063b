"""What several ranks share: their network interface, their memory, and the error when one is lost."""

import contextlib
import ctypes
import os
import socket
import sys
from types import TracebackType
from urllib.parse import urlsplit

import psutil

from workbench.problem import Problem

PATIENCE = 1800.0  # seconds that rank 0 waits for the others; WORKBENCH_RANK_PATIENCE changes it
KEPT = 512 << 20  # bytes of freed memory that a rank on the CPU keeps for its next step
MMAP_THRESHOLD, TRIM_THRESHOLD = -3, -1  # numbers of options in malloc.h


class Lost(Problem):
    """Another rank has ended, or, with `late`, is alive but does not answer."""

    def __init__(self, reason: str, late: bool) -> None:
        super().__init__(f"Another rank of this run does not take part any more ({reason}).")
        self.late = late


class losing:  # noqa: N801 - used as a function: a generator takes longer, and every message is sent in such a block
    """A context that turns errors of torch.distributed and of sockets into Lost."""

    def __enter__(self) -> None:
        """Enter the block; nothing needs to be prepared."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, (RuntimeError, OSError)):  # dist.DistError and TimeoutError are such
            reason = str(error).strip().partition("\n")[0]
            late = any(words in reason.lower() for words in ("timed out", "timeout"))
            raise Lost(reason[:200], late) from error


def patience() -> float:
    """Seconds that rank 0 waits for the others before it ends the run."""
    return float(os.environ.get("WORKBENCH_RANK_PATIENCE", PATIENCE))


def stay_on_this_machine() -> None:
    """Let ranks communicate over the loopback interface, unless the user named another one."""
    _talk_over("127.0.0.1")


def talk_to(meeting: str) -> None:
    """Let ranks communicate over the interface that reaches `meeting`, unless the user named another one."""
    parts = urlsplit(meeting)
    host, port = parts.hostname or os.environ.get("MASTER_ADDR", ""), parts.port or 9
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect((host, port))  # nothing is sent
        _talk_over(probe.getsockname()[0])


def _talk_over(own_address: str) -> None:
    if "GLOO_SOCKET_IFNAME" in os.environ or os.name == "nt":
        return
    for name, addresses in psutil.net_if_addrs().items():
        if any(address.address == own_address for address in addresses):
            os.environ["GLOO_SOCKET_IFNAME"] = name
            return


def keep_memory() -> None:
    """Let glibc keep the memory of one step for the next: otherwise the system clears its pages again."""
    if sys.platform != "linux":
        return
    with contextlib.suppress(OSError, AttributeError):  # another C library
        library = ctypes.CDLL(None)
        for option, size in ((MMAP_THRESHOLD, 32 << 20), (TRIM_THRESHOLD, KEPT)):
            library.mallopt(option, size)
