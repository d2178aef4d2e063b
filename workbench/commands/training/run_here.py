"""`workbench run`: all runs of one config, one after another, with a progress line and Ctrl+C."""

import contextlib
import signal
import sys
from collections.abc import Iterator
from math import nan
from pathlib import Path
from typing import TYPE_CHECKING

import click

from workbench.commands.arguments import typed
from workbench.commands.terminal import INTERRUPTED, ProgressLine, best_in_words, say_while_read, scores_in_words, told
from workbench.config import RunConfig
from workbench.control import Control
from workbench.events import Ended, RunState, score_of
from workbench.jobs import Job, command_line
from workbench.problem import Problem, RunTaken
from workbench.running.devices.together import parse_devices
from workbench.running.listed import Listed
from workbench.workspace import Workspace
from workbench.workspace.experiments import experiments
from workbench.workspace.folders import travelling
from workbench.workspace.folders.dataset_copy import ExperimentCopy, read_experiment
from workbench.workspace.folders.deleted_checkpoints import CannotGoOn
from workbench.workspace.folders.journal import entries, last_state
from workbench.workspace.rows import Experiment
from workbench.workspace.times import now

if TYPE_CHECKING:
    from workbench.running.folds_and_seeds import Child

KEPT = "Its checkpoints are kept, and `--resume` continues from the last one."


def run_here(
    config: RunConfig, place: Path, *, resume: bool, report: bool, quiet: bool, devices: str = "",
    at_once: bool = False, retrain: bool = False, earlier: RunConfig | None = None,
) -> int:  # fmt: skip
    """Train all runs of the config, one after another, each on all `devices` ("0,1"); returns the exit status.

    Where they go `at_once`, each has one of the devices, and a single one the first. The workspace is made if it is
    missing, unless they are to `resume`. With `retrain` those that lost their checkpoints begin again. Where nothing of
    `config` is to be resumed, runs of `earlier` are, the same config with the name that version 0.1 gave it.
    """
    from workbench.running.unusable import refuse_unusable

    listed = None
    if not resume:  # before anything is made: nothing of a refused run is left
        with told() as progress:
            listed = refuse_unusable(config, progress, devices=parse_devices(devices) if devices else ())
    with Workspace(place, create=not resume) as workspace:
        workspace.sweep_dead_runs()
        if resume and earlier is not None:
            config = _as_recorded(workspace, config, earlier)
        return _run_all(
            config, workspace, listed, resume=resume, report=report, quiet=quiet, devices=devices, at_once=at_once,
            retrain=retrain,
        )  # fmt: skip


def _run_all(
    config: RunConfig, workspace: Workspace, listed: Listed | None, *, resume: bool, report: bool, quiet: bool,
    devices: str, at_once: bool, retrain: bool,
) -> int:  # fmt: skip
    """`run_here` in an open workspace; `listed` is as for `make_job`."""
    from workbench.running import folds_and_seeds

    if len(folds_and_seeds.children(config)) == 1:
        if resume:
            (run_id,) = _able_to_go_on(workspace, [_unfinished(workspace, config)], retrain=retrain)
        else:
            (run_id,) = folds_and_seeds.prepare(config, workspace)
        devices = devices.partition(",")[0] if at_once else devices
        return _run_one(config, workspace, run_id, listed, resume=resume, report=report, quiet=quiet, devices=devices)
    if resume:
        experiment, numbers = folds_and_seeds.unfinished(workspace, config)
        numbers = _able_to_go_on(workspace, numbers, retrain=retrain)
    else:
        numbers = folds_and_seeds.prepare(config, workspace)
        experiment = workspace.run(numbers[0]).experiment_id or 0
    if at_once:
        if status := _at_once(workspace, numbers, parse_devices(devices), resume=resume, quiet=quiet):
            return status
    else:
        for run_id in numbers:
            status = _run_one(
                config, workspace, run_id, listed, resume=resume, report=report, quiet=quiet, devices=devices
            )  # fmt: skip
            if status:
                return status
    folds_and_seeds.conclude(workspace, experiment)
    concluded = next(stored for stored in experiments.every(workspace) if stored.id == experiment)
    click.echo(folds_and_seeds.markdown(concluded))
    return 0


