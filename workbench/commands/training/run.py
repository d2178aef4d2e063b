"""`workbench run` and `workbench sample`: train the runs of a config."""

import os
import sys
from pathlib import Path

import click

from workbench.commands.arguments import FOLDER, workspace_option
from workbench.commands.training import place
from workbench.commands.training.run_folder import run_in_folder
from workbench.commands.training.run_here import Manner, run_here
from workbench.problem import Problem
from workbench.running.devices.launched_ranks import LAUNCHED
from workbench.running.devices.together import parse_devices
from workbench.settings.changed import read_config_and_base
from workbench.workspace.paths import default_workspace

DEVICES = (
    "GPUs that train each run together, by number, such as 0,1,2,3; cpu,cpu is two processes on the CPU, "
    "env this process and others that srun or torchrun started."
)
RETRAIN = (
    "With --resume: a run whose checkpoints were deleted or are missing is trained from the start as a new run; "
    "the old one is moved to the trash."
)
JSON = (
    "Print the runs as JSON, also where one fails or is stopped: number, folder, state, scores. Progress is printed on "
    "the error output."
)
RESUME = "Continue the newest run of this config that is not done; a cancelled one needs a checkpoint."


@click.command(short_help="Train a config: a .toml file, or a preset by its name.")
@click.argument("config")
@workspace_option
@click.option("--resume", is_flag=True, help=RESUME)
@click.option("--retrain", is_flag=True, help=RETRAIN)
@click.option(
    "--set", "changes", multiple=True, metavar="FIELD=VALUE", help="Change a field, such as training.epochs=3."
)
@click.option("--report/--no-report", default=False, help="Also write an HTML report into the run's folder.")
@click.option("--quiet", is_flag=True, help="No progress; only notes about the run and the last line.")
@click.option("--devices", default="", metavar="LIST", help=DEVICES)
@click.option("--at-once", is_flag=True, help="Train seeds and folds at the same time, one on each of the --devices.")
@click.option(
    "--folder", "alone", type=FOLDER, default=None,
    help="Write the run only into this new folder, without a workspace; `workbench ingest` imports it later.",
)  # fmt: skip
@click.option(
    "--place", "elsewhere", default="", metavar="NAME",
    help="Train on another machine: a place of `workbench place list`.",
)  # fmt: skip
@click.option("--detach", is_flag=True, help="With --place: do not wait for the run.")
@click.option("--json", "as_json", is_flag=True, help=JSON)
def run(
    config: str,
    folder: Path | None,
    resume: bool,
    retrain: bool,
    changes: tuple[str, ...],
    report: bool,
    quiet: bool,
    devices: str,
    at_once: bool,
    alone: Path | None,
    elsewhere: str,
    detach: bool,
    as_json: bool,
) -> None:
    """Train CONFIG: a .toml file, or the name of a preset (`workbench list presets`). Relative paths, also those in
    the file, start at the working folder; the run stores absolute paths."""
    if alone is not None and (folder is not None or report):
        raise click.UsageError("--folder cannot be combined with --workspace or --report: there is no workspace.")
    if elsewhere and (alone is not None or resume or report or devices):
        raise click.UsageError("--place cannot be combined with --folder, --resume, --report or --devices.")
    if retrain and (not resume or alone is not None):
        raise click.UsageError("--retrain needs --resume, and cannot be combined with --folder.")
    if detach and not elsewhere:
        raise click.UsageError("--detach needs --place.")
    if at_once and (not devices or report or alone is not None):
        raise click.UsageError("--at-once needs --devices, and cannot be combined with --report or --folder.")
    named = _devices(devices)
    wanted, earlier = read_config_and_base(config, changes)
    here = folder or default_workspace()
    if elsewhere:
        sys.exit(place.run_at(wanted, here, elsewhere, detach=detach, quiet=quiet, as_json=as_json))
    if named == (LAUNCHED,) and alone is None:  # refused before a run is made
        raise click.UsageError(f"--devices {LAUNCHED} needs --folder.")
    again = _again(config, changes, devices, at_once, report)
    how = Manner(resume, retrain, report, quiet, devices, at_once, as_json, again, earlier)
    sys.exit(run_here(wanted, here, how) if alone is None else run_in_folder(wanted, alone, how))


def _again(config: str, changes: tuple[str, ...], devices: str, at_once: bool, report: bool) -> tuple[str, ...]:
    """The words of the command that continues these runs; a pipe cannot be read again, and CONFIG stands for it."""
    named = config if not os.path.exists(config) or os.path.isfile(config) else "CONFIG"
    words = ["run", named, *(word for change in changes for word in ("--set", change))]
    words += ["--devices", devices] if devices else []
    return (*words, *["--at-once"] * at_once, *["--report"] * report, "--resume")


def _devices(text: str) -> tuple[str, ...]:
    """The devices that --devices names. Raises click.UsageError for what is none."""
    try:
        return parse_devices(text) if text else ()
    except Problem as problem:
        raise click.UsageError(str(problem)) from None


@click.command(short_help="Train the sample project here, and write its report.")
@workspace_option
@click.option(
    "--epochs", type=click.IntRange(1, 1000), default=None, help="Passes over the data; the preset's by default."
)
def sample(folder: Path | None, epochs: int | None) -> None:
    """Run the sample project (Digits, small CNN, CE) here, and write its report."""
    changes = () if epochs is None else (f"training.epochs={epochs}",)
    wanted, earlier = read_config_and_base("sample-digits", changes)
    how = Manner(report=True, again=_again("sample-digits", changes, "", False, True), earlier=earlier)
    sys.exit(run_here(wanted, folder or default_workspace(), how))
