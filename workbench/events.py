"""The events of a run: frozen, plain data that can be stored, printed or sent to a process."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from math import isfinite, nan
from pathlib import Path
from typing import Literal

import numpy as np

from workbench.charts import Chart

Distance = Literal["cosine", "l2", "hyperbolic"]  # by which embeddings are compared


class RunState(StrEnum):
    """What a run is doing, or how it ended, as it is stored."""

    QUEUED = "queued"
    RUNNING = "running"
    WAITING = "waiting"  # paused, by the user or by something that went wrong
    STOPPED = "stopped"  # the user ended it and kept what it had
    DONE = "done"
    CANCELLED = "cancelled"  # the user ended it; its finished epochs are kept all the same
    FAILED = "failed"
    INTERRUPTED = "interrupted"  # its process is gone

    @property
    def live(self) -> bool:
        """Whether it is running or will run."""
        return self in (RunState.QUEUED, RunState.RUNNING, RunState.WAITING)

    @property
    def resumable(self) -> bool:
        """Whether it ended before its last epoch; it can resume from its last checkpoint if it has one."""
        return not self.live and self is not RunState.DONE

    @property
    def word(self) -> str:
        """Its name in the window: "Paused" for "waiting", "Done" for "done"."""
        return "Paused" if self is RunState.WAITING else self.value.capitalize()


LIVE = tuple(state.value for state in RunState if state.live)
RESUMABLE = tuple(state.value for state in RunState if state.resumable)


@dataclass(frozen=True, slots=True)
class Status:
    """What is being done now, in words: "Decoding 3,120 images"."""

    text: str
    done: int = 0  # of `total`; both 0 when the length is unknown
    total: int = 0


@dataclass(frozen=True, slots=True)
class Scalar:
    """One point of a curve."""

    name: str  # "probe/ce", "batch/loss", "test/MAP@R"
    step: int  # optimiser steps done, from 1
    value: float  # NaN is data: it is stored and drawn, never dropped


@dataclass(frozen=True, slots=True)
class Charted:
    """Charts that only this method has, at one step."""

    step: int
    charts: tuple[Chart, ...]


@dataclass(frozen=True, slots=True)
class Progress:
    """How far training has come."""

    done: int  # steps
    total: int  # steps
    images_per_second: float
    memory_bytes: int = 0  # the most in use since the run began here, or where that is not known in use now
    seconds_left: float = 0.0


@dataclass(frozen=True, slots=True, eq=False)
class ProbeEmbeddings:
    """Embeddings of the probe: fixed images of the training set, in evaluation mode."""

    sample_ids: np.ndarray  # [q] int64
    labels: np.ndarray  # [q] int64, with which they are trained
    vectors: np.ndarray  # [q, d] float32


@dataclass(frozen=True, slots=True, eq=False)
class Evaluated:
    """One evaluation of the test set; arrays are this event's own copies."""

    epoch: int
    step: int
    distance: Distance
    metrics: dict[str, float]  # "recall@1" ... fractions; "MAP@R/low", "MAP@R/high" are 95% limits over queries
    sample_ids: np.ndarray  # [n] int64
    labels: np.ndarray  # [n] int64, index into the class names of the dataset
    embeddings: np.ndarray  # [n, d] float32; for "hyperbolic" points in the ball of radius 1
    ap: np.ndarray  # [n] float32: average precision at R; NaN if r is 0
    first_hit: np.ndarray  # [n] int32: rank of the first true neighbour, from 1; 0 if r is 0
    r: np.ndarray  # [n] int32: other samples of the query's class
    neighbours: np.ndarray  # [n, k] int64 sample ids, best first
    similarities: np.ndarray  # [n, k] float32: cosine, or minus the distance
    proxies: np.ndarray | None = None  # [p, d] float32
    proxy_labels: np.ndarray | None = None  # [p] int64
    training_ids: np.ndarray | None = None  # [t] int64, images of the training set
    training_embeddings: np.ndarray | None = None  # [t, d] float32
    probe: ProbeEmbeddings | None = None


def score_of(metrics: dict[str, float]) -> float | None:
    """What chooses the best evaluation: MAP@R of held-out training classes where there are any, else of the test set.

    None if neither is a number.
    """
    score = metrics.get("validation/MAP@R", metrics.get("MAP@R", nan))
    return score if isfinite(score) else None


@dataclass(frozen=True, slots=True)
class Noted:
    """A sentence that is stored with the run's note, such as where it was resumed."""

    text: str


CHECKPOINTS = {"last": "last.pt", "best": "best.pt"}  # files in a run's folder, the one to go on from first


@dataclass(frozen=True, slots=True)
class Remarked:
    """A sentence for the user, such as how many files were left out; it is stored with the run."""

    text: str


@dataclass(frozen=True, slots=True)
class Saved:
    """A checkpoint is complete on disk."""

    kind: Literal["best", "last"]
    path: Path
    epoch: int
    step: int


@dataclass(frozen=True, slots=True)
class Keep:
    """Stored evaluations of other epochs are no longer needed; their points of curves are."""

    epochs: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Waiting:
    """The run waits for the user: paused by the user ("") or by a problem."""

    reason: str = ""


@dataclass(frozen=True, slots=True)
class Resumed:
    """The run continues after Waiting."""


@dataclass(frozen=True, slots=True)
class Ended:
    """The last event of a job, always sent."""

    status: Literal["done", "stopped", "cancelled", "failed"]
    problem: str = ""  # sentences for the user; empty when all is well


Event = Status | Scalar | Charted | Progress | Evaluated | Noted | Remarked | Saved | Keep | Waiting | Resumed | Ended
Emit = Callable[[Event], None]
