"""`workbench report`: the reports of the Report page, from the command line."""

from pathlib import Path

import click
from click.core import ParameterSource

from workbench.commands.arguments import FILE, FOLDER, NUMBER, TEXT, workspace_option
from workbench.commands.results.compare import EPOCH_OPTION
from workbench.commands.terminal import printable, told
from workbench.files.unreadable import TABLES, refusing
from workbench.problem import Problem
from workbench.reports.sections import FORMATS, GROUP_SECTIONS, METRIC, PAPER, PAPERS, SECTIONS
from workbench.workspace import Workspace
from workbench.workspace.paths import default_workspace

UNUSED = "--metric changes nothing here: the sections of one run show every metric."
TEMPLATES = ("one-run", "comparison", "paper-appendix")


@click.command("report", short_help="Write the report of runs.")
@click.argument("numbers", metavar="RUN...", type=NUMBER, nargs=-1, required=True)
@workspace_option
@click.option("--format", "formats", multiple=True, type=click.Choice(FORMATS), help="By default html.")
@click.option("--out", type=FOLDER, help="Folder; by default that of the first run.")
@click.option(
    "--template", metavar="NAME",
    help=f"{', '.join(TEMPLATES)}, or one of your own. By default one-run, and comparison for more than one run.",
)  # fmt: skip
@click.option(
    "--section",
    "sections",
    multiple=True,
    metavar="NAME",
    type=click.Choice(tuple(SECTIONS)),
    help="Write this section instead of the template's; may be given several times. "
    f"The sections: {', '.join(SECTIONS)}.",
)
@click.option("--title", type=TEXT, default="", help="By default the run's name.")
@click.option(
    "--text", type=click.Path(path_type=Path, exists=True, dir_okay=False), help="Your own text, a Markdown file."
)
@click.option("--metric", default=METRIC, show_default=True, help="Metric that a comparison shows.")
@EPOCH_OPTION
@click.option(
    "--paper", type=click.Choice(tuple(PAPERS)), default=PAPER, show_default=True, help="Paper size of the PDF."
)
@click.option(
    "--bundle", type=FILE,
    help="A ZIP file: the report in every format, configs, tables and a manifest. Without --format only this file is "
    "written.",
)  # fmt: skip
def report_runs(
    numbers: tuple[int, ...],
    folder: Path | None,
    formats: tuple[str, ...],
    out: Path | None,
    template: str | None,
    sections: tuple[str, ...],
    title: str,
    text: Path | None,
    metric: str,
    at: str | int,
    paper: str,
    bundle: Path | None,
) -> None:
    """Write the report of runs (their numbers in `workbench list runs`).

    In a comparison differences are taken against the group of the first RUN.
    """
    from workbench import reports
    from workbench.reports import templates
    from workbench.workspace.choices.report_templates import arrangements

    key = template or ("one-run" if len(numbers) == 1 else "comparison")
    wanted = formats or (() if bundle else ("html",))
    with Workspace(folder or default_workspace()) as workspace:
        asked = templates.template(key, arrangements(workspace))
        chosen = sections or asked.sections
        notes = asked.text if text is None else _own_text(text)
        if not GROUP_SECTIONS.keys() & set(chosen):
            if _given("metric"):
                click.echo(UNUSED, err=True)
            metric = METRIC
        out_folder = out or workspace.file(numbers[0], asked.folder)
        if wanted:
            with told() as progress:
                paths = reports.write_report(
                    workspace, numbers, out_folder, wanted, chosen, title, notes, progress, metric, at, paper
                )  # fmt: skip
            for path in paths:
                click.echo(path)
        if bundle is not None:
            wish = reports.wish_of(numbers, chosen, title, notes, metric, at, paper)
            with told() as progress:
                reports.write_bundle(workspace, wish, bundle, progress)
            click.echo(bundle)
        if len(numbers) > 1:  # last: a report that cannot be written says by itself what the runs lack
            _say_what_is_not_common(workspace, numbers, metric, at)


def _own_text(file: Path) -> str:
    """The user's text. Raises Problem for a file that is not text in UTF-8."""

    def refused(why: str) -> Problem:
        todo = "Save it as UTF-8 text, or choose another file."
        return Problem(f"The text in {file} cannot be read ({why}).", kept="No report was written.", todo=todo)

    with refusing(refused):
        return file.read_text(TABLES)


def _given(option: str) -> bool:
    """Whether the command line has the option, rather than its default."""
    return click.get_current_context().get_parameter_source(option) is not ParameterSource.DEFAULT


def _say_what_is_not_common(workspace: Workspace, numbers: tuple[int, ...], metric: str, at: str | int) -> None:
    """On the error output: a report of runs that cannot be compared is written all the same."""
    from workbench.comparing.in_common import nothing_in_common
    from workbench.comparing.overview import overview
    from workbench.entries import catalog

    runs = [workspace.run(number) for number in dict.fromkeys(numbers)]
    for sentence in nothing_in_common(workspace, overview(workspace, runs, catalog.current(), metric, at)):
        click.echo(printable(sentence), err=True)
