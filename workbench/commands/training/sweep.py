"""`workbench sweep`: start, list, show, run and control sweeps."""

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from workbench.commands.arguments import NUMBER, Group, typed, workspace_option
from workbench.commands.results.columns import table_lines, terminal_width
from workbench.commands.terminal import INTERRUPTED, one_line, say_while_read, show_json, show_lines, told
from workbench.commands.training import sweep_table
from workbench.commands.training.run_job import ending_signals
from workbench.config import BadConfig
from workbench.entries import catalog as catalogs
from workbench.names import similar
from workbench.problem import Problem, UnknownName
from workbench.running.listed import Listed
from workbench.settings import checks
from workbench.settings.changed import parted, read_config
from workbench.workspace import Workspace
from workbench.workspace.experiments import sweep_worker
from workbench.workspace.experiments import sweeps as stored
from workbench.workspace.paths import default_workspace

if TYPE_CHECKING:
    from workbench.places.place import Place

Places = Callable[[], Path]
VARIED = "The sweep varies it, so --set would have no effect. Give its values with --param {}=."
devices_option = click.option(
    "--devices", "names", default="", metavar="NAME,NAME", callback=lambda ctx, option, value: devices_of(value),
    help="Devices to use, such as cuda:0,cuda:1; by default those that the sweep used before, at first the config's.",
)  # fmt: skip
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of lines; times are seconds.")
result_option = click.option(
    "--json", "as_json", is_flag=True,
    help="Print the sweep as `sweep show --json` does, once it has ended or with --detach is started.",
)  # fmt: skip
workers_option = click.option(
    "--workers", type=click.IntRange(1, sweep_worker.MOST_WORKERS), default=None,
    help="Runs at once, each in a separate process; by default as many as before, at first one for each device.",
)  # fmt: skip
place_option = click.option(
    "--place",
    default="",
    metavar="NAME",
    help="Train at a place (`workbench place list`); --workers runs at once there.",
)


@click.group(cls=Group, short_help="Train many settings of one config in the background.")
def sweep() -> None:
    """Many settings of one config: a grid, random draws or a Bayesian search, with seeds, in the background."""


@sweep.command("start", short_help="Sweep a config, a preset or a paper's sweep.")
@click.argument("config")
@click.option(
    "--param", "-p", "parameters", multiple=True, metavar="FIELD=VALUES",
    help="A,B,C or LOW..HIGH, then :log and the points of a grid: loss.scale=16,32, training.lr=1e-4..1e-2:log.",
)  # fmt: skip
@click.option("--set", "changes", multiple=True, metavar="FIELD=VALUE", help="Change a field of every run.")
@click.option("--how", type=click.Choice(["grid", "random", "bayes"]), default=None, help="By default a grid.")
@click.option(
    "--trials",
    type=click.IntRange(1),
    default=None,
    help="How many settings a random or Bayesian sweep tries; by default 20, or as many as a paper's sweep has.",
)
@click.option(
    "--seeds",
    type=click.IntRange(1, 100),
    default=None,
    help="Seeds per trial; by default as many as the config has.",
)
@click.option(
    "--metric",
    default="",
    help="The objective; by default MAP@R of held-out classes; if none are held out, the metric of a paper's sweep, or "
    "MAP@R of the test set.",
)
@click.option(
    "--stop-early", is_flag=True,
    help="Stop a trial after an epoch if it is worse than the median of at least 5 others; its value is the best so "
    "far.",
)  # fmt: skip
@click.option("--detach", is_flag=True, help="Work in a separate process that outlives this terminal.")
@click.option("--quiet", is_flag=True, help="No progress; only the number of the sweep, notes, and the last table.")
@result_option
@devices_option
@workers_option
@place_option
@workspace_option
def start(
    config: str, parameters: tuple[str, ...], changes: tuple[str, ...], how: str | None, trials: int | None,
    seeds: int | None, metric: str, stop_early: bool, detach: bool, quiet: bool, as_json: bool,
    names: tuple[str, ...], workers: int | None, place: str, folder: Path | None,
) -> None:  # fmt: skip
    """Sweep CONFIG: a .toml file, the name of a preset, or of a paper's sweep (`workbench sweep presets`)."""
    from workbench.places.launching import launcher_of
    from workbench.sweeps import starting
    from workbench.sweeps.early_stop import NOT_AT_PLACES

    there = _checked_place(names, place)
    if place and stop_early:
        raise click.UsageError(f"--place cannot be combined with --stop-early: {NOT_AT_PLACES}")
    plan = planned_from(config, parameters, changes, how, trials, seeds, metric, stop_early)
    listed, unsuited = None, ""
    if there is not None:  # which has data of its own
        if remark := starting.refuse_unknown_data(plan, catalogs.current(), there, launcher_of(there)):
            click.echo(one_line(remark), err=True)
    else:
        with told() as progress:
            listed = starting.refuse_unusable(plan, catalogs.current(), progress, names)
            unsuited = starting.unsuited_settings(plan, catalogs.current(), progress, listed)
    with Workspace(folder or default_workspace(), create=True) as workspace:
        number = starting.store(workspace, plan)
        counts = f"{_counted(plan.trials, 'setting')}, {_counted(plan.runs, 'run')}"
        click.echo(f"Sweep {number}: {counts}, by {plan.metric}.", err=as_json)
        if plan.fewer:
            click.echo(plan.fewer, err=True)
        for sentence in (*plan.remarks, *filter(None, [unsuited])):
            click.echo(one_line(sentence), err=True)
        if detach:
            starting.work_apart(workspace, number, names, workers or 0, place)
            see = typed(workspace.path, "sweep", "show", str(number))
            click.echo(f"Its worker is started; see it with: {see}", err=as_json)
            if as_json:
                show_json(sweep_table.as_data(workspace, number))
            return
        _work_here(workspace, number, quiet, names, workers or 0, place, listed, as_json)


