"""Stored measurements of deployments: an evaluation's embeddings compressed, its threshold, new classes, open set."""

import json
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, Field, ValidationError, model_validator

from workbench.problem import Problem
from workbench.workspace.contract import OpenWorkspace
from workbench.workspace.database.columns import Unreadable, parsed
from workbench.workspace.database.stored_metrics import ROUNDING, possible
from workbench.workspace.measured.evaluations import read_vectors
from workbench.workspace.times import precisely_now

Measurement = dict[str, Any]
Number = Annotated[float, Field(allow_inf_nan=False, ge=-1e300, le=1e300)]
Share = Annotated[float, Field(ge=-ROUNDING, le=1 + ROUNDING)]
Rate = Annotated[float, Field(gt=0, le=1)]  # of false positives
Cost = Annotated[float, Field(ge=0, le=1e300)]  # bytes or ms
Change = Annotated[float, Field(ge=-1 - ROUNDING, le=1 + ROUNDING)]  # of a share
Count = Annotated[int, Field(ge=0, lt=2**53)]
WITH_DIRECTION = 1  # since these rules, cosine is refused where an embedding, or its first dimensions, has length zero
RULES = 2  # since these, the usual stores are also searched by query expansion, augmentation and re-ranking
FIRST = "first"  # stores of first dimensions: first16
SCORES = ("MAP@R", "MAP@R/low", "MAP@R/high", "recall@1")  # that every store has which was measured
LARGEST = 64 << 20  # bytes of a row that is read: Workbench writes some 120 for each class
MOST_STORES = 500  # of one measurement: the window draws each of them
MOST_RATES = 200  # of a curve
LONGEST = 1 << 16  # bytes of `wanted`
DAMAGED = "What was measured here before is damaged and cannot be shown."
NEWER_DAMAGED = "A newer measurement is damaged and cannot be shown."
MOST_READ = 100  # measurements of an evaluation that are looked at, the newest first


class _Store(BaseModel):
    """What was measured of one store; numbers are None where it was refused."""

    name: str
    title: str
    refused: str
    grows: Literal["linear", "log", ""]
    bytes: Cost | None
    fixed_bytes: Count
    ms: Cost | None
    kept: Share | None
    metrics: dict[str, Number]
    difference: tuple[Change | None, Change | None, Change | None]
    detail: str = ""
    constant_ms: Annotated[float, Field(allow_inf_nan=False, ge=0)] = 0.0  # older ones have none
    pair_seconds: Annotated[float, Field(allow_inf_nan=False, ge=0, le=1)] = 0.0  # older ones have none

    @model_validator(mode="after")
    def _is_measured(self) -> "_Store":
        numbers = (self.bytes, self.ms, self.kept, *self.difference, *map(self.metrics.get, SCORES))
        if not self.refused and (None in numbers or not self.grows):
            raise ValueError("a number is missing")
        if self.constant_ms > (self.ms or 0.0):
            raise ValueError("a part of the time is longer than all of it")
        if wrong := possible(self.metrics)[1]:
            raise ValueError(wrong[0])
        return self


class _OfClass(BaseModel):
    label: Annotated[int, Field(ge=-1, lt=2**31)]
    false_accepts: Share
    accepts: Share | None
    own_limit: Number


class _Limit(BaseModel):
    wanted: Share
    similarity: Number
    similarity_range: tuple[Number, Number]
    false_accepts: Share
    accepts: Share
    accepts_range: tuple[Share, Share]
    equal_error: Share
    same_pairs: Count
    other_pairs: Count
    edges: list[Number]  # rising
    same: Annotated[list[Share], Field(min_length=1)]
    other: list[Share]
    classes: list[_OfClass]

    @model_validator(mode="after")
    def _has_bins(self) -> "_Limit":
        if not len(self.edges) - 1 == len(self.same) == len(self.other):
            raise ValueError("edges and bins differ in number")
        if any(after < before for before, after in pairwise(self.edges)):
            raise ValueError("the edges of the bins do not rise")
        return self


