"""Events in, rows out: the only writer of a run. Commits five times a second, whatever the speed."""

import contextlib
import json
import logging
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from time import monotonic, sleep
from typing import Any

from workbench.control import Control, insist
from workbench.events import (
    Charted,
    Ended,
    Evaluated,
    Event,
    Noted,
    Progress,
    Resumed,
    Saved,
    Scalar,
    Status,
    Waiting,
)
from workbench.files import parts
from workbench.problem import Problem, RunTaken
from workbench.workspace import ownership, stored_evaluation
from workbench.workspace.artefacts import add_artefact
from workbench.workspace.connection import Busy, Connection, Gone, InPlace
from workbench.workspace.dataset_copy import keep_dataset
from workbench.workspace.journal import Journal
from workbench.workspace.numbers import metrics_json
from workbench.workspace.runs import complete_folder
from workbench.workspace.times import now
from workbench.workspace.uncommitted import Uncommitted
from workbench.workspace.workspace import Workspace

COMMIT_EVERY = 0.2  # seconds; a killed run loses at most this much of its curve
PATIENCE = 60.0  # seconds for a program that holds the database, where no person can be asked
LAST_WORD = 10.0  # seconds in which the end of a run is tried again where the disk refuses it
AGAIN = 0.5  # seconds between two of these trials
REPAIRED = "repaired"  # in a run's environment: what a repair of the workspace could not bring back

log = logging.getLogger(__name__)


