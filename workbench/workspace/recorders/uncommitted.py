"""Events of a run since its last commit: rows for the database, and lines for the journal."""

import json
import math
from collections.abc import Sequence
from typing import Any

from workbench.charts import Chart
from workbench.events import LIVE
from workbench.workspace.database.connection import Connection
from workbench.workspace.folders.journal import point_lines
from workbench.workspace.measured import curves, sealing


class Uncommitted:
    """Points of curves, charts and changed columns of one run, kept in memory until a transaction has them.

    Args:
        run_id: the run.

    Attributes:
        changes: new values of the run's row by column.
    """

    def __init__(self, run_id: int) -> None:
        self.changes: dict[str, Any] = {}
        self._run_id = run_id
        self._points: list[tuple[str, int, float | None]] = []
        self._in_journal = 0  # points: a database that fails is tried again, the journal is not written twice
        self._charts: dict[int, str] = {}
        self._metric_ids: dict[str, int] = {}
        self._reached: dict[str, int] = {}  # the last step that was written of each curve

    def add_point(self, name: str, step: int, value: float) -> None:
        """Add a point of a curve, in place of an earlier one at its step; NaN is stored as NULL."""
        self._points.append((name, step, None if math.isnan(value) else value))

    def add_charts(self, step: int, charts: Sequence[Chart]) -> None:
        """Add the charts of a step, in place of earlier ones."""
        self._charts[step] = json.dumps([chart.plain() for chart in charts])

    def write(self, db: Connection) -> None:
        """Write all of it, in the current transaction; the curves of a run that has ended get their checksums."""
        missing = {name for name, _, _ in self._points} - self._metric_ids.keys()
        for name in sorted(missing):
            db.execute("insert or ignore into metrics (name) values (?)", (name,))
            self._metric_ids[name] = db.execute("select id from metrics where name = ?", (name,)).fetchone()[0]
        self._write_points(db)
        db.executemany(
            "insert or replace into charts (run_id, step, charts) values (?, ?, ?)",
            [(self._run_id, step, charts) for step, charts in self._charts.items()],
        )
        columns = ", ".join(f'"{column}" = ?' for column in self.changes)
        db.execute(f"update runs set {columns} where id = ?", (*self.changes.values(), self._run_id))
        if self.changes.get("status", "running") not in LIVE:
            sealing.seal_curves(db, self._run_id)

    def _write_points(self, db: Connection) -> None:
        last = {(name, step): value for name, step, value in self._points}
        for name in {name for name, _ in last} - self._reached.keys():  # an earlier program may have recorded the run
            sql = "select ifnull(max(step), -1) from scalar_points where run_id = ? and metric_id = ?"
            self._reached[name] = db.execute(sql, (self._run_id, self._metric_ids[name])).fetchone()[0]
        again = [(name, step) for name, step in last if step <= self._reached[name]]
        newest = curves.newest_point(db) if again else 0
        db.executemany(
            "insert into scalar_points (run_id, metric_id, step, value) values (?, ?, ?, ?)",
            [(self._run_id, self._metric_ids[name], step, value) for (name, step), value in last.items()],
        )
        # Afterwards: a number that is used again could hide the new points from a reader.
        db.executemany(
            "delete from scalar_points where run_id = ? and metric_id = ? and step = ? and seq <= ?",
            [(self._run_id, self._metric_ids[name], step, newest) for name, step in again],
        )
        for name, step in last:
            self._reached[name] = max(step, self._reached[name])

    def lines(self) -> list[str]:
        """The lines that are not in the journal yet."""
        charts = [json.dumps({"charts": charts, "step": step}) for step, charts in self._charts.items()]
        return [*point_lines(self._points[self._in_journal :]), *charts, json.dumps({"run": self.changes})]

    def journaled(self) -> None:
        """Note that `lines` are in the journal now."""
        self._in_journal = len(self._points)

    def rolled_back(self) -> None:
        """Undo `write` after its transaction failed: names of new curves and all rows are kept for the next one."""
        self._metric_ids.clear()

    def committed(self) -> None:
        """Note that the database has everything."""
        self._points.clear()
        self._charts.clear()
        self.changes.clear()
        self._in_journal = 0