def _able_to_go_on(workspace: Workspace, numbers: list[int], *, retrain: bool) -> list[int]:
    """The runs, with a new one in place of each that lost its checkpoints, if that was asked for.

    Raises:
        CannotGoOn: it was not asked for; then no run has begun.
    """
    from workbench.running import retrained

    reasons = retrained.unable_to_go_on(workspace, numbers)
    if reasons and not retrain:
        said = " ".join(f"Run {run_id} cannot continue: {why}." for run_id, why in reasons.items())
        back = typed(workspace.path, "checkpoints", "bring-back", str(next(iter(reasons))), "DIR")
        todo = (
            f"Add --retrain to train {'it' if len(reasons) == 1 else 'them'} from the start; `{back}` copies lost ones."
        )
        raise CannotGoOn(said, kept="Curves and evaluations are kept, and no run was started.", todo=todo)
    left = [run_id for run_id in numbers if run_id not in reasons]
    for run_id, why in sorted(reasons.items(), reverse=True):
        new = retrained.replaced(workspace, run_id)
        click.echo(f"Run {run_id} cannot continue ({why}): it is in the trash, and run {new} trains in its place.")
        left.append(new)
    return sorted(set(left))


def _at_once(
    workspace: Workspace, numbers: list[int], devices: tuple[str, ...], *, resume: bool, quiet: bool
) -> int:  # fmt: skip
    """Train runs at once, one on each device; returns the exit status. Raises Problem if one failed."""
    from workbench.commands.training.at_once import Lanes

    lanes = Lanes(workspace, devices, (lambda line: None) if quiet else say_while_read)
    problems = lanes.train(numbers, resume=resume)
    if problems:
        raise Problem(" ".join(problems), kept=KEPT)
    if lanes.interrupted:
        click.echo(f"Continue with: {typed(workspace.path, 'run', 'CONFIG', '--resume')}", err=True)
        return INTERRUPTED
    return 0


def run_in_folder(config: RunConfig, folder: Path, *, resume: bool, quiet: bool, devices: str = "") -> int:
    """Train all runs of the config in run folders, one after another; returns the exit status.

    One run has `folder` itself; several have folders 1, 2, ... in it, all made before the first one begins.
    """
    from workbench.running import folds_and_seeds
    from workbench.running.devices import rank
    from workbench.running.devices.launched_ranks import LAUNCHED, launched
    from workbench.running.trained_network import checkpoint_files

    children = folds_and_seeds.children(config)
    folders = [folder] if len(children) == 1 else [folder / str(number + 1) for number in range(len(children))]
    if devices == LAUNCHED:
        if len(children) > 1:
            raise Problem(
                "Ranks that srun or torchrun started train one run, and the config asks for several.",
                kept="Nothing was started.", todo="Start each in its own folder: --set seeds=1 --set seed=N.",
            )  # fmt: skip
        if (own := launched()).rank:
            rank.train_launched(own, config, folder)
            return 0
    _make_folders(config, children, folders, folder, resume=resume)
    for of_child in folders:
        ended = resume and last_state(of_child)
        if ended == "done":
            click.echo(f"The run in {of_child} was done already.")
            continue
        goes_on = resume and (ended != "queued" or bool(checkpoint_files(of_child)))  # its journal may be missing
        status = _folder_run(config, of_child, folder, resume=goes_on, quiet=quiet, devices=devices)
        if status:
            return status
    if len(folders) > 1 and all(last_state(of_child) == "done" for of_child in folders):
        click.echo(_together(config, children, folder, folders))
    return 0


