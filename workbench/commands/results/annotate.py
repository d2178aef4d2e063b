"""`workbench annotate`: names, notes and tags of runs, as in the window's list."""

from pathlib import Path

import click

from workbench.commands.arguments import NUMBER, workspace_option
from workbench.names import visible_name
from workbench.workspace import Workspace
from workbench.workspace.paths import default_workspace


@click.command("annotate", short_help="Change names, notes and tags of runs.")
@click.argument("numbers", metavar="RUN...", type=NUMBER, nargs=-1, required=True)
@click.option("--name", default=None, help="Another name.")
@click.option("--note", default=None, metavar="TEXT", help="Instead of the note that is there.")
@click.option("--tag", "added", multiple=True, metavar="TAG", help="Give this tag; can be repeated.")
@click.option("--untag", "removed", multiple=True, metavar="TAG", help="Take this tag away; can be repeated.")
@workspace_option
def annotate(
    numbers: tuple[int, ...],
    name: str | None,
    note: str | None,
    added: tuple[str, ...],
    removed: tuple[str, ...],
    folder: Path | None,
) -> None:
    """Change the name, the note or the tags of runs; what is not given stays. Prints what they have then."""
    with Workspace(folder or default_workspace()) as workspace:
        runs = [workspace.run(number).id for number in dict.fromkeys(numbers)]
        for run_id in runs:
            if name is not None:
                workspace.rename(run_id, name)
            if note is not None:
                workspace.set_note(run_id, note)
        new, old = ({tag.strip() for tag in tags} - {""} for tags in (added, removed))
        workspace.change_tags(dict.fromkeys(runs, new), dict.fromkeys(runs, old))
        for run in map(workspace.run, runs):
            tags = f"  [{', '.join(map(visible_name, run.tags))}]" if run.tags else ""
            click.echo(f"{run.id:>4}  {visible_name(run.name)}{tags}")
