"""`workbench tags`: tags of images, from and to tables, and the scores of the images of each."""

from dataclasses import asdict
from pathlib import Path

import click

from workbench.commands.arguments import NUMBER, epoch_option, workspace_option
from workbench.commands.results.deploy import evaluation_of
from workbench.commands.terminal import one_line, show_json, show_lines
from workbench.numerals import percentage
from workbench.workspace import Workspace
from workbench.workspace.paths import default_workspace

WIDEST = 40  # letters of a tag in the table


FILE = click.Path(path_type=Path, dir_okay=False)


@click.command("tags", short_help="Print a run's scores for the images of each tag.")
@click.argument("run_id", metavar="RUN", type=NUMBER)
@workspace_option
@epoch_option("that is shown")
@click.option(
    "--import", "read", type=FILE, default=None, metavar="FILE",
    help="First store the tags of a CSV: a column path, and one for each attribute.",
)  # fmt: skip
@click.option("--export", "out", type=FILE, default=None, metavar="FILE", help="Write all tags as CSV.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
def tags(
    run_id: int, folder: Path | None, epoch: str | int, read: Path | None, out: Path | None, as_json: bool
) -> None:
    """Print the scores of run RUN for the images of each tag, the lowest MAP@R of an attribute first.

    Tags belong to the data set, so that all its runs share them. They are given in Retrieval, or by a table: a cell
    "front" of a column "view" is the tag view=front.
    """
    from workbench.results.slices import slices
    from workbench.results.tag_table import export_tags, import_tags

    with Workspace(folder or default_workspace()) as workspace:
        evaluation = evaluation_of(workspace, run_id, epoch)
        dataset_id = workspace.run(run_id).dataset_id
        if read is not None:
            brought = import_tags(workspace, dataset_id, read)
            said = f"Tags stored: {brought.tags:,}, of {brought.images:,} images"
            click.echo(f"{said}; rows about images of another data set: {brought.unknown:,}.", err=True)
        if out is not None:
            click.echo(f"Tags of {export_tags(workspace, dataset_id, out):,} images written to {out}.", err=True)
        entries = slices(workspace, evaluation.id)
    if as_json:
        show_json({"run": run_id, "epoch": evaluation.epoch, "tags": [asdict(entry) for entry in entries]})
        return
    head = f"{'tag':{WIDEST}}  {'images':>9}  {'queries':>9}  {'R@1':>7}  {'MAP@R':>7}  95% over queries"
    lines = [
        f"{one_line(entry.tag)[:WIDEST]:{WIDEST}}  {entry.images:9,}  {entry.queries:9,}  "
        f"{percentage(entry.recall):>7}  {percentage(entry.map_at_r):>7}  "
        f"{percentage(entry.low)} to {percentage(entry.high)}"
        for entry in entries
    ]
    show_lines([head, *lines] if lines else [], "No image of this evaluation has a tag.")