Spread = tuple[Share, Share, Share]  # mean over draws, and the limits between which 95% of them lie
Images = Annotated[int, Field(ge=1, le=1000)]


@dataclass(frozen=True, slots=True)
class Shots:
    """The accuracy among all classes with so many images stored of each, over draws of the stored images."""

    images: Images
    by_mean: Spread  # of the class whose mean is the most similar
    by_nearest: Spread  # of the class of the most similar image


@dataclass(frozen=True, slots=True)
class Episodes:
    """N-way K-shot: the accuracy by the mean of each class, and half of the 95% interval of its mean over episodes."""

    ways: Annotated[int, Field(ge=2, le=1000)]
    shots: Images
    accuracy: Share
    half_width: Share


@dataclass(frozen=True, slots=True)
class NewClasses:
    """What is measured of the classes of an evaluation, as if each were added to the gallery now."""

    classes: Count  # with more images than are stored of each at most
    classes_there: Count
    draws: Count
    queries: Count  # in a draw
    points: Annotated[list[Shots], Field(max_length=20)]
    episodes: Annotated[list[Episodes], Field(max_length=20)]


@dataclass(frozen=True, slots=True)
class AtRate:
    """What is identified when at most this share of unknown queries reaches the threshold."""

    fpir: Rate
    dir: Spread
    threshold: tuple[Number, Number, Number]  # a similarity: cosine, else minus the Euclidean distance; as a Spread


@dataclass(frozen=True, slots=True)
class Identified:
    """One rule: by the nearest image, or by the class mean."""

    rates: Annotated[list[AtRate], Field(max_length=10)]
    curve: Annotated[list[Share], Field(max_length=MOST_RATES)]  # mean DIR at the FPIR of OpenSet.curve
    oscr: Spread  # area under the OSCR curve
    auroc: Spread  # of known against unknown queries by the top similarity
    closed: Spread  # known queries that are given their class when every similarity is accepted


@dataclass(frozen=True, slots=True)
class OpenPoint:
    """So many images stored of each known class; None: all of them but the query."""

    images: Images | None
    by_nearest: Identified
    by_mean: Identified


@dataclass(frozen=True, slots=True)
class OpenSet:
    """What is measured of the classes of an evaluation when half of them is unknown."""

    classes: Count  # that take part
    classes_there: Count
    stored_classes: Count  # in a draw
    draws: Count
    known: Count  # queries of stored classes, in the draw that has the fewest
    unknown: Count  # queries of other classes, in the draw that has the fewest
    curve: Annotated[list[Rate], Field(max_length=MOST_RATES)]  # FPIR, rising
    points: Annotated[list[OpenPoint], Field(max_length=20)]


@dataclass(frozen=True, slots=True)
class _StoredNewClasses(NewClasses):
    trained_on: bool | None


@dataclass(frozen=True, slots=True)
class _StoredOpenSet(OpenSet):
    trained_on: bool | None


def _of_the_same_rates(stored: _StoredOpenSet) -> _StoredOpenSet:
    rules = [rule for point in stored.points for rule in (point.by_nearest, point.by_mean)]
    if any(len(rule.curve) != len(stored.curve) for rule in rules):
        raise ValueError("the curves differ in length")
    if any([at.fpir for at in rule.rates] != [at.fpir for at in rules[0].rates] for rule in rules):
        raise ValueError("the rates differ")
    if any(after <= before for before, after in pairwise(stored.curve)):
        raise ValueError("the rates of the curve do not rise")
    return stored


class _Form(BaseModel):
    """What a reader of a measurement relies on; a workspace from elsewhere may hold anything."""

    gallery: Annotated[Count, Field(ge=1)]
    queries: Count
    queries_there: Count
    dim: Count
    fitted_on: str
    distance: Literal["cosine", "l2"]
    stores: Annotated[list[_Store], Field(min_length=1, max_length=MOST_STORES)]
    limit: _Limit
    new_classes: _StoredNewClasses | None = None  # older ones have none
    open_set: Annotated[_StoredOpenSet, AfterValidator(_of_the_same_rates)] | None = None  # older ones have none
    rules: Count = 0


