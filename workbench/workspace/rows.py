"""What the workspace returns: plain frozen rows, named as in the schema."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from workbench.config import IMPORTED
from workbench.events import LIVE, RESUMABLE, score_of
from workbench.numerals import MINUS, minus
from workbench.workspace.times import seconds_of

FARTHEST = 214_748  # an L2 distance beyond it is stored as it: in units of 1e-4 it would not fit into 32 bits
DISTANCES = ("cosine", "l2", "hyperbolic")  # by which embeddings are compared
LARGEST_NUMBER = 2**63  # of a run: SQLite holds those below it
RECALL = re.compile(r"recall@[0-9]{1,9}")


@dataclass(frozen=True, slots=True)
class Placement:
    """One run that trains, or has trained, at a place.

    Attributes:
        run_id: its number here.
        uid: its unique number, and the name of its folder there.
        place: the name of the place.
        job: its number there; empty until the place has it.
        state: its last state in the place's engine: a `places.contract.JobState`.
        words: what the engine added, such as "3rd in the queue".
        reached: when the place last answered; ISO 8601 in UTC.
        silent: a sentence that says why the place does not answer, REMOVED without a place, ELSEWHERE if it does not
            know the run; empty while it does.
        wanted: files that the user asked for besides those that are always fetched: "checkpoints" or nothing.
        open: whether more data may come.
        machine: what the place pointed to when the run was sent; empty if that is not known.
    """

    run_id: int
    uid: str
    place: str
    job: str = ""
    state: str = "queued"
    words: str = ""
    reached: str | None = None
    silent: str = ""
    wanted: str = ""
    open: bool = True
    machine: str = ""


@dataclass(frozen=True, slots=True)
class Trainer:
    """The run that trained the network of a test, where it is known in this workspace and not in its trash."""

    id: int
    name: str
    seed: int
    config: str  # TOML
    loss: str
    backbone: str
    epoch: int  # the last that it has reached
    best_epoch: int


@dataclass(frozen=True, slots=True)
class Run:
    """One run with its progress, and the metrics of its best and last evaluation (fractions)."""

    id: int
    name: str
    status: str
    problem: str
    phase: str
    created: str  # ISO 8601, UTC
    ended: str | None
    seed: int  # of a test with a `trainer` that one's
    config: str  # TOML
    dataset_id: int | None
    dataset: str
    loss: str
    backbone: str
    done: int  # steps
    total: int
    epoch: int
    epochs: int
    images_per_second: float
    memory_bytes: int
    seconds_left: float
    seconds: float  # of training so far, without pauses
    colour: int  # index into the palette of runs
    note: str
    tags: tuple[str, ...]
    pid: int | None
    host: str | None
    environment: dict[str, Any]
    best: dict[str, float] = field(default_factory=dict)
    last: dict[str, float] = field(default_factory=dict)
    best_epoch: int = 0
    trashed: str | None = None
    experiment_id: int | None = None
    unread: str = ""  # a sentence about columns of its row that could not be read
    placement: Placement | None = None  # where it trains, unless on this machine
    images: str = ""  # fingerprint of its data set's images, the same at every size; empty if it has read none
    trainer: Trainer | None = None  # of a test; None of other runs, and where `tested` names no run of this workspace

    @property
    def live(self) -> bool:
        """Whether it trains or is queued."""
        return self.status in LIVE

    @property
    def resumable(self) -> bool:
        """Whether it ended before its last epoch; it can resume if it has a checkpoint."""
        return self.status in RESUMABLE

    @property
    def never_began(self) -> bool:
        """Whether it was taken out of the queue before it read its data: it can be put back, and begins then."""
        read = self.dataset_id is not None or bool(self.environment)
        return self.status == "cancelled" and self.placement is None and not read

    @property
    def looks_for_stop(self) -> bool:
        """Whether a training loop of the user's own records it, and asks from time to time whether to stop."""
        return self.live and self.environment.get("own_loop", {}).get("looks") is True

    @property
    def loop_asked_to_stop(self) -> bool:
        """Whether a person has asked that loop to stop."""
        return self.looks_for_stop and self.environment["own_loop"].get("stop") is True

    @property
    def only_searched(self) -> bool:
        """Whether its embeddings were imported without metrics, to be searched by workspace/measured/galleries.py."""
        return "gallery" in self.environment

    @property
    def trained_nothing(self) -> bool:
        """Whether it has embeddings without training, and so one evaluation: a test on other images, or an import."""
        return self.loss == IMPORTED and not self.curves_of

    @property
    def curves_of(self) -> str:
        """The folder or file of another program whose curves are all that is known of the run; empty for others."""
        return str(self.environment.get("curves", {}).get("source", ""))

    @property
    def tested(self) -> int | None:
        """The run whose network embedded the images of this one, of which nothing was trained; None of other runs."""
        imported = self.environment.get("imported")
        network = imported.get("network") if isinstance(imported, dict) else None
        return network if type(network) is int and 0 < network < LARGEST_NUMBER else None

    @property
    def tested_epoch(self) -> int | None:
        """The epoch of the network that a test is of, 0 before training; None of other runs, or where it is unknown."""
        epoch = self.environment["imported"].get("epoch") if self.tested is not None else None
        return epoch if type(epoch) is int and 0 <= epoch < LARGEST_NUMBER else None

    @property
    def tested_network(self) -> str:
        """Which network of its run a test is of: "best epoch", "last epoch", "epoch 5"; empty of other runs.

        As it was asked for. A test of an older Workbench does not say it: its epoch is then compared with those of the
        run that trained, as it is now.
        """
        if self.tested is None:
            return ""
        asked, epoch = self.environment["imported"].get("asked"), self.tested_epoch
        if asked in ("best", "last"):
            return f"{asked} epoch"
        if asked is None and self.trainer is not None and epoch is not None:
            for name, number in (("best", self.trainer.best_epoch), ("last", self.trainer.epoch)):
                if epoch == number:
                    return f"{name} epoch"
        return "unknown epoch" if epoch is None else f"epoch {epoch}"

    def has_no(self, what: str) -> str:
        """A sentence: it has no evaluation, or other thing; whether one may still come, and why none is there."""
        if self.only_searched:
            return f"Run {self.id} has no {what}: it was imported to be searched only."
        return f"Run {self.id} has no {what}{' yet' if self.live or self.resumable else ''}."


