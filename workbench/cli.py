"""The command line: the same engine and the same words as the window."""

import errno
import logging
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from workbench import __version__
from workbench.commands.arguments import FOLDER, losses_named
from workbench.commands.machine import desktop, plugins
from workbench.commands.results import compare, deploy, exchange, gallery, geometry, report, search, tags, triage
from workbench.commands.terminal import printable, say_while_read, show_json, show_lines
from workbench.commands.training import fair, ingest, place, sweep
from workbench.commands.training.run import INTERRUPTED, run_here, run_in_folder
from workbench.commands.training.run_lines import run_lines
from workbench.config import BadConfig
from workbench.entries import catalog as catalogs
from workbench.entries.offered_models import OfferedModel, offered_models
from workbench.problem import Problem, UnknownName
from workbench.progress import Progress
from workbench.running.devices.launched_ranks import LAUNCHED
from workbench.running.devices.together import parse_devices
from workbench.settings.changed import read_config
from workbench.settings.presets import presets
from workbench.settings.run_fields import common_fields
from workbench.workspace import Workspace
from workbench.workspace.paths import default_workspace

KINDS = {
    "losses": "loss", "backbones": "backbone", "datasets": "dataset", "splits": "split", "samplers": "sampler",
    "augmentations": "augmentation",
}  # fmt: skip
DEVICES = (
    "GPUs that train each run together, by number, such as 0,1,2,3; cpu,cpu is two processes on the CPU, "
    "env this process and others that srun or torchrun started."
)
RESUME = "Go on with the newest run of this config that is not done, a cancelled one with a checkpoint included."


UNREAD = 141  # as a shell says of a program that SIGPIPE ended


class Commands(click.Group):
    """Exit status: 0 done, 1 a problem (one sentence), 2 wrong usage, name or config, 130 Ctrl+C, 141 output unread."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; a Problem becomes one sentence and an exit status, with --debug a traceback."""
        try:
            return super().invoke(ctx)
        except Problem as problem:
            if ctx.params.get("debug"):
                raise
            click.echo(printable(str(problem)), err=True)
            sys.exit(2 if isinstance(problem, (BadConfig, UnknownName)) else 1)
        except BrokenPipeError:  # the reader of the output has ended, as after `| head -1`; click would end with 1
            _write_no_more()
            sys.exit(UNREAD)
        except KeyboardInterrupt:  # click itself would end with status 1
            click.echo("Interrupted.", err=True)
            sys.exit(INTERRUPTED)


workspace_option = click.option(
    "--workspace", "-w", "folder", type=FOLDER, default=None,
    help="Folder of runs; commands that add runs make it. By default WORKBENCH_WORKSPACE, or Workbench in the home "
    "folder.",
)  # fmt: skip


@click.group(cls=Commands)
@click.version_option(__version__, prog_name="workbench")
@click.option("--debug", is_flag=True, help="Show the traceback of a problem.")
def cli(debug: bool) -> None:
    """Train, evaluate and report runs of deep metric learning."""
    logging.basicConfig(level=logging.DEBUG if debug else logging.WARNING, format="%(levelname)s %(name)s: %(message)s")


@cli.command()
@click.argument("config")
@workspace_option
@click.option("--resume", is_flag=True, help=RESUME)
@click.option(
    "--set", "changes", multiple=True, metavar="FIELD=VALUE", help="Change a field, such as training.epochs=3."
)
@click.option("--report/--no-report", default=False, help="Also write an HTML report into the run's folder.")
@click.option("--quiet", is_flag=True, help="No progress; only notes about the run and the last line.")
@click.option("--devices", default="", metavar="LIST", help=DEVICES)
@click.option("--at-once", is_flag=True, help="Seeds and folds train at once, one on each of the --devices.")
@click.option(
    "--folder", "alone", type=FOLDER, default=None,
    help="Write the run into this new folder alone, without a workspace; `workbench ingest` imports it later.",
)  # fmt: skip
@click.option("--place", "elsewhere", default="", metavar="NAME", help="Run it at a place (`workbench place list`).")
@click.option("--detach", is_flag=True, help="With --place: do not follow it.")
def run(
    config: str,
    folder: Path | None,
    resume: bool,
    changes: tuple[str, ...],
    report: bool,
    quiet: bool,
    devices: str,
    at_once: bool,
    alone: Path | None,
    elsewhere: str,
    detach: bool,
) -> None:
    """Run CONFIG: a .toml file, or the name of a preset (`workbench list presets`). Relative paths, also those in the
    file, start at the working folder; the run keeps whole paths."""
    if alone is not None and (folder is not None or report):
        raise click.UsageError("--folder cannot be combined with --workspace or --report: there is no workspace.")
    if elsewhere and (alone is not None or resume or report or devices):
        raise click.UsageError("--place cannot be combined with --folder, --resume, --report or --devices.")
    if detach and not elsewhere:
        raise click.UsageError("--detach needs --place.")
    if at_once and (not devices or report or alone is not None):
        raise click.UsageError("--at-once needs --devices, and cannot be combined with --report or --folder.")
    named = _devices(devices)
    wanted = read_config(config, changes)
    if elsewhere:
        sys.exit(place.run_at(wanted, folder or default_workspace(), elsewhere, detach=detach, quiet=quiet))
    if named == (LAUNCHED,) and alone is None:  # refused before a run is made
        raise click.UsageError(f"--devices {LAUNCHED} needs --folder.")
    if alone is not None:
        sys.exit(run_in_folder(wanted, alone, resume=resume, quiet=quiet, devices=devices))
    with Workspace(folder or default_workspace(), create=True) as workspace:
        status = run_here(
            wanted, workspace, resume=resume, report=report, quiet=quiet, devices=devices, at_once=at_once
        )
        sys.exit(status)


