"""`workbench tags`: tags of images, from and to tables, and scores of each, by class size, or across an attribute."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from workbench import files
from workbench.commands.arguments import FILE, NUMBER, epoch_option, workspace_option
from workbench.commands.results.columns import Column, table_lines
from workbench.commands.results.deploy import evaluation_of
from workbench.commands.terminal import one_line, printable, show_json, show_lines, told
from workbench.numerals import percentage
from workbench.workspace import Workspace
from workbench.workspace.paths import default_workspace

if TYPE_CHECKING:
    from workbench.results.by_attribute import ByAttribute
    from workbench.results.by_class_size import BySize

WIDEST = 40  # letters of a tag in the table


@click.command("tags", short_help="Print a run's scores for the images of each tag, or by class size.")
@click.argument("run_id", metavar="RUN", type=NUMBER)
@workspace_option
@epoch_option("that is shown")
@click.option(
    "--import", "read", type=FILE, default=None, metavar="FILE",
    help="First store the tags of a CSV: a column path, and one for each attribute.",
)  # fmt: skip
@click.option("--export", "out", type=FILE, default=None, metavar="FILE", help="Write all tags as CSV.")
@click.option(
    "--by-size", "by_size", is_flag=True,
    help="Print scores of rare and frequent classes instead: in groups by their number of images.",
)  # fmt: skip
@click.option(
    "--across", default=None, metavar="ATTRIBUTE",
    help="Print scores across the values of an attribute instead, as from one camera or view to another.",
)  # fmt: skip
@click.option(
    "--csv", "csv_file", type=FILE, default=None, metavar="FILE",
    help="Also write a CSV: with --by-size a row for each class, with --across one for each pair of values and score.",
)  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
def tags(
    run_id: int, folder: Path | None, epoch: str | int, read: Path | None, out: Path | None, by_size: bool,
    across: str | None, csv_file: Path | None, as_json: bool,
) -> None:  # fmt: skip
    """Print the scores of run RUN for the images of each tag, the lowest MAP@R of an attribute first.

    Tags belong to the data set, so that all its runs share them. They are given in Retrieval, or by a table: a cell
    "front" of a column "view" is the tag view=front.

    With --by-size classes are grouped by their training images or, where test classes are not trained, by their
    searched images; each group has its scores with 95% intervals over classes, and the scores that chance would give.

    With --across the queries of each value of ATTRIBUTE are searched among the images of each value, and among all
    images with and without the matches of their own value.
    """
    if by_size and across is not None:
        raise click.UsageError("--by-size and --across are two tables: give one of them.")
    if csv_file is not None and not by_size and across is None:
        raise click.UsageError("--csv needs --by-size or --across: it has a row for each class, or pair of values.")
    from workbench.results import by_attribute as attribute
    from workbench.results.by_class_size import as_csv, as_data, by_class_size
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
        if by_size:
            with told() as progress:
                measured = by_class_size(workspace, evaluation.id, progress)
        elif across is not None:
            with told() as progress:
                crossed = attribute.by_attribute(workspace, evaluation.id, across, progress)
        else:
            entries = slices(workspace, evaluation.id)
    if by_size:
        what = f"A row for each of {len(measured.classes.labels):,} classes"
        _show(as_csv(measured), what, csv_file, as_data(measured) if as_json else None)
        if not as_json:
            _print_by_size(measured)
        return
    if across is not None:
        what = f"A row for each pair of {len(crossed.titles):,} values"
        _show(attribute.as_csv(crossed), what, csv_file, attribute.as_data(crossed) if as_json else None)
        if not as_json:
            _print_across(crossed)
        return
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


def _show(text: str, what: str, csv_file: Path | None, data: dict[str, Any] | None) -> None:
    """Write `text` to a CSV file, if one is asked for, and print `data` as JSON, if there is any."""
    if csv_file is not None:
        with files.named_file(csv_file) as file:
            file.write(text.encode())
        click.echo(f"{what} written to {csv_file}.", err=True)
    if data is not None:
        show_json(data)


def _print_across(crossed: "ByAttribute") -> None:
    """Print a matrix of each metric and the scores without the own value, with the sentences that explain them."""
    from workbench.results.by_attribute import METRICS, matrix_rows, matrix_titles, own_rows, own_titles

    tables = [(matrix_titles(crossed, metric), matrix_rows(crossed, metric), 1) for metric in METRICS]
    tables += [(own_titles(crossed), own_rows(crossed), 2)] if crossed.cells else []
    for titles, rows, words in tables:
        columns = [Column(one_line(title), numbers=at >= words) for at, title in enumerate(titles)]
        lines = table_lines(columns, [tuple(map(one_line, row)) for row in rows], None)
        for line in [*lines, *([""] if lines else [])]:
            click.echo(printable(line))
    for sentence in crossed.sentences:
        click.echo(printable(sentence))


def _print_by_size(measured: "BySize") -> None:
    """Print the groups as a table, with the sentences that say how to read it."""
    from workbench.results.by_class_size import rows_of, titles_of

    columns = [Column(title, numbers=at > 1) for at, title in enumerate(titles_of(measured))]
    lines = table_lines(columns, rows_of(measured), None)
    for line in [*lines, *([""] if lines else []), *measured.sentences]:
        click.echo(printable(line))
