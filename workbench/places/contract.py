"""The interface of every kind of place, and what all kinds share: orders, states, and a host for commands and files.

A launcher wraps an existing engine (a remote shell, Slurm, Ray) in these few methods. It has no state: any process that
has a place's record and a job's number can use them, also after a restart.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from workbench.problem import Problem

LARGEST_READ = 8 << 20  # bytes that one call reads of one file
ROOM = 8 << 20  # bytes of files in one answer
KILLED = 137  # exit status of a run that was killed


class Unreachable(Problem):
    """The place did not answer: its runs continue, but nothing is known of them. Ask again later.

    Attributes:
        came: the beginning of an answer that was cut off.
    """

    came: bytes = b""


class JobState(StrEnum):
    """The state of a job in its engine. Numbers, curves and the end of a run come from its folder, not from here."""

    QUEUED = "queued"  # it waits for its turn, or for a machine
    RUNNING = "running"
    FINISHED = "finished"  # it ended with status 0
    FAILED = "failed"  # it ended with another status
    INTERRUPTED = "interrupted"  # it was ended, or the engine will start it again by itself
    CANCELLED = "cancelled"  # it was removed from the queue before it began
    LOST = "lost"  # the engine does not know it, and its end is unknown

    @property
    def live(self) -> bool:
        """Whether it waits or runs."""
        return self in (JobState.QUEUED, JobState.RUNNING)


@dataclass(frozen=True, slots=True)
class Standing:
    """A job's state with a few words for the user, such as "3rd in the queue" or "exit status 137"; often none.

    Attributes:
        unsure: the engine has lost the job, but its run may still train, as after a restart of Ray's head.
    """

    state: JobState
    words: str = ""
    unsure: bool = False


class Ending(StrEnum):
    """How a job is asked to end."""

    AFTER_EPOCH = "after epoch"  # by a file in its folder: it finishes its epoch and is stopped
    SAVED = "saved"  # SIGINT or SIGTERM: before its next step, with a checkpoint
    AT_ONCE = "at once"  # killed; one that waits leaves the queue


@dataclass(frozen=True, slots=True)
class Order:
    """One run that is to be trained.

    Attributes:
        name: of its run folder, below the place's folder; letters, digits, "-" and "_".
        files: the first content of the folder, by name: config.toml, run.json, perhaps experiment.json; written again
            when the run is resumed.
        title: of the run, for the engine's own lists.
        devices: as `workbench run --devices` takes them; empty for the config's.
        ended: the number of the job in which the run has written its end; its engine may not have noticed yet.
    """

    name: str
    files: Mapping[str, bytes]
    title: str = ""
    devices: str = ""
    ended: str = ""


@dataclass(frozen=True, slots=True)
class Part:
    """Bytes of a file at a place, from `offset` on: `path` is relative to the place's folder, with "/".

    An `offset` below 0 counts from the end of the file: of a shorter file all is read.
    """

    path: str
    offset: int = 0
    most: int = LARGEST_READ


@dataclass(frozen=True, slots=True)
class Finding:
    """One sentence of a check.

    Attributes:
        what: the subject: "Connection", "Workbench there".
        said: the sentence.
        good: whether runs can train there.
        doubtful: whether it is a warning.
    """

    what: str
    said: str
    good: bool = True
    doubtful: bool = False


@dataclass(frozen=True, slots=True)
class Has:
    """What a place has of that which a run names.

    Attributes:
        paths: "there", "missing" or "unreadable" by path; a path whose state is not known is left out.
        gpus: of NVIDIA; None if their number is not certain.
        system: "Linux", "Darwin", or another word of `uname`; empty if it is not known.
        trains: whether runs train on the machine that was asked, and not on nodes behind it.
    """

    paths: Mapping[str, str]
    gpus: int | None = None
    system: str = ""
    trains: bool = True


class Launcher(Protocol):
    """Runs at one place. Every method may raise Unreachable; calls come from one thread at a time."""

    def submit(self, orders: Sequence[Order]) -> list[str]:
        """Write the run folders and start `run_words` in each; returns a job's number for each order.

        Orders of one call train one after another, or as the engine schedules them (an array job). A run that was there
        before is resumed. Raises Problem if the place refuses it.
        """

    def states(self, jobs: Sequence[str]) -> list[Standing]:
        """The state of each job, in one request."""

    def stop(self, job: str, how: Ending) -> None:
        """Ask a job to end; returns before it has ended. One that has ended is no error."""

    def read(self, parts: Sequence[Part]) -> Iterable[bytes | None]:
        """Bytes of files, in one request: at most `most` of each, b"" at its end, None if there is no such file.

        One request has room for ROOM bytes: it answers the first parts, at least one. If the answer was cut off, the
        parts that arrived are yielded, the last perhaps incomplete, and then Unreachable is raised.
        """

    def put(self, path: str, content: bytes) -> None:
        """Write a small file below the place's folder, completely or not at all. Raises Problem if it cannot."""

    def has(self, paths: Sequence[str]) -> Has:
        """What the place has of these paths, and its GPUs, in one short request."""

    def check(self) -> list[Finding]:
        """Findings on what the place has and what is missing; an unreachable place is one bad finding."""


def all_of(read: Callable[[Sequence[Part]], Iterable[bytes | None]], parts: Sequence[Part]) -> list[bytes | None]:
    """All of these parts of small files by `Launcher.read`, in as many requests as needed. Raises Unreachable."""
    contents: list[bytes | None] = []
    while len(contents) < len(parts):
        contents += read(parts[len(contents) :])
    return contents


@dataclass(frozen=True, slots=True)
class Answer:
    """The exit status and the output of a command at a host."""

    status: int
    out: bytes
    errors: str


Heard = Callable[[str], object]


class Host(Protocol):
    """A machine that runs commands: this one, or one behind OpenSSH. Commands start in the user's home folder."""

    def call(
        self, words: Sequence[str], stdin: bytes = b"", *, seconds: float = 60.0, most: int = 1 << 20,
        heard: Heard | None = None,
    ) -> Answer:  # fmt: skip
        """Run a command to its end, with `stdin` as its input; it may print up to `most` bytes.

        `heard` is called with each line that it prints, as soon as it is whole: without letters that steer a terminal.

        Raises:
            Unreachable: no answer in `seconds`, or no connection.
            Problem: it printed more.
        """
