"""`workbench compare`: chosen runs side by side, in the tables of the Compare page."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from workbench import files
from workbench.commands.arguments import FILE, NUMBER, epoch, workspace_option
from workbench.commands.terminal import printable, show_json, told
from workbench.entries import catalog as catalogs
from workbench.problem import Problem
from workbench.workspace import Workspace
from workbench.workspace.experiments import sweeps
from workbench.workspace.paths import default_workspace

if TYPE_CHECKING:
    from workbench.commands.results.compared import Compared


EPOCH_OPTION = click.option(
    "--epoch", "--at", "at", type=epoch, metavar="EPOCH", default="best", show_default=True,
    help="Evaluation of each run: best, last, or the number of an epoch.",
)  # fmt: skip


@click.command("compare", short_help="Compare runs, with 95% intervals.")
@click.argument("numbers", metavar="[RUN...]", type=NUMBER, nargs=-1)
@click.option(
    "--sweep", "sweep_numbers", type=NUMBER, multiple=True, metavar="SWEEP",
    help="Also the runs of this sweep that are done: each setting is a group.",
)  # fmt: skip
@click.option("--metric", default="MAP@R", show_default=True, help="A metric that the runs have.")
@EPOCH_OPTION
@click.option(
    "--json", "as_json", is_flag=True,
    help="Print JSON instead of tables: values as they are stored, shares from 0 to 1, memory in bytes.",
)  # fmt: skip
@click.option(
    "--csv", "csv_file", type=FILE, default=None, metavar="FILE",
    help="Write a row for each group, with the same values, to this CSV file instead of printing tables; with "
    "--by-size also one for each group of classes.",
)  # fmt: skip
@click.option(
    "--similarity", "embeddings", is_flag=True,
    help="Also compare the embeddings of every pair of groups: CKA, and nearest neighbours in common.",
)  # fmt: skip
@click.option(
    "--together", "ensembles", is_flag=True,
    help="Also search with the embeddings of every two runs side by side, and of all; minutes for large test sets.",
)  # fmt: skip
@click.option(
    "--replace", "crossed", is_flag=True,
    help="Also search the gallery of each run with the queries of the others: whether one can replace another.",
)  # fmt: skip
@click.option(
    "--by-size", "by_size", is_flag=True,
    help="Also compare rare and frequent classes: the differences in groups of classes by their number of images.",
)  # fmt: skip
@workspace_option
def compare_runs(
    numbers: tuple[int, ...], sweep_numbers: tuple[int, ...], metric: str, at: str | int, as_json: bool,
    csv_file: Path | None, embeddings: bool, ensembles: bool, crossed: bool, by_size: bool, folder: Path | None,
) -> None:  # fmt: skip
    """Compare runs (their numbers in `workbench list runs`): runs of one config, over seeds, are one group.

    Differences are taken against the group of the first RUN; with a sweep alone, against its first setting.
    """
    from workbench.commands.results.compared import as_csv, as_data, compared

    if not (numbers or sweep_numbers):
        raise click.UsageError("Missing argument 'RUN...': name runs, or a sweep with --sweep.")
    with Workspace(folder or default_workspace()) as workspace, told() as progress:
        of_sweeps = (run for number in sweep_numbers for run in _done_runs(workspace, number))
        read = compared(
            workspace, (*numbers, *of_sweeps), metric, at, progress, embeddings=embeddings, ensembles=ensembles,
            crossed=crossed, by_size=by_size,
        )  # fmt: skip
    if csv_file is not None:
        with files.named_file(csv_file) as file:
            file.write(as_csv(read).encode())
        click.echo(csv_file, err=as_json)
    if as_json:
        show_json(as_data(read))
    elif csv_file is None:
        for line in comparison_lines(read):
            click.echo(printable(line))


def _done_runs(workspace: Workspace, number: int) -> list[int]:
    """The runs of a sweep that are done and not in the trash, by setting and seed. Raises Problem if there are none."""
    trials = [trial for trial in sweeps.trials(workspace, sweeps.one(workspace, number).id) if trial.state == "done"]
    ordered = sorted(trials, key=lambda trial: (trial.point, trial.seed, trial.fold))
    kept = {run.id for run in workspace.runs()}
    runs = [trial.run_id for trial in ordered if trial.run_id in kept]
    if trials and not runs:
        what = f"All runs of sweep {number} that are done are in the trash, or deleted."
        raise Problem(what, todo="Restore some of them, or name other runs.")
    if not runs:
        raise Problem(f"Sweep {number} has no run that is done.", todo="Compare it once some of its runs are done.")
    return runs


def comparison_lines(read: "Compared") -> list[str]:
    """What the command prints: tables as Markdown and sentences, empty lines between them."""
    from workbench.comparing import comparison_text as words
    from workbench.comparing.difference.forest import against_the_first, corrected_tests, verdict_among
    from workbench.comparing.replacing_text import replacing_lines
    from workbench.comparing.together_text import together_lines

    shown, first = read.overview, read.first
    tests = corrected_tests(shown, first, shown.metric)
    lines = [f"## {words.metric_title(shown.metric)}, {words.at_title(shown.at)}", "", words.metrics_table(shown)]
    lines += ["", "## Settings that differ", "", words.differences_table(shown, catalogs.current())]
    lines += ["", "## Notes", "", *(f"- {sentence}" for sentence in shown.guards)] if shown.guards else []
    for other, comparison in read.others:
        lines += ["", f"## {other.title} minus {first.title}", ""]
        if isinstance(comparison, Problem):
            lines.append(str(comparison))
            continue
        lines += [words.comparison_table(comparison), "", verdict_among(tests, comparison)]
        lines += [f"- {sentence}" for sentence in (*comparison.notes, words.queries_told(comparison)) if sentence]
        lines += size_lines(read, other.title)
    if corrected := against_the_first(shown):
        lines += ["", f"## All groups against {first.title}", "", *(f"- {sentence}" for sentence in corrected)]
    if read.similarity is not None:
        lines += ["", "## Similarity of embeddings", "", *words.similarity_lines(read.similarity)]
    if read.together is not None:
        lines += ["", "## Runs together", "", *together_lines(read.together)]
    if read.replaced is not None:
        lines += ["", "## One run in place of another", "", *replacing_lines(read.replaced)]
    return lines


def size_lines(read: "Compared", title: str) -> list[str]:
    """The difference of a group from the first by class size, as a table with sentences; none unless asked for."""
    from workbench.comparing.comparison_text import markdown_table
    from workbench.results.size_differences import compared_rows, compared_titles

    by_size = read.by_size.get(title)
    if by_size is None:
        return []
    head = ["", f"### By class size, {title} minus {read.first.title}", ""]
    if isinstance(by_size, Problem):
        return [*head, str(by_size)]
    rows = compared_rows(by_size)
    table = [markdown_table(list(compared_titles(by_size)), rows), ""] if rows else []
    return [*head, *table, *(f"- {sentence}" for sentence in by_size.sentences)]
