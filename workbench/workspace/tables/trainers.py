"""Which run trained the network of each test on other images."""

import json
from collections.abc import Mapping
from typing import Any

from workbench.names import in_one_line, visible_name
from workbench.workspace.database.columns import checked_row, environment_of
from workbench.workspace.database.connection import Connection
from workbench.workspace.rows import LARGEST_NUMBER, Trainer

MARK = '"network"'  # in the environment of every test, and of few other runs
COLUMNS = ("id", "name", "seed", "config", "loss", "backbone", "epoch")


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
    sql = f"select {', '.join(COLUMNS)} from runs where trashed is null and id in {listed}"
    trainers = dict[int, Trainer]()
    for row in db.execute(sql, (asked,)):
        facts, doubts = checked_row(Trainer, dict(zip(COLUMNS, row, strict=True)))
        if not doubts:
            name = in_one_line(visible_name(facts.pop("name")))
            trainers[facts["id"]] = Trainer(**facts, name=name, best_epoch=best.get(facts["id"], 0))
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
