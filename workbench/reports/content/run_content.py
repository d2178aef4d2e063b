"""The content of a report as plain data: no markup, no drawing."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.comparing.published.published_tables import (
    ExperimentRow,
    Table,
)
from workbench.config import RunConfig
from workbench.numerals import percentage
from workbench.results.by_attribute import AllAttributes
from workbench.results.by_class_size import BySize
from workbench.results.network_scores import NetworkScore
from workbench.results.slices import Slice
from workbench.workspace.rows import Evaluation, Neighbour, Query, Run

WITH_FIGURE = ("probe/ce", "probe/spce", "batch/loss", "batch/lr", "test/MAP@R", "test/recall@")  # beginnings of names
MOST_OTHERS = 8  # curves of a run of another program that are drawn


@dataclass(frozen=True, slots=True)
class Setting:
    """One field of the config, with whether it differs from its default."""

    section: str
    name: str
    value: str
    changed: bool


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """One scalar of the run over training steps."""

    steps: np.ndarray  # [n] int64
    values: np.ndarray  # [n] float64, NaN if training met one


@dataclass(frozen=True, slots=True)
class MetricRow:
    """One metric as a fraction at the shown and the last evaluation, with 95% limits over queries (NaN: none)."""

    name: str
    shown: float
    low: float
    high: float
    last: float


@dataclass(frozen=True, slots=True, eq=False)
class Map:
    """The embeddings of the shown evaluation in two dimensions, with the class vectors where the loss has them."""

    points: np.ndarray  # [n, 2]
    labels: np.ndarray  # [n]
    proxies: np.ndarray | None  # [p, 2]
    class_names: tuple[str, ...]
    caption: str  # how it was made, below the figure
    title: str  # method and epoch, above it


@dataclass(frozen=True, slots=True, eq=False)
class QueryCard:
    """One query with its neighbours and the images of all of them, uint8 [h, w, 3]; None if one is missing."""

    query: Query
    image: np.ndarray | None
    neighbours: list[tuple[Neighbour, np.ndarray | None]]


@dataclass(frozen=True, slots=True)
class ClassRow:
    """One class of the shown evaluation; fractions over its queries."""

    name: str
    queries: int
    map_at_r: float
    recall_at_1: float


@dataclass(frozen=True, slots=True)
class Beside:
    """A paper's table, the run's numbers for its columns in percent (NaN: none), and what the two do not share."""

    table: Table
    own: list[float]
    experiment: list[ExperimentRow]  # of all folds together, where the run is one of a finished experiment's
    differences: list[str]


@dataclass(frozen=True, slots=True, eq=False)
class Content:
    """The content of the report of one run."""

    title: str
    run: Run
    config: RunConfig
    sections: tuple[str, ...]
    summary: list[str]
    settings: list[Setting]
    trained_with: list[Setting]  # of a test: the settings of its `trainer`, where they can be read
    curves: dict[str, Curve]
    shown: Evaluation | None  # what metrics, map, queries and classes are of
    is_best: bool  # whether that is the run's best
    chosen: str  # on which images the best epoch was chosen; empty without a choice
    last: Evaluation | None
    metrics: list[MetricRow]
    tests: list[NetworkScore]  # of its networks on its own test set and on other images; empty without tests
    deployment: dict[str, Any] | None  # as it was measured: see workspace/measured/deployments.py
    deployment_damaged: str  # a sentence where a newer measurement cannot be read
    robustness: dict[str, Any] | None  # see workspace/measured/robustness.py
    robustness_damaged: str
    published: list[Beside]
    classes: list[ClassRow]  # by rising MAP@R
    by_size: BySize | None  # the same classes in groups by size
    tags: list[Slice]  # attributes by name, each by rising MAP@R
    across: AllAttributes | None  # the attributes among these tags; None without a data set or an evaluation
    map: Map | None
    worst: list[QueryCard]
    finest: list[QueryCard]
    environment: list[tuple[str, str]]
    left_out: list[tuple[str, str]]
    command: str

    @property
    def other_curves(self) -> tuple[str, ...]:
        """Curves of a run of another program without a figure of their own: by name, the first MOST_OTHERS."""
        of_elsewhere = self.curves if self.run.curves_of else ()
        return tuple(name for name in of_elsewhere if not name.startswith(WITH_FIGURE))[:MOST_OTHERS]


def percent(value: float) -> str:
    """A fraction as "81.23%"; a dash for not-a-number, "∞" for an infinite one."""
    return percentage(value, 2)
