"""Events in, rows out: the only writer of a run. Commits five times a second, whatever the speed."""

import contextlib
import json
import logging
import math
from collections.abc import Callable, Iterator
from functools import partial
from io import BytesIO
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import numpy as np

from workbench import files, jobs
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
    score_of,
)
from workbench.files import parts
from workbench.problem import Problem, RunTaken
from workbench.workspace import checksums, ownership, sealing
from workbench.workspace.connection import Busy, Connection, Gone, InPlace, new_id
from workbench.workspace.dataset_copy import keep_dataset
from workbench.workspace.journal import Journal, point_lines
from workbench.workspace.numbers import metrics_json
from workbench.workspace.packed import packed
from workbench.workspace.rows import LIVE, Queries
from workbench.workspace.workspace import Workspace, add_artefact, now

COMMIT_EVERY = 0.2  # seconds; a killed run loses at most this much of its curve
PATIENCE = 60.0  # seconds for a program that holds the database, where no person can be asked
LAST_WORD = 10.0  # seconds in which the end of a run is tried again where the disk refuses it
AGAIN = 0.5  # seconds between two of these trials
REPAIRED = "repaired"  # in a run's environment: what a repair of the workspace could not bring back
SIMILARITY_UNIT = 10_000  # similarities are stored as whole numbers of 1e-4

log = logging.getLogger(__name__)


