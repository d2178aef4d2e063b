"""`workbench benchmark fair`: the same search, steps and held-out classes for every loss."""

import signal
from pathlib import Path
from typing import Any

import click

from workbench import files
from workbench.commands.arguments import FOLDER, losses_named, workspace_option
from workbench.commands.terminal import INTERRUPTED, say_while_read
from workbench.entries import catalog as catalogs
from workbench.files.new_files import NewFiles
from workbench.problem import Problem
from workbench.settings.changed import toml_value
from workbench.workspace import Workspace
from workbench.workspace.paths import default_workspace


@click.command("fair", short_help="Tune every loss equally, then rank on the test set.")
@workspace_option
@click.option(
    "--data", type=click.Path(path_type=Path, file_okay=False, exists=True), required=True,
    help="Folder with mnist/, omniglot/, caltech101/ and weights/.",
)  # fmt: skip
@click.option(
    "--on", "bench", type=click.Choice(["omniglot", "mnist", "caltech"]), default="omniglot", show_default=True,
    help="Data to train on.",
)  # fmt: skip
@click.option("--methods", multiple=True, metavar="A,B", help="Losses by name; all by default.")
@click.option("--trials", type=click.IntRange(1, 1000), default=16, show_default=True, help="Trials per loss.")
@click.option("--seeds", type=click.IntRange(1, 100), default=5, show_default=True, help="New seeds at the end.")
@click.option(
    "--steps",
    type=click.IntRange(1),
    default=None,
    help="Optimiser steps of a run, rounded to whole epochs; 300 by default.",
)
@click.option(
    "--folds",
    type=click.IntRange(2, 20),
    default=None,
    help="Folds of the training classes; by default 4, of mnist 2.",
)
@click.option("--set", "changes", multiple=True, metavar="FIELD=VALUE", help="Change a field of every run.")
@click.option(
    "--out", type=FOLDER, default=None,
    help="Folder for results.md, ranks.svg, ranking.csv, pairs.csv and trials.csv.",
)  # fmt: skip
def fair(
    folder: Path | None, data: Path, bench: str, methods: tuple[str, ...], trials: int, seeds: int,
    steps: int | None, folds: int | None, changes: tuple[str, ...], out: Path | None,
) -> None:  # fmt: skip
    """Tune every loss in the same way on held-out training classes, then rank the best settings on the test set.

    Finished runs are not repeated: after an interruption the same command continues.
    """
    from workbench.fair import plan as plans
    from workbench.fair.runs import Interrupted

    known = catalogs.current()
    chosen = losses_named(methods, catalogs.names(known, "loss"))
    plan = plans.planned(bench, data, trials, seeds, steps=steps, folds=folds, changes=_changes(changes))
    plans.refuse_unfit_changes(plan, known)
    plans.refuse_missing_data(plan)
    with Workspace(folder or default_workspace(), create=True) as workspace:
        try:
            comparison = _compared(workspace, plan, chosen, known)
        except Interrupted:
            click.echo("Interrupted. The same command continues it.", err=True)
            raise SystemExit(INTERRUPTED) from None
    _show(comparison, out)


def _changes(changes: tuple[str, ...]) -> dict[str, Any]:
    pairs = [change.partition("=") for change in changes]
    for field, equals, _ in pairs:
        if not equals:
            raise click.UsageError(f"--set {field} has no value. Write it as FIELD=VALUE.")
    return {field: toml_value(text) for field, _, text in pairs}


def _compared(workspace: Workspace, plan: Any, methods: list[str], known: catalogs.Catalog) -> Any:
    """All runs of the plan, done here; Ctrl+C and the end of the session keep a checkpoint."""
    from workbench.fair.runs import Runs
    from workbench.fair.scores import scores_of
    from workbench.fair.table import compared

    runs = Runs(workspace, known, say_while_read)
    before = {number: signal.signal(number, lambda *_: runs.interrupt()) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        scores, left_out = [], {}
        for method in methods:
            say_while_read(f"{method}:")
            try:
                config, tried = runs.tune(plan, method)
                scores.append(scores_of(workspace, tried, runs.tested(plan, config, tried.best.setting)))
            except Problem as problem:  # the others are compared all the same
                say_while_read(f"{method} is left out. {problem}")
                left_out[method] = str(problem)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    return compared(plan, scores, left_out)


def _show(comparison: Any, out: Path | None) -> None:
    """Print the page; with a folder also write it, its tables and its picture."""
    from workbench.fair.table import markdown, tables

    text = markdown(comparison)
    click.echo(text)
    if out is None:
        return
    from workbench.reports.figures.critical_difference import critical_difference

    title = f"{comparison.plan.bench}: {comparison.plan.trials} trials, {comparison.plan.seeds} seeds"
    drawn = critical_difference(comparison.placed, comparison.groups, title).encode("svg")
    written = {name: table.encode() for name, table in tables(comparison).items()}
    with NewFiles() as new:
        for name, content in (written | {"results.md": text.encode(), "ranks.svg": drawn}).items():
            new.add(out / name)
            files.make_folder(out)
            with files.atomic_write(out / name) as file:
                file.write(content)