@sweep.command("run", short_help="Train the runs of a sweep in this terminal.")
@click.argument("number", metavar="SWEEP", type=NUMBER)
@click.option("--quiet", is_flag=True, help="No progress; only the last table.")
@result_option
@devices_option
@workers_option
@place_option
@workspace_option
def run(
    number: int, quiet: bool, as_json: bool, names: tuple[str, ...], workers: int | None, place: str,
    folder: Path | None,
) -> None:  # fmt: skip
    """Train the runs of a sweep in this terminal until it is done; Ctrl+C keeps a checkpoint of the current run."""
    with Workspace(folder or default_workspace()) as workspace:
        _work_here(workspace, number, quiet, names, workers or 0, place, as_json=as_json)


@sweep.command("list")
@json_option
@workspace_option
def list_sweeps(as_json: bool, folder: Path | None) -> None:
    """Show every sweep with its state and time left."""
    with Workspace(folder or default_workspace()) as workspace:
        if as_json:
            show_json([sweep_table.head_as_data(workspace, listed) for listed in stored.every(workspace)])
            return
        rows = [sweep_table.cells(workspace, listed) for listed in stored.every(workspace)]
    show_lines(table_lines(sweep_table.COLUMNS, rows, terminal_width()), "There are no sweeps.")


@sweep.command("presets")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of lines.")
def list_presets(as_json: bool) -> None:
    """Show the papers' sweeps."""
    from workbench.sweeps.plan import sweep_presets
    from workbench.sweeps.space import written

    if as_json:
        show_json([sweep_table.preset_as_data(preset) for preset in sweep_presets()])
        return
    for preset in sweep_presets():
        varied = "; ".join(f"{parameter.field}={written(parameter)}" for parameter in preset.parameters)
        click.echo(
            f"{preset.key:24} {preset.title}  [{preset.source}]\n"
            f"{'':24} {preset.preset}: {varied}\n{'':24} {preset.summary}"
        )


@sweep.command("show", short_help="Show the settings of a sweep and the time left.")
@click.argument("number", metavar="SWEEP", type=NUMBER)
@click.argument("words", nargs=-1)
@json_option
@workspace_option
def show(number: int, words: tuple[str, ...], as_json: bool, folder: Path | None) -> None:
    """Show the settings of a sweep by their objective, and the time left. With WORDS, only settings with a run that has
    each of them in settings, state or problem, or meets it as a condition, in quotes: "lr<0.01", "MAP@R>80" (in %),
    state=failed, seed=1."""
    with Workspace(folder or default_workspace()) as workspace:
        if as_json:
            show_json(sweep_table.as_data(workspace, number, words))
            return
        for line in sweep_table.table(workspace, number, words):
            click.echo(line)