def _devices(text: str) -> tuple[str, ...]:
    """The devices that --devices names. Raises click.UsageError for what is none."""
    try:
        return parse_devices(text) if text else ()
    except Problem as problem:
        raise click.UsageError(str(problem)) from None


@cli.command()
@workspace_option
@click.option(
    "--epochs", type=click.IntRange(1, 1000), default=None, help="Passes over the data; the preset's by default."
)
def sample(folder: Path | None, epochs: int | None) -> None:
    """Run the sample project (Digits, small CNN, CE) here, and write its report."""
    wanted = read_config("sample-digits", () if epochs is None else (f"training.epochs={epochs}",))
    with Workspace(folder or default_workspace(), create=True) as workspace:
        sys.exit(run_here(wanted, workspace, resume=False, report=True, quiet=False))


@cli.group()
def benchmark() -> None:
    """Compare methods on real data. What is done is not repeated."""


@benchmark.command("methods")
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
@click.option("--method", "methods", multiple=True, help="A loss by name; all by default.")
@click.option("--seeds", type=click.IntRange(1, 100), default=3, show_default=True, help="Runs of each method.")
def benchmark_methods(
    folder: Path | None, data: Path, benches: tuple[str, ...], methods: tuple[str, ...], seeds: int
) -> None:
    """Train every method with the same backbone and budget, and print R@1, MAP@R, NMI, time and memory as Markdown."""
    from workbench.commands.training import benchmark as comparison

    chosen = losses_named(methods, catalogs.names(catalogs.current(), "loss"))
    with Workspace(folder or default_workspace(), create=True) as workspace:
        for bench in benches:
            rows = comparison.compare(workspace, bench, chosen, list(range(seeds)), data, _say)
            said = "1 seed" if seeds == 1 else f"{seeds} seeds"
            click.echo(f"## {bench}, {said}\n\n{comparison.table(rows)}\n{comparison.OPTIMISTIC}")


@cli.command("list")
@click.argument("what", type=click.Choice([*KINDS, "models", "fields", "presets", "runs"]))
@click.argument("words", nargs=-1)
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of lines: of runs also times and all scores.")
@workspace_option
def list_entries(what: str, words: tuple[str, ...], as_json: bool, folder: Path | None) -> None:
    """Show what a config file can name, with each parameter, its default and range; the models of timm; the fields of
    every config; presets; or the runs. With WORDS, only those that contain each of them."""

    def wanted(*texts: str) -> bool:
        return all(word.casefold() in " ".join(texts).casefold() for word in words)

    listed = _listed(what, wanted, folder)
    if as_json:
        show_json([data for _, data in listed])
        return
    holding = f" with {' '.join(words)}" if words else ""
    others = _lists_with(wanted) if what == "fields" and words else ""
    show_lines((line for line, _ in listed), f"There are no {what}{holding}.{others}")


def _listed(what: str, wanted: Callable[..., bool], folder: Path | None) -> Iterator[tuple[str, dict[str, Any]]]:
    """The lines of each run, model, field, preset or entry whose texts are wanted, with its data for JSON."""
    if what == "runs":
        with Workspace(folder or default_workspace()) as workspace:
            lines = run_lines(workspace)
        yield from (listed for listed in lines if wanted(listed[0]))
    elif what == "models":
        for model in offered_models("timm_models"):
            if wanted(model.name, model.licence):
                yield _model_line(model), asdict(model)
    elif what == "fields":
        for name, facts in common_fields().items():
            if wanted(name, facts["description"]):
                yield _field_line("", name, facts), {"name": name, **facts}
    elif what == "presets":
        for preset in presets():
            if wanted(preset.key, preset.title, preset.summary):
                line = f"{preset.key:24} {preset.title}\n{'':24} {preset.summary}"
                yield line, {"name": preset.key, "title": preset.title, "summary": preset.summary}
    else:
        for key, described in catalogs.current().items():
            kind, _, name = key.partition("/")
            if kind == KINDS[what] and wanted(name, described["title"], described["help"], described["source"]):
                yield "\n".join(_entry_lines(kind, name, described)), {"name": name, **described}


def _lists_with(wanted: Callable[..., bool]) -> str:
    """A sentence, after a blank, on the lists of entries with wanted fields, such as split.validation; or empty."""
    fields: dict[str, str] = {}
    for key, described in catalogs.current().items():
        kind = key.partition("/")[0]
        for name, facts in described["params"].items():
            if wanted(f"{kind}.{name}", facts["description"]):
                fields.setdefault(kind, f"{kind}.{name}")
    lists = [f"`workbench list {what}` has {fields[kind]}" for what, kind in KINDS.items() if kind in fields]
    return f" {'; '.join(lists)}." if lists else ""


