"""`workbench geometry`: the geometry of a run's embeddings over its epochs, with alarms in words."""

from math import isfinite
from pathlib import Path

import click

from workbench.commands.arguments import NUMBER, workspace_option
from workbench.commands.terminal import one_line, show_json
from workbench.numerals import minus, words_of
from workbench.problem import Problem
from workbench.workspace import Workspace
from workbench.workspace.measured.evaluations import unread_words
from workbench.workspace.paths import default_workspace

SHOWN = (
    ("spectral_rank", "rank"), ("dead_dimensions", "dead"), ("mean_norm", "norm"), ("pairs_uniformity", "uniform"),
    ("pairs_alignment", "align"), ("overlap", "overlap"), ("foreign_margin", "apart"), ("largest_hub", "hub"),
)  # fmt: skip
COUNTS = ("dead_dimensions", "largest_hub")
MARKS = {"ok": "ok     ", "note": "note   ", "bad": "alarm  "}


@click.command("geometry", short_help="Check a run's embeddings: collapse, hubs, falling classes.")
@click.argument("run_id", metavar="RUN", type=NUMBER)
@workspace_option
@click.option("--probe", is_flag=True, help="Look at the training images of the probe, not at the test set.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
def geometry(run_id: int, folder: Path | None, probe: bool, as_json: bool) -> None:
    """Check the embeddings of run RUN over its epochs: collapse, dead dimensions, hubs, classes that get worse."""
    from workbench.results.geometry_watch import watch

    with Workspace(folder or default_workspace()) as workspace:
        run = workspace.run(run_id)
        watched = watch(workspace, run_id, images="probe" if probe else "test")
        if not watched.evaluations:
            raise Problem(run.has_no("evaluation"))
        if damaged := unread_words(run, watched.evaluations):
            click.echo(one_line(damaged), err=True)
        alarms = watched.alarms(-1)
        class_names = {}
        if run.dataset_id is not None:
            dataset = workspace.dataset(run.dataset_id)
            class_names = {int(label): dataset.class_name(int(label)) for label in watched.labels}
    falling = [class_names.get(int(watched.labels[at]), str(watched.labels[at])) for at in watched.falling]
    if as_json:
        epochs = [{"epoch": epoch, **seen.numbers} for epoch, seen in zip(watched.epochs, watched.looks, strict=True)]
        said = [{"level": alarm.level, "title": alarm.title, "words": alarm.words} for alarm in alarms]
        show_json({"run": run_id, "epochs": epochs, "alarms": said, "falling": falling})
        return
    click.echo("epoch  " + "  ".join(f"{title:>8}" for _, title in SHOWN))
    for epoch, seen in zip(watched.epochs, watched.looks, strict=True):
        click.echo(f"{epoch:5}  " + "  ".join(f"{_cell(name, seen.numbers[name]):>8}" for name, _ in SHOWN))
    for alarm in alarms:
        click.echo(f"{MARKS[alarm.level]}{alarm.title}. {alarm.words}")
    if falling:
        named = ", ".join(falling[:10])
        fallen = f"Fall while the mean rises: {named} ({len(falling)} of {len(watched.labels)} classes)."
        click.echo(one_line(f"note   {fallen}"))


def _cell(name: str, value: float) -> str:
    """A number of the table: counts without decimals, a dash where it is undefined."""
    if not isfinite(value):
        return words_of(value)
    return f"{value:.0f}" if name in COUNTS else minus(f"{value:.3f}")
