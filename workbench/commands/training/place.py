"""`workbench place`: other machines where runs can train, and commands for runs there."""

import sys
from dataclasses import asdict
from pathlib import Path
from time import monotonic, sleep

import click

from workbench.commands.arguments import NUMBER, Group, typed, workspace_option
from workbench.commands.results.columns import Column, table_lines
from workbench.commands.terminal import ProgressLine, best_in_words, one_line, printable, show_json
from workbench.commands.training.run_result import printed_runs
from workbench.config import RunConfig
from workbench.events import Progress, Status
from workbench.places import installing, records, sending, working
from workbench.places.contract import Ending, JobState
from workbench.places.following import Following, Looked
from workbench.places.launching import host_of, launcher_of
from workbench.places.place import FOLDER, PYTHON, Place
from workbench.problem import Problem
from workbench.running import folds_and_seeds
from workbench.running.facts.in_words import stored_in_words
from workbench.workspace import Workspace
from workbench.workspace.experiments import experiments
from workbench.workspace.folders.replaying import shown
from workbench.workspace.paths import default_workspace
from workbench.workspace.tables import placements

COLUMNS = (Column("place"), Column("kind"), Column("settings"))
POLL = 1.0  # seconds between two looks
SILENT_POLL = 5.0  # seconds between two looks at a place that does not answer
DETACHED = 130
ENDINGS = {"after-epoch": Ending.AFTER_EPOCH, "saved": Ending.SAVED, "at-once": Ending.AT_ONCE}


@click.group(cls=Group)
def place() -> None:
    """Other machines where runs can train.

    Each is called a place: a machine reached by SSH, a Slurm cluster or a Ray cluster.
    """


@place.command("follow", short_help="Fetch what the runs at a place write, until all have ended.")
@click.argument("name")
@workspace_option
def follow(name: str, folder: Path | None) -> None:
    """Fetch what the runs at a place write, until all have ended. Ctrl+C stops only this command, not the runs."""
    with Workspace(folder or default_workspace()) as workspace:
        for run_id in _unsent(workspace, name):
            again = typed(workspace.path, "place", "resume", str(run_id))
            click.echo(f"Run {run_id} was never sent there: {again}", err=True)
        place = records.named(name)
        status = _follow(workspace, name, _at_work(workspace, place), others=True)
        with workspace.reading() as db:
            left = {there.run_id for there in placements.at_work(db, name) if there.job}
        # Those of another kind of place are named, and not followed.
        sys.exit(1 if status == 0 and left - set(_at_work(workspace, place)) else status)


@place.command("stop")
@click.argument("run", type=NUMBER)
@workspace_option
@click.option(
    "--how", type=click.Choice(sorted(ENDINGS)), default="saved", show_default=True,
    help="after-epoch; saved: before its next step, with a checkpoint; at-once: killed.",
)  # fmt: skip
def stop(run: int, folder: Path | None, how: str) -> None:
    """End a run at its place; RUN is its number in this workspace."""
    with Workspace(folder or default_workspace()) as workspace:
        place, known = _place_of(workspace, run), workspace.run(run)
        standing = working.standing(workspace, run)
        if standing is not None and (standing.state.live or standing.state is JobState.LOST):
            working.end(workspace, run, ENDINGS[how])
    see = f"`{typed(workspace.path, 'place', 'follow', place)}` shows its end."
    if standing is None:
        click.echo(f"Run {run} was never started at {place}: there is nothing to end.")
    elif standing.state.live:
        click.echo(f"Run {run} was asked to end. {see}")
    elif standing.state is JobState.LOST:
        click.echo(f"{place} does not know whether run {run} has ended. It was asked to end. {see}")
    else:
        click.echo(f"Run {run} has already ended at {place}. {see if known.live else f'It is {known.status}.'}")


@place.command("resume", short_help="Resume an ended run at its place.")
@click.argument("run", type=NUMBER)
@workspace_option
@click.option("--detach", is_flag=True, help="Do not follow it.")
def resume(run: int, folder: Path | None, detach: bool) -> None:
    """Resume an ended run at its place, from its last checkpoint there, or send one that was never sent."""
    with Workspace(folder or default_workspace()) as workspace:
        place, unsent = _place_of(workspace, run), run in _unsent(workspace)
        working.resume(workspace, run)
        click.echo(f"Run {run} is at {place}." if unsent else f"Run {run} continues at {place}.", err=True)
        sys.exit(0 if detach else _follow(workspace, place, [run]))