def store_deployment(workspace: OpenWorkspace, evaluation_id: int, wanted: str, measured: Measurement) -> None:
    """Store a measurement (plain data without NaN); it replaces an earlier one with the same `wanted`.

    That of an evaluation which its run has deleted meanwhile is not stored.

    Args:
        wanted: what was measured, such as "pca32,int8 0.001".

    Raises:
        Problem: the workspace cannot be written.
    """
    text = json.dumps(measured, allow_nan=False)
    with workspace.writing() as db:
        db.execute(
            "insert or replace into deployments (evaluation_id, wanted, measured, created) "
            "select id, ?2, ?3, ?4 from evaluations where id = ?1",
            (evaluation_id, wanted, text, precisely_now()),
        )


def newest_deployment(workspace: OpenWorkspace, evaluation_id: int, wanted: str | None = None) -> Measurement | None:
    """The newest measurement of an evaluation, or that with this `wanted`; None without a valid one.

    One of an earlier Workbench that ranked embeddings without a direction is not valid: it is measured again.
    """
    return read_deployment(workspace, evaluation_id, wanted)[0]


def read_deployment(
    workspace: OpenWorkspace, evaluation_id: int, wanted: str | None = None
) -> tuple[Measurement | None, str]:
    """The same, and a sentence where newer measurements than it are damaged; empty where none is."""
    sql = (
        "select case when length(cast(wanted as blob)) <= ? and length(cast(measured as blob)) <= ? then wanted end "
        "from deployments where evaluation_id = ? and (wanted = ? or ? is null) and wanted not like 'neighbours %' "
        "and wanted <> 'robustness' order by created desc limit ?"
    )
    with workspace.reading() as db:
        asked = db.execute(sql, (LONGEST, LARGEST, evaluation_id, wanted, wanted, MOST_READ)).fetchall()
    damaged = 0
    for (name,) in asked:
        try:
            if name is None:
                raise Unreadable("it is too large")
            measured = _measurement(workspace, evaluation_id, name)
        except Unreadable:
            damaged += 1
            continue
        if measured is not None:
            return measured, NEWER_DAMAGED if damaged else ""
    return None, DAMAGED if damaged else ""


def _measurement(workspace: OpenWorkspace, evaluation_id: int, wanted: str) -> Measurement | None:
    """The measurement with this `wanted`; None where its ranking is not valid, or it was deleted meanwhile.

    Raises:
        Unreadable: it is not as Workbench stores it.
    """
    sql = (
        "select measured from deployments where evaluation_id = ? and wanted = ? "
        "and length(cast(measured as blob)) <= ?"
    )
    with workspace.reading() as db:
        row = db.execute(sql, (evaluation_id, wanted, LARGEST)).fetchone()
    if row is None:
        return None
    measured = parsed(row[0], dict)
    try:
        form = _Form.model_validate_json(row[0], strict=True)
    except ValidationError:
        raise Unreadable("it has another form") from None
    ranks_rightly = (
        form.rules >= WITH_DIRECTION or form.distance == "l2" or _all_have_a_direction(workspace, evaluation_id, form)
    )
    return measured if ranks_rightly else None


def _all_have_a_direction(workspace: OpenWorkspace, evaluation_id: int, form: _Form) -> bool:
    """Whether no embedding has length zero where the stores compared it; False where the embeddings cannot be read."""
    cut = [
        store.name.removeprefix(FIRST) for store in form.stores if store.name.startswith(FIRST) and not store.refused
    ]
    try:
        vectors = read_vectors(workspace, evaluation_id)
    except Problem:
        return False
    least = min((int(size) for size in cut if size.isdecimal()), default=form.dim)
    return bool(vectors[:, :least].any(axis=1).all())
