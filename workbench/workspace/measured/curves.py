"""The curves of a run, and the charts of its method: read over a connection of the workspace."""

import json
from collections.abc import Sequence
from dataclasses import replace
from math import nan

import numpy as np

from workbench.charts import Chart, from_plain
from workbench.names import LONGEST_SENTENCE, visible_name
from workbench.problem import Problem
from workbench.workspace.database import checksums
from workbench.workspace.database.columns import FROM_A_COPY, Unreadable, parsed
from workbench.workspace.database.connection import Connection
from workbench.workspace.database.packed import numbers_of
from workbench.workspace.paths import LARGEST

TOO_LARGE = 1e150  # no training measures such values, and sums and squares of those that are drawn must stay finite
DRAWN = f"case when p.value > {TOO_LARGE} then 9e999 when p.value < -{TOO_LARGE} then -9e999 else p.value end"
Point = tuple[int, int, int, float | None]  # run, metric, step, value


def scalar_names(db: Connection, run_id: int) -> list[str]:
    """The names of a run's curves, sorted. Raises Problem if a curve of a run that has ended is missing."""
    # A look into the index for each name: all points of a long run would take 16 ms.
    sql = (
        "select name from metrics where exists "
        "(select 1 from scalar_points where run_id = ? and metric_id = metrics.id limit 1)"
    )
    names = sorted(name for (name,) in db.execute(sql, (run_id,)))
    checksums.check_names(db, run_id, names)
    return names


def scalars(db: Connection, run_id: int, name: str) -> tuple[np.ndarray, np.ndarray]:
    """One curve: steps [n] int64, ascending, and values [n] float64 with NaN for NULL. Raises Problem if damaged."""
    sql = (
        "select step, value from scalar_points where run_id = ? "
        "and metric_id = (select id from metrics where name = ?) order by step, seq"
    )
    rows = db.execute(sql, (run_id, name)).fetchall()
    steps = np.fromiter((step for step, _ in rows), np.int64, len(rows))
    values = np.fromiter((nan if value is None else value for _, value in rows), np.float64, len(rows))
    checksums.check_curve(db, run_id, name, steps, values)
    return steps, values


# From a point to the first one that is `stride` steps or more later: each hop is a lookup in the index, so that
# the points between are never read. One row of texts, as in `queries`.
THINNED = """
with recursive hop(step, value) as (
  select * from (select step, value from scalar_points where run_id = :run and metric_id = :metric
    order by step, seq limit 1)
  union all
  select p.step, p.value from hop join scalar_points p on p.seq = (
    select q.seq from scalar_points q where q.run_id = :run and q.metric_id = :metric and q.step >= hop.step + :stride
    order by q.step, q.seq limit 1))
select group_concat(step), group_concat(case when value is null then 'nan' else format('%!.17g', value) end) from hop
"""

EXTENT = """
select (select min(step) from scalar_points where run_id = :run and metric_id = :metric),
  (select max(step) from scalar_points where run_id = :run and metric_id = :metric),
  (select count(*) from (select 1 from scalar_points where run_id = :run and metric_id = :metric limit :most + 1))
"""


