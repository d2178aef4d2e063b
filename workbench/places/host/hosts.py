"""Hosts: this machine, and those behind the system's OpenSSH with its config, agent and jump hosts."""

import errno
import shlex
from collections.abc import Callable, Sequence
from pathlib import Path

from workbench.control import Cancelled
from workbench.jobs import run_tool
from workbench.places.contract import Answer, Unreachable
from workbench.places.host import ssh_files
from workbench.places.host.host_files import last_line
from workbench.problem import Problem

CONNECT = 10  # seconds to connect
SILENT = 5  # seconds between two keep-alive messages of a connection; three missing ones end it
SSH_FAILED = 255  # exit status of ssh itself
Asked = Callable[[], bool]


class LocalHost:
    """This machine: a cluster's login node on which the user works, and the tests' substitute for a remote one.

    Args:
        home: where commands start; by default the user's home folder.
        cancelled: asked while a command runs; it ends with Cancelled then.
    """

    def __init__(self, home: Path | None = None, cancelled: Asked = lambda: False) -> None:
        self._home, self._cancelled = home or Path.home(), cancelled

    def call(self, words: Sequence[str], stdin: bytes = b"", *, seconds: float = 60.0, most: int = 1 << 20) -> Answer:
        """As `Host.call`."""
        shell = ["sh", "-c", 'exec "$@"', "sh", *words]  # a program that is missing is an exit status, as elsewhere
        return _called(shell, stdin, seconds, most, "This machine", self._home, self._cancelled)


class OpenSshHost:
    """A machine that `ssh HOST` reaches without a question: its key is known, an agent or a file has the user's key.

    Args:
        host: as in `ssh HOST`: an alias of the user's config, or user@machine.
        config: another file than the user's own config.
        cancelled: asked while a command runs; it ends with Cancelled then.
    """

    def __init__(self, host: str, config: Path | None = None, cancelled: Asked = lambda: False) -> None:
        self._host, self._config, self._cancelled = host, config, cancelled

    def call(self, words: Sequence[str], stdin: bytes = b"", *, seconds: float = 60.0, most: int = 1 << 20) -> Answer:
        """As `Host.call`."""
        command = [*self._ssh(), "--", self._host, shlex.join(words)]
        answer = _called(command, stdin, seconds, most, self._host, None, self._cancelled)
        if answer.status == SSH_FAILED:
            why = last_line(answer.errors) if answer.errors.strip() else "the connection was lost"
            raise _unreachable(f"{self._host} does not answer: {why}.", answer.out)
        return answer

    def _ssh(self) -> list[str]:
        words = ["ssh", "-T", "-o", "BatchMode=yes", "-o", f"ConnectTimeout={CONNECT}", "-o", "ClearAllForwardings=yes"]
        words += ["-o", f"ServerAliveInterval={SILENT}", "-o", "ServerAliveCountMax=3"]
        return [*words, *ssh_files.options(self._host, self._config)]


def _called(
    words: list[str], stdin: bytes, seconds: float, most: int, who: str, folder: Path | None, cancelled: Asked
) -> Answer:
    try:
        done = run_tool(words, stdin, seconds=seconds, most=most, folder=folder, cancelled=cancelled, asks=False)
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)  # of temporary files, which hold its input and its errors
        todo = "Free some space for temporary files." if full else "Is it installed?"
        raise Problem(f"{words[0]} cannot be started ({error.strerror}).", todo=todo) from None
    match done.cut:
        case "cancelled":
            raise Cancelled
        case "time":
            raise _unreachable(f"{who} gave no answer in {seconds:.0f} s.", done.out)
        case "size":
            raise Problem(f"{who} answered with over {most:,} bytes, more than was asked for.", kept="It was not used.")
    return Answer(done.status, done.out, done.errors)


def _unreachable(sentence: str, came: bytes) -> Unreachable:
    problem = Unreachable(sentence)
    problem.came = came
    return problem