@sweep.command("pause", short_help="Pause a sweep; its current run keeps a checkpoint.")
@click.argument("number", metavar="SWEEP", type=NUMBER)
@workspace_option
def pause(number: int, folder: Path | None) -> None:
    """Pause a sweep: its current run ends with a checkpoint, from which `sweep resume` continues."""
    from workbench.sweeps import starting

    with Workspace(folder or default_workspace()) as workspace:
        starting.pause(workspace, number)
        click.echo(f"Sweep {number} is asked to pause.")


@sweep.command("resume")
@click.argument("number", metavar="SWEEP", type=NUMBER)
@click.option("--here", is_flag=True, help="Work in this terminal, not in a separate process.")
@devices_option
@workers_option
@place_option
@workspace_option
def resume(
    number: int, here: bool, names: tuple[str, ...], workers: int | None, place: str, folder: Path | None
) -> None:
    """Resume a sweep that was paused or lost its worker."""
    from workbench.running import launch
    from workbench.sweeps import starting
    from workbench.sweeps.at_place import place_of

    _checked_place(names, place)
    with Workspace(folder or default_workspace()) as workspace:
        _refuse_early_stop(workspace, number, place)
        at = place or place_of(workspace, number)
        for name in names or sweep_worker.remembered(workspace, number, at)[0]:
            launch.device_named(name)  # refused here, where it is read: a worker has only its log
        starting.resume(workspace, number)
        _go_on(workspace, number, here, names, workers or 0, place)


@sweep.command("retry")
@click.argument("number", metavar="SWEEP", type=NUMBER)
@click.option("--run", "trial", type=NUMBER, default=None, help="Only this run, by its number.")
@click.option("--here", is_flag=True, help="Work in this terminal, not in a separate process.")
@devices_option
@workers_option
@workspace_option
def retry(
    number: int, trial: int | None, here: bool, names: tuple[str, ...], workers: int | None, folder: Path | None
) -> None:
    """Put failed and cancelled runs back into the queue and continue."""
    with Workspace(folder or default_workspace()) as workspace:
        stored.one(workspace, number)
        chosen = _trial_of(workspace, number, trial)
        back = stored.retry(workspace, number, chosen)
        if not back:
            raise Problem(f"Sweep {number} has no failed or cancelled run to retry.", kept="It was not changed.")
        click.echo(f"{back} {'run is' if back == 1 else 'runs are'} back in the queue.")
        _go_on(workspace, number, here, names, workers or 0)


@sweep.command("cancel")
@click.argument("number", metavar="SWEEP", type=NUMBER)
@workspace_option
def cancel(number: int, folder: Path | None) -> None:
    """End a sweep; what was trained is kept."""
    with Workspace(folder or default_workspace()) as workspace:
        if stored.one(workspace, number).state == "done":
            raise Problem(f"Sweep {number} is done.", kept="It was not changed.")
        stored.cancel(workspace, number)
        click.echo(f"Sweep {number} is cancelled.")


def planned_from(
    name: str,
    parameters: tuple[str, ...],
    changes: tuple[str, ...],
    how: str | None,
    trials: int | None,
    seeds: int | None,
    metric: str,
    stop_early: bool = False,
) -> Any:
    """The plan that the options ask for; a paper's sweep brings its parameters, way and number of settings.

    Raises:
        BadConfig: a wrong field or value. Problem: a config that cannot be read.
    """
    from workbench.sweeps import objective
    from workbench.sweeps.plan import planned, sweep_presets
    from workbench.sweeps.space import read

    known = catalogs.current()
    preset = None if os.path.exists(name) else next((paper for paper in sweep_presets() if paper.key == name), None)
    if preset is None:
        ranges = [read(text) for text in parameters]
        try:
            config = read_config(name, changes)
        except UnknownName as unknown:
            alike = ", ".join(similar(name, (paper.key for paper in sweep_presets())))
            if not alike:
                raise
            todo = f"Similar: {alike}. `workbench sweep presets` shows the papers' sweeps."
            raise UnknownName(unknown.what, kept=unknown.kept, todo=todo) from None
        return planned(
            config, ranges, how or "grid", known, trials=trials, seeds=seeds, metric=metric, stop_early=stop_early
        )  # fmt: skip
    own = {parameter.field: parameter for parameter in preset.parameters}
    if fixed := {field: VARIED.format(field) for field in parted(changes, "--set ") if field in own}:
        raise BadConfig(preset.key, fixed)
    config = read_config(preset.preset, changes, before=preset.changes, source=preset.key)
    own |= {parameter.field: parameter for parameter in map(read, parameters)}
    way = how or preset.how
    count = trials if trials is not None else preset.trials if way == preset.how else None
    return planned(
        config,
        list(own.values()),
        way,
        known,
        trials=count,
        seeds=seeds,
        metric=metric or objective.of_paper(preset.metric, config, known),
        source=preset.source,
        stop_early=stop_early,
    )


