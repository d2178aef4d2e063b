"""Sweeps in the database: what is varied, the queue of trials with their runs, and the worker process."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from workbench.jobs import command_line
from workbench.names import LONGEST_SENTENCE, in_one_line, visible_name
from workbench.problem import UnknownName
from workbench.workspace.database.columns import Unreadable, checked_row, parsed, rows_as_one, texts_of, told_of
from workbench.workspace.database.connection import Connection, new_id
from workbench.workspace.database.stored_metrics import HIGHEST_SCORE, possible
from workbench.workspace.experiments import experiments
from workbench.workspace.folders.deleted_checkpoints import why_it_cannot_go_on
from workbench.workspace.measured.artefacts import stored_paths
from workbench.workspace.owners.ownership import Owner, age
from workbench.workspace.tables import placements
from workbench.workspace.times import now
from workbench.workspace.workspace import Workspace

if TYPE_CHECKING:
    from workbench.config import RunConfig

OPEN = ("queued", "running", "paused")  # states of a trial that is still to be done
REFUSED = "refused before training"  # what `stopped` says of a setting whose fields do not go together
NAMES, SENTENCES = ("name", "how", "metric", "source", "device"), ("problem", "stopped")  # that are shown
STARTS = 30.0  # seconds that a worker gets to load the engine before it counts as gone


@dataclass(frozen=True, slots=True)
class Trial:
    """One run of a sweep: a setting with a seed and a fold. The run's numbers are 0 before it has started."""

    id: int
    point: int  # number of the setting, from 1
    place: int  # in the line
    setting: dict[str, Any]  # value by dotted field
    seed: int
    fold: int  # 0 if the split has none
    state: str  # queued, running, paused, done, failed, cancelled
    run_id: int | None
    objective: float | None  # None before the end, and where the run has no such number
    problem: str
    epoch: int
    epochs: int
    seconds: float  # of work so far
    seconds_left: float
    stopped: str  # why it was stopped early, or REFUSED; else empty

    @property
    def refused(self) -> bool:
        """Whether it has no run because the fields of its setting do not go together; `problem` says why."""
        return self.state == "failed" and bool(self.stopped)

    @property
    def stopped_early(self) -> bool:
        """Whether its objective is of an earlier epoch than that of trials that trained to their end."""
        return self.state == "done" and bool(self.stopped)

    @property
    def outcome(self) -> str:
        """Its state, "refused" or "stopped early"."""
        return "refused" if self.refused else "stopped early" if self.stopped_early else self.state


@dataclass(frozen=True, slots=True)
class Sweep:
    """One sweep with the process that works on it."""

    id: int
    name: str
    config: str  # TOML, before any setting
    how: str  # grid, random, bayes
    parameters: tuple[str, ...]  # "FIELD=VALUES"
    points: int  # settings that will be tried
    metric: str  # the objective
    reported: bool  # whether the objective is of the test set
    stop_early: bool  # whether trials below the median of the others are stopped, see `early_stop`
    source: str  # of a preset
    state: str  # active, paused, cancelled, done
    problem: str  # why it is paused; while a worker is there, what it waits for or must do without
    experiment_id: int | None  # that ties its runs together
    created: str
    device: str  # that its worker has or waits for
    holds: bool  # whether it has the device
    alive: bool  # whether a worker is there
    starting: bool  # whether one was started and has not said a word yet


@dataclass(frozen=True, slots=True)
class Point:
    """A setting with the (seed, fold) of each of its runs."""

    setting: dict[str, Any]
    runs: Sequence[tuple[int, int]]


COLUMNS = (
    "id, name, config, how, parameters, points, metric, reported, stop_early, source, state, problem, experiment_id, "
    "created, device, holds, pid, host, born, beat"
)
TRIAL_COLUMNS = (
    "t.id, t.point, t.place, t.setting, t.seed, t.fold, t.state, t.run_id, t.objective, t.problem, "
    "ifnull(r.epoch, 0), ifnull(r.epochs, 0), ifnull(r.seconds, 0), ifnull(r.seconds_left, 0), t.stopped"
)


