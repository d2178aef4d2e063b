"""Runs in the database: read with their tags and scores, created, changed by the user, taken over or released."""

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from workbench import files
from workbench.events import LIVE, RunState
from workbench.files import parts
from workbench.names import LONGEST_SENTENCE, in_one_line, visible_name
from workbench.problem import Problem
from workbench.workspace.contract import OpenWorkspace
from workbench.workspace.database.columns import Unreadable, checked_row, environment_of, told_of
from workbench.workspace.database.connection import Connection
from workbench.workspace.database.stored_metrics import HIGHEST_SCORE, metrics_of, named
from workbench.workspace.folders.dataset_copy import fingerprints_of_images, keep_experiment
from workbench.workspace.folders.run_folders import RUNS, next_number
from workbench.workspace.measured import sealing, superseded
from workbench.workspace.owners import ownership
from workbench.workspace.paths import inside, remove_folder
from workbench.workspace.rows import DISTANCES, Placement, Run, Trainer
from workbench.workspace.tables import placements, replaced_runs
from workbench.workspace.tables.trainers import trainers_of_tests
from workbench.workspace.times import now

if TYPE_CHECKING:
    from workbench.config import RunConfig

RUN_COLUMNS = (
    "id, name, status, problem, phase, created, ended, seed, config, dataset_id, dataset, loss, backbone, done, total, "
    "epoch, epochs, images_per_second, memory_bytes, seconds_left, seconds, colour, note, pid, host, environment, "
    "trashed, experiment_id"
)


NAMES, SENTENCES = ("name", "dataset", "loss", "backbone"), ("problem", "phase")  # columns that are shown, not edited
Stored = tuple[Any, ...]  # what the database holds of one run: its row, tags, metrics, placement, images and trainer
Last = tuple[str, int]  # the metrics of the last evaluation as JSON, and how many have a distance that is none
Known = dict[int, tuple[Stored, Run]]  # by run, as it was read last


def read_runs(db: Connection, where: str, values: tuple[Any, ...], known: Known | None = None) -> list[Run]:
    """Runs with their tags and the metrics of their best (highest MAP@R) and last evaluation, newest first.

    Args:
        known: runs that were read before, which is updated; a run that has not changed is the same object.
    """
    rows = db.execute(f"select {RUN_COLUMNS} from runs where {where} order by id desc", values).fetchall()
    only = rows[0][0] if len(rows) == 1 else None  # of one run among a thousand, nothing of the others is read
    its = _of(only)
    tags: dict[int, list[str]] = {}
    for run_id, tag in db.execute(f"select run_id, tag from tags {its} order by tag"):
        tags.setdefault(run_id, []).append(visible_name(tag))
    best, last = _best_and_last(db, its)
    placed = {placement.run_id: placement for placement in placements.every(db, only)}
    images, of_data = fingerprints_of_images(db), RUN_COLUMNS.split(", ").index("dataset_id")
    before, now_known = known or {}, Known()
    trainers = trainers_of_tests(db, {row[0]: row[RUN_COLUMNS.split(", ").index("environment")] for row in rows})
    for row in rows:
        number, seen = row[0], images.get(row[of_data], "")
        stored = (
            tuple(row), tuple(tags.get(number, ())), best.get(number), last.get(number), placed.get(number), seen,
            trainers.get(number),
        )  # fmt: skip
        same = before.get(number)
        now_known[number] = same if same is not None and same[0] == stored else (stored, _run(*stored))
    if known is not None:
        known.clear()
        known.update(now_known)
    return [run for _, run in now_known.values()]