class Recorder:
    """Call it with events. Used by one thread only, the run's, wherever it was made.

    It writes as long as the run is this process's: each transaction looks first, and RunTaken ends the run where
    another process has taken it over.

    Every event goes to `journal.jsonl` in the run's folder before it is committed, so that a database can be rebuilt.
    On a full disk, or when the database is taken away, an attended run is paused; what was not written is kept in
    memory and tried again.

    Args:
        workspace: where the run lives.
        run_id: the run.
        control: of the run, to pause it; None raises the Problem instead.

    Raises:
        RunTaken: the run is not this process's.
    """

    def __init__(self, workspace: Workspace, run_id: int, control: Control | None = None) -> None:
        self._workspace, self.run_id, self._control = workspace, run_id, control
        self._folder = workspace.folder(run_id)
        with workspace.reading() as db:
            self._token = ownership.hold(db, run_id)
        run = workspace.run(run_id)
        complete_folder(workspace, run_id, run.config, run.experiment_id)
        parts.remove_dead(self._folder)  # of a program that was killed before the run had an owner
        self._journal, self._in_place = Journal(self._folder), InPlace(workspace.database)
        self._new = Uncommitted(run_id)
        self._rows: dict[int, int] = {}
        self._committed = monotonic()
        self._active_since: float | None = None
        self._seconds = run.seconds

    def __call__(self, event: Event) -> None:
        match event:
            case Scalar(name, step, value):
                self._new.add_point(name, step, value)
            case Charted(step, charts):
                self._new.add_charts(step, charts)
            case Progress():
                self._progress(event)
            case Status(text):
                self._new.changes["phase"] = text
                self._begin()
            case Waiting(reason):
                self._pause_clock()
                self._new.changes.update(status="waiting", problem=reason)
                self._commit()
            case Resumed():
                self._begin()
                self._new.changes.update(status="running", problem="")
                self._commit()
            case Evaluated():
                self._commit()
                self._insist(partial(self._evaluated, event))
            case Noted(text):
                self._insist(partial(self._note, text))
            case Saved(kind, path, epoch, step):
                self._new.changes["epoch"] = max(epoch, self._new.changes.get("epoch", 0))
                self._insist(partial(self._saved, kind, path, step))
            case Ended(status, problem):
                self._pause_clock()
                self._new.changes.update(status=status, problem=problem, phase="", ended=now(), seconds_left=0.0)
                try:
                    self._last_word()
                finally:
                    self._journal.close()
                    ownership.release(self._token)
                return
        if monotonic() - self._committed > COMMIT_EVERY:
            self._commit()

    def dataset(self, dataset_id: int) -> None:
        """Tie the run to its data set; evaluations are stored by its rows."""
        samples = self._workspace.samples(dataset_id)
        self._rows = dict(zip(samples.ids.tolist(), samples.rows.tolist(), strict=True))
        with self._writing() as db:
            db.execute("update runs set dataset_id = ? where id = ?", (dataset_id, self.run_id))
            keep_dataset(db, dataset_id, self._folder)

    def environment(self, facts: dict[str, Any]) -> None:
        """Versions, device and parameters of this run, as JSON beside it; what a repair could not bring back stays."""
        before = self._workspace.run(self.run_id).environment
        facts = facts | {name: before[name] for name in (REPAIRED,) if name in before}
        with self._writing() as db:
            db.execute("update runs set environment = ? where id = ?", (json.dumps(facts), self.run_id))
            self._append([json.dumps({"environment": facts})])

    def reached(self, epoch: int) -> None:
        """Say how far the run has come where it saves no checkpoint."""
        self._new.changes["epoch"] = epoch

    def flush(self) -> None:
        """Commit all events so far, before their checkpoint is written. Raises Problem; RunTaken on a lost run."""
        self._new.changes.update(heartbeat=now(), seconds=self._seconds_so_far())
        try:
            self._store()
        except Gone:  # a run that was asked to stop goes on in its folder to the end of the epoch
            if self._control is None or not (self._control.attended and self._control.stop_asked):
                raise

    def forget_after(self, step: int) -> int:
        """Drop what an interrupted run recorded after the checkpoint it resumes from: it will be recorded again.

        Returns the number of points of curves that went.
        """
        with self._writing() as db:
            deleted = "delete from scalar_points where run_id = ? and step > ?"
            points: int = db.execute(deleted, (self.run_id, step)).rowcount
            db.execute("delete from charts where run_id = ? and step > ?", (self.run_id, step))
            db.execute(
                "delete from projections where evaluation_id in "
                "(select id from evaluations where run_id = ? and step > ?)",
                (self.run_id, step),
            )
            db.execute("delete from evaluations where run_id = ? and step > ?", (self.run_id, step))
            db.execute("update runs set done = min(done, ?) where id = ?", (max(0, step), self.run_id))
        self._append([json.dumps({"forget": step})])  # after it: the journal may hold more, never less
        return points

    def close(self) -> None:
        """Close the journal of a recorder that hears no Ended."""
        self._journal.close()

    def _begin(self) -> None:
        if self._active_since is None:
            self._active_since = monotonic()
            self._new.changes.update(status="running", problem="", ended=None)
            started = now()
            with self._writing() as db:
                db.execute("update runs set started = ifnull(started, ?) where id = ?", (started, self.run_id))
                self._append([json.dumps({"started": started})])

    def _pause_clock(self) -> None:
        if self._active_since is not None:
            self._seconds += monotonic() - self._active_since
            self._active_since = None

    def _progress(self, event: Progress) -> None:
        self._begin()
        self._new.changes.update(
            done=event.done,
            total=event.total,
            images_per_second=event.images_per_second,
            memory_bytes=event.memory_bytes,
            seconds_left=event.seconds_left,
            phase="Training",
        )

    def _seconds_so_far(self) -> float:
        return self._seconds + (0.0 if self._active_since is None else monotonic() - self._active_since)

    def _commit(self) -> None:
        try:
            self.flush()
        except Problem as problem:
            self._meet(problem)

    def _store(self) -> None:
        """One transaction, its lines in the journal before its commit. Raises Problem; what was not written is kept."""
        self._committed = monotonic()
        try:
            self._in_place.check(at_once=bool(self._new.changes.get("ended")))  # nobody looks after the last word
            with self._writing() as db:
                self._new.write(db)
                self._write_journal()
        except Problem as problem:
            self._new.rolled_back()
            if isinstance(problem, Gone):  # the folder goes on without it
                self._write_journal()
            raise
        self._new.committed()

    def _last_word(self) -> None:
        """The end of the run, tried again for a while; meanwhile it is in the journal. Raises Problem."""
        since, journaled = monotonic(), False
        self._new.changes.update(heartbeat=now(), seconds=self._seconds_so_far())
        while True:
            try:
                self._store()
                return self._sync()
            except (RunTaken, Gone):
                raise
            except Problem as problem:
                log.info("The end of run %s cannot be recorded yet: %s", self.run_id, problem)
                if not journaled:
                    with contextlib.suppress(Problem):  # a full disk; the next try writes it
                        self._write_journal()
                        journaled = True
                if monotonic() - since > (PATIENCE if isinstance(problem, Busy) else LAST_WORD):
                    raise
            sleep(AGAIN)

    @contextlib.contextmanager
    def _writing(self) -> Iterator[Connection]:
        """One transaction on a run that is still this process's. Raises Problem; RunTaken on a lost run."""
        since = monotonic()
        with contextlib.ExitStack() as stack:
            while True:
                try:
                    db = stack.enter_context(self._workspace.writing())
                    break
                except Busy:
                    if (self._control is not None and self._control.attended) or monotonic() - since > PATIENCE:
                        raise
            ownership.check(db, self.run_id, self._token)
            yield db

    def _insist(self, work: Callable[[], None]) -> None:
        """Do what must be recorded now; an attended run waits for the person where it cannot be."""
        if self._control is None:
            work()
        else:
            insist(self._control, self, work)

    def _note(self, text: str) -> None:
        with self._writing() as db:
            sql = "update runs set note = ltrim(note || char(10) || ?, char(10)) where id = ?"
            db.execute(sql, (text, self.run_id))

    def _write_journal(self) -> None:
        self._append(self._new.lines())
        self._new.journaled()

    def _append(self, lines: list[str]) -> None:
        try:
            self._journal.write(lines)
        except OSError as error:
            raise _unwritten(error) from None

    def _sync(self) -> None:
        try:
            self._journal.sync()
        except OSError as error:
            raise _unwritten(error) from None

    def _meet(self, problem: Problem) -> None:
        """A disk that cannot be written now: wait with the person, or end where nobody looks."""
        if self._control is None or not self._control.attended or isinstance(problem, RunTaken):
            raise problem
        self._control.reason = str(problem)
        self._control.pause()

    def _evaluated(self, event: Evaluated) -> None:
        with self._writing():
            pass  # a lost run writes no file either
        arrays = stored_evaluation.write_arrays(self._folder, event, self._rows)
        head = {"epoch": event.epoch, "step": event.step, "distance": event.distance}
        with self._writing() as db:
            stored_evaluation.store(db, self._folder, self.run_id, event, arrays)
            self._append([f'{{"evaluation": {json.dumps(head)[:-1]}, "metrics": {metrics_json(event.metrics)}}}}}'])
        self._sync()

    def _saved(self, kind: str, path: Path, step: int) -> None:
        with self._writing() as db:
            add_artefact(db, self._folder, self.run_id, "checkpoint", path, step)
            self._append([json.dumps({"checkpoint": {"kind": kind, "path": path.name, "step": step}})])
        self._sync()


def _unwritten(error: OSError) -> Problem:
    return Problem(
        f"The run's journal could not be written ({error.strerror}).",
        kept="Everything written before is kept.",
        todo="Free some space and go on.",
    )
