"""The runs of a workspace as lines and as data for JSON: `workbench list runs`."""

import contextlib
from collections.abc import Sequence
from typing import Any

from workbench.commands.terminal import one_line, percent
from workbench.entries import catalog as catalogs
from workbench.workspace import Workspace
from workbench.workspace.database.problems import Full
from workbench.workspace.folders.run_folders import FolderSize, sizes_of_runs
from workbench.workspace.rows import Run
from workbench.workspace.run_names import short_names
from workbench.workspace.run_search import asks_for_size, meets, unquoted
from workbench.workspace.tables import placements

WIDEST = 40  # letters to which a column is padded


def run_lines(
    workspace: Workspace, words: Sequence[str] = (), *, trashed: bool = False, sizes: bool = False
) -> list[tuple[str, dict[str, Any]]]:
    """A line for each run, newest first, in columns, with its data; a second line says what of a run cannot be read.

    Args:
        words: only runs whose lines hold each of them, or that meet it as a condition: see workspace/run_search.py.
        trashed: of those in the trash instead.
        sizes: the data has the bytes of each run's folder, too, which takes longer; None where it cannot be read.
    """
    with contextlib.suppress(Full):  # a list can be read where nothing can be written
        workspace.sweep_dead_runs()
    with workspace.reading() as db:
        places = {placement.run_id: placement.place for placement in placements.every(db)}
    runs = workspace.runs(trashed)
    known = catalogs.current()
    rows = [_cells(run, known) for run in runs]
    widths = [min(WIDEST, max(map(len, column))) for column in zip(*rows, strict=True)]
    at = [places.get(run.id, "") for run in runs]
    searched = [unquoted(word) for word in words]
    measured = dict[int, FolderSize]()
    if sizes or asks_for_size(searched):
        measured = sizes_of_runs(workspace.path, [run.id for run in runs])
    listed = []
    for run, cells, place in zip(runs, rows, at, strict=True):
        line = _line(run, cells, widths, place)
        size = measured[run.id].bytes if run.id in measured else None
        if all(word in line.casefold() or meets(run, word, size) for word in searched):
            listed.append((line, _data(run, cells, place) | ({"bytes": size} if sizes else {})))
    return listed


def _cells(run: Run, known: catalogs.Catalog) -> list[str]:
    """What stands below that of other runs: state, data, backbone, loss and scores."""
    data, backbone = short_names(known, run)
    best = [percent(run.best, metric) for metric in ("recall@1", "MAP@R")] if run.best else ["not evaluated", ""]
    return [one_line(cell) for cell in (run.status, data, backbone, run.loss, *best)]


def _line(run: Run, cells: Sequence[str], widths: Sequence[int], place: str) -> str:
    padded = [cell.ljust(width) for cell, width in zip(cells, widths, strict=True)]
    name = f"{run.name}  at {place}" if place else run.name
    line = "  ".join([f"{run.id:>4}", *padded, one_line(name)])
    return f"{line}\n      {one_line(run.unread)}" if run.unread else line


def _data(run: Run, cells: Sequence[str], place: str) -> dict[str, Any]:
    """Plain data of a run; shares are from 0 to 1."""
    _, data, backbone, loss, *_ = cells
    return {
        "run": run.id, "name": run.name, "status": str(run.status), "problem": run.problem, "data": data,
        "backbone": backbone, "loss": loss, "seed": run.seed, "epoch": run.epoch, "epochs": run.epochs,
        "best_epoch": run.best_epoch if run.best else None, "best": run.best, "last": run.last,
        "seconds": run.seconds, "memory_bytes": run.memory_bytes, "created": run.created, "ended": run.ended,
        "experiment": run.experiment_id, "tags": list(run.tags), "note": run.note, "place": place, "unread": run.unread,
    }  # fmt: skip