def _together(config: RunConfig, children: "list[Child]", whole: Path, folders: list[Path]) -> str:
    """The result of all runs as a table; of folds, which are joined by their embeddings, where it will be."""
    from workbench.running import folds_and_seeds

    if len({child.fold for child in children}) > 1:
        return f"The folds are joined where they arrive: {typed(Path('DIR'), 'ingest', str(whole))}"
    best = [_best_of_folder(folder)[0] for folder in folders]
    result = {"runs": len(best), "separated": folds_and_seeds.separated(best)}
    return folds_and_seeds.markdown(Experiment(0, config.name, config.to_toml(), now(), result))


def _make_folders(
    config: RunConfig, children: "list[Child]", folders: list[Path], whole: Path, *, resume: bool
) -> None:  # fmt: skip
    """Make the run folders: all of them, or with `resume` those that a process left unmade that was killed meanwhile.

    Raises:
        Problem: a folder has anything else or a run of another config, or there is nothing to resume; then none was
            made.
    """
    unmade: list[tuple[RunConfig, Path]] = []
    for child, of_child in zip(children, folders, strict=True):
        if resume and travelling.has_run(of_child):
            _check_config(child.config, of_child)
        else:
            unmade.append((child.config, of_child))
    if len(children) > 1 and travelling.has_run(whole):
        raise Problem(
            f"There is one run in {whole}, and the config asks for {len(children)}.",
            kept="Nothing was started or changed.",
            todo="Name another folder.",
        )
    begun = [travelling.was_begun(of_child, own) for own, of_child in unmade]
    if resume and len(unmade) == len(folders) and not any(begun):
        raise Problem(
            f"There is no run in {whole}: nothing can be resumed.",
            kept="Nothing was started or changed.",
            todo="Leave --resume out to start one.",
        )
    group = _experiment(config, folders) if len(children) > 1 else None
    for own, of_child in unmade:
        travelling.make(of_child, own, group)


def _check_config(config: RunConfig, folder: Path) -> None:
    """Raises Problem for a folder whose run has another config."""
    _, _, text = travelling.read(folder)
    if not config.is_recorded_as(text):
        raise Problem(
            f"The run in {folder} has another config.",
            kept="It was not changed.",
            todo=f"Continue with: {_resuming(folder, str(folder / travelling.CONFIG))}",
        )


def _experiment(config: RunConfig, folders: list[Path]) -> ExperimentCopy:
    """The experiment of these folders: that of those that were made, so that the others belong to it, too."""
    for folder in folders:
        with contextlib.suppress(Problem, OSError, ValueError):
            stored = read_experiment(folder)
            if stored is not None and config.is_recorded_as(stored.config):
                return stored
    return ExperimentCopy(name=config.name, config=config.to_toml(), created=now())


def _folder_run(config: RunConfig, folder: Path, whole: Path, *, resume: bool, quiet: bool, devices: str) -> int:
    """Train one run of a config whose runs are in the folder `whole`; returns the exit status."""
    from workbench.running.launch import make_folder_job

    control, line = Control(), ProgressLine(config.training.epochs, quiet=quiet)
    try:
        job = make_folder_job(folder, control, line, resume=resume, device=devices)
    except Problem as refused:
        if resume:
            raise
        kept = f"The run in {folder} is made, and was not started."
        todo = f"After correcting that: {_resuming(whole)}"
        raise Problem(refused.what, kept=kept, todo=todo) from refused
    asked = folder / travelling.AFTER_EPOCH
    with _obeying_signals(control):
        ended = _finished(job, control, line, asked)
    if not control.interrupted:  # an interrupted one may be started again by itself
        with contextlib.suppress(OSError):
            asked.unlink()
    line.finish(f"The run in {folder}: {ended.status}. {scores_in_words(*_best_of_folder(folder))}".rstrip())
    problem = ended.problem or (f"The run in {folder} was cancelled." if ended.status == "cancelled" else "")
    if job.untold is not None:
        raise Problem(f"{problem} Its end could not be recorded: {job.untold}".lstrip(), kept=KEPT)
    if problem:
        raise Problem(problem)
    if control.interrupted:
        click.echo(f"Continue with: {_resuming(whole)}", err=True)
        return INTERRUPTED
    return 0


