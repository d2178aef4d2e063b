"""`workbench benchmark`: methods compared on real data."""

from pathlib import Path

import click

from workbench.commands.arguments import Group, losses_named, workspace_option
from workbench.commands.terminal import say_while_read
from workbench.commands.training.fair import fair
from workbench.entries import catalog as catalogs
from workbench.workspace import Workspace
from workbench.workspace.paths import default_workspace


@click.group(cls=Group)
def benchmark() -> None:
    """Compare methods on real data. Runs that are done are not repeated."""


@benchmark.command("methods", short_help="Train every method in the same way; print a table.")
@workspace_option
@click.option(
    "--data",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    required=True,
    help="Folder with mnist/, omniglot/, caltech101/ and weights/.",
)
@click.option(
    "--on", "benches", multiple=True, type=click.Choice(["omniglot", "mnist", "caltech"]), default=["omniglot"],
    show_default=True, help="Data to train on; may be given several times.",
)  # fmt: skip
@click.option("--method", "methods", multiple=True, help="A loss by name, may be given several times; all by default.")
@click.option("--seeds", type=click.IntRange(1, 100), default=3, show_default=True, help="Runs of each method.")
def benchmark_methods(
    folder: Path | None, data: Path, benches: tuple[str, ...], methods: tuple[str, ...], seeds: int
) -> None:
    """Train every method with the same backbone and budget, and print R@1, MAP@R, NMI, time and memory as Markdown."""
    from workbench.commands.training import method_table

    chosen = losses_named(methods, catalogs.names(catalogs.current(), "loss"))
    with Workspace(folder or default_workspace(), create=True) as workspace:
        for bench in benches:
            rows = method_table.compare(workspace, bench, chosen, list(range(seeds)), data, _say)
            said = "1 seed" if seeds == 1 else f"{seeds} seeds"
            click.echo(f"## {bench}, {said}\n\n{method_table.table(rows)}\n{method_table.OPTIMISTIC}")


benchmark.add_command(fair)


def _say(text: str, done: int, total: int) -> None:
    """A Progress that prints each text on its own line."""
    say_while_read(text)