def create(
    workspace: Workspace,
    config: "RunConfig",
    *,
    how: str,
    parameters: Sequence[str],
    points: int,
    metric: str,
    reported: bool,
    source: str = "",
    first: Sequence[Point] = (),
    stop_early: bool = False,
) -> int:
    """A new sweep with an experiment of its own and the settings that are known already; returns its number.

    Raises:
        Problem: the workspace cannot be written.
    """
    experiment = experiments.create(workspace, config)
    with workspace.writing() as db:
        values = (config.name, config.to_toml(), how, json.dumps(list(parameters)), points, metric, int(reported))
        sweep_id = new_id(
            db.execute(
                "insert into sweeps (name, config, how, parameters, points, metric, reported, source, experiment_id, "
                "created, stop_early, state) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'active')",
                (*values, source, experiment, now(), int(stop_early)),
            )
        )
        for point in first:
            _add_point(db, sweep_id, point)
        # The result of an experiment of one config is meaningless here: this mark prevents it.
        mark = (f"{config.name}, sweep {sweep_id}", json.dumps({"sweep": sweep_id}), experiment)
        db.execute("update experiments set name = ?, result = ? where id = ?", mark)
    return sweep_id


def add_point(workspace: Workspace, sweep_id: int, point: Point) -> None:
    """Put one more setting at the end of the queue."""
    with workspace.writing() as db:
        _add_point(db, sweep_id, point)


def add_refused(workspace: Workspace, sweep_id: int, point: Point, reason: str) -> None:
    """Record a setting that was proposed and cannot be trained, as one trial whatever its seeds and folds."""
    with workspace.writing() as db:
        number = _add_point(db, sweep_id, Point(point.setting, point.runs[:1]))
        sql = "update sweep_trials set state = 'failed', problem = ?, stopped = ? where sweep_id = ? and point = ?"
        db.execute(sql, (reason, REFUSED, sweep_id, number))


def every(workspace: Workspace) -> list[Sweep]:
    """All sweeps, newest first."""
    return _read(workspace, "order by id desc", ())


def one(workspace: Workspace, sweep_id: int) -> Sweep:
    """One sweep. Raises Problem when there is none of that number."""
    sweeps = _read(workspace, "where id = ?", (sweep_id,))
    if not sweeps:
        what = f"There is no sweep {sweep_id} in {workspace.path}."
        shown = command_line("workbench", "sweep", "list", "--workspace", str(workspace.path))
        raise UnknownName(what, todo=f"`{shown}` shows them.")
    return sweeps[0]


def trials(workspace: Workspace, sweep_id: int) -> list[Trial]:
    """The sweep's runs in the order of the queue; one whose run was deleted keeps its line."""
    sql = (
        f"select json_group_array(json_array({TRIAL_COLUMNS})), (select metric from sweeps where id = ?1) "
        "from (select * from sweep_trials where sweep_id = ?1 order by place) t left join runs r on r.id = t.run_id"
    )
    with workspace.reading() as db:  # one row of one text: every row is a wait beside a training thread
        ((text, metric),) = db.execute(sql, (sweep_id,)).fetchall()
    names = [column.name for column in fields(Trial)]
    return [_trial(dict(zip(names, row, strict=True)), str(metric)) for row in json.loads(text)]


def _trial(facts: dict[str, Any], metric: str) -> Trial:
    """One trial, without an objective that its metric cannot be; `problem` names what of its row cannot be read."""
    setting: dict[str, Any] = {}
    text, doubts = facts.pop("setting"), []
    try:
        setting = parsed(text, dict)
    except Unreadable as error:
        doubts = [f"setting ({error})"]
    facts, unread = checked_row(Trial, facts)
    if facts["objective"] is not None and (wrong := possible({metric: facts["objective"]})[1]):
        facts["objective"] = None
        doubts += wrong
    for name in SENTENCES:
        facts[name] = visible_name(facts[name], LONGEST_SENTENCE)
    facts["problem"] = " ".join(part for part in (facts["problem"], told_of([*doubts, *unread])) if part)
    return Trial(**facts, setting=setting)