@place.command("fetch", short_help="Fetch the checkpoints of a run that has ended.")
@click.argument("run", type=NUMBER)
@workspace_option
def fetch(run: int, folder: Path | None) -> None:
    """Fetch the checkpoints of a run that has ended, and print their paths, however it ended."""
    with Workspace(folder or default_workspace()) as workspace:
        place = _place_of(workspace, run)
        working.fetch_checkpoints(workspace, run)
        status = _follow(workspace, place, [run], ends_matter=False)
        paths = workspace.artefacts(run, "checkpoint")
        if not paths and status == 0:
            raise Problem(
                f"No checkpoint of run {run} was fetched from {place}.",
                kept="What was fetched of the run before is kept.",
                todo="A run that ended before its first checkpoint has none there.",
            )
        for path in paths:
            click.echo(path)
        sys.exit(status)


def run_at(
    config: RunConfig, folder: Path, name: str, *, detach: bool, quiet: bool, as_json: bool = False
) -> int:  # fmt: skip
    """Train all runs of a config at a place, for the workspace in the folder, and follow them; the exit status."""
    from workbench.running.unusable import refuse_size_unseen

    place = records.named(name)  # refused before a workspace is made
    sending.translated(config, place)
    refuse_size_unseen(config)
    launcher = launcher_of(place)
    if remark := sending.refuse_missing(config, place, launcher):
        click.echo(one_line(remark), err=True)
    with Workspace(folder, create=True) as workspace:
        numbers = sending.prepare(workspace, config, place)
        sending.submit(workspace, numbers, place, launcher)
        said = f"Run {numbers[0]}" if len(numbers) == 1 else f"Runs {numbers[0]} to {numbers[-1]}"
        then = f" Follow with: {typed(workspace.path, 'place', 'follow', name)}" if detach else ""
        click.echo(f"{said} at {name}.{then}", err=True)
        with printed_runs(workspace, numbers, as_json):
            return 0 if detach else _follow(workspace, name, numbers, quiet=quiet, result=True, as_json=as_json)


@place.command("add")
@click.argument("name")
@click.option("--ssh", "host", metavar="HOST", help="As in `ssh HOST`: an alias of your SSH config, or user@machine.")
@click.option(
    "--slurm", "login", metavar="HOST", help="Login node of a Slurm cluster; `here` where this machine has sbatch."
)
@click.option("--ray", "url", metavar="URL", help="Dashboard of a running Ray cluster: http://HOST:8265.")
@click.option("--folder", show_default=FOLDER, help="Folder there for the runs.")
@click.option("--python", show_default=PYTHON, help="The Python there that has Workbench.")
@click.option("--set", "fields", multiple=True, metavar="FIELD=VALUE", help="Any other field of the place.")
@click.option("--no-check", is_flag=True, help="Do not check the place.")
def add(
    name: str, host: str | None, login: str | None, url: str | None, folder: str | None, python: str | None,
    fields: tuple[str, ...], no_check: bool,
) -> None:  # fmt: skip
    """Add a place, or change one, and check it. Fields that are not given stay unchanged.

    A place that becomes one of another kind keeps its folder, its Python, its data and its SSH config.
    """
    reached = {"ssh": host, "slurm": login, "ray": url}
    kinds = [kind for kind, address in reached.items() if address is not None]
    before = records.existing(name)
    if len(kinds) > 1 or (not kinds and before is None):
        raise click.UsageError("Name one machine: --ssh HOST, --slurm HOST or --ray URL.")
    kind = kinds[0] if kinds or before is None else before.kind
    address = "" if login == "here" else reached[kind]
    values = {} if before is None else records.kept_by(before, kind)
    changes = {"folder": folder, "python": python, "url" if url else "host": address}
    values |= {"kind": kind, "name": name} | {key: value for key, value in changes.items() if value is not None}
    values |= _set(fields)
    records.store(records.made(values))
    click.echo(f"The place {name} is stored in {records.folder()}.")
    if before is not None and before.kind != kind:
        click.echo(f"It was of the kind {before.kind}. Fields that only this kind has are not kept.")
        click.echo(f"Runs that were sent to it before are followed only while it is of the kind {before.kind}.")
    if not no_check:
        sys.exit(_check(name))


