"""What a report says, as plain data: no markup, no drawing, no reading."""

from dataclasses import dataclass
from datetime import UTC, datetime
from math import isfinite

import numpy as np

from workbench.workspace.rows import Evaluation, Neighbour, Query, Run

SHOWN_METRICS = ("recall@1", "recall@2", "recall@4", "recall@8", "P@R", "MAP@R")
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")  # in any locale
NO_EVALUATION = "There is no evaluation yet."
NO_CURVES = "Nothing has been measured yet."


@dataclass(frozen=True, slots=True)
class Setting:
    """One field of the config."""

    section: str  # as in TOML: "run" for the fields outside of every table, "training", "loss", ...
    name: str  # as in TOML
    label: str  # as in the form, with the paper's symbol
    value: str  # with its unit
    changed: bool  # differs from the default


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """One scalar over the steps of training."""

    steps: np.ndarray  # [n] int64
    values: np.ndarray  # [n] float64, NaN where training met one


@dataclass(frozen=True, slots=True)
class MetricRow:
    """One metric as a fraction at the best and the last evaluation, with 95% limits over queries (NaN: none)."""

    name: str
    best: float
    low: float
    high: float
    last: float
    last_low: float
    last_high: float


@dataclass(frozen=True, slots=True, eq=False)
class Map:
    """The embeddings of the best evaluation in two dimensions."""

    points: np.ndarray  # [n, 2]
    labels: np.ndarray  # [n]
    proxies: np.ndarray | None  # [p, 2]
    class_names: tuple[str, ...]
    caption: str  # method, parameters, seed, trust, n of N


@dataclass(frozen=True, slots=True, eq=False)
class QueryCard:
    """One query with its neighbours and the images of all of them, uint8 [h, w, 3]; None where one is missing."""

    query: Query
    image: np.ndarray | None
    neighbours: list[tuple[Neighbour, np.ndarray | None]]


@dataclass(frozen=True, slots=True, eq=False)
class Content:
    """Everything that one report says."""

    title: str
    subtitle: str
    notes: str
    run: Run
    sections: tuple[str, ...]
    summary: list[str]
    settings: list[Setting]
    settings_note: str
    curves: dict[str, Curve]
    best: Evaluation | None
    last: Evaluation | None
    metrics: list[MetricRow]
    metrics_note: str
    map: Map | None
    map_note: str  # why there is none; empty when there is one
    worst: list[QueryCard]
    finest: list[QueryCard]
    queries_note: str
    environment: list[tuple[str, str]]
    left_out: list[str]  # "path: reason" of images that could not be read
    left_out_count: int  # of all of them: only the first thousand are kept
    config: str  # TOML, as it was run
    command: str

    @property
    def groups(self) -> list[tuple[str, list[Setting]]]:
        """The settings by section, both in the order of the form."""
        found: dict[str, list[Setting]] = {}
        for each in self.settings:
            found.setdefault(each.section, []).append(each)
        return list(found.items())


def percent(value: float) -> str:
    """A fraction as "81.23%"; a dash for not-a-number."""
    return f"{value:.2%}" if isfinite(value) else "–"


def interval(low: float, high: float) -> str:
    """Limits as "79.00% to 83.10%"; a dash where there are none."""
    return f"{percent(low)} to {percent(high)}" if isfinite(low) and isfinite(high) else "–"


def moment(stamp: str | None) -> str:
    """An ISO 8601 time in UTC as "21 Nov 2026, 03:48 UTC"; "not yet" for none."""
    if not stamp:
        return "not yet"
    at = datetime.fromisoformat(stamp).astimezone(UTC)
    return f"{at.day} {MONTHS[at.month - 1]} {at.year}, {at:%H:%M} UTC"


def readable(text: str) -> str:
    """Text without characters that no file can hold or that steer a program: lone surrogates and controls but LF."""
    whole = text.replace("\r\n", "\n").replace("\r", "\n").encode("utf-8", "replace").decode("utf-8")
    return "".join(character if character.isprintable() or character == "\n" else " " for character in whole)
