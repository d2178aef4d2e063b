"""What one attempt of the campaign came to, and how a drill looks to `run.py`."""

import os
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

Kind = Literal["survived", "lost", "traceback"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """One trial. `lost`: a promise broke; `traceback`: a person would have seen one. `words` say what happened."""

    kind: Kind
    words: str = ""
    part: str = ""  # of the drill: a row of its own in the table


def judged(broken: Sequence[str], said: str = "", *, traceback: bool = False, part: str = "") -> Outcome:
    """The outcome of what was found broken, if anything; `said` are the program's last words."""
    words = "; ".join([*broken[:4], *([said] if said else [])])
    if traceback:
        return Outcome("traceback", words, part)
    return Outcome("lost", words, part) if broken else Outcome("survived", "", part)


def long_run() -> bool:
    """Whether `run.py` plays, not the suite: a drill of one round does all its work then, else a small part of it."""
    return os.environ.get("CAMPAIGN") == "long"


class Drill(Protocol):
    """A module of this folder. `attempt` must be a pure function of the generator's state, as far as processes allow.

    `TITLE` names it in the table, `PROMISE` is the sentence of README or docs that it holds. `ROUNDS` is how often a
    long run calls `attempt`, `SLICE` how often the suite does (0: never; the whole slice takes about a minute).
    `attempt` gets a folder of its own, which is removed afterwards, and yields one Outcome for each trial.
    """

    TITLE: str
    PROMISE: str
    ROUNDS: int
    SLICE: int

    def attempt(self, rng: random.Random, folder: Path) -> Iterator[Outcome]: ...


@dataclass(slots=True)
class Tally:
    """The counts of one drill, or of one part of it."""

    title: str
    part: str
    promise: str
    tried: int = 0
    survived: int = 0
    lost: list[str] = field(default_factory=list)
    tracebacks: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def add(self, outcome: Outcome, attempt: str, seconds: float = 0.0) -> None:
        """Count one outcome; `attempt` says how to repeat it."""
        self.tried += 1
        self.seconds += seconds
        if outcome.kind == "survived":
            self.survived += 1
        else:
            (self.lost if outcome.kind == "lost" else self.tracebacks).append(f"{attempt}: {outcome.words}")

    def with_more(self, other: "Tally") -> "Tally":
        """Both as one."""
        counts = (self.tried + other.tried, self.survived + other.survived)
        words = (self.lost + other.lost, self.tracebacks + other.tracebacks)
        return Tally(self.title, self.part, self.promise, *counts, *words, self.seconds + other.seconds)

    @property
    def broken(self) -> bool:
        """Whether a promise broke."""
        return bool(self.lost or self.tracebacks)
