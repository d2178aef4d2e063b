"""Experiments in the database: one config whose runs, over folds and seeds, belong together."""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from workbench.names import in_one_line, visible_name
from workbench.workspace.database.columns import Unreadable, parsed
from workbench.workspace.database.connection import Connection, new_id
from workbench.workspace.rows import Experiment, Run
from workbench.workspace.tables import runs
from workbench.workspace.times import now
from workbench.workspace.workspace import Workspace

if TYPE_CHECKING:
    from workbench.config import RunConfig


def create(workspace: Workspace, config: "RunConfig") -> int:
    """A new experiment without runs; returns its number. Raises Problem if the workspace cannot be written."""
    with workspace.writing() as db:
        values = (config.name, config.to_toml(), now())
        return new_id(db.execute("insert into experiments (name, config, created) values (?, ?, ?)", values))


def take_back(workspace: Workspace, experiment_id: int, run_ids: Sequence[int]) -> None:
    """Remove an experiment that was just created, and its queued runs, which this process made.

    Raises:
        Problem: the workspace cannot be written.
    """
    runs.take_back(workspace, run_ids)
    with workspace.writing() as db:
        db.execute("delete from experiments where id = ?", (experiment_id,))


def every(workspace: Workspace) -> list[Experiment]:
    """All experiments, newest first."""
    with workspace.reading() as db:
        return experiments(db)


def experiments(db: Connection) -> list[Experiment]:
    """As `every`, over a connection."""
    sql = "select id, name, config, created, result from experiments order by id desc"
    return [_experiment(*row) for row in db.execute(sql)]


def _experiment(number: int, name: str, config: str, created: str, text: str) -> Experiment:
    """One experiment; a result that cannot be read is left out, and its name says so."""
    name = in_one_line(visible_name(name))
    try:
        result = parsed(text, dict)
        numbers = [result.get("separated", {}), *result.get("concatenated", [])]
        if not all(isinstance(values, dict) for values in numbers) or not isinstance(result.get("runs", 0), int):
            raise Unreadable("it is not a result")
    except (Unreadable, TypeError) as error:
        return Experiment(number, f"{name} (its result could not be read: {error})", config, created, {})
    return Experiment(number, name, config, created, result)


def runs_of(workspace: Workspace, experiment_id: int) -> list[Run]:
    """The experiment's runs that are not in the trash, in the order in which they were made."""
    with workspace.reading() as db:
        return runs.read_runs(db, "experiment_id = ? and trashed is null", (experiment_id,))[::-1]


def set_result(workspace: Workspace, experiment_id: int, result: dict[str, Any]) -> None:
    """Store the joint result of the runs."""
    with workspace.writing() as db:
        db.execute("update experiments set result = ? where id = ?", (json.dumps(result), experiment_id))