@place.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of lines.")
def show(as_json: bool) -> None:
    """List the places and how each is reached."""
    places, problems = records.readable()
    if as_json:
        show_json([{"name": place.name, "kind": place.kind, **place.model_dump()} for place in places])
    else:
        for line in table_lines(COLUMNS, [_row(place) for place in places], None):
            click.echo(printable(line))
    if problems:
        raise problems[0]
    if not places and not as_json:
        click.echo("There are no places: `workbench place add` adds one.", err=True)


def _row(place: Place) -> list[str]:
    """The cells of a place in the list: its settings as they are in its record, in one."""
    words = [f"{field} {value}" for field, value in place.model_dump(exclude={"name", "data"}).items() if value]
    words += [f"data of {here} in {there}" for here, there in place.data.items()]
    return [one_line(cell) for cell in (place.name, place.kind, ", ".join(words))]


@place.command("check", short_help="Check what is at a place and what is missing.")
@click.argument("name")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of lines.")
def check(name: str, as_json: bool) -> None:
    """Check what is at a place and what is missing."""
    sys.exit(_check(name, as_json=as_json))


@place.command("remove")
@click.argument("name")
def remove(name: str) -> None:
    """Remove a place from the list. Its runs continue there, but are no longer followed."""
    records.remove(name)
    click.echo(f"The place {name} is removed. Its runs continue there, and are followed again once it is added again.")


@place.command("data", short_help="Say where a folder of data of this machine is at a place.")
@click.argument("name")
@click.argument("here")
@click.argument("there", required=False)
@click.option("--remove", is_flag=True, help="Forget the folder of HERE at the place.")
def data(name: str, here: str, there: str | None, remove: bool) -> None:
    """Record where data of this machine are at a place: HERE is a folder or file here, THERE its whole path there."""
    here = sending.whole_path(here)
    if remove and there is None:
        records.store(records.without_data(records.named(name), here))
        click.echo(f"Where {here} is at {name} is forgotten.")
        return
    if remove or there is None:
        raise click.UsageError("Name THERE, or write --remove to forget where HERE is.")
    records.store(records.with_data(records.named(name), here, there))
    click.echo(f"{here} is {there} at {name}.")


@place.command("install", short_help="Install Workbench at a place, in a folder of your account.")
@click.argument("name")
@click.option("--wheel", type=click.Path(path_type=Path, exists=True, dir_okay=False), help="Install this file.")
@click.option(
    "--wheels", default="", metavar="FOLDER",
    help="Folder there with the wheels of all packages; pip then uses no index.",
)  # fmt: skip
@click.option(
    "--python", "base", default="python3", show_default=True, help="The Python there that makes the environment."
)
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
def install(name: str, wheel: Path | None, wheels: str, base: str, yes: bool) -> None:
    """Install Workbench at a place, in a folder of your account; nothing else is installed. Shows the steps first."""
    place = records.named(name)
    plan = installing.plan(place, base, wheel, wheels)
    click.echo(f"At {name}, in your home folder:")
    for line in plan.lines():
        click.echo(f"  {line}")
    click.echo(installing.NOTE)
    if yes or click.confirm("Do this?"):
        installing.carry_out(plan, host_of(place), click.echo)
        sys.exit(_check(name))


def _set(fields: tuple[str, ...]) -> dict[str, str]:
    """The values of `--set`. Raises UsageError for those that other words of the command line say."""
    values: dict[str, str] = {}
    for field in fields:
        key, mark, value = field.partition("=")
        if not mark:
            raise click.UsageError(f"--set {field}: write FIELD=VALUE.")
        if key in ("name", "kind"):
            raise click.UsageError(
                f"--set {field}: the name comes after `place add`, the kind by --ssh, --slurm, --ray."
            )
        if key == "data":
            raise click.UsageError(f"--set {field}: `workbench place data NAME HERE THERE` says where data are.")
        values[key] = sending.whole_path(value) if key == "ssh_config" and value else value
    return values


def _check(name: str, *, as_json: bool = False) -> int:
    findings = launcher_of(records.named(name)).check()
    if as_json:
        show_json([asdict(finding) for finding in findings])
    for finding in () if as_json else findings:
        mark = "problem" if not finding.good else "note   " if finding.doubtful else "ok     "
        click.echo(f"{mark}  {finding.what}: {shown(finding.said)}")
    return 0 if all(finding.good for finding in findings) else 1


def _place_of(workspace: Workspace, run_id: int) -> str:
    workspace.run(run_id)  # one that does not exist is not called one that was never sent
    with workspace.reading() as db:
        return placements.required(db, run_id).place


