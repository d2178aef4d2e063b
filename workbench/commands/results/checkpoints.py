"""`workbench checkpoints`: what runs take on the disk, their checkpoints deleted, and lost ones found again."""

from collections.abc import Collection
from pathlib import Path
from typing import Any

import click

from workbench.commands.arguments import NUMBER, Group, workspace_option
from workbench.commands.results.columns import Column, table_lines, terminal_width
from workbench.commands.terminal import one_line, show_json, show_lines, told
from workbench.events import CHECKPOINTS
from workbench.numerals import byte_size
from workbench.problem import Problem
from workbench.workspace import Workspace
from workbench.workspace.arriving import brought_back
from workbench.workspace.folders import deleted_checkpoints
from workbench.workspace.folders.run_folders import sizes_of_runs
from workbench.workspace.paths import default_workspace
from workbench.workspace.rows import Run
from workbench.workspace.tables import freed_space
from workbench.workspace.tables.freed_space import BEST_STAYS, LOST, LOST_LAST, STAYS

COLUMNS = (
    Column("run", numbers=True), Column("folder", numbers=True),
    *(Column(kind, numbers=True) for kind in CHECKPOINTS), Column("deleted on"), Column("name", narrowest=20),
)  # fmt: skip
MOST = 20  # sentences on runs that keep their checkpoints


@click.group(cls=Group)
def checkpoints() -> None:
    """Show the disk space of runs; delete their checkpoints, and restore lost ones."""


@checkpoints.command("list", short_help="Show the runs by size, with their checkpoints.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of lines.")
@workspace_option
def list_sizes(as_json: bool, folder: Path | None) -> None:
    """Show the runs, the largest first: the size of their folder, of the last and of the best checkpoint.

    Runs in the trash are not among them: `workbench trash list --json` has their sizes.
    """
    with Workspace(folder or default_workspace()) as workspace:
        runs = {run.id: run for run in workspace.runs()}
        sizes = {number: size.bytes for number, size in sizes_of_runs(workspace.path, list(runs)).items()}
        listed = [_data(workspace, runs[number], sizes[number]) for number in sorted(sizes, key=lambda n: -sizes[n])]
    if as_json:
        show_json(listed)
    else:
        show_lines(table_lines(COLUMNS, list(map(_cells, listed)), terminal_width()), "There are no runs.")


@checkpoints.command("delete", short_help="Delete the checkpoints of runs that have ended.")
@click.argument("numbers", metavar="RUN...", type=NUMBER, nargs=-1, required=True)
@click.option("--keep-best", is_flag=True, help="Delete only the last checkpoint, which is needed to resume.")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@workspace_option
def delete(numbers: tuple[int, ...], keep_best: bool, yes: bool, folder: Path | None) -> None:
    """Delete the checkpoints of runs that have ended; their curves, evaluations, neighbours, maps and reports stay.

    Such a run cannot be resumed. Its network can no longer be exported, be the start of another run, or embed new
    images and words to search with; with --keep-best that of the best epoch still can. A run that trains, is queued or
    paused, is in the trash, is still written at a place, or belongs to an unfinished sweep keeps them.
    """
    with Workspace(folder or default_workspace()) as workspace:
        deleted = set[int]()
        runs = [workspace.run(number).id for number in dict.fromkeys(numbers)]
        space = freed_space.to_be_freed(workspace, runs, keep_best=keep_best)
        if space.freed:
            click.echo(LOST_LAST if keep_best else LOST)
            click.echo(BEST_STAYS if keep_best else STAYS)
            if not yes and not click.confirm(f"Delete {_words(keep_best, space.freed)}: {byte_size(space.bytes)}?"):
                click.echo("Nothing was deleted.")
                return
            freed = workspace.delete_checkpoints(list(space.freed), keep_best=keep_best)
            space.kept |= freed.kept
            deleted |= freed.freed.keys()
            if freed.freed:
                click.echo(f"Deleted {_words(keep_best, freed.freed)}: {byte_size(freed.bytes)}.")
        elif not space.kept:
            click.echo("There is no checkpoint to delete.")
    if space.kept:
        more = f" {len(space.kept) - MOST:,} more keep theirs, too." if len(space.kept) > MOST else ""
        in_part = ", except those that are counted above" if deleted & space.kept.keys() else ""
        what = f"{' '.join(list(space.kept.values())[:MOST])}{more}"
        they_keep = "It keeps its" if len(space.kept) == 1 else "They keep their"
        raise Problem(what, kept=f"{they_keep} checkpoints{in_part}.")


@checkpoints.command("bring-back", short_help="Copy the lost checkpoints of a run from a folder.")
@click.argument("run_id", metavar="RUN", type=NUMBER)
@click.argument("source", metavar="DIR", type=click.Path(path_type=Path, file_okay=False, exists=True))
@workspace_option
def bring_back(run_id: int, source: Path, folder: Path | None) -> None:
    """Copy the checkpoints that run RUN had and has no longer from DIR, or from folders below it.

    DIR is an export of the run (--format run), or a copy of its workspace. A file is taken only with the content of the
    checkpoint that was deleted or is missing; nothing in DIR is changed.
    """
    with Workspace(folder or default_workspace()) as workspace:
        workspace.run(run_id)
        with told() as progress:
            came = brought_back.bring_back(workspace, run_id, source, progress)
    size = byte_size(sum(one.bytes for one in came))
    click.echo(f"Brought back for run {run_id}: {' and '.join(one.name for one in came)}, {size}.")


def _words(keep_best: bool, runs: Collection[int]) -> str:
    what = "last checkpoint" if keep_best else "checkpoints"
    return f"the {what} of {len(runs):,} {'run' if len(runs) == 1 else 'runs'}"


def _data(workspace: Workspace, run: Run, size: int) -> dict[str, Any]:
    """Plain data of a run: bytes of its folder and of its checkpoints; None for one that is not there."""
    home = workspace.folder(run.id)
    there = {
        kind: (home / name).stat().st_size if workspace.has_file(run.id, name) else None
        for kind, name in CHECKPOINTS.items()
    }
    day = deleted_checkpoints.stands_still(home)
    return {"run": run.id, "name": run.name, "status": str(run.status), "bytes": size, **there, "deleted": day or None}


def _cells(data: dict[str, Any]) -> list[str]:
    sizes = ["–" if data[kind] is None else byte_size(data[kind]) for kind in ("bytes", *CHECKPOINTS)]
    return [str(data["run"]), *sizes, data["deleted"] or "–", one_line(data["name"])]