def _run(
    columns: Stored, tags: tuple[str, ...], best: tuple[str, int] | None, last: Last | None,
    placement: Placement | None, images: str, trainer: Trainer | None,
) -> Run:  # fmt: skip
    """One run; `unread` names what of its row cannot be read."""
    row = dict(zip(RUN_COLUMNS.split(", "), columns, strict=True))
    facts = {name: value for name, value in row.items() if name != "environment"}
    facts, doubts = checked_row(Run, facts)
    for field in NAMES:
        facts[field] = in_one_line(visible_name(facts[field]))
    for field in SENTENCES:
        facts[field] = visible_name(facts[field], LONGEST_SENTENCE)
    environment, missing = environment_of(row["environment"])
    doubts += missing
    metrics: list[dict[str, float]] = []
    for text in (None if best is None else best[0], None if last is None else last[0]):
        try:
            known, wrong = ({}, []) if text is None else metrics_of(text)
            metrics.append(known)
            doubts += [f"the metrics of an evaluation ({named(wrong)})"] if wrong else []
        except Unreadable as error:
            metrics.append({})
            doubts.append(f"the metrics of an evaluation ({error})")
    if last is not None and last[1]:
        doubts.append("the distance of an evaluation, which is left out")
    if trainer is not None:
        facts["seed"] = trainer.seed
    return Run(
        **facts, environment=environment, tags=tags, best=metrics[0], best_epoch=0 if best is None else best[1],
        last=metrics[1], unread=told_of(doubts), placement=placement, images=images, trainer=trainer,
    )  # fmt: skip


def _of(run_id: int | None) -> str:
    """The condition for the rows of one run; empty for those of all."""
    return "" if run_id is None else f"where run_id = {int(run_id)}"


def _best_and_last(db: Connection, where: str) -> tuple[dict[int, tuple[str, int]], dict[int, Last]]:
    """By run the metrics as JSON and the epoch of the best evaluation, and what is known of the last one."""
    # SQLite fills bare columns from the row that holds the maximum.
    sql = f"select run_id, {HIGHEST_SCORE}, metrics, epoch from evaluations"
    best = db.execute(f"{sql} {where} group by run_id")
    # By epoch, not by number: a repair brings an earlier evaluation back with a higher number.
    latest = f"max(epoch * {1 << 32} + id)"
    odd = f"sum(distance not in ({', '.join(map(repr, DISTANCES))}))"
    last = db.execute(f"select run_id, {latest}, metrics, {odd} from evaluations {where} group by run_id")
    return {row[0]: (row[2], row[3]) for row in best}, {row[0]: (row[2], row[3]) for row in last}


def next_colour(db: Connection, experiment: int | None) -> int:
    """The colour of a new run: each experiment, and each run without one, begins with another than the one before.

    Further runs of an experiment have the colours after its first one's: the list shows that for all of them.
    """
    own = "select colour, count(*) from (select colour from runs where experiment_id = ? order by id)"
    ((first, already),) = db.execute(own, (experiment,)).fetchall()
    if already:
        return int(first + already)
    groups = "select count(distinct experiment_id) + count(*) - count(experiment_id) from runs"
    return int(db.execute(groups).fetchone()[0])


def create_run(
    workspace: OpenWorkspace, config: "RunConfig", experiment: int | None, created: str, facts: Mapping[str, Any]
) -> int:
    """As `Workspace.create_run`.

    Raises:
        Problem: it cannot be written; then there is no new run.
    """
    text = config.to_toml()
    values = (config.name, text, config.seed, config.dataset.name, config.loss.name, config.backbone.name)
    with workspace.writing() as db:
        run_id = next_number(db, workspace.path / "runs")
        db.execute(
            "insert into runs (id, name, config, seed, dataset, loss, backbone, created, status, epochs, colour, "
            "experiment_id, environment) "
            "values (?, ?, ?, ?, ?, ?, ?, ?, 'queued', ?, ?, ?, ?)",
            (
                run_id, *values, created or now(), config.planned_epochs, next_colour(db, experiment), experiment,
                json.dumps(dict(facts)),
            ),
        )  # fmt: skip
        ownership.own(db, "runs", run_id)
    try:
        complete_folder(workspace, run_id, text, experiment)
    except Problem:
        with suppress(Problem):  # the disk may refuse this, too
            take_back(workspace, [run_id])
        raise
    return run_id


