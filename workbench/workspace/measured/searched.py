"""Stored lists of neighbours by a method of search: beside the deployments of an evaluation, in the same table."""

import base64
import binascii
import json
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from pydantic import BaseModel, Field, ValidationError

from workbench.workspace.contract import OpenWorkspace
from workbench.workspace.database.stored_metrics import ROUNDING
from workbench.workspace.times import now

ASKED = "neighbours "  # how `wanted` begins in the table, before the name of the method
DEEPEST, MOST_QUERIES, LONGEST = 200, 100_000, 60
LARGEST = 64 << 20  # bytes of a row that is read: Workbench writes some 4 million
COLUMNS = (  # name, type, whether there is a value for each neighbour
    ("queries", "<i4", False), ("near", "<i4", True), ("before", "<i4", True), ("similarities", "<f4", True),
    ("ap", "<f8", False), ("plain_ap", "<f8", False),
)  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class Searched:
    """The neighbours of the asked queries. Rows are those of the evaluation's samples, in the order of its embeddings.

    AP are average precisions at R, as Deployment measures them.
    """

    method: str  # such as "float32+aqe10"
    there: int  # queries of the evaluation that have something to find; more than m where some were drawn
    queries: np.ndarray  # [m] int32 rows, rising
    near: np.ndarray  # [m, k] int32 rows, best first
    before: np.ndarray  # [m, k] int32 rank of each among plain nearest neighbours; 0: behind those looked at
    similarities: np.ndarray  # [m, k] float32 of each to the query: cosine, or minus the distance
    ap: np.ndarray  # [m] float64 by the method
    plain_ap: np.ndarray  # [m] float64 by plain nearest neighbours


class _Form(BaseModel):
    method: Annotated[str, Field(max_length=LONGEST)]
    there: Annotated[int, Field(ge=1, lt=2**31)]
    asked: Annotated[int, Field(ge=1, le=MOST_QUERIES)]
    depth: Annotated[int, Field(ge=1, le=DEEPEST)]
    columns: dict[str, str]


def store_searched(workspace: OpenWorkspace, evaluation_id: int, searched: Searched) -> None:
    """Store lists; they replace earlier ones by the same method. Those of a deleted evaluation are not stored.

    Raises:
        Problem: the workspace cannot be written.
    """
    columns = {
        name: base64.b64encode(np.ascontiguousarray(getattr(searched, name), kind).tobytes()).decode("ascii")
        for name, kind, _ in COLUMNS
    }
    asked, depth = searched.near.shape
    text = json.dumps(
        {"method": searched.method, "there": searched.there, "asked": asked, "depth": depth, "columns": columns}
    )
    with workspace.writing() as db:
        db.execute(
            "insert or replace into deployments (evaluation_id, wanted, measured, created) "
            "select id, ?2, ?3, ?4 from evaluations where id = ?1",
            (evaluation_id, ASKED + searched.method, text, now()),
        )


def read_searched(workspace: OpenWorkspace, evaluation_id: int, method: str, samples: int) -> Searched | None:
    """The stored lists by a method; None without valid ones, for which the method is to search again.

    Args:
        samples: of the evaluation; lists that name others are not valid.
    """
    sql = (  # the length of a text ends at its first zero byte, that of a blob does not
        "select measured from deployments where evaluation_id = ? and wanted = ? "
        "and length(cast(measured as blob)) <= ?"
    )
    with workspace.reading() as db:
        row = db.execute(sql, (evaluation_id, ASKED + method, LARGEST)).fetchone()
    if row is None or not isinstance(row[0], str):
        return None
    try:
        form = _Form.model_validate_json(row[0], strict=True)
        arrays = {name: _array(form, name, kind, wide) for name, kind, wide in COLUMNS}
    except (ValidationError, ValueError, KeyError):
        return None
    searched = Searched(form.method, form.there, **arrays)
    return searched if form.method == method and _is_of(searched, samples) else None


def _array(form: _Form, name: str, kind: str, wide: bool) -> np.ndarray:
    """A column as it was stored. Raises ValueError or KeyError: it has another size, or is not there."""
    try:
        content = base64.b64decode(form.columns[name], validate=True)
    except binascii.Error as error:
        raise ValueError(str(error)) from None
    shape = (form.asked, form.depth) if wide else (form.asked,)
    return np.frombuffer(content, kind).reshape(shape)


def _is_of(searched: Searched, samples: int) -> bool:
    """Whether all rows are samples of the evaluation, similarities are finite, and AP from 0 to 1."""
    rows: Any = (searched.queries, searched.near)
    in_range = all(part.min() >= 0 and part.max() < samples for part in rows)
    shares = all((np.abs(ap - 0.5) <= 0.5 + ROUNDING).all() for ap in (searched.ap, searched.plain_ap))
    rising = bool((np.diff(searched.queries) > 0).all())
    return (
        in_range and rising and bool(searched.before.min() >= 0 and np.isfinite(searched.similarities).all()) and shares
    )