BUCKET_BITS = 22


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
        parts.remove_dead(self._folder)  # of a program that was killed before the run had an owner
        self._journal, self._in_place = Journal(self._folder), InPlace(workspace.database)
        self._scalars: list[tuple[str, int, float | None]] = []
        self._journaled = 0  # of them: a database that fails is tried again, the journal is not written twice
        self._charts: dict[int, str] = {}
        self._changes: dict[str, Any] = {}
        self._metric_ids: dict[str, int] = {}
        self._rows: dict[int, int] = {}
        self._committed = monotonic()
        self._active_since: float | None = None
        self._seconds = workspace.run(run_id).seconds

    def __call__(self, event: Event) -> None:
        match event:
            case Scalar(name, step, value):
                self._scalars.append((name, step, None if math.isnan(value) else value))
            case Charted(step, charts):
                self._charts[step] = json.dumps([chart.plain() for chart in charts])
            case Progress():
                self._progress(event)
            case Status(text):
                self._changes["phase"] = text
                self._begin()
            case Waiting(reason):
                self._pause_clock()
                self._changes.update(status="waiting", problem=reason)
                self._commit()
            case Resumed():
                self._begin()
                self._changes.update(status="running", problem="")
                self._commit()
            case Evaluated():
                self._commit()
                self._insist(partial(self._evaluated, event))
            case Noted(text):
                self._insist(partial(self._note, text))
            case Saved(kind, path, epoch, step):
                self._changes["epoch"] = max(epoch, self._changes.get("epoch", 0))
                self._insist(partial(self._saved, kind, path, step))
            case Ended(status, problem):
                self._pause_clock()
                self._changes.update(status=status, problem=problem, phase="", ended=now(), seconds_left=0.0)
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
        self._changes["epoch"] = epoch

    def flush(self) -> None:
        """Commit all that was told, before a checkpoint stands for it. Raises Problem; RunTaken on a lost run."""
        self._changes.update(heartbeat=now(), seconds=self._seconds_so_far())
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
            self._changes.update(status="running", problem="", ended=None)
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
        self._changes.update(
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
            self._in_place.check(at_once=bool(self._changes.get("ended")))  # nobody looks after the last word
            with self._writing() as db:
                self._write(db)
                self._write_journal()
        except Problem as problem:
            self._metric_ids.clear()  # a rolled back transaction takes the names with it
            if isinstance(problem, Gone):  # the folder goes on without it
                self._write_journal()
            raise
        self._scalars.clear()
        self._charts.clear()
        self._changes.clear()
        self._journaled = 0

    def _last_word(self) -> None:
        """The end of the run, tried again for a while; meanwhile it stands in the journal. Raises Problem."""
        since, journaled = monotonic(), False
        self._changes.update(heartbeat=now(), seconds=self._seconds_so_far())
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

    def _write(self, db: Connection) -> None:
        missing = {name for name, _, _ in self._scalars} - self._metric_ids.keys()
        for name in sorted(missing):
            db.execute("insert or ignore into metrics (name) values (?)", (name,))
            self._metric_ids[name] = db.execute("select id from metrics where name = ?", (name,)).fetchone()[0]
        db.executemany(
            "insert into scalar_points (run_id, metric_id, step, value) values (?, ?, ?, ?)",
            [(self.run_id, self._metric_ids[name], step, value) for name, step, value in self._scalars],
        )
        db.executemany(
            "insert or replace into charts (run_id, step, charts) values (?, ?, ?)",
            [(self.run_id, step, charts) for step, charts in self._charts.items()],
        )
        columns = ", ".join(f'"{column}" = ?' for column in self._changes)
        db.execute(f"update runs set {columns} where id = ?", (*self._changes.values(), self.run_id))
        if self._changes.get("status", "running") not in LIVE:
            sealing.seal_curves(db, self.run_id)

    def _write_journal(self) -> None:
        charts = [json.dumps({"charts": charts, "step": step}) for step, charts in self._charts.items()]
        self._append([*point_lines(self._scalars[self._journaled :]), *charts, json.dumps({"run": self._changes})])
        self._journaled = len(self._scalars)

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
        embeddings = self._folder / f"embeddings-{event.epoch}.npy"
        with files.atomic_write(embeddings) as file:
            np.save(file, np.ascontiguousarray(event.embeddings, np.float32), allow_pickle=False)
        proxies = self._store_proxies(event)
        ranking = self._folder / f"ranking-{event.epoch}.npz"
        neighbours = self._rows_of(event.neighbours)
        similarities = np.rint(np.clip(event.similarities, -3e4, 3e4) * SIMILARITY_UNIT).astype(np.int32)
        with files.atomic_write(ranking) as file:
            np.savez(
                file, sample_ids=event.sample_ids, labels=event.labels, ap=event.ap, first_hit=event.first_hit,
                r=event.r, neighbours=neighbours, similarities=similarities,
            )  # fmt: skip
        place = f'"epoch": {event.epoch}, "step": {event.step}, "distance": {json.dumps(event.distance)}'
        with self._writing() as db:
            store_evaluation(db, self._folder, self.run_id, event, neighbours, similarities, embeddings, proxies)
            self._append([f'{{"evaluation": {{{place}, "metrics": {metrics_json(event.metrics)}}}}}'])
        self._sync()

    def _store_proxies(self, event: Evaluated) -> Path | None:
        if event.proxies is None or event.proxy_labels is None:
            return None
        path = self._folder / f"proxies-{event.epoch}.npz"
        whole = BytesIO()
        np.savez(whole, vectors=event.proxies.astype(np.float32), labels=event.proxy_labels.astype(np.int64))
        with files.atomic_write(path) as file:
            file.write(whole.getvalue())
        return path

    def _rows_of(self, sample_ids: np.ndarray) -> np.ndarray:
        """Sample ids [n, k] as rows of the data set [n, k] int32, which take a third of the space."""
        known = np.fromiter(self._rows, np.int64, len(self._rows))
        rows = np.fromiter(self._rows.values(), np.int64, len(self._rows))
        # Nearly every id has a bucket to itself: no search among sorted ids is needed for it.
        buckets = _bucket(known)
        _, first, counts = np.unique(buckets, return_index=True, return_counts=True)
        alone = first[counts == 1]
        table = np.full(1 << BUCKET_BITS, -1, np.int32)
        table[buckets[alone]] = rows[alone]
        found: np.ndarray = table[_bucket(sample_ids)]
        rest = found < 0
        order = np.argsort(known)
        found[rest] = rows[order[np.searchsorted(known[order], sample_ids[rest])]]
        return found

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


def _bucket(sample_ids: np.ndarray) -> np.ndarray:
    """A number below 2 ** BUCKET_BITS for each sample id (Fibonacci hashing)."""
    return (sample_ids.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(64 - BUCKET_BITS)


def store_evaluation(
    db: Connection,
    folder: Path,
    run_id: int,
    event: Evaluated,
    neighbours: np.ndarray,
    similarities: np.ndarray,
    embeddings: Path,
    proxies: Path | None,
) -> int:
    """The rows of one evaluation in the transaction at hand; an earlier one of the same epoch is replaced."""
    ranking = folder / f"ranking-{event.epoch}.npz"
    same = "run_id = ? and epoch = ? and distance = ?"
    db.execute(
        f"delete from projections where evaluation_id in (select id from evaluations where {same})",
        (run_id, event.epoch, event.distance),
    )
    db.execute(f"delete from evaluations where {same}", (run_id, event.epoch, event.distance))
    embeddings_id = add_artefact(db, folder, run_id, "embeddings", embeddings, event.step, digest="")
    proxies_id = None if proxies is None else add_artefact(db, folder, run_id, "proxies", proxies, event.step)
    evaluation_id = new_id(db.execute(
        "insert into evaluations (run_id, epoch, step, embeddings_id, proxies_id, distance, score, metrics, created) "
        "values (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            run_id, event.epoch, event.step, embeddings_id, proxies_id, event.distance,
            score_of(event.metrics),
            metrics_json(event.metrics), now(),
        ),
    ))  # fmt: skip
    with jobs.meanwhile(lambda: [files.digest(path) for path in (embeddings, ranking)]) as digests:
        _store_queries(db, evaluation_id, event, neighbours, similarities)
    of_embeddings, of_ranking = digests()
    db.execute("update artefacts set blake2b = ? where id = ?", (of_embeddings, embeddings_id))
    db.execute("update evaluations set ranking = ? where id = ?", (of_ranking, evaluation_id))
    return int(evaluation_id)


def _store_queries(
    db: Connection, evaluation_id: int, event: Evaluated, neighbours: np.ndarray, similarities: np.ndarray
) -> None:
    """A row for each query, and their checksums."""
    right, near, similar = (event.first_hit == 1).astype(int), packed(neighbours), packed(similarities)
    columns = (
        event.sample_ids.tolist(), range(len(event.labels)), event.labels.tolist(),
        [None if math.isnan(ap) else ap for ap in event.ap.tolist()],
        event.first_hit.tolist(), event.r.tolist(), right.tolist(), near, similar,
    )  # fmt: skip
    db.executemany(
        'insert into queries (evaluation_id, sample_id, place, label, ap, first_hit, r, "right", neighbours, '
        "similarities) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        ((evaluation_id, *row) for row in zip(*columns, strict=True)),
    )
    head = np.zeros(len(right), checksums.HEAD)
    head["place"], head["right"] = np.arange(len(right)), right
    for name in ("sample_id", "label", "ap", "first_hit", "r"):
        head[name] = getattr(event, {"sample_id": "sample_ids", "label": "labels"}.get(name, name))
    queries = Queries(event.sample_ids, event.labels, event.ap, event.first_hit, event.r, right)
    sums = checksums.query_sums(head, near, similar)
    checksums.store_sums(db, evaluation_id, checksums.columns_sum(queries), sums)
