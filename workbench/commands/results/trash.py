"""`workbench trash`: runs in the trash, as in the window's list."""

from collections.abc import Iterable
from pathlib import Path

import click

from workbench.commands.arguments import NUMBER, Group, workspace_option
from workbench.commands.results.columns import terminal_width
from workbench.commands.results.run_lines import listed_runs, run_lines
from workbench.commands.terminal import show_json, show_lines
from workbench.problem import Problem
from workbench.workspace import Workspace
from workbench.workspace.paths import default_workspace

MOST = 20  # numbers of runs in a sentence


@click.group(cls=Group)
def trash() -> None:
    """Move runs to the trash, bring them back, or delete them permanently."""


@trash.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of lines.")
@workspace_option
def list_trash(as_json: bool, folder: Path | None) -> None:
    """Show the runs in the trash, newest first."""
    with Workspace(folder or default_workspace()) as workspace:
        listed = listed_runs(workspace, trashed=True, sizes=as_json)
    if as_json:
        show_json([run.data for run in listed])
    else:
        show_lines(run_lines(listed, terminal_width()), "The trash is empty.")


@trash.command("add", short_help="Move runs to the trash; nothing is deleted.")
@click.argument("numbers", metavar="RUN...", type=NUMBER, nargs=-1, required=True)
@workspace_option
def add(numbers: tuple[int, ...], folder: Path | None) -> None:
    """Move runs to the trash. Nothing is deleted, and `workbench trash restore` brings them back.

    A run that trains or is queued stays where it is: end it first.
    """
    with Workspace(folder or default_workspace()) as workspace:
        asked = [workspace.run(number).id for number in dict.fromkeys(numbers)]
        moved = workspace.trash_several(asked)
    if moved:
        click.echo(f"In the trash: {_listed(moved)}.")
    if left := [number for number in asked if number not in moved]:
        what = f"Not moved, because they train, are queued or have been deleted: {_listed(left)}."
        raise Problem(what, todo="End them first.")


@trash.command("restore", short_help="Bring runs back from the trash.")
@click.argument("numbers", metavar="[RUN...]", type=NUMBER, nargs=-1)
@workspace_option
def restore(numbers: tuple[int, ...], folder: Path | None) -> None:
    """Bring runs back from the trash; without RUN all that are in it."""
    with Workspace(folder or default_workspace()) as workspace:
        back = workspace.restore_several(_in_trash(workspace, numbers))
    click.echo(f"In the list again: {_listed(back)}." if back else "The trash is empty.")


@trash.command("empty", short_help="Delete runs in the trash permanently.")
@click.argument("numbers", metavar="[RUN...]", type=NUMBER, nargs=-1)
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@workspace_option
def empty(numbers: tuple[int, ...], yes: bool, folder: Path | None) -> None:
    """Delete runs in the trash permanently, with their curves, evaluations, maps and checkpoints; without RUN all."""
    with Workspace(folder or default_workspace()) as workspace:
        runs = _in_trash(workspace, numbers)
        if not runs:
            click.echo("The trash is empty.")
        elif yes or click.confirm(f"Delete permanently: {_listed(runs)}?"):
            click.echo(f"Deleted: {workspace.empty_trash(runs):,} of {len(runs):,}.")
        else:
            click.echo("Nothing was deleted.")


def _in_trash(workspace: Workspace, numbers: Iterable[int]) -> list[int]:
    """The numbers of runs in the trash, all of them or those that are named. Raises Problem for one elsewhere."""
    there = [run.id for run in workspace.runs(trashed=True)]
    named = [workspace.run(number).id for number in dict.fromkeys(numbers)]
    if elsewhere := [number for number in named if number not in there]:
        raise Problem(f"Not in the trash: {_listed(elsewhere)}.", kept="Nothing was changed.")
    return named or there


def _listed(numbers: list[int]) -> str:
    more = f" and {len(numbers) - MOST:,} more" if len(numbers) > MOST else ""
    return f"{'run' if len(numbers) == 1 else 'runs'} {', '.join(map(str, numbers[:MOST]))}{more}"
