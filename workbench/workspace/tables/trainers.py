"""Which run trained the network of each test on other images."""

import json
from collections.abc import Mapping
from typing import Any

from workbench.names import in_one_line, visible_name
from workbench.workspace.database.columns import environment_of
from workbench.workspace.database.connection import Connection
from workbench.workspace.rows import LARGEST_NUMBER, Trainer

MARK = '"network"'  # in the environment of every test, and of few other runs
COLUMN_TYPES = [str, int, str, str, str, int]  # a damaged row is no trainer


def trainers_of_tests(db: Connection, environments: Mapping[int, Any]) -> dict[int, Trainer]:
    """The run that trained, by the number of each test whose run is in this workspace and not in its trash.

    A test that came from another workspace has none: there its run's number is another run's.

    Args:
        environments: of runs by their numbers, as JSON; any other value is no test's.
    """
    tested = {run_id: _network(text) for run_id, text in environments.items() if isinstance(text, str) and MARK in text}
    asked = json.dumps(sorted({number for number in tested.values() if number is not None}))
    if asked == "[]":
        return {}
    listed = "(select value from json_each(?))"
    best_of = "select run_id, epoch, max(ifnull(score, -1)) from evaluations where run_id in"
    best = {row[0]: row[1] for row in db.execute(f"{best_of} {listed} group by run_id", (asked,))}
    sql = "select id, name, seed, config, loss, backbone, epoch from runs where trashed is null and id in"
    trainers = {
        row[0]: Trainer(
            id=row[0], name=in_one_line(visible_name(row[1])), seed=row[2], config=row[3], loss=row[4],
            backbone=row[5], epoch=row[6], best_epoch=best.get(row[0], 0),
        )
        for row in db.execute(f"{sql} {listed}", (asked,))
        if [type(value) for value in row[1:]] == COLUMN_TYPES
    }  # fmt: skip
    foreign = {run_id for (run_id,) in db.execute("select run_id from arrivals")}
    return {
        run_id: trainers[number]
        for run_id, number in tested.items()
        if number in trainers and run_id not in foreign
    }  # fmt: skip


def _network(text: str) -> int | None:
    """The run that the environment of a test names; None of other runs."""
    imported = environment_of(text)[0].get("imported", {})
    number = imported.get("network")
    return number if type(number) is int and 0 < number < LARGEST_NUMBER else None
