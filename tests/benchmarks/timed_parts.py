"""Parts of a benchmark, each in a separate process: one that fails, hangs or spoils its device costs only itself."""

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from threading import Timer
from time import perf_counter

LONGEST_REASON = 300  # characters


@dataclass(frozen=True)
class Part:
    """A command that prints its results line by line, and the seconds that it takes by estimate."""

    name: str
    command: list[str]
    seconds: float


@dataclass(frozen=True)
class Course:
    """What became of the parts."""

    failed: list[str]
    skipped: list[str]
    seconds: float  # in all


def run_parts(
    parts: Sequence[Part], seconds: float, said: Callable[[str], None], failed: Callable[[str, str], None]
) -> Course:
    """Run the parts in their order, the most important first, in this time; one that does not fit any more is skipped.

    A part that takes over twice its estimate is ended when it takes the time of those after it; what it has printed
    until then was said.

    Args:
        said: called with each line as soon as a part prints it.
        failed: called with a part's name and the reason.
    """
    begun = perf_counter()
    wrong, skipped = list[str](), list[str]()
    for place, part in enumerate(parts):
        left = seconds - (perf_counter() - begun)
        if left < part.seconds:
            skipped.append(part.name)
            continue
        later = sum(other.seconds for other in parts[place + 1 :])
        since = perf_counter()
        reason = _run(part.command, min(left, max(2 * part.seconds, left - later)), said)
        print(f"{part.name}: {perf_counter() - since:.1f} s", file=sys.stderr, flush=True)
        if reason:
            wrong.append(part.name)
            failed(part.name, reason)
    return Course(wrong, skipped, perf_counter() - begun)


def _run(command: list[str], limit: float, said: Callable[[str], None]) -> str:
    """Run a command for at most `limit` seconds; returns why it failed, empty if it did not."""
    late = False
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=errors, stdin=subprocess.DEVNULL, text=True, encoding="utf-8",
            start_new_session=True,
        )  # fmt: skip

        def end() -> None:
            nonlocal late
            late = True
            _kill(process)

        timer = Timer(limit, end)
        timer.start()
        try:
            assert process.stdout is not None
            with process.stdout:
                for line in process.stdout:
                    said(line.rstrip("\n"))
            status = process.wait()
        finally:
            timer.cancel()
            timer.join()
            _kill(process)
            process.wait()
        errors.seek(0)
        text = errors.read().decode("utf-8", "replace")
    sys.stderr.write(text)
    if late:
        return f"ended after {limit:.0f} s"
    if not status:
        return ""
    last = (text.strip().splitlines() or [f"it ended with status {status} and said nothing"])[-1]
    how = f"killed by signal {-status}; it said last: " if status < 0 else ""
    return f"failed: {how}{' '.join(last.split())[:LONGEST_REASON]}"


def _kill(process: "subprocess.Popen[str]") -> None:
    """End the process and those that it started."""
    if os.name == "posix":
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)  # its session has its number
    else:
        process.kill()