def _follow(
    workspace: Workspace, name: str, numbers: list[int], *, others: bool = False, quiet: bool = False,
    result: bool = False, as_json: bool = False, ends_matter: bool = True,
) -> int:  # fmt: skip
    """Follow a place until these runs have ended, and say how; returns the exit status.

    With `others`, until all of its runs have ended, those that begin meanwhile, too. With `result`, print that of the
    experiment, if they are the runs of one. Without `ends_matter`, a run that failed or was interrupted is no Problem.
    """
    place = records.named(name)
    if workspace.read_only:
        raise Problem(
            f"The workspace {workspace.path} is open for reading only: no run can be followed into it.",
            kept=f"The runs at {name} continue.",
        )
    following = Following(workspace, place, launcher_of(place))
    line, said, remarked = ProgressLine(0, quiet=quiet, as_json=as_json), set[str](), set[str]()
    try:
        while True:
            began = monotonic()
            looked = following.look()
            _say(looked, line, said)
            if looked.silent:
                sleep(SILENT_POLL)
                continue
            mine = [run_id for run_id in _at_work(workspace, place) if others or run_id in numbers]
            if not mine:
                break
            numbers = sorted({*numbers, *mine})
            _remark(workspace, mine[:1], line, remarked)
            _draw(workspace, mine[0], line)
            sleep(max(0.0, POLL - (monotonic() - began)))
    except KeyboardInterrupt:
        line.finish(f"The runs at {name} continue. Follow them with: {typed(workspace.path, 'place', 'follow', name)}")
        return DETACHED
    if not numbers:
        line.finish(f"No run of this workspace trains at {name}.")
    _remark(workspace, numbers, line, remarked)
    if _report(workspace, numbers, line) and ends_matter:
        raise Problem("A run failed or was interrupted.")
    if result and len(numbers) > 1 and not as_json:
        _print_result(workspace, numbers[0])
    return 0


def _at_work(workspace: Workspace, place: Place) -> list[int]:
    """The runs there from which more data may come."""
    with workspace.reading() as db:
        return [there.run_id for there in placements.at_work(db, place.name) if place.job.fullmatch(there.job)]


def _unsent(workspace: Workspace, name: str = "") -> list[int]:
    """The runs that no place has, or that this place has not, because the program that sent them ended before."""
    workspace.sweep_dead_runs()
    with workspace.reading() as db:
        unsent = {placement.run_id for placement in placements.every(db) if not placement.job}
        there = {placement.run_id for placement in placements.at_work(db, name)} if name else unsent
    return sorted(run.id for run in workspace.runs() if run.id in unsent & there and run.status == "interrupted")


def _draw(workspace: Workspace, run_id: int, line: ProgressLine) -> None:
    run = workspace.run(run_id)
    if run.total:
        line(Progress(run.done, run.total, run.images_per_second, run.memory_bytes, run.seconds_left))
    else:
        there = run.placement
        why = there.words if there is not None and run.status == "queued" else ""  # why its place lets it wait
        line(Status(run.phase or f"Run {run_id} is {run.status}" + (f": {why}" if why else "")))


def _say(looked: Looked, line: ProgressLine, said: set[str]) -> None:
    sentences = [*filter(None, (looked.silent, *looked.problems))]
    for sentence in sentences:
        if sentence not in said:
            line.say(shown(sentence))
    said.clear()
    said.update(sentences)  # what comes again later is said again


def _remark(workspace: Workspace, numbers: list[int], line: ProgressLine, remarked: set[str]) -> None:
    """What the runs remark on their data and networks, each sentence once for all of them."""
    for run_id in numbers:
        for sentence in stored_in_words(workspace.run(run_id)):
            if sentence not in remarked:
                remarked.add(sentence)
                line.say(shown(sentence))


def _print_result(workspace: Workspace, run_id: int) -> None:
    """The result of the run's experiment, once all of its runs are done."""
    experiment = workspace.run(run_id).experiment_id
    for stored in experiments.every(workspace):
        if stored.id == experiment and stored.result:
            click.echo(folds_and_seeds.markdown(stored))


def _report(workspace: Workspace, numbers: list[int], line: ProgressLine) -> bool:
    failed = False
    for run_id in numbers:
        run = workspace.run(run_id)
        line.finish(shown(" ".join(filter(None, (f"Run {run_id} {run.status}.", best_in_words(run), run.problem)))))
        failed |= run.status in ("failed", "interrupted")
    return failed
