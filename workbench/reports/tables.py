"""Tables behind the report as CSV that a spreadsheet cannot run."""

import csv
import io
from typing import Any

from workbench.reports.content import Content
from workbench.workspace import Workspace

GUARDED = ("=", "+", "-", "@", "\t", "\r", "\n", "\0", "＝", "＋", "－", "＠", "'")  # the last so that a guard is plain


def csv_cell(value: Any) -> Any:
    """Text that a spreadsheet would take for a formula gets an apostrophe; numbers are left alone."""
    return f"'{value}" if isinstance(value, str) and value.startswith(GUARDED) else value


def plain_cell(text: str) -> str:
    """The text that `csv_cell` was given: without the apostrophe that guards it."""
    return text.removeprefix("'")


def csv_text(header: list[str], rows: list[list[Any]]) -> str:
    """A CSV file as text. Floats are written so that they are read back exactly; NaN as "nan"."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(header)
    writer.writerows([[csv_cell(value) for value in row] for row in rows])
    return out.getvalue()


def csv_tables(content: Content, workspace: Workspace) -> dict[str, str]:
    """metrics.csv, scalars.csv, settings.csv and queries.csv, by name."""
    run_id = content.run.id
    scalars = [
        [name, step, value]
        for name in workspace.scalar_names(run_id)
        for step, value in zip(*(column.tolist() for column in workspace.scalars(run_id, name)), strict=True)
    ]
    metrics = [
        [row.name, row.best, row.low, row.high, row.last, row.last_low, row.last_high] for row in content.metrics
    ]
    settings = [[each.section, each.name, each.value, "yes" if each.changed else "no"] for each in content.settings]
    limits = ["metric", "best", "best_low_95", "best_high_95", "last", "last_low_95", "last_high_95"]
    return {
        "metrics.csv": csv_text(limits, metrics),
        "scalars.csv": csv_text(["name", "step", "value"], scalars),
        "settings.csv": csv_text(["section", "field", "value", "changed_from_default"], settings),
        "queries.csv": csv_text(
            ["sample_id", "path", "class", "ap", "first_hit", "r", "right"], _queries(content, workspace)
        ),
    }


def _queries(content: Content, workspace: Workspace) -> list[list[Any]]:
    if content.best is None:
        return []
    reader = workspace.reader()
    try:
        rows = reader.execute(
            'select sample_id, path, class, ap, first_hit, r, "right" from query_rows '
            "where evaluation_id = ? order by sample_id",
            (content.best.id,),
        ).fetchall()
    finally:
        reader.close()
    return [list(row) for row in rows]
