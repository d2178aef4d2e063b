"""`workbench run`: all runs of one config, one after another, with a progress line and Ctrl+C."""

import contextlib
from dataclasses import dataclass
from pathlib import Path

import click

from workbench.commands.arguments import typed
from workbench.commands.terminal import INTERRUPTED, ProgressLine, best_in_words, say_while_read, told
from workbench.commands.training.run_job import KEPT, finished, obeying_signals
from workbench.commands.training.run_result import printed_runs
from workbench.config import RunConfig
from workbench.control import Control
from workbench.events import RunState
from workbench.problem import Problem, RunTaken
from workbench.running.devices.together import parse_devices
from workbench.running.listed import Listed
from workbench.workspace import Workspace
from workbench.workspace.experiments import experiments
from workbench.workspace.folders.deleted_checkpoints import CannotGoOn


@dataclass(frozen=True, slots=True)
class Manner:
    """How runs are trained and what is printed.

    `devices` is as for `--devices`; `again` has the words of the command that continues them, without its workspace;
    `earlier` is the config with the name that version 0.1 gave it, whose runs are resumed where none has the name of
    today.
    """

    resume: bool = False
    retrain: bool = False
    report: bool = False
    quiet: bool = False
    devices: str = ""
    at_once: bool = False
    as_json: bool = False
    again: tuple[str, ...] = ("run", "CONFIG", "--resume")
    earlier: RunConfig | None = None


def run_here(config: RunConfig, place: Path, how: Manner) -> int:
    """Train all runs of the config, one after another, each on all devices; returns the exit status.

    Where they go `at_once`, each has one of the devices, and a single one the first. The workspace is made if it is
    missing, unless they are to `resume`. With `retrain` those that lost their checkpoints begin again.
    """
    from workbench.running.unusable import refuse_unusable

    listed = None
    if not how.resume:  # before anything is made: nothing of a refused run is left
        with told() as progress:
            listed = refuse_unusable(config, progress, devices=parse_devices(how.devices) if how.devices else ())
    with Workspace(place, create=not how.resume) as workspace:
        workspace.sweep_dead_runs()
        if how.resume and how.earlier is not None:
            config = _as_recorded(workspace, config, how.earlier)
        numbers, experiment = _prepared(config, workspace, how)
        with printed_runs(workspace, numbers, how.as_json) as reports:
            return _run_all(config, workspace, numbers, experiment, listed, how, reports)


def _prepared(config: RunConfig, workspace: Workspace, how: Manner) -> tuple[list[int], int]:
    """The runs that are to be trained, and the number of their experiment; 0 for a single one."""
    from workbench.running import folds_and_seeds

    single = len(folds_and_seeds.children(config)) == 1
    if not how.resume:
        numbers = folds_and_seeds.prepare(config, workspace)
        return numbers, 0 if single else workspace.run(numbers[0]).experiment_id or 0
    if single:
        experiment, numbers = 0, [_unfinished(workspace, config)]
    else:
        experiment, numbers = folds_and_seeds.unfinished(workspace, config)
    return _able_to_go_on(workspace, numbers, how), experiment


def _run_all(
    config: RunConfig, workspace: Workspace, numbers: list[int], experiment: int, listed: Listed | None, how: Manner,
    reports: list[Path],
) -> int:  # fmt: skip
    """Train these runs; `listed` is as for `make_job`, and `reports` gets those that are written."""
    from workbench.running import folds_and_seeds

    if how.at_once and experiment:
        if status := _at_once(workspace, numbers, how):
            return status
    else:
        devices = how.devices.partition(",")[0] if how.at_once else how.devices
        for run_id in numbers:
            if status := _run_one(config, workspace, run_id, listed, devices, how, reports):
                return status
    if experiment and folds_and_seeds.conclude(workspace, experiment) is not None and not how.as_json:
        concluded = next(stored for stored in experiments.every(workspace) if stored.id == experiment)
        click.echo(folds_and_seeds.markdown(concluded))
    return 0


