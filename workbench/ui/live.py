"""Follows a workspace: ten times a second it asks, off the window's thread, what is new."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from math import nan
from queue import SimpleQueue

from PySide6.QtCore import QObject, QTimer, Signal, SignalInstance

from workbench.jobs import start_daemon
from workbench.workspace import Workspace
from workbench.workspace.connection import DatabaseError, Gone, InPlace, explain
from workbench.workspace.reading import runs
from workbench.workspace.rows import Run

EVERY = 100  # ms
BETWEEN = 1  # ms between two of the things that a look has to tell, in which the window draws and answers
ROWS_AT_ONCE = 10_000  # numbers of `seq` looked through in one look: keeps a look under about 10 ms

CHARTS = "select count(*), max(step) from charts where run_id = ?"
EVALUATIONS = "select count(*), max(id) from evaluations where run_id = ?"
NEW_SCALARS = (
    "select m.name, p.step, p.value from scalar_points p join metrics m on m.id = p.metric_id "
    "where p.seq > ? and p.seq <= ? and p.run_id = ? order by p.seq"
)


@dataclass(frozen=True, slots=True)
class Place:
    """How far the window has read: of the workspace, and of the run that it follows."""

    run_id: int | None
    version: int = -1
    seq: int | None = None  # None: from the run's first point
    status: str = ""
    evaluations: tuple[int, int | None] = (0, None)
    charts: tuple[int, int | None] = (0, None)


@dataclass(frozen=True, slots=True)
class News:
    """One look: what was found, and where the next one goes on."""

    before: Place
    after: Place
    runs: list[Run]
    scalars: list[tuple[str, int, float]]
    more: bool  # is waiting


class Follower(QObject):
    """Announces what changes in a workspace, whoever writes it: this window, the CLI or another machine's process.

    `scalars_arrived` tells the followed run from its first point on, in chunks, then goes on with what is new.
    """

    runs_changed = Signal(list)  # all runs that are not in the trash, newest first: some run's row, or the list
    status_changed = Signal(str)  # of the followed run
    scalars_arrived = Signal(list)  # [(name, step, value), ...] of the followed run, in the order written; NaN is NaN
    evaluations_changed = Signal()  # of the followed run
    charts_changed = Signal()  # of the followed run
    failed = Signal(object)  # Problem: the workspace cannot be read any more; said once. Following stops, unless Gone
    _looked = Signal(object)  # News, None where nothing is new, the DatabaseError or Gone

    def __init__(self, workspace: Workspace, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._path = workspace.database
        self._db = workspace.reader()
        self._in_place, self._told_gone = InPlace(self._path), False
        self._one_at_a_time = threading.Lock()
        self._place = Place(None)
        self._looking = self._closed = False
        self._asked: SimpleQueue[Place | None] = SimpleQueue()
        self._looked.connect(self._hear)
        self._timer = QTimer(self, interval=EVERY)
        self._timer.timeout.connect(self._ask)
        self._timer.start()
        start_daemon("follower", self._answer)

    def follow(self, run_id: int | None) -> None:
        """Follow that run from its first point; None follows only the list of runs."""
        self._place = Place(run_id)

    def close(self) -> None:
        """Stop looking and close the connection."""
        self._timer.stop()
        self._asked.put(None)
        with self._one_at_a_time:
            self._closed = True
            self._db.close()

    def look(self) -> None:
        """One look at once, on this thread."""
        with self._one_at_a_time:
            found = self._read(self._place)
        for step in self._heard(found):
            step()

    def _ask(self) -> None:
        if not self._looking:
            self._looking = True
            self._asked.put(self._place)

    def _answer(self) -> None:
        while (place := self._asked.get()) is not None:
            with self._one_at_a_time:
                if self._closed:
                    return
                self._looked.emit(self._read(place))

    def _hear(self, found: News | DatabaseError | Gone | None) -> None:
        if not self._closed:
            self._tell(self._heard(found))

    def _tell(self, steps: list[Callable[[], None]]) -> None:
        if self._closed:
            return
        steps.pop(0)()
        if steps:
            QTimer.singleShot(BETWEEN, self, partial(self._tell, steps))

    def _heard(self, found: News | DatabaseError | Gone | None) -> list[Callable[[], None]]:
        """What is to be told, in this order; the next look comes after it."""
        told_gone, self._told_gone = self._told_gone, isinstance(found, Gone)
        if isinstance(found, Gone):  # it may be put back: following goes on
            said = [] if told_gone else [partial(self.failed.emit, found)]
            return [*said, partial(self._rest, EVERY)]
        if isinstance(found, DatabaseError):
            return [self._timer.stop, partial(self.failed.emit, explain(found, self._path)), partial(self._rest, EVERY)]
        if found is None or found.before != self._place:  # another run is followed since
            return [partial(self._rest, EVERY)]
        self._place = after = found.after
        steps: list[Callable[[], None]] = []
        if found.scalars:
            steps.append(partial(self._tell_of_run, after, self.scalars_arrived, found.scalars))
        if after.status != found.before.status:
            steps.append(partial(self._tell_of_run, after, self.status_changed, after.status))
        if after.evaluations != found.before.evaluations:
            steps.append(partial(self._tell_of_run, after, self.evaluations_changed))
        if after.charts != found.before.charts:
            steps.append(partial(self._tell_of_run, after, self.charts_changed))
        return [*steps, partial(self.runs_changed.emit, found.runs), partial(self._rest, 0 if found.more else EVERY)]

    def _tell_of_run(self, place: Place, signal: SignalInstance, *news: object) -> None:
        """Unless another run is followed since."""
        if place.run_id == self._place.run_id:
            signal.emit(*news)

    def _rest(self, interval: int) -> None:
        self._looking = False
        self._timer.setInterval(interval)

    def _read(self, place: Place) -> News | DatabaseError | Gone | None:
        try:
            self._in_place.check()
            return self._look(place)
        except (DatabaseError, Gone) as error:
            return error

    def _look(self, place: Place) -> News | None:
        version = self._db.execute("pragma data_version").fetchone()[0]
        if version == place.version:
            return None
        after, scalars, more = (place, [], False) if place.run_id is None else self._look_at_run(place, place.run_id)
        reached = replace(after, version=-1 if more else version)
        return News(place, reached, runs(self._db, "trashed is null", ()), scalars, more)

    def _look_at_run(self, place: Place, run_id: int) -> tuple[Place, list[tuple[str, int, float]], bool]:
        seq = place.seq
        if seq is None:
            first = self._db.execute("select min(seq) from scalar_points where run_id = ?", (run_id,)).fetchone()[0]
            seq = (first or 1) - 1
        newest = self._db.execute("select max(seq) from scalar_points").fetchone()[0] or 0
        seq = min(seq, newest)  # a resumed run drops its last points; their numbers are given again
        upto = min(seq + ROWS_AT_ONCE, newest)
        rows = self._db.execute(NEW_SCALARS, (seq, upto, run_id)).fetchall()
        row = self._db.execute("select status from runs where id = ?", (run_id,)).fetchone()
        evaluations = self._db.execute(
            "select count(*), max(id) from evaluations where run_id = ?", (run_id,)
        ).fetchone()
        charts = self._db.execute(CHARTS, (run_id,)).fetchone()
        status = row[0] if row is not None else place.status
        reached = Place(run_id, place.version, upto, status, evaluations, charts)
        return reached, [(name, step, nan if value is None else value) for name, step, value in rows], upto < newest