def thinned_scalars(db: Connection, run_id: int, name: str, most: int) -> tuple[np.ndarray, np.ndarray, int]:
    """At most `most` points of a curve, evenly along its steps, without reading the others.

    Returns:
        steps: int64 [m], ascending.
        values: float64 [m], with NaN and infinity as they are stored; those beyond TOO_LARGE are infinite, too.
        stride: steps from a point to the next, at least; 1 if no point was left out.
    """
    row = db.execute("select id from metrics where name = ?", (name,)).fetchone()
    asked = {"run": run_id, "metric": None if row is None else row[0]}
    first, last, count = db.execute(EXTENT, asked | {"most": most}).fetchone()
    stride = 1 if count <= most else -(-(last - first + 1) // most)
    steps, values = db.execute(THINNED, asked | {"stride": stride}).fetchone()
    rows = numbers_of(steps, np.int64)
    order = np.argsort(rows, kind="stable")  # SQL promises none
    read = numbers_of(values, np.float64)[order]
    return rows[order], np.where(np.abs(read) > TOO_LARGE, np.copysign(np.inf, read), read), stride


def scalars_of_runs(db: Connection, run_ids: Sequence[int]) -> list[str]:
    """Names of the scalars that any of the runs has."""
    # One look into the index for each run and name; with `run_id in (...)` SQLite reads every point.
    sql = (
        "select distinct m.name from json_each(?) r cross join metrics m where exists "
        "(select 1 from scalar_points p where p.run_id = r.value and p.metric_id = m.id) order by m.name"
    )
    return [name for (name,) in db.execute(sql, (json.dumps(list(run_ids)),))]


def runs_with_scalar(db: Connection, run_ids: Sequence[int], name: str) -> set[int]:
    """The runs among these that have a point of the scalar."""
    sql = (
        "select r.value from json_each(?) r where exists (select 1 from scalar_points p "
        "where p.run_id = r.value and p.metric_id = (select id from metrics where name = ?))"
    )
    return {run_id for (run_id,) in db.execute(sql, (json.dumps(list(run_ids)), name))}


def before_first_point(db: Connection, run_id: int) -> int:
    """The order of arrival (`seq`) before a run's first point; without any, that of the last point of all runs."""
    first = db.execute("select min(seq) from scalar_points where run_id = ?", (run_id,)).fetchone()[0]
    return newest_point(db) if first is None else max(int(first) - 1, -LARGEST)


def newest_point(db: Connection) -> int:
    """The order of arrival of the last point of all runs; 0 without any."""
    return int(db.execute("select max(seq) from scalar_points").fetchone()[0] or 0)


def point_at(db: Connection, seq: int | None) -> Point | None:
    """The point with that order of arrival; None if there is none."""
    sql = "select run_id, metric_id, step, value from scalar_points where seq = ?"
    row: Point | None = db.execute(sql, (seq,)).fetchone()
    return row


def points_since(
    db: Connection, run_id: int, seq: int, most: int
) -> tuple[list[tuple[str, int, float | None]], int, bool]:
    """Points of a run that arrived after `seq`: name, step and value, in the order of arrival.

    Args:
        seq: order of arrival of the last point that is known.
        most: points that are read, those of other runs included.

    Returns:
        The points, the last `seq` that was read, and whether there are more. Values beyond TOO_LARGE are infinite.
    """
    # Counted by rows: of a damaged row the number may be so high that steps by numbers would never reach it.
    counted = "select max(seq) from (select seq from scalar_points where seq > ? order by seq limit ?)"
    ((last,),) = db.execute(counted, (seq, most)).fetchall()
    newest, upto = newest_point(db), seq if last is None else int(last)
    sql = (
        f"select m.name, p.step, {DRAWN} from scalar_points p join metrics m on m.id = p.metric_id "
        "where p.seq > ? and p.seq <= ? and p.run_id = ? order by p.seq"
    )
    return db.execute(sql, (seq, upto, run_id)).fetchall(), upto, upto < newest


def charts_extent(db: Connection, run_id: int) -> tuple[int, int | None]:
    """How many steps of a run have charts, and the last of them."""
    count, last = db.execute("select count(*), max(step) from charts where run_id = ?", (run_id,)).fetchone()
    return count, last


def chart_steps(db: Connection, run_id: int) -> list[int]:
    """The steps at which the run's method emitted charts, ascending."""
    return [step for (step,) in db.execute("select step from charts where run_id = ? order by step", (run_id,))]


def _shown(chart: Chart) -> Chart:
    """The chart with its texts as they are shown."""
    marks = tuple(replace(mark, title=visible_name(mark.title)) for mark in chart.marks)
    title, x_title = visible_name(chart.title), visible_name(chart.x_title)
    return Chart(title, x_title, marks, visible_name(chart.note, LONGEST_SENTENCE))


def charts(db: Connection, run_id: int, step: int) -> list[Chart]:
    """The charts of the run's method at that step. Raises Problem if there are none, or they cannot be read."""
    row = db.execute("select charts from charts where run_id = ? and step = ?", (run_id, step)).fetchone()
    checksums.check_charts(db, run_id, step)
    if row is None:
        raise Problem(f"Run {run_id} has no charts at step {step}.")
    try:
        return [_shown(from_plain(chart)) for chart in parsed(row[0], list)]
    except (Unreadable, TypeError, KeyError, ValueError) as error:
        why = error if isinstance(error, Unreadable) else "they are no charts"
        raise Problem(
            f"The charts of run {run_id} at step {step} could not be read ({why}).",
            kept="The others are kept.",
            todo=FROM_A_COPY,
        ) from None
