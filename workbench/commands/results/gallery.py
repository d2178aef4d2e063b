"""`workbench index`: the index of search-only embeddings, with its measured recall."""

from pathlib import Path

import click

from workbench.commands.arguments import NUMBER, workspace_option
from workbench.commands.terminal import told
from workbench.numerals import percentage
from workbench.workspace import Workspace
from workbench.workspace.measured.galleries import has_gallery
from workbench.workspace.paths import default_workspace


@click.command("index", short_help="Build the index of a run imported with --search-only.")
@click.argument("run_id", metavar="RUN", type=NUMBER)
@workspace_option
def index(run_id: int, folder: Path | None) -> None:
    """Build the index of run RUN, which was imported with --search-only, and measure its recall.

    Searching is exact without it, block by block: seconds for ten million rows. With it a query takes
    milliseconds; how many of the exact neighbours it finds is measured on 1,000 drawn rows and said.
    """
    from workbench.searching.request import Searcher

    with Workspace(folder or default_workspace()) as workspace:
        workspace.run(run_id)
        place = workspace.folder(run_id)
    if not has_gallery(place):
        raise click.UsageError(f"Run {run_id} was not imported with --search-only: its neighbours are stored.")
    with told() as progress:
        built = Searcher().build(place, progress)["index"]
    click.echo(f"{built['lists']:,} lists, {built['probed']:,} of them searched; {built['seconds']:.0f} s.")
    for recall in built["recalls"]:
        click.echo(
            f"Of the exact {recall['k']} nearest {percentage(recall['mean'], 2)} are found (95% interval "
            f"{percentage(recall['low'], 2)} to {percentage(recall['high'], 2)}, {built['queries']:,} queries)."
        )