def _able_to_go_on(workspace: Workspace, numbers: list[int], how: Manner) -> list[int]:
    """The runs, with a new one in place of each that lost its checkpoints, if that was asked for.

    Raises:
        CannotGoOn: it was not asked for; then no run has begun.
    """
    from workbench.running import retrained

    reasons = retrained.unable_to_go_on(workspace, numbers)
    if reasons and not how.retrain:
        said = " ".join(f"Run {run_id} cannot continue: {why}." for run_id, why in reasons.items())
        back = typed(workspace.path, "checkpoints", "bring-back", str(next(iter(reasons))), "DIR")
        todo = (
            f"Add --retrain to train {'it' if len(reasons) == 1 else 'them'} from the start; `{back}` copies lost ones."
        )
        raise CannotGoOn(said, kept="Curves and evaluations are kept, and no run was started.", todo=todo)
    left = [run_id for run_id in numbers if run_id not in reasons]
    for run_id, why in sorted(reasons.items(), reverse=True):
        new = retrained.replaced(workspace, run_id)
        said = f"Run {run_id} cannot continue ({why}): it is in the trash, and run {new} trains in its place."
        click.echo(said, err=how.as_json)
        left.append(new)
    return sorted(set(left))


def _at_once(workspace: Workspace, numbers: list[int], how: Manner) -> int:
    """Train runs at once, one on each device; returns the exit status. Raises Problem if one failed."""
    from workbench.commands.training.at_once import Lanes

    lanes = Lanes(workspace, parse_devices(how.devices), (lambda line: None) if how.quiet else say_while_read)
    problems = lanes.train(numbers, resume=how.resume)
    if problems:
        raise Problem(" ".join(problems), kept=KEPT)
    if lanes.interrupted:
        click.echo(f"Continue with: {typed(workspace.path, *how.again)}", err=True)
        return INTERRUPTED
    return 0


def _run_one(
    config: RunConfig, workspace: Workspace, run_id: int, listed: Listed | None, devices: str, how: Manner,
    reports: list[Path],
) -> int:  # fmt: skip
    """Train on a worker thread with a progress line; returns the exit status. `listed` is as for `make_job`."""
    from workbench.running.launch import make_job

    if how.resume:
        workspace.take_over(run_id)
    control, line = Control(), ProgressLine(config.training.epochs, quiet=how.quiet, as_json=how.as_json)
    job = make_job(workspace, run_id, control, line, resume=how.resume, device=devices, listed=listed)
    with obeying_signals(control):
        ended = finished(job, control, line)
    done = workspace.run(run_id)
    line.finish(f"Run {run_id} {ended.status}. {best_in_words(done)}".rstrip())
    problem = ended.problem or (f"Run {run_id} was cancelled." if ended.status == "cancelled" else "")
    if isinstance(job.untold, RunTaken):
        raise job.untold
    if job.untold is not None:
        raise Problem(f"{problem} The end of run {run_id} could not be recorded: {job.untold}".lstrip(), kept=KEPT)
    if problem:
        raise Problem(problem)
    if control.interrupted or ended.status == "stopped":
        click.echo(f"Continue with: {typed(workspace.path, *how.again)}", err=True)
        return INTERRUPTED
    if how.report:
        from workbench.reports import write_report

        line.say("Writing the report")
        written = write_report(workspace, run_id, workspace.file(run_id, "report"), formats=("html",))
        reports += written
        for path in () if how.as_json else written:
            click.echo(path)
    return 0


def _as_recorded(workspace: Workspace, config: RunConfig, earlier: RunConfig) -> RunConfig:
    """Of two configs that differ by their names, the one that something unfinished has; without any, `config`."""
    from workbench.running import folds_and_seeds

    single = len(folds_and_seeds.children(config)) == 1
    for named in (config, earlier):
        with contextlib.suppress(Problem):
            _unfinished(workspace, named) if single else folds_and_seeds.unfinished(workspace, named)
            return named
    return config


def _unfinished(workspace: Workspace, config: RunConfig) -> int:
    """The newest run of a config that is not done; a cancelled one counts if it has a checkpoint."""
    from workbench.running.trained_network import checkpoints

    for run in workspace.runs():
        begun = run.status != RunState.CANCELLED or bool(checkpoints(workspace, run.id))
        if (run.live or run.resumable) and begun and config.is_recorded_as(run.config):
            return run.id  # one that still works is refused when it is taken over, with the name of its owner
    raise Problem(
        f"There is no unfinished run of this config in {workspace.path}.", todo="Leave --resume out to start one."
    )