def _counted(number: int, one: str) -> str:
    return f"{number} {one}" if number == 1 else f"{number} {one}s"


def _trial_of(workspace: Workspace, number: int, run_id: int | None) -> int | None:
    if run_id is None:
        return None
    for trial in stored.trials(workspace, number):
        if trial.run_id == run_id:
            return trial.id
    shown = typed(workspace.path, "sweep", "show", str(number))
    raise UnknownName(f"Sweep {number} has no run {run_id}.", todo=f"`{shown}` lists its runs.")


def _go_on(
    workspace: Workspace, number: int, here: bool, names: tuple[str, ...] = (), workers: int = 0, place: str = ""
) -> None:
    from workbench.sweeps import starting

    if here:
        _work_here(workspace, number, False, names, workers, place)
    elif starting.work_apart(workspace, number, names, workers, place):
        click.echo(f"A worker is started; see it with: {typed(workspace.path, 'sweep', 'show', str(number))}")
    else:
        click.echo("Its worker continues.")


def devices_of(listed: str) -> tuple[str, ...]:
    """The names in a list such as "cuda:0,cuda:1". Raises click.BadParameter for what is no device."""
    try:
        return tuple(checks.device(name.strip()) for name in listed.split(",") if name.strip())
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


def _checked_place(names: tuple[str, ...], place: str) -> "Place | None":
    """The place of that name, before anything is stored; None without a name.

    Raises click.UsageError for a place and devices, Problem for an unknown place.
    """
    from workbench.places import records

    if names and place:
        raise click.UsageError("--place cannot be combined with --devices: the place has its own devices.")
    return records.named(place) if place else None


def _refuse_early_stop(workspace: Workspace, number: int, place: str) -> None:
    """Raises Problem for a place and a sweep whose trials are stopped early."""
    from workbench.sweeps.early_stop import NOT_AT_PLACES

    if place and stored.one(workspace, number).stop_early:
        what = f"Sweep {number} was started with --stop-early. {NOT_AT_PLACES}"
        raise Problem(what, kept="It was not changed.", todo="Leave --place out.")


def _work_here(
    workspace: Workspace, number: int, quiet: bool, names: tuple[str, ...] = (), workers: int = 0, place: str = "",
    listed: Listed | None = None, as_json: bool = False,
) -> None:  # fmt: skip
    """Act as the sweep's worker. Ctrl+C and the end of the session keep a checkpoint; runs at a place continue."""
    from workbench.places import records
    from workbench.places.launching import launcher_of
    from workbench.sweeps.at_place import PlaceWorker, place_of
    from workbench.sweeps.worker import Worker

    _checked_place(names, place)
    _refuse_early_stop(workspace, number, place)
    say = (lambda line: None) if quiet else say_while_read
    if place := place or place_of(workspace, number):
        there = records.named(place)
        worker: Worker = PlaceWorker(workspace, number, there, launcher_of(there), say, workers)
    else:
        worker = Worker(workspace, number, say, devices=names, workers=workers, listed=listed)

    def interrupt(*_: object) -> None:
        worker.interrupt()

    before = {code: signal.signal(code, interrupt) for code in (signal.SIGINT, *ending_signals())}
    try:
        state = worker.run()
    finally:
        for code, handler in before.items():
            signal.signal(code, handler)
    if as_json:
        show_json(sweep_table.as_data(workspace, number))
    for line in () if as_json else sweep_table.table(workspace, number):
        click.echo(line)
    if state in ("active", "paused"):
        again = typed(workspace.path, "sweep", "resume", str(number))
        why = stored.one(workspace, number).problem if state == "paused" else ""
        if why:
            raise Problem(f"Sweep {number} is paused: {why}", kept="Its runs are kept.", todo=f"Continue with: {again}")
        click.echo(f"Continue with: {again}", err=True)
        raise SystemExit(INTERRUPTED)
    ends = {trial.state for trial in stored.trials(workspace, number) if not trial.refused}
    if "failed" in ends and "done" not in ends:
        raise Problem(
            "Every run of the sweep failed.",
            kept="The runs are kept, each with its reason.",
            todo=f"After correcting that: {typed(workspace.path, 'sweep', 'retry', str(number))}",
        )
