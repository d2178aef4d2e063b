"""Programs of the system, run to their end, with limits on their output and their time."""

import os
import subprocess
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from time import monotonic
from typing import cast

from workbench.files.temporary import temporary_file
from workbench.jobs.interpreter import NO_CONSOLE

TOOL_LIMIT = 60.0  # seconds that a program of the system may run
MOST_SAID = 1 << 16  # most bytes that are read of a program's standard error
BLOCK = 1 << 16  # bytes
LOOK_EVERY = 0.1  # seconds
NO_QUESTION = {"SSH_ASKPASS": "false", "SSH_ASKPASS_REQUIRE": "force"}  # OpenSSH asks through a program that fails


@dataclass(frozen=True, slots=True)
class Done:
    """How a program ended.

    Attributes:
        status: its exit status, negative for a signal.
        out: its standard output.
        errors: the first 64 KiB of its standard error, as text.
        cut: why it was killed: "time", "size" or "cancelled"; empty otherwise.
    """

    status: int
    out: bytes
    errors: str
    cut: str = ""


def call_tool(words: list[str]) -> bool:
    """Run a small program of the system to its end, ignoring its output; returns whether it exists and succeeded."""
    try:
        return run_tool(words).status == 0
    except OSError:
        return False


def run_tool(
    words: Sequence[str], stdin: bytes = b"", *, seconds: float = TOOL_LIMIT, most: int = 1 << 20,
    folder: Path | None = None, cancelled: Callable[[], bool] = lambda: False, asks: bool = True,
    heard: Callable[[bytes], None] | None = None,
) -> Done:  # fmt: skip
    """Run a program to its end.

    Args:
        words: its name and arguments, which no shell interprets.
        stdin: its input.
        seconds: after which it is killed.
        most: bytes of standard output; the program is killed if it prints more.
        folder: its working directory; by default that of this process.
        cancelled: called every 0.1 s on another thread; the program is killed once it returns True.
        asks: whether it may ask the user at the terminal, or through the system's password dialog.
        heard: called with each piece of its standard output as soon as it is printed; what it raises ends the program.

    Raises:
        OSError: the program is not installed or cannot be started, or the disk of temporary files is full.
        Problem: there is no folder for temporary files.
    """
    # Files, not pipes: OpenSSH's shared connection keeps the stderr pipe open after its caller has ended.
    with temporary_file() as errors, temporary_file() as source:
        source.write(stdin)
        source.seek(0)
        process = subprocess.Popen(
            list(words), stdin=source, stdout=subprocess.PIPE, stderr=errors, cwd=folder,
            env=None if asks else os.environ | NO_QUESTION, start_new_session=not asks,
            creationflags=0 if asks else NO_CONSOLE,
        )  # fmt: skip
        ended, cut = threading.Event(), list[str]()
        watch = threading.Thread(target=_watch, args=(process, seconds, cancelled, ended, cut), daemon=True)
        watch.start()
        try:
            out = _read(process, most, heard)
            status = process.wait()
        finally:
            ended.set()
            watch.join()
            process.kill()
            process.wait()
        errors.seek(0)
        said = errors.read(MOST_SAID).decode("utf-8", "replace")
    return Done(status, out[:most], said, cut[0] if cut else "size" if len(out) > most else "")


def _watch(
    process: "subprocess.Popen[bytes]", seconds: float, cancelled: Callable[[], bool], ended: threading.Event,
    cut: list[str],
) -> None:  # fmt: skip
    """Kill the process if its time is over or it was cancelled; the reason is added to `cut`."""
    limit = monotonic() + seconds
    while not ended.wait(LOOK_EVERY):
        if cancelled() or monotonic() > limit:
            cut.append("cancelled" if cancelled() else "time")
            process.kill()
            return


def _read(process: "subprocess.Popen[bytes]", most: int, heard: Callable[[bytes], None] | None) -> bytes:
    """What the process prints, up to `most` + 1 bytes; it is killed if it prints more than `most`."""
    assert process.stdout is not None
    blocks, left = [], most + 1
    with process.stdout as out:
        # A pipe's reader has `read1`, which returns what has come; `read` waits until the block is full.
        read = cast(BufferedReader, out).read1 if heard is not None else out.read
        while left and (block := read(min(left, BLOCK))):
            blocks.append(block)
            left -= len(block)
            if heard is not None:
                heard(block)
    if not left:
        process.kill()
    return b"".join(blocks)
