"""What the worker of a sweep records: that it is running, its device, and the results of its trials."""

import json
import os
from collections.abc import Callable, Sequence
from typing import Any

from workbench.problem import Problem
from workbench.workspace.database.columns import Unreadable, parsed
from workbench.workspace.database.connection import Connection
from workbench.workspace.experiments.sweeps import Trial, starts_now
from workbench.workspace.folders.deleted_checkpoints import why_it_cannot_go_on
from workbench.workspace.measured.artefacts import stored_paths
from workbench.workspace.owners import ownership
from workbench.workspace.owners.ownership import Owner
from workbench.workspace.tables import placements
from workbench.workspace.times import now
from workbench.workspace.workspace import Workspace

MOST_WORKERS = 64  # runs of a sweep at once


def remember(workspace: Workspace, sweep_id: int, devices: Sequence[str], workers: int, place: str = "") -> None:
    """Store what a worker was asked to use, for the next one.

    Args:
        devices: by name; none for the config's.
        workers: runs at once, 0 for one on each device.
        place: the name of the place that they are at, empty for this machine.
    """
    asked = {"devices": list(devices), "workers": workers, "place": place}
    with workspace.writing() as db:
        number, mark = _mark(db, sweep_id)
        if number is not None:
            text = json.dumps({**mark, "worker": asked})
            db.execute("update experiments set result = ? where id = ?", (text, number))


def remembered(workspace: Workspace, sweep_id: int, place: str = "") -> tuple[tuple[str, ...], int]:
    """The devices and runs at once that `remember` stored for that place; none and 0 where it stored nothing."""
    with workspace.reading() as db:
        _, mark = _mark(db, sweep_id)
    match mark.get("worker"):
        case {"devices": [*names], "workers": int(workers), "place": str(there)} if there == place:
            sound = all(isinstance(name, str) for name in names) and 0 <= workers <= MOST_WORKERS
            return (tuple(names), workers) if sound else ((), 0)
    return (), 0


def _mark(db: Connection, sweep_id: int) -> tuple[int | None, dict[str, Any]]:
    """The experiment of a sweep with what is stored about it; None without one, or with what cannot be read."""
    sql = "select e.id, e.result from sweeps s join experiments e on e.id = s.experiment_id where s.id = ?"
    row = db.execute(sql, (sweep_id,)).fetchone()
    try:
        return (None, {}) if row is None else (row[0], parsed(row[1], dict))
    except Unreadable:  # whoever lists the experiments says so
        return None, {}


def announce(workspace: Workspace, sweep_id: int) -> bool:
    """Record that a worker is about to be started; False if there is one or one was started a moment ago."""
    with workspace.writing() as db:
        worker = ownership.owner_of(db, "sweeps", sweep_id)
        if worker is None or worker.alive or starts_now(worker):
            return False
        db.execute("update sweeps set pid = null, holds = 0, beat = ? where id = ?", (now(), sweep_id))
    return True


def take(workspace: Workspace, sweep_id: int, device: str) -> None:
    """Make this process the sweep's worker; what a dead one left half done is put back into the queue.

    Raises:
        Problem: another process works on the sweep, or it is finished.
    """
    with workspace.writing() as db:
        worker = ownership.owner_of(db, "sweeps", sweep_id)
        if worker is None:
            raise Problem(f"There is no sweep {sweep_id} in {workspace.path}.")
        if worker.alive and not worker.here:
            raise Problem(f"Sweep {sweep_id} has a worker: {worker}.", todo="`workbench sweep show` shows its state.")
        ownership.own(db, "sweeps", sweep_id)
        db.execute("update sweeps set device = ?, holds = 0 where id = ?", (device, sweep_id))
        db.execute(
            "update sweep_trials set state = 'queued' where sweep_id = ? and state in ('running', 'paused')",
            (sweep_id,),
        )


def is_next(workspace: Workspace, sweep_id: int, device: str) -> bool:
    """Whether this sweep may use the device, by the workspace's rows: no other has it, and no older one waits."""
    with workspace.reading() as db:
        return _is_next(db, sweep_id, device)


