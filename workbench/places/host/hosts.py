"""Hosts: this machine, and those behind the system's OpenSSH with its config, agent and jump hosts."""

import errno
import shlex
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from workbench.control import Cancelled
from workbench.jobs import command_line, run_tool
from workbench.places.contract import Answer, Heard, Unreachable
from workbench.places.host import ssh_errors, ssh_files
from workbench.places.host.printed_lines import PrintedLines
from workbench.problem import Problem

CONNECT = 10  # seconds to connect
SILENT = 5  # seconds between two keep-alive messages of a connection; three missing ones end it
SSH_FAILED = 255  # exit status of ssh itself
ANSWER = "workbench-answer:"  # printed before the output of a command
GREETING = 64 << 10  # bytes that the user's shell may print before it
Asked = Callable[[], bool]


class LocalHost:
    """This machine: a cluster's login node on which the user works, and the tests' substitute for a remote one.

    Args:
        home: where commands start; by default the user's home folder.
        cancelled: asked while a command runs; it ends with Cancelled then.
    """

    def __init__(self, home: Path | None = None, cancelled: Asked = lambda: False) -> None:
        self._home, self._cancelled = home or Path.home(), cancelled

    def call(
        self, words: Sequence[str], stdin: bytes = b"", *, seconds: float = 60.0, most: int = 1 << 20,
        heard: Heard | None = None,
    ) -> Answer:  # fmt: skip
        """As `Host.call`."""
        shell = ["sh", "-c", 'exec "$@"', "sh", *words]  # a program that is missing is an exit status, as elsewhere
        lines = None if heard is None else PrintedLines(heard).take
        return _called(shell, stdin, seconds, most, "This machine", self._home, self._cancelled, lines)


class OpenSshHost:
    """A machine that `ssh HOST` reaches without a question: its key is known, an agent or a file has the user's key.

    Args:
        host: as in `ssh HOST`: an alias of the user's config, or user@machine.
        config: another file than the user's own config.
        cancelled: asked while a command runs; it ends with Cancelled then.
    """

    def __init__(self, host: str, config: Path | None = None, cancelled: Asked = lambda: False) -> None:
        self._host, self._config, self._cancelled = host, config, cancelled

    def call(
        self, words: Sequence[str], stdin: bytes = b"", *, seconds: float = 60.0, most: int = 1 << 20,
        heard: Heard | None = None,
    ) -> Answer:  # fmt: skip
        """As `Host.call`."""
        command = [*self._ssh(), "--", self._host, f"printf %s {ANSWER}; {shlex.join(words)}"]
        lines = None if heard is None else PrintedLines(heard, behind=ANSWER.encode()).take
        try:
            answer = _called(command, stdin, seconds, most + GREETING, self._host, None, self._cancelled, lines)
        except Unreachable as problem:
            problem.came = _without_greeting(problem.came)
            raise
        answer = replace(answer, out=_without_greeting(answer.out))
        if answer.status == SSH_FAILED:
            own = ["-F", str(self._config)] if self._config else []
            why, todo = ssh_errors.in_words(self._whole(answer.errors), command_line("ssh", *own, self._host))
            raise _unreachable(f"{self._host} does not answer: {why}.", answer.out, todo)
        return answer

    def _whole(self, errors: str) -> str:
        """The messages of a connection that failed, with those of its jump host, which a shared connection hides."""
        if not ssh_errors.is_of_proxy(errors):
            return errors
        words = [*self._ssh(shared=False), "--", self._host, "true"]
        try:
            return _called(words, b"", 2 * CONNECT, 1 << 16, self._host, None, self._cancelled).errors or errors
        except Problem:  # no answer, or too long a one: the first message stays
            return errors

    def _ssh(self, *, shared: bool = True) -> list[str]:
        words = ["ssh", "-T", "-o", "BatchMode=yes", "-o", f"ConnectTimeout={CONNECT}", "-o", "ClearAllForwardings=yes"]
        words += ["-o", f"ServerAliveInterval={SILENT}", "-o", "ServerAliveCountMax=3"]
        alone = [] if shared else ["-o", "ControlMaster=no", "-o", "ControlPath=none", "-o", "ControlPersist=no"]
        return [*words, *alone, *ssh_files.options(self._host, self._config)]  # the first of two options counts


def _called(
    words: list[str], stdin: bytes, seconds: float, most: int, who: str, folder: Path | None, cancelled: Asked,
    heard: Callable[[bytes], None] | None = None,
) -> Answer:  # fmt: skip
    try:
        done = run_tool(
            words, stdin, seconds=seconds, most=most, folder=folder, cancelled=cancelled, asks=False, heard=heard
        )
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


def _without_greeting(out: bytes) -> bytes:
    """The output of the command alone: the user's shell there may print a greeting before it."""
    return out.partition(ANSWER.encode())[2]


def _unreachable(sentence: str, came: bytes, todo: str = "") -> Unreachable:
    problem = Unreachable(sentence, todo=todo)
    problem.came = came
    return problem