def _resuming(folder: Path, config: str = "CONFIG") -> str:
    """The command that goes on in a run folder, as a person types it."""
    return command_line("workbench", "run", config, "--folder", str(folder), "--resume")


def _best_of_folder(folder: Path) -> tuple[dict[str, float], int]:
    """The metrics of the best epoch of a run folder, and this epoch; none without an evaluation."""
    best, score, at = dict[str, float](), -2.0, 0
    with contextlib.suppress(Problem, OSError):  # how the run ended is said in any case
        for entry in filter(None, entries(folder, b'"evaluation"')):
            if entry.evaluation is None:
                continue
            metrics = {name: nan if value is None else value for name, value in entry.evaluation.metrics.items()}
            reached = score_of(metrics)
            if (new := -1.0 if reached is None else reached) > score:
                best, score, at = metrics, new, entry.evaluation.epoch
    return best, at


@contextlib.contextmanager
def _obeying_signals(control: Control) -> Iterator[None]:
    """While a run works: SIGTERM ends it with a checkpoint, SIGUSR1 after its epoch."""
    obeyed = {signal.SIGTERM: control.interrupt}
    if sys.platform != "win32":
        obeyed[signal.SIGUSR1] = control.stop
    before = {number: signal.signal(number, lambda *_, obey=obey: obey()) for number, obey in obeyed.items()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _finished(job: Job, control: Control, line: ProgressLine, asked: Path | None = None) -> Ended:
    """Start the job and wait for its end; Ctrl+C ends it with a checkpoint, twice without a new one.

    A file `asked` ends it after its epoch.
    """

    def interrupt(*_: object) -> None:
        if control.interrupted:
            control.cancel()
        control.interrupt()
        line.say("Stopping before the next step; a checkpoint is kept. Press Ctrl+C again to end without a new one.")

    before = signal.signal(signal.SIGINT, interrupt)
    try:
        job.start()
        while not job.join(0.2):
            if asked is not None and asked.exists():
                control.stop()
                asked = None
    finally:
        signal.signal(signal.SIGINT, before)
    return job.ended or Ended("failed", "The run ended for an unknown reason.")


def _run_one(
    config: RunConfig, workspace: Workspace, run_id: int, listed: Listed | None, *, resume: bool, report: bool,
    quiet: bool, devices: str,
) -> int:  # fmt: skip
    """Train on a worker thread with a progress line; returns the exit status. `listed` is as for `make_job`."""
    from workbench.running.launch import make_job

    if resume:
        workspace.take_over(run_id)
    control, line = Control(), ProgressLine(config.training.epochs, quiet=quiet)
    job = make_job(workspace, run_id, control, line, resume=resume, device=devices, listed=listed)
    with _obeying_signals(control):
        ended = _finished(job, control, line)
    done = workspace.run(run_id)
    line.finish(f"Run {run_id} {ended.status}. {best_in_words(done)}".rstrip())
    problem = ended.problem or (f"Run {run_id} was cancelled." if ended.status == "cancelled" else "")
    if isinstance(job.untold, RunTaken):
        raise job.untold
    if job.untold is not None:
        raise Problem(f"{problem} The end of run {run_id} could not be recorded: {job.untold}".lstrip(), kept=KEPT)
    if problem:
        raise Problem(problem)
    if control.interrupted:
        click.echo(f"Continue with: {typed(workspace.path, 'run', 'CONFIG', '--resume')}", err=True)
        return INTERRUPTED
    if report:
        from workbench.reports import write_report

        line.say("Writing the report")
        for path in write_report(workspace, run_id, workspace.file(run_id, "report"), formats=("html",)):
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
