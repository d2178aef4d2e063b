"""Follows a workspace: ten times a second asks whether anyone wrote, and reads only what is new."""

from math import nan

from PySide6.QtCore import QObject, QTimer, Signal

from workbench.workspace import Workspace
from workbench.workspace.connection import DatabaseError, explain

EVERY = 100  # ms
ROWS_AT_ONCE = 10_000  # numbers of `seq` looked through in one look: keeps a look under about 10 ms

NEW_SCALARS = (
    "select p.seq, m.name, p.step, p.value from scalar_points p join metrics m on m.id = p.metric_id "
    "where p.seq > ? and p.seq <= ? and p.run_id = ? order by p.seq"
)


class Follower(QObject):
    """Announces what changes in a workspace, whoever writes it: this window, the CLI or another machine's process.

    `scalars_arrived` tells the followed run from its first point on, in chunks, then goes on with what is new.
    """

    runs_changed = Signal()  # some run's row, or the list of runs
    status_changed = Signal(str)  # of the followed run
    scalars_arrived = Signal(list)  # [(name, step, value), ...] of the followed run, in the order written; NaN is NaN
    evaluations_changed = Signal()  # of the followed run
    failed = Signal(object)  # Problem: the workspace cannot be read any more; said once, and following stops

    def __init__(self, workspace: Workspace, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._path = workspace.database
        self._db = workspace.reader()
        self._run_id: int | None = None
        self._version, self._seq, self._status = -1, 0, ""
        self._evaluations: tuple[int, int] = (0, 0)
        self._timer = QTimer(self, interval=EVERY)
        self._timer.timeout.connect(self.look)
        self._timer.start()

    def follow(self, run_id: int | None) -> None:
        """Follow that run from its first point; None follows only the list of runs."""
        self._run_id = run_id
        self._status, self._evaluations = "", (0, 0)
        self._version = -1
        if run_id is not None:
            first = self._db.execute("select min(seq) from scalar_points where run_id = ?", (run_id,)).fetchone()[0]
            self._seq = (first or 1) - 1

    def close(self) -> None:
        """Stop looking and close the connection."""
        self._timer.stop()
        self._db.close()

    def look(self) -> None:
        """One look; the timer calls it."""
        try:
            self._look()
        except DatabaseError as error:
            self._timer.stop()
            self.failed.emit(explain(error, self._path))

    def _look(self) -> None:
        version = self._db.execute("pragma data_version").fetchone()[0]
        if version == self._version:
            return
        all_read = self._run_id is None or self._read_run(self._run_id)
        if all_read:
            self._version = version  # otherwise the next look goes on
        self._timer.setInterval(EVERY if all_read else 0)
        self.runs_changed.emit()

    def _read_run(self, run_id: int) -> bool:
        """Announce what is new of the followed run; False when more is waiting."""
        all_read = self._read_scalars(run_id)
        row = self._db.execute("select status from runs where id = ?", (run_id,)).fetchone()
        if row is not None and row[0] != self._status:
            self._status = row[0]
            self.status_changed.emit(self._status)
        found = self._db.execute("select count(*), max(id) from evaluations where run_id = ?", (run_id,)).fetchone()
        if found != self._evaluations and self._run_id == run_id:
            self._evaluations = found
            self.evaluations_changed.emit()
        return all_read

    def _read_scalars(self, run_id: int) -> bool:
        newest = self._db.execute("select max(seq) from scalar_points").fetchone()[0] or 0
        self._seq = min(self._seq, newest)  # a resumed run drops its last points; their numbers are given again
        upto = min(self._seq + ROWS_AT_ONCE, newest)
        rows = self._db.execute(NEW_SCALARS, (self._seq, upto, run_id)).fetchall()
        self._seq = upto
        if rows:
            self.scalars_arrived.emit([(name, step, nan if value is None else value) for _, name, step, value in rows])
        return upto == newest