def chosen_on_reported(workspace: Workspace, run_ids: Sequence[int]) -> dict[int, list[int]]:
    """The sweeps whose objective is of the test set, each with those of the runs that it made."""
    reported = (
        "(select sweep_id, run_id from sweep_trials where run_id in (select value from json_each(?)) "
        "order by sweep_id, run_id) t join sweeps s on s.id = t.sweep_id where s.reported"
    )
    with workspace.reading() as db:
        rows = rows_as_one(db, "t.sweep_id, t.run_id", reported, (json.dumps(list(run_ids)),))
    runs_of_sweep: dict[int, list[int]] = {}
    for sweep_id, run_id in rows:
        runs_of_sweep.setdefault(sweep_id, []).append(run_id)
    return runs_of_sweep


def of_runs(workspace: Workspace, run_ids: Sequence[int]) -> list[int]:
    """The numbers of the sweeps that made some of the runs, the newest first."""
    newest_first = (
        "(select distinct sweep_id from sweep_trials where run_id in (select value from json_each(?)) "
        "order by sweep_id desc)"
    )
    with workspace.reading() as db:
        return [int(number) for (number,) in rows_as_one(db, "sweep_id", newest_first, (json.dumps(list(run_ids)),))]


def best_untrained(workspace: Workspace, sweep_id: int) -> frozenset[int]:
    """The runs of a sweep that were trained and whose best epoch is 0, the network before training."""
    best_at_first = (
        f"(select run_id, {HIGHEST_SCORE}, epoch as best, "
        "(select max(epoch) from evaluations later where later.run_id = evaluations.run_id) as latest "
        "from evaluations where run_id in (select run_id from sweep_trials where sweep_id = ?) group by run_id) "
        "where best = 0 and latest > 0"
    )
    with workspace.reading() as db:
        return frozenset(run_id for (run_id,) in rows_as_one(db, "run_id", best_at_first, (sweep_id,)))


def set_state(workspace: Workspace, sweep_id: int, state: str, problem: str = "") -> None:
    """Set a sweep's state, active or paused; its worker notices within a second."""
    with workspace.writing() as db:
        db.execute("update sweeps set state = ?, problem = ? where id = ?", (state, problem, sweep_id))


def finish(workspace: Workspace, sweep_id: int) -> None:
    """Mark an active sweep as done, unless a trial was put back into its queue meanwhile."""
    with workspace.writing() as db:
        db.execute(
            "update sweeps set state = 'done', problem = '' where id = ? and state = 'active' and not exists "
            "(select 1 from sweep_trials where sweep_id = sweeps.id and state in ('queued', 'paused'))",
            (sweep_id,),
        )


def cancel(workspace: Workspace, sweep_id: int) -> None:
    """End a sweep: its other trials will not be trained, what was trained is kept."""
    with workspace.writing() as db:
        remark_gone = "problem = case state when 'active' then '' else problem end"
        db.execute(f"update sweeps set state = 'cancelled', {remark_gone} where id = ?", (sweep_id,))
        db.execute(
            "update sweep_trials set state = 'cancelled' where sweep_id = ? "
            "and state in ('queued', 'running', 'paused')",
            (sweep_id,),
        )