def take_back(workspace: OpenWorkspace, run_ids: Sequence[int]) -> None:
    """Remove queued runs that this process has just made, with their folders, which make room for the rest.

    Their numbers may be given again: nothing names them yet.

    Raises:
        Problem: the workspace cannot be written.
    """
    for run_id in run_ids:
        remove_folder(workspace.path / RUNS, str(run_id))
    with workspace.writing() as db:
        db.executemany("delete from runs where id = ? and status = 'queued'", [(run_id,) for run_id in run_ids])


def complete_folder(workspace: OpenWorkspace, run_id: int, config: str, experiment: int | None) -> None:
    """Create a run's folder with its config and experiment, or complete what a killed program left.

    Raises:
        Problem: the disk is full, or the folder cannot be written.
    """
    files.make_folder(workspace.folder(run_id))
    if config and not workspace.has_file(run_id, "config.toml"):  # empty if its row cannot be read
        with files.atomic_write(workspace.file(run_id, "config.toml")) as file:
            file.write(config.encode())
    if experiment is not None and not workspace.has_file(run_id, "experiment.json"):
        with workspace.reading() as db:
            keep_experiment(db, experiment, workspace.folder(run_id))


def set_column(db: Connection, run_id: int, column: str, value: object) -> None:
    """Change one column of a run's row. Raises Problem if there is none."""
    if not db.execute(f'update runs set "{column}" = ? where id = ?', (value, run_id)).rowcount:
        raise Deleted(run_id)


def rename(db: Connection, run_id: int, name: str, before: str | None = None) -> str:
    """Give a run another name; returns the one that it had.

    Args:
        before: the only name that is replaced.

    Raises:
        Problem: it has another name than `before`, or there is no such run.
    """
    row = db.execute("select name from runs where id = ?", (run_id,)).fetchone()
    if row is None:
        raise Deleted(run_id)
    had = str(row[0])
    if before is not None and before not in (had, visible_name(had), in_one_line(visible_name(had))):
        raise Problem(f"The run was renamed “{visible_name(had)}” meanwhile by another window or a command.")
    set_column(db, run_id, "name", name)
    return had


def set_tags(db: Connection, run_id: int, tags: Sequence[str], before: Sequence[str] | None = None) -> None:
    """Give a run these tags and no others; spaces around them and empty ones are dropped.

    Args:
        before: the tags that a person changed to these: others, which the run got meanwhile, stay.

    Raises:
        Problem: there is no such run.
    """
    check_there(db, run_id)
    stored = [tag for (tag,) in db.execute("select tag from tags where run_id = ?", (run_id,)).fetchall()]
    meanwhile = [] if before is None else [tag for tag in stored if visible_name(tag) not in before]
    db.execute("delete from tags where run_id = ?", (run_id,))
    words = sorted({tag.strip() for tag in tags if tag.strip()} | set(meanwhile))
    db.executemany("insert into tags (run_id, tag) values (?, ?)", [(run_id, tag) for tag in words])


def set_note(db: Connection, run_id: int, note: str, before: str) -> bool:
    """Replace the note `before` of a run; whether it has another one meanwhile, which then stands below the new."""
    stored = "".join(text for (text,) in db.execute("select note from runs where id = ?", (run_id,)))
    meanwhile = stored.removeprefix(before).strip("\n") if stored not in (before, note) else ""
    set_column(db, run_id, "note", "\n".join(filter(None, (note, meanwhile))))
    return bool(meanwhile)


class Deleted(Problem):
    """A run is not there any more."""

    def __init__(self, run_id: int) -> None:
        what = f"Run {run_id} no longer exists: it was permanently deleted by another window or a command."
        super().__init__(what, kept="Nothing was changed.")


def check_there(db: Connection, run_id: int) -> None:
    """Raise Deleted if there is no such run."""
    if db.execute("select 1 from runs where id = ?", (run_id,)).fetchone() is None:
        raise Deleted(run_id)


def set_status(db: Connection, run_id: int, status: str, problem: str) -> None:
    """Set a run's state from outside the run. Raises Deleted if there is none."""
    check_there(db, run_id)
    db.execute("update runs set status = ?, problem = ? where id = ?", (status, problem, run_id))
    if not RunState(status).live:
        sealing.seal_curves(db, run_id)