def take_device(workspace: Workspace, sweep_id: int, device: str) -> bool:
    """Take the device for this process's sweep: False while the worker of another has it, or an older one waits."""
    with workspace.writing() as db:
        if not _is_next(db, sweep_id, device):
            return False
        db.execute("update sweeps set holds = 1, beat = ? where id = ?", (now(), sweep_id))
    return True


def _is_next(db: Connection, sweep_id: int, device: str) -> bool:
    others = db.execute(
        "select id, device, holds, pid, host, born, beat from sweeps where id != ? and pid is not null", (sweep_id,)
    ).fetchall()
    wanted = set(device.split(","))
    return not any(
        (holds or other < sweep_id)
        and ownership.is_here(worker[1])
        and not wanted.isdisjoint(theirs.split(","))
        and Owner(*worker).alive
        for other, theirs, holds, *worker in others
    )


def remark(workspace: Workspace, sweep_id: int, words: str) -> None:
    """Record what the worker waits for or must do without. A paused sweep keeps its reason."""
    with workspace.writing() as db:
        db.execute("update sweeps set problem = ? where id = ? and state = 'active'", (words, sweep_id))


def reason_of_end(workspace: Workspace, sweep_id: int, words: str) -> None:
    """Record why a sweep does not go on, and what is left of it elsewhere, unless it was resumed meanwhile."""
    with workspace.writing() as db:
        db.execute("update sweeps set problem = ? where id = ? and state != 'active'", (words, sweep_id))


def beat(workspace: Workspace, sweep_id: int) -> None:
    """Renew the worker's heartbeat, for other machines."""
    with workspace.writing() as db:
        db.execute("update sweeps set beat = ? where id = ?", (now(), sweep_id))


def leave(workspace: Workspace, sweep_id: int, *, even_if_active: bool = True) -> bool:
    """Release the sweep from this process; False if it was resumed meanwhile and should take its device again."""
    ours = (os.getpid(), ownership.this_host())
    with workspace.writing() as db:
        left = db.execute(
            "update sweeps set pid = null, holds = 0, device = '', beat = null "
            "where id = ? and pid = ? and host = ? and (? or state != 'active')",
            (sweep_id, *ours, even_if_active),
        ).rowcount
        db.execute("update sweeps set holds = 0 where id = ? and pid = ? and host = ?", (sweep_id, *ours))
    return bool(left)


def begin(workspace: Workspace, trial: Trial, make_run: Callable[[], int]) -> int:
    """Give a trial its run, made by `make_run` unless it has one, and mark it as running; returns the run's number."""
    run_id = make_run() if trial.run_id is None else trial.run_id
    with workspace.writing() as db:
        db.execute(
            "update sweep_trials set state = 'running', run_id = ?, problem = '' where id = ?", (run_id, trial.id)
        )
    return run_id


def unlinked_run(workspace: Workspace, experiment_id: int, config: str) -> int | None:
    """A run that was made for a trial just before its worker was killed, and has not begun; None without one."""
    sql = (
        "select id from runs where experiment_id = ? and config = ? and status in ('queued', 'interrupted') "
        "and id not in (select run_id from sweep_trials where run_id is not null)"
    )
    values = (experiment_id, config)
    with workspace.reading() as db:
        left = {int(number): stored_paths(db, number, "checkpoint") for (number,) in db.execute(sql, values).fetchall()}
        away = {number for number in left if placements.every(db, number)}
    able = (
        number
        for number, saved in left.items()
        if number in away or not why_it_cannot_go_on(workspace.folder(number), saved=bool(saved))
    )
    return next(able, None)


def end(workspace: Workspace, trial: Trial, state: str, objective: float | None = None, problem: str = "") -> None:
    """Store the result of a trial. One that was cancelled meanwhile stays so unless it is done.

    A trial that failed, or that is done without a problem, was not stopped early even if that was decided.
    """
    whole = state == "failed" or (state == "done" and not problem)
    with workspace.writing() as db:
        db.execute(
            "update sweep_trials set state = ?, objective = ?, problem = ?, "
            "stopped = case when ? then '' else stopped end where id = ? and (state != 'cancelled' or ? = 'done')",
            (state, objective, problem, whole, trial.id, state),
        )