def retry(workspace: Workspace, sweep_id: int, trial_id: int | None = None) -> int:
    """Put failed and cancelled trials, or one of them, back into the queue; returns how many.

    Their runs go on from their last checkpoints; one whose checkpoint was deleted or is missing stays as it is, beside
    a new run. A run at a place goes on there, whatever of it is here.
    """
    with workspace.writing() as db:
        begun = (
            "select run_id from sweep_trials where sweep_id = ? and id = ifnull(?, id) "
            "and state in ('failed', 'cancelled') and run_id > 0"
        )
        for (run_id,) in db.execute(begun, (sweep_id, trial_id)).fetchall():
            saved = bool(stored_paths(db, run_id, "checkpoint"))
            away = bool(placements.every(db, run_id))
            if not away and why_it_cannot_go_on(workspace.folder(run_id), saved=saved):
                db.execute("update sweep_trials set run_id = null where run_id = ?", (run_id,))
        back = db.execute(
            "update sweep_trials set state = 'queued', problem = '', stopped = '' where sweep_id = ? "
            "and id = ifnull(?, id) "
            "and (state = 'failed' and stopped = '' or state = 'cancelled')",  # what was refused would be again
            (sweep_id, trial_id),
        ).rowcount
        if back:
            db.execute("update sweeps set state = 'active', problem = '' where id = ?", (sweep_id,))
    return back


def move(workspace: Workspace, sweep_id: int, trial_id: int, by: int) -> bool:
    """Move a trial that has not started by that many positions in the queue; False if it cannot move so far."""
    with workspace.writing() as db:
        rows = db.execute(
            "select id, place from sweep_trials where sweep_id = ? and state = 'queued' and run_id is null "
            "order by place",
            (sweep_id,),
        ).fetchall()
        line = [row[0] for row in rows]
        if trial_id not in line or not 0 <= line.index(trial_id) + by < len(line):
            return False
        target = line.index(trial_id) + by
        line.remove(trial_id)
        line.insert(target, trial_id)
        for trial, (_, place) in zip(line, rows, strict=True):
            db.execute("update sweep_trials set place = ? where id = ?", (place, trial))
    return True


def _add_point(db: Connection, sweep_id: int, point: Point) -> int:
    """Returns the number of the setting."""
    number, place = db.execute(
        "select ifnull(max(point), 0) + 1, ifnull(max(place), 0) + 1 from sweep_trials where sweep_id = ?", (sweep_id,)
    ).fetchone()
    db.executemany(
        "insert into sweep_trials (sweep_id, point, place, setting, seed, fold, state) "
        "values (?, ?, ?, ?, ?, ?, 'queued')",
        [
            (sweep_id, number, place + step, json.dumps(point.setting), seed, fold)
            for step, (seed, fold) in enumerate(point.runs)
        ],
    )
    return int(number)


def _read(workspace: Workspace, where: str, values: tuple[Any, ...]) -> list[Sweep]:
    with workspace.reading() as db:
        return [_sweep(row) for row in rows_as_one(db, COLUMNS, f"(select * from sweeps {where})", values)]


def _sweep(row: list[Any]) -> Sweep:
    """One sweep; `problem` names what of its row cannot be read."""
    values, worker = row[:-4], Owner(*row[-4:])
    facts, doubts = dict(zip(COLUMNS.split(", "), values, strict=False)), []
    try:
        parameters = texts_of(facts.pop("parameters"))
    except Unreadable as error:
        parameters, doubts = (), [f"parameters ({error})"]
    reported, holds, stop_early = (bool(facts.pop(name)) for name in ("reported", "holds", "stop_early"))
    facts, unread = checked_row(Sweep, facts)
    for name in NAMES:
        facts[name] = visible_name(facts[name])
    facts["problem"] = visible_name(facts["problem"], LONGEST_SENTENCE)
    facts["name"] = in_one_line(facts["name"])
    alive = worker.alive
    # A killed worker leaves its last remark, which is no longer true.
    remark = facts["problem"] if alive or facts["state"] != "active" else ""
    facts["problem"] = " ".join(part for part in (remark, told_of([*doubts, *unread])) if part)
    return Sweep(
        **facts, reported=reported, stop_early=stop_early, holds=holds, parameters=parameters, alive=alive,
        starting=starts_now(worker),
    )  # fmt: skip


def starts_now(worker: Owner) -> bool:
    """Whether a worker was started a moment ago and has not taken its sweep yet; a clock may have been set since."""
    return worker.pid is None and abs(age(worker.beat)) < STARTS
