"""The runs of a workspace as lines: `workbench list runs`."""

import contextlib
from collections.abc import Sequence

from workbench.commands.terminal import one_line, percent
from workbench.entries import catalog as catalogs
from workbench.workspace import Workspace
from workbench.workspace.database.problems import Full
from workbench.workspace.rows import Run
from workbench.workspace.run_names import short_names
from workbench.workspace.tables import placements

WIDEST = 40  # letters to which a column is padded


def run_lines(workspace: Workspace) -> list[str]:
    """A line for each run, newest first, in columns; a second line says what of a run cannot be read."""
    with contextlib.suppress(Full):  # a list can be read where nothing can be written
        workspace.sweep_dead_runs()
    with workspace.reading() as db:
        places = {placement.run_id: placement.place for placement in placements.every(db)}
    runs = workspace.runs()
    rows = [_cells(run) for run in runs]
    widths = [min(WIDEST, max(map(len, column))) for column in zip(*rows, strict=True)]
    return [_line(run, cells, widths, places.get(run.id, "")) for run, cells in zip(runs, rows, strict=True)]


def _cells(run: Run) -> list[str]:
    """What stands below that of other runs: state, data, backbone, loss and scores."""
    data, backbone = short_names(catalogs.current(), run)
    best = [percent(run.best, metric) for metric in ("recall@1", "MAP@R")] if run.best else ["not evaluated", ""]
    return [one_line(cell) for cell in (run.status, data, backbone, run.loss, *best)]


def _line(run: Run, cells: Sequence[str], widths: Sequence[int], place: str) -> str:
    padded = [cell.ljust(width) for cell, width in zip(cells, widths, strict=True)]
    name = f"{run.name}  at {place}" if place else run.name
    line = "  ".join([f"{run.id:>4}", *padded, one_line(name)])
    return f"{line}\n      {one_line(run.unread)}" if run.unread else line
