"""Stored measurements of deployments: an evaluation's embeddings compressed, its threshold, new classes, open set."""

import json
from itertools import pairwise
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, ValidationError, model_validator

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


Spread = tuple[Share, Share, Share]  # mean, low, high


class _Shots(BaseModel):
    images: Annotated[int, Field(ge=1, le=1000)]
    by_mean: Spread
    by_nearest: Spread


class _Episodes(BaseModel):
    ways: Annotated[int, Field(ge=2, le=1000)]
    shots: Annotated[int, Field(ge=1, le=1000)]
    accuracy: Share
    half_width: Share


class _NewClasses(BaseModel):
    classes: Count
    classes_there: Count
    draws: Count
    queries: Count
    points: Annotated[list[_Shots], Field(max_length=20)]
    episodes: Annotated[list[_Episodes], Field(max_length=20)]
    trained_on: bool | None


class _AtRate(BaseModel):
    fpir: Rate
    dir: Spread
    threshold: tuple[Number, Number, Number]


class _Identified(BaseModel):
    rates: Annotated[list[_AtRate], Field(max_length=10)]
    curve: Annotated[list[Share], Field(max_length=MOST_RATES)]
    oscr: Spread
    auroc: Spread
    closed: Spread


class _OpenPoint(BaseModel):
    images: Annotated[int, Field(ge=1, le=1000)] | None
    by_nearest: _Identified
    by_mean: _Identified


class _OpenSet(BaseModel):
    classes: Count
    classes_there: Count
    stored_classes: Count
    draws: Count
    known: Count
    unknown: Count
    curve: Annotated[list[Rate], Field(max_length=MOST_RATES)]  # rising
    points: Annotated[list[_OpenPoint], Field(max_length=20)]
    trained_on: bool | None

    @model_validator(mode="after")
    def _is_of_the_same_rates(self) -> "_OpenSet":
        rules = [rule for point in self.points for rule in (point.by_nearest, point.by_mean)]
        if any(len(rule.curve) != len(self.curve) for rule in rules):
            raise ValueError("the curves differ in length")
        if any([at.fpir for at in rule.rates] != [at.fpir for at in rules[0].rates] for rule in rules):
            raise ValueError("the rates differ")
        if any(after <= before for before, after in pairwise(self.curve)):
            raise ValueError("the rates of the curve do not rise")
        return self


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
    new_classes: _NewClasses | None = None  # older ones have none
    open_set: _OpenSet | None = None  # older ones have none
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
