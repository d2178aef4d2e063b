"""Stored measurements of changed queries: beside the deployments of an evaluation, in the same table."""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, Field, ValidationError, model_validator

from workbench.workspace.contract import OpenWorkspace
from workbench.workspace.measured.deployments import DAMAGED, Change, Share, store_deployment

WANTED = "robustness"  # in the table
LARGEST = 1 << 20  # bytes of a row that is read: Workbench writes some 40,000
MOST_CHANGES, MOST_LEVELS, LONGEST = 50, 20, 200
METRICS = ("recall@1", "MAP@R")
Measured = dict[str, Any]


def _printable(text: str) -> str:
    if not text.isprintable():
        raise ValueError("it steers a terminal, or the direction of a sentence")
    return text


Words = Annotated[str, Field(max_length=LONGEST), AfterValidator(_printable)]
Count = Annotated[int, Field(ge=1, lt=2**31)]


class _Metrics(BaseModel):
    metrics: dict[Words, Share]

    @model_validator(mode="after")
    def _has_all(self) -> "_Metrics":
        if any(f"{name}{end}" not in self.metrics for name in METRICS for end in ("", "/low", "/high")):
            raise ValueError("a number is missing")
        return self


class _Level(_Metrics):
    words: Words
    strength: Annotated[float, Field(allow_inf_nan=False)]
    difference: dict[Literal["recall@1", "MAP@R"], tuple[Change, Change, Change]]

    @model_validator(mode="after")
    def _is_compared(self) -> "_Level":
        if set(self.difference) != set(METRICS):
            raise ValueError("a difference is missing")
        return self


class _Change(BaseModel):
    name: Words
    title: Words
    source: Words
    levels: Annotated[list[_Level], Field(min_length=1, max_length=MOST_LEVELS)]


class _Form(BaseModel):
    """What a reader of a measurement relies on; a workspace from elsewhere may hold anything."""

    epoch: Annotated[int, Field(ge=0, lt=2**31)]
    queries: Count
    queries_there: Count
    gallery: Count
    side: Count
    apart: Annotated[float, Field(ge=0, le=1)]
    unchanged: _Metrics
    changes: Annotated[list[_Change], Field(min_length=1, max_length=MOST_CHANGES)]

    @model_validator(mode="after")
    def _can_be(self) -> "_Form":
        if self.queries > self.queries_there:
            raise ValueError("more queries were measured than there are")
        if len({change.name for change in self.changes}) != len(self.changes):
            raise ValueError("a change is there twice")
        return self


def store_robustness(workspace: OpenWorkspace, evaluation_id: int, measured: Measured) -> None:
    """Store a measurement (plain data without NaN), in place of an earlier one.

    That of an evaluation which its run has deleted meanwhile is not stored.

    Raises:
        Problem: the workspace cannot be written.
    """
    store_deployment(workspace, evaluation_id, WANTED, measured)


def read_robustness(workspace: OpenWorkspace, evaluation_id: int) -> Measured | None:
    """The stored measurement of an evaluation; None without a valid one."""
    return checked_robustness(workspace, evaluation_id)[0]


def checked_robustness(workspace: OpenWorkspace, evaluation_id: int) -> tuple[Measured | None, str]:
    """The same, and a sentence where the stored one is damaged; empty where it is valid, or nothing was measured."""
    sql = (  # the length of a text ends at its first zero byte, that of a blob does not
        "select case when length(cast(measured as blob)) <= ? then measured end from deployments "
        "where evaluation_id = ? and wanted = ?"
    )
    with workspace.reading() as db:
        row = db.execute(sql, (LARGEST, evaluation_id, WANTED)).fetchone()
    if row is None:
        return None, ""
    if not isinstance(row[0], str):
        return None, DAMAGED
    try:
        return _Form.model_validate_json(row[0], strict=True).model_dump(), ""
    except ValidationError:
        return None, DAMAGED