def looks_for_stop(db: Connection, run_id: int) -> None:
    """Note that the run's loop asks from time to time whether to stop."""
    _set_of_loop(db, run_id, "looks")


def ask_to_stop(db: Connection, run_id: int) -> None:
    """Ask the loop of the user's own that records a run to stop. Raises Problem where it has ended or does not look."""
    (run,) = read_runs(db, "id = ?", (run_id,)) or (None,)
    if run is None or not run.looks_for_stop:
        what = f"Run {run_id} cannot be asked to stop: it has ended, or its training loop does not look for that."
        raise Problem(what, kept="Nothing was changed.", todo="Stop it in the program that records it.")
    _set_of_loop(db, run_id, "stop")


def is_asked_to_stop(db: Connection, run_id: int) -> bool:
    """Whether a person has asked the run's loop to stop."""
    sql = "select 1 from runs where id = ? and json_extract(environment, '$.own_loop.stop')"
    return db.execute(sql, (run_id,)).fetchone() is not None


def _set_of_loop(db: Connection, run_id: int, name: str) -> None:
    sql = f"update runs set environment = json_set(environment, '$.own_loop.{name}', json('true')) where id = ?"
    db.execute(sql, (run_id,))


def forget_after(db: Connection, run_id: int, step: int) -> int:
    """Delete what a run recorded after that step; returns the number of deleted points."""
    deleted = "delete from scalar_points where run_id = ? and step > ?"
    points: int = db.execute(deleted, (run_id, step)).rowcount
    db.execute("delete from charts where run_id = ? and step > ?", (run_id, step))
    later = "select id from evaluations where run_id = ? and step > ?"
    db.execute(f"delete from projections where evaluation_id in ({later})", (run_id, step))
    db.execute("delete from evaluations where run_id = ? and step > ?", (run_id, step))
    db.execute("update runs set done = min(done, ?) where id = ?", (max(0, step), run_id))
    return points


def add_note(db: Connection, run_id: int, text: str, *, once: bool = False) -> None:
    """Add a line to the run's note; with `once` only if the note does not have it."""
    sql = "update runs set note = ltrim(note || char(10) || ?, char(10)) where id = ?"
    db.execute(f"{sql} and instr(note, ?) = 0" if once else sql, (text, run_id, *([text] if once else [])))


def trash(db: Connection, run_id: int) -> None:
    """Put a run into the trash.

    Raises:
        Working: it is running, or waits in another process's queue.
        Deleted: there is no such run.
    """
    check_there(db, run_id)
    ownership.mark_dead_runs(db)
    owner = ownership.owner_of(db, "runs", run_id)
    own = owner is None or owner.here
    ownership.refuse_while_working(db, run_id, (RunState.RUNNING, RunState.WAITING) if own else LIVE)
    set_column(db, run_id, "trashed", now())


def sweep_dead_runs(workspace: OpenWorkspace) -> list[int]:
    """Mark runs whose owner is gone (see ownership.py) as interrupted; returns their numbers.

    What they left half done in their folders is removed, too, and what a kill left of runs that were being deleted. A
    run in whose place a killed program has made a new one goes into the trash.
    """
    if not workspace.read_only:
        with suppress(Problem):  # a link
            parts.remove_dead(inside(workspace.path, RUNS))
    with workspace.reading() as db:
        dead = [] if workspace.read_only else ownership.dead_runs(db)
        unsettled = not workspace.read_only and bool(replaced_runs.half_replaced(db))
    if dead:
        with workspace.writing() as db:
            dead = ownership.mark_dead_runs(db)
    if unsettled:
        replaced_runs.complete(workspace)
    for run_id in dead:
        with suppress(Problem):  # a folder that is a link: the workspace opens, and nothing there is touched
            parts.remove_dead(workspace.folder(run_id))
            superseded.sweep_maps(workspace, run_id)
    return dead