def _entry_lines(kind: str, name: str, described: dict[str, Any]) -> Iterator[str]:
    yield f"{name:28} {described['help']}  [{described['source']}]"
    if described["origin"]:
        yield f"    plug-in: {described['origin']}"
    for field, facts in described["params"].items():
        yield _field_line("    ", field, facts)
    if batch := described["facts"].get("batch"):
        yield f"    batches: {batch}"
    if kind == "loss":
        for sentence in catalogs.defaults_told(catalogs.current(), name):
            yield f"    {sentence}"


def _model_line(model: OfferedModel) -> str:
    size = f"{model.parameters / 1e6:8,.1f} M  {model.image + ' px':>11}  {model.features:>6,} features"
    return f"{model.name:60} {size}  {model.licence}".rstrip()


@cli.command()
@workspace_option
@click.option("--repair", is_flag=True, help="Rebuild a damaged workspace's database from its runs' folders.")
@click.option("--go-back", is_flag=True, help="Put back the workspace's database from before its last upgrade.")
@click.option("--quiet", is_flag=True, help="Print problems only.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of lines; not with --repair and --go-back.")
@click.option(
    "--take-over", is_flag=True,
    help="Take over a workspace on a network disk, after the machine that has it was silent for 50 seconds.",
)  # fmt: skip
def doctor(folder: Path | None, repair: bool, go_back: bool, quiet: bool, as_json: bool, take_over: bool) -> None:
    """Check versions, device, Qt and, with --workspace, a workspace."""
    from workbench.commands.machine.doctor import look
    from workbench.commands.machine.findings import Finding
    from workbench.workspace.owners import lease
    from workbench.workspace.repairs.repair import repair as repair_workspace
    from workbench.workspace.schema import going_back

    if repair and go_back:
        raise click.UsageError("--repair and --go-back exclude each other: a copy that is put back is whole.")
    if as_json and (repair or go_back):
        raise click.UsageError("--json cannot be combined with --repair or --go-back: they change the workspace.")
    if take_over:
        lease.take_over(folder or default_workspace(), _say_once())
    if go_back:
        click.echo(going_back.go_back(folder or default_workspace()))
        return
    if repair:
        said, lost = repair_workspace(folder or default_workspace())
        click.echo(said)
        findings = [Finding("Workspace", f"{sentence}.", good=False) for sentence in lost]
    else:
        findings = look(folder)
    shown = [finding for finding in findings if not quiet or not finding.good]
    if as_json:
        show_json([asdict(finding) for finding in shown])
    else:
        for finding in shown:
            click.echo(f"{'ok     ' if finding.good else 'problem'}  {finding.what}: {finding.said}")
    sys.exit(0 if all(finding.good for finding in findings) else 1)


for commands in (exchange, compare, search, gallery, deploy, triage, tags, geometry, sweep, report, ingest, place):
    commands.add_to(cli, workspace_option, default_workspace)
plugins.add_to(cli)
desktop.add_to(cli)
fair.add_to(benchmark, workspace_option, default_workspace)


def _say_once() -> Progress:
    """A Progress that prints a text when it is new."""
    last_text = ""

    def say(text: str, done: int, total: int) -> None:
        nonlocal last_text
        if text != last_text:
            last_text = text
            click.echo(f"{text}, {total} s", err=True)

    return say


def _say(text: str, done: int, total: int) -> None:
    """A Progress that prints each text on its own line."""
    say_while_read(text)


def _field_line(indent: str, name: str, facts: dict[str, Any]) -> str:
    return f"{indent}{name} = {facts['default']!r}{_range(facts)}  {facts['description']}"


def _range(facts: dict[str, Any]) -> str:
    if "enum" in facts:
        return f" ({' | '.join(facts['enum'])})"
    low = next(
        (
            f"{sign}{_limit(facts[key])}"
            for key, sign in (("minimum", "≥ "), ("exclusiveMinimum", "> "))
            if key in facts
        ),
        "",
    )
    high = next(
        (
            f"{sign}{_limit(facts[key])}"
            for key, sign in (("maximum", "≤ "), ("exclusiveMaximum", "< "))
            if key in facts
        ),
        "",
    )
    said = ", ".join(part for part in (low, high) if part)
    return f" ({said})" if said else ""


def _limit(value: float) -> str:
    """With all digits of a whole number: the highest seed is 2147483647."""
    return str(int(value)) if value == int(value) else f"{value:g}"


def main(arguments: list[str]) -> int:
    """Run one command line; returns the exit status instead of leaving the program."""
    try:
        cli(arguments, prog_name="workbench")
    except SystemExit as end:
        return int(end.code or 0) if not isinstance(end.code, str) else 1
    except OSError as error:
        if error.filename is not None or error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        _write_no_more()
        click.echo(f"The output could not be written ({error.strerror}). Send it to another disk.", err=True)
        return 1
    return 0


def _write_no_more() -> None:
    """Drop what is left of the output, which Python would write as it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