def newest_first(run: Run) -> tuple[float, int]:
    """A key that sorts runs by when they began, the last one first: an imported run may have a high number and be old.

    Runs of one second are sorted by their numbers.
    """
    return -seconds_of(run.created), -run.id


@dataclass(frozen=True, slots=True)
class Experiment:
    """One config whose runs, over folds and seeds, belong together."""

    id: int
    name: str
    config: str  # TOML
    created: str  # ISO 8601, UTC
    result: dict[str, Any]  # of folds_and_seeds.conclude; empty before all runs are done

    @property
    def title(self) -> str:
        """Its name with its number: two experiments of one config have one name."""
        return f"{self.name}, experiment {self.id}"


def recalls(evaluations: list["Evaluation"]) -> list[str]:
    """The names of recall@k that the evaluations have, by rank."""
    names = {name for evaluation in evaluations for name in evaluation.metrics if RECALL.fullmatch(name)}
    return sorted(names, key=lambda name: int(name.partition("@")[2]))


def wider_labels(evaluations: list["Evaluation"]) -> list[str]:
    """The names of R@1 and MAP@R by labels above the classes, such as "level/genus/MAP@R", sorted."""
    names = {name for evaluation in evaluations for name in evaluation.metrics if name.startswith("level/")}
    return sorted(name for name in names if name.endswith(("/recall@1", "/MAP@R")))


@dataclass(frozen=True, slots=True)
class Evaluation:
    """One evaluation of the test set; `metrics` are fractions, with 95% limits as "NAME/low" and "NAME/high".

    One that its run did not keep has the number 0 and no more metrics than the curves have.
    """

    id: int
    run_id: int
    epoch: int
    step: int
    distance: str
    metrics: dict[str, float]
    created: str
    unread: str = ""  # what of its metrics could not be read, and is left out: "MAP@R: 5 is not from 0 to 1"

    @property
    def kept(self) -> bool:
        """Whether its embeddings and neighbours are stored."""
        return self.id > 0

    @property
    def score(self) -> float:
        """What the best evaluation of a run has most of, as `events.score_of`; -1 where it is not known."""
        score = score_of(self.metrics)
        return -1.0 if score is None else score


@dataclass(frozen=True, slots=True)
class Neighbour:
    """One stored neighbour of a query."""

    rank: int  # from 1
    sample_id: int
    similarity: float  # cosine, or minus the distance; stored to 1e-4, and distances up to FARTHEST
    right: bool  # of the query's class
    label: int
    class_name: str

    @property
    def similarity_words(self) -> str:
        """Its similarity with a minus sign: "−0.122"; "−214,748 or less" where it was too far to be stored."""
        if self.similarity <= -FARTHEST:
            return f"{MINUS}{FARTHEST:,} or less"
        return minus(f"{self.similarity:.3f}")


@dataclass(frozen=True, slots=True)
class Query:
    """One query of an evaluation."""

    sample_id: int
    label: int
    class_name: str
    path: str
    ap: float  # NaN when the class has no other sample
    first_hit: int  # rank of the first true neighbour; 0 when there is none
    r: int


@dataclass(frozen=True, slots=True, eq=False)
class Queries:
    """All queries of one evaluation as columns, in the order of its embeddings."""

    sample_ids: np.ndarray  # [n] int64
    labels: np.ndarray  # [n] int64
    ap: np.ndarray  # [n] float32
    first_hit: np.ndarray  # [n] int32
    r: np.ndarray  # [n] int32
    right: np.ndarray  # [n] bool


@dataclass(frozen=True, slots=True)
class Dataset:
    """One data set, without its samples."""

    id: int
    name: str
    root: str
    fingerprint: str
    class_names: tuple[str, ...]
    pixels: Path | None  # the cache of decoded images; None when it is gone
    image_size: int
    channels: int

    def class_name(self, label: int) -> str:
        """The name of a class; its number where there is none."""
        return self.class_names[label] if 0 <= label < len(self.class_names) else str(label)


@dataclass(frozen=True, slots=True, eq=False)
class Samples:
    """All samples of a data set as columns, by row of the pixel cache."""

    ids: np.ndarray  # [n] int64
    rows: np.ndarray  # [n] int64
    labels: np.ndarray  # [n] int64
    paths: list[str]
    official: list[str]


@dataclass(frozen=True, slots=True)
class Projection:
    """One map of an evaluation, with all that is needed to make it again."""

    id: int
    evaluation_id: int
    method: str
    params: dict[str, Any]
    seed: int
    trustworthiness: float | None
    versions: dict[str, str]
    created: str
    continuity: float | None = None
    trust_queries: int | None = None  # points on which trustworthiness and continuity were measured
    start_id: int | None = None  # the map that this one started from and was aligned with
    kept: bool = False  # whether the kept neighbours of every point are stored
    doubts: tuple[dict[str, Any], ...] = ()  # doubtful groups of the map


def counting(runs: Sequence[Run]) -> list[Run]:
    """The runs whose scores are averaged: those that are done or, if none is, those that ended early."""
    return [run for run in runs if run.status == "done"] or [run for run in runs if not run.live]
