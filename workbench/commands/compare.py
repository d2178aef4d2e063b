"""`workbench compare`: chosen runs side by side, in the tables of the Compare page."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from workbench.commands.terminal import printable, told
from workbench.entries import catalog as catalogs
from workbench.problem import Problem
from workbench.progress import Progress, quiet
from workbench.workspace import Workspace


def _epoch(text: str) -> str | int:
    """ "best", "last" or an epoch, as an option of the command line. Raises click.BadParameter."""
    if text in ("best", "last"):
        return text
    if not (text.isascii() and text.isdigit()):
        raise click.BadParameter(f"{text!r} is neither best nor last nor an epoch.")
    return int(text)


PLACE_OPTION = click.option(
    "--at", type=_epoch, metavar="best|last|EPOCH", default="best", show_default=True,
    help="Which evaluation of each run.",
)  # fmt: skip


def add_to(cli: click.Group, workspace_option: Callable[..., Any], default_workspace: Callable[[], Path]) -> None:
    """Add the command to the command line, with the workspace option that all commands share."""

    @cli.command("compare")
    @click.argument("numbers", metavar="RUN...", type=int, nargs=-1, required=True)
    @click.option("--metric", default="MAP@R", show_default=True, help="A metric that the runs have.")
    @PLACE_OPTION
    @workspace_option
    def compare_runs(numbers: tuple[int, ...], metric: str, at: str | int, folder: Path | None) -> None:
        """Compare runs (their numbers in `workbench list runs`): runs of one config, over seeds, are one group.

        Differences are taken against the group of the first RUN.
        """
        with Workspace(folder or default_workspace()) as workspace:
            with told() as progress:
                lines = comparison_lines(workspace, numbers, metric, at, progress)
            for line in lines:
                click.echo(printable(line))


def comparison_lines(
    workspace: Workspace, numbers: tuple[int, ...], metric: str, at: str | int, progress: Progress = quiet
) -> list[str]:
    """What the command prints: tables as Markdown and sentences, empty lines between them.

    Raises:
        Problem: a run that is not there, or none that has the metric there.
    """
    from workbench.comparing import comparison_text as words
    from workbench.comparing.difference.forest import against_the_first, verdict_among
    from workbench.comparing.overview import overview
    from workbench.comparing.queries.pairing import compare

    runs = [workspace.run(number) for number in dict.fromkeys(numbers)]
    known = catalogs.current()
    shown = overview(workspace, runs, known, metric, at, progress, runs[0].id)
    shown.require()
    lines = [f"## {words.metric_title(metric)}, {words.at_title(at)}", "", words.metrics_table(shown)]
    lines += ["", "## Settings that differ", "", words.differences_table(shown, known)]
    lines += ["", "## Notes", "", *(f"- {sentence}" for sentence in shown.guards)] if shown.guards else []
    first = shown.groups[0]
    for other in shown.groups[1:]:
        lines += ["", f"## {other.title} minus {first.title}", ""]
        try:
            comparison = compare(workspace, first, other, shown.measured, metric, at, progress=progress)
        except Problem as problem:
            lines.append(str(problem))
            continue
        lines += [words.comparison_table(comparison), "", verdict_among(shown, comparison)]
        lines += [f"- {sentence}" for sentence in (*comparison.notes, words.queries_told(comparison)) if sentence]
    if corrected := against_the_first(shown):
        lines += ["", f"## All groups against {first.title}", "", *(f"- {sentence}" for sentence in corrected)]
    return lines
