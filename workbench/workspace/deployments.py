"""Stored measurements of deployments: recall, bytes and time of an evaluation's compressed embeddings."""

import json
from typing import Any

from workbench.workspace.columns import Unreadable, parsed
from workbench.workspace.times import now
from workbench.workspace.workspace import Workspace

Measurement = dict[str, Any]


def store_deployment(workspace: Workspace, evaluation_id: int, wanted: str, measured: Measurement) -> None:
    """Store a measurement (plain data without NaN); it replaces an earlier one with the same `wanted`.

    Args:
        wanted: what was measured, such as "pca32,int8 0.001".

    Raises:
        Problem: the workspace cannot be written.
    """
    text = json.dumps(measured, allow_nan=False)
    with workspace.writing() as db:
        db.execute(
            "insert or replace into deployments (evaluation_id, wanted, measured, created) values (?, ?, ?, ?)",
            (evaluation_id, wanted, text, now()),
        )


def newest_deployment(workspace: Workspace, evaluation_id: int, wanted: str | None = None) -> Measurement | None:
    """The newest measurement of an evaluation, or that with this `wanted`; None without a readable one."""
    sql = "select measured from deployments where evaluation_id = ? and (wanted = ? or ? is null) order by created desc"
    with workspace.reading() as db:
        rows = db.execute(sql, (evaluation_id, wanted, wanted)).fetchall()
    for (text,) in rows:
        try:
            return parsed(text, dict)
        except Unreadable:
            continue
    return None
