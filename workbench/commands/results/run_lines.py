"""The runs of a workspace as lines and as data for JSON: `workbench list runs`."""

import contextlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from workbench.commands.results.columns import Column, table_lines
from workbench.commands.terminal import one_line
from workbench.entries import catalog as catalogs
from workbench.entries.catalog import Catalog
from workbench.numerals import percentage
from workbench.workspace import Workspace
from workbench.workspace.database.problems import Full
from workbench.workspace.folders.run_folders import FolderSize, sizes_of_runs
from workbench.workspace.rows import Run, newest_first
from workbench.workspace.run_names import names_of, short_names, tested_names
from workbench.workspace.run_search import asks_for_size, meets, state_names, unquoted
from workbench.workspace.tables import placements

COLUMNS = (
    Column("run", numbers=True), Column("state"), Column("data", narrowest=10, first_to_go=2),
    Column("backbone", narrowest=12, first_to_go=3), Column("loss", narrowest=16), Column("R@1", numbers=True),
    Column("MAP@R", numbers=True), Column("place", narrowest=8, first_to_go=1), Column("name", narrowest=22),
)  # fmt: skip
PLACE = 7  # the column of that name, which is there if any run is at a place
NONE = "–"


@dataclass(frozen=True, slots=True)
class ListedRun:
    """A run of a list: its cells of COLUMNS, what of it cannot be read (or empty), and its data for JSON."""

    cells: list[str]
    unread: str
    data: dict[str, Any]


def listed_runs(
    workspace: Workspace, words: Sequence[str] = (), *, trashed: bool = False, sizes: bool = False,
    only: Collection[int] | None = None,
) -> list[ListedRun]:  # fmt: skip
    """The runs of a workspace, the one that began last first.

    Args:
        words: only runs with each of them in their cells, tags or note, or that meet it as a condition: see
            workspace/run_search.py.
        trashed: those in the trash instead.
        sizes: the data has the bytes of each run's folder, too, which takes longer; None where it cannot be read.
        only: no others than those of these numbers.
    """
    with contextlib.suppress(Full):  # a list can be read where nothing can be written
        workspace.sweep_dead_runs()
    with workspace.reading() as db:
        places = {placement.run_id: placement.place for placement in placements.every(db)}
    runs = sorted(workspace.runs(trashed), key=newest_first)
    if only is not None:
        runs = [run for run in runs if run.id in only]
    known = catalogs.current()
    searched = [unquoted(word) for word in words]
    measured = dict[int, FolderSize]()
    if sizes or asks_for_size(searched):
        measured = sizes_of_runs(workspace.path, [run.id for run in runs])
    listed = []
    for run in runs:
        data, backbone = short_names(known, run)
        of_test = _cells_of_test(known, run) if run.tested is not None else ()
        place = places.get(run.id, "")
        scores = [percentage(run.best[metric], 2) if metric in run.best else NONE for metric in ("recall@1", "MAP@R")]
        loss = "" if run.curves_of else run.loss
        of_run = [cell or NONE for cell in of_test or (data, backbone, loss)]
        cells = [str(run.id), run.status, *of_run, *scores, place or NONE, run.name]
        line = " ".join([*cells, *state_names(run.status), *run.tags, run.note, run.unread]).casefold()
        size = measured[run.id].bytes if run.id in measured else None
        if all(word in line or meets(run, word, size) for word in searched):
            of_json = _data(run, data, backbone, loss, place) | ({"bytes": size} if sizes else {})
            listed.append(ListedRun([one_line(cell) for cell in cells], one_line(run.unread), of_json))
    return listed


def data_of_runs(workspace: Workspace, numbers: Collection[int]) -> list[dict[str, Any]]:
    """Plain data of these runs for JSON, by their number, with the bytes of their folders; none is passed over."""
    listed = listed_runs(workspace, only=numbers, sizes=True)
    return sorted((run.data for run in listed), key=lambda data: int(data["run"]))


def run_lines(listed: Sequence[ListedRun], width: int | None = None) -> list[str]:
    """A head and a line for each run, in columns; a second line says what of a run cannot be read.

    `width` is that of the terminal, in characters; None for lines of any length.
    """
    shown = [at for at in range(len(COLUMNS)) if at != PLACE or any(run.cells[PLACE] != NONE for run in listed)]
    head, *rest = table_lines(
        [COLUMNS[at] for at in shown], [[run.cells[at] for at in shown] for run in listed], width
    ) or [""]
    lines = [head] if listed else []
    for run, line in zip(listed, rest, strict=True):
        lines += [line, f"      {run.unread}"] if run.unread else [line]
    return lines


def _cells_of_test(known: Catalog, run: Run) -> tuple[str, str, str]:
    """Data, backbone and loss of a test: the last two as far as the run that trained is known."""
    (data, _, network), (backbone, loss) = names_of(known, run), tested_names(known, run)
    return data, backbone, f"{loss}, {network}" if loss else network


def _tested(run: Run) -> dict[str, Any] | None:
    """Which network a test is of, with the backbone and the loss of its run where that is known."""
    if run.tested is None:
        return None
    backbone, loss = tested_names(catalogs.current(), run)
    return {"run": run.tested, "epoch": run.tested_epoch, "backbone": one_line(backbone), "loss": one_line(loss)}


def _data(run: Run, data: str, backbone: str, loss: str, place: str) -> dict[str, Any]:
    """Plain data of a run; shares are from 0 to 1."""
    return {
        "run": run.id, "name": run.name, "status": str(run.status), "problem": run.problem, "data": one_line(data),
        "backbone": one_line(backbone), "loss": one_line(loss), "seed": run.seed, "epoch": run.epoch,
        "epochs": run.epochs, "best_epoch": run.best_epoch if run.best else None, "best": run.best, "last": run.last,
        "seconds": run.seconds, "memory_bytes": run.memory_bytes, "created": run.created, "ended": run.ended,
        "experiment": run.experiment_id, "tags": list(run.tags), "note": run.note, "place": place, "unread": run.unread,
        "tested": _tested(run),
    }  # fmt: skip
