"""What a kind of place has to do, and what all kinds share: orders, states, and a host that takes commands and bytes.

A launcher is an existing engine (a remote shell, Slurm, Ray) behind these few methods. It keeps nothing: whoever has a
place's record and a job's number can ask again, from another process or after a restart.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from workbench.problem import Problem

LARGEST_READ = 8 << 20  # bytes that one call reads of one file
ROOM = 8 << 20  # bytes of files in one answer


class Unreachable(Problem):
    """The place did not answer: nothing is known of its runs, which go on. Ask again later.

    Attributes:
        came: the beginning of an answer that was cut.
    """

    came: bytes = b""


class JobState(StrEnum):
    """What an engine says of a job. Numbers, curves and the end of a run come from its folder, not from here."""

    QUEUED = "queued"  # it waits for its turn, or for a machine
    RUNNING = "running"
    FINISHED = "finished"  # it ended with status 0
    FAILED = "failed"  # it ended with another status
    INTERRUPTED = "interrupted"  # it was ended, or the engine takes it up again by itself
    CANCELLED = "cancelled"  # it was taken out of the line before it began
    LOST = "lost"  # the engine does not know it, and nothing tells how it ended

    @property
    def live(self) -> bool:
        """Whether more is to come."""
        return self in (JobState.QUEUED, JobState.RUNNING)


@dataclass(frozen=True, slots=True)
class Standing:
    """A job's state with a few words for the person, such as "3rd in line" or "exit status 137"; often none."""

    state: JobState
    words: str = ""


class Ending(StrEnum):
    """How a job is asked to end."""

    AFTER_EPOCH = "after epoch"  # SIGUSR1 to the run: it finishes its epoch and is stopped
    SAVED = "saved"  # SIGINT or SIGTERM: before its next step, with a checkpoint to go on from
    AT_ONCE = "at once"  # killed; one that waits leaves the line


@dataclass(frozen=True, slots=True)
class Order:
    """One run to be done.

    Attributes:
        name: of its run folder, below the place's folder; letters, digits, "-" and "_".
        files: what the folder holds at first, by name: config.toml, run.json, perhaps experiment.json; written again
            where the run is resumed.
        title: of the run, for the engine's own lists.
        devices: as `workbench run --devices` takes them; empty for the config's.
    """

    name: str
    files: Mapping[str, bytes]
    title: str = ""
    devices: str = ""


@dataclass(frozen=True, slots=True)
class Part:
    """Bytes of a file at a place, from `offset` on: `path` is relative to the place's folder, with "/"."""

    path: str
    offset: int = 0
    most: int = LARGEST_READ


@dataclass(frozen=True, slots=True)
class Finding:
    """One sentence of a check.

    Attributes:
        what: what was looked at: "Connection", "Workbench there".
        said: the sentence.
        good: whether runs can work so.
        doubtful: whether the person should know of it before.
    """

    what: str
    said: str
    good: bool = True
    doubtful: bool = False


class Launcher(Protocol):
    """Runs at one place. Every method may raise Unreachable; calls come from one thread at a time."""

    def submit(self, orders: Sequence[Order]) -> list[str]:
        """Write the run folders and start `run_words` in each; returns a job's number for each order.

        Orders of one call work one after another, or as the engine likes (an array job). One that was there before is
        resumed. Raises Problem where the place refuses it.
        """

    def states(self, jobs: Sequence[str]) -> list[Standing]:
        """What the engine knows of each job, in one request."""

    def stop(self, job: str, how: Ending) -> None:
        """Ask a job to end; returns before it has ended. One that has ended is no error."""

    def read(self, parts: Sequence[Part]) -> Iterable[bytes | None]:
        """Bytes of files, in one request: at most `most` of each, b"" at its end, None where there is no such file.

        One request has room for ROOM bytes: the answers are those of the first parts, at least one. Of an answer that
        was cut the parts that came are given, the last perhaps not to its end, and Unreachable is raised after them.
        """

    def put(self, path: str, content: bytes) -> None:
        """Write a small file below the place's folder, whole or not at all. Raises Problem where it cannot."""

    def check(self) -> list[Finding]:
        """What is there and what is missing, a sentence each; an unreachable place is one bad finding."""


def all_of(read: Callable[[Sequence[Part]], Iterable[bytes | None]], parts: Sequence[Part]) -> list[bytes | None]:
    """All of these parts of small files by `Launcher.read`, in as many requests as that takes. Raises Unreachable."""
    contents: list[bytes | None] = []
    while len(contents) < len(parts):
        contents += read(parts[len(contents) :])
    return contents


@dataclass(frozen=True, slots=True)
class Answer:
    """What a command at a host ended with: its exit status and what it printed."""

    status: int
    out: bytes
    errors: str


class Host(Protocol):
    """A machine that takes commands: this one, or one behind OpenSSH. Commands begin in the person's home folder."""

    def call(self, words: Sequence[str], stdin: bytes = b"", *, seconds: float = 60.0, most: int = 1 << 20) -> Answer:
        """Run a command to its end, with `given` as its input; it may print `most` bytes.

        Raises:
            Unreachable: no answer in `seconds`, or no connection.
            Problem: it printed more.
        """
