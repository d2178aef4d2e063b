"""`workbench annotate`: names, notes and tags of runs, as in the window's list."""

from pathlib import Path
from typing import Any

import click

from workbench.commands.arguments import NUMBER, TEXT, Text, workspace_option
from workbench.commands.terminal import one_line
from workbench.names import in_one_line, visible_name
from workbench.workspace import Workspace
from workbench.workspace.paths import default_workspace

LONGEST = 200  # letters of a name, as in the window
SHOWN_NOTE = 80  # letters of a note that are printed


class Words(Text):
    """A name or a tag: words in one line."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The words; a usage error for none, for several lines, and for more than a name has in the window."""
        words = super().convert(value, param, ctx)
        if not words.strip():
            self.fail("It is empty.", param, ctx)
        if len(words.splitlines()) > 1:
            self.fail("It has more than one line.", param, ctx)
        if len(words) > LONGEST:
            self.fail(f"It has {len(words):,} characters; at most {LONGEST} are stored.", param, ctx)
        return words


@click.command("annotate", short_help="Change names, notes and tags of runs.")
@click.argument("numbers", metavar="RUN...", type=NUMBER, nargs=-1, required=True)
@click.option("--name", type=Words(), default=None, help="Another name.")
@click.option("--note", type=TEXT, default=None, metavar="TEXT", help="Replaces the existing note.")
@click.option(
    "--tag", "added", type=Words(), multiple=True, metavar="TAG", help="Add this tag; may be given several times."
)
@click.option(
    "--untag", "removed", type=TEXT, multiple=True, metavar="TAG", help="Remove this tag; may be given several times."
)
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
    new, old = ({tag.strip() for tag in tags} - {""} for tags in (added, removed))
    if parts := sorted(tag for tag in new if "," in tag):  # with which the window separates tags
        raise click.UsageError(f"A tag cannot contain a comma: {parts[0]!r}. Write --tag once for each.")
    if both := sorted(new & old):
        raise click.UsageError(f"{both[0]!r} is given with --tag and with --untag. Write it once.")
    with Workspace(folder or default_workspace()) as workspace:
        runs = [workspace.run(number).id for number in dict.fromkeys(numbers)]
        for run_id in runs:
            if name is not None:
                workspace.rename(run_id, name)
            if note is not None:
                workspace.set_note(run_id, note)
        workspace.change_tags(dict.fromkeys(runs, new), dict.fromkeys(runs, old))
        for run in map(workspace.run, runs):
            tags = f"  [{', '.join(map(visible_name, run.tags))}]" if run.tags else ""
            note = f"  {in_one_line(visible_name(run.note, SHOWN_NOTE))}" if run.note else ""
            click.echo(one_line(f"{run.id:>4}  {visible_name(run.name)}{tags}{note}"))
