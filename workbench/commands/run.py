"""`workbench run`: all runs of one config, one after another, with a progress line and Ctrl+C."""

import signal
from math import nan

import click

from workbench.commands.terminal import ProgressLine
from workbench.config import RunConfig
from workbench.control import Control
from workbench.events import Ended, RunState
from workbench.problem import Problem, RunTaken
from workbench.workspace import Workspace, experiments
from workbench.workspace.rows import Run

INTERRUPTED = 130


def run_here(
    config: RunConfig, workspace: Workspace, *, resume: bool, report: bool, quiet: bool, devices: str = ""
) -> int:
    """Do all runs of the config, one after another, each on all `devices` ("0,1") together; returns the exit status."""
    from workbench.running import folds_and_seeds

    workspace.sweep_dead_runs()
    if len(folds_and_seeds.children(config)) == 1:
        run_id = _unfinished(workspace, config) if resume else folds_and_seeds.prepare(config, workspace)[0]
        return _run_one(config, workspace, run_id, resume=resume, report=report, quiet=quiet, devices=devices)
    if resume:
        experiment, numbers = folds_and_seeds.unfinished(workspace, config)
    else:
        numbers = folds_and_seeds.prepare(config, workspace)
        experiment = workspace.run(numbers[0]).experiment_id or 0
    for run_id in numbers:
        status = _run_one(
            config, workspace, run_id, resume=resume, report=report, quiet=quiet, devices=devices
        )  # fmt: skip
        if status:
            return status
    folds_and_seeds.conclude(workspace, experiment)
    concluded = next(stored for stored in experiments.every(workspace) if stored.id == experiment)
    click.echo(folds_and_seeds.markdown(concluded))
    return 0


def _run_one(
    config: RunConfig, workspace: Workspace, run_id: int, *, resume: bool, report: bool, quiet: bool,
    devices: str,
) -> int:  # fmt: skip
    """Train on a worker thread with a progress line; returns the exit status."""
    from workbench.running.launch import make_job

    if resume:
        workspace.take_over(run_id)
    control, line = Control(), ProgressLine(config.training.epochs, quiet=quiet)
    job = make_job(workspace, run_id, control, line, resume=resume, device=devices)

    def interrupt(*_: object) -> None:
        if control.interrupted:
            control.cancel()
        control.interrupt()
        line.say("Stopping before the next step; a checkpoint is kept. Press Ctrl+C again to end without a new one.")

    before = signal.signal(signal.SIGINT, interrupt)
    try:
        job.start()
        while not job.join(0.2):
            pass
    finally:
        signal.signal(signal.SIGINT, before)
    ended = job.ended or Ended("failed", f"Run {run_id} ended in an unknown way.")
    done = workspace.run(run_id)
    line.finish(f"Run {run_id} {ended.status}. {_scores(done)}".rstrip())
    problem = ended.problem or (f"Run {run_id} was cancelled." if ended.status == "cancelled" else "")
    if isinstance(job.untold, RunTaken):
        raise job.untold
    if job.untold is not None:
        kept = "Its checkpoints are kept, and `--resume` goes on from the last one."
        raise Problem(f"{problem} The end of run {run_id} could not be recorded: {job.untold}".lstrip(), kept=kept)
    if problem:
        raise Problem(problem)
    if control.interrupted:
        click.echo(f"Go on with: workbench run CONFIG --workspace {workspace.path} --resume", err=True)
        return INTERRUPTED
    if report:
        from workbench.reports import write_report

        line.say("Writing the report")
        for path in write_report(workspace, run_id, workspace.file(run_id, "report"), formats=("html",)):
            click.echo(path)
    return 0


def _unfinished(workspace: Workspace, config: RunConfig) -> int:
    """The newest run of a config that is not done; a cancelled one counts where it has a checkpoint to go on from."""
    from workbench.running.trained_network import checkpoints

    for run in workspace.runs():
        begun = run.status != RunState.CANCELLED or bool(checkpoints(workspace, run.id))
        if (run.live or run.resumable) and begun and config.is_recorded_as(run.config):
            return run.id  # one that still works is refused when it is taken over, with the name of its owner
    raise Problem(
        f"There is no unfinished run of this config in {workspace.path}.", todo="Leave --resume out to start one."
    )


def _scores(run: Run) -> str:
    return f"Best {percent(run, 'MAP@R')}, {percent(run, 'recall@1')} at epoch {run.best_epoch}." if run.best else ""


def percent(run: Run, metric: str) -> str:
    """A score of the run at its best epoch, such as `R@1 97.20%`; nan% when it has none of that metric."""
    return f"{'R@1' if metric == 'recall@1' else metric} {run.best.get(metric, nan):.2%}"
