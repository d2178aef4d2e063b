"""`workbench run --folder`: all runs of one config in run folders, without a workspace."""

import contextlib
from math import nan
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from workbench.commands.arguments import typed
from workbench.commands.terminal import INTERRUPTED, ProgressLine, scores_in_words, show_json
from workbench.commands.training.run_here import Manner
from workbench.commands.training.run_job import KEPT, finished, obeying_signals
from workbench.config import RunConfig
from workbench.control import Control
from workbench.events import score_of
from workbench.jobs import command_line
from workbench.problem import Problem
from workbench.workspace.folders import travelling
from workbench.workspace.folders.dataset_copy import ExperimentCopy, read_experiment
from workbench.workspace.folders.journal import entries, last_state
from workbench.workspace.rows import Experiment
from workbench.workspace.times import now

if TYPE_CHECKING:
    from workbench.running.folds_and_seeds import Child


def run_in_folder(config: RunConfig, folder: Path, how: Manner) -> int:
    """Train all runs of the config in run folders, one after another; returns the exit status.

    One run has `folder` itself; several have folders 1, 2, ... in it, all made before the first one begins. Of `how`,
    what only a workspace has is not read.
    """
    from workbench.running import folds_and_seeds
    from workbench.running.devices import rank
    from workbench.running.devices.launched_ranks import LAUNCHED, launched

    children = folds_and_seeds.children(config)
    folders = [folder] if len(children) == 1 else [folder / str(number + 1) for number in range(len(children))]
    if how.devices == LAUNCHED:
        if len(children) > 1:
            raise Problem(
                "Ranks that srun or torchrun started train one run, and the config asks for several.",
                kept="Nothing was started.", todo="Start each in its own folder: --set seeds=1 --set seed=N.",
            )  # fmt: skip
        if (own := launched()).rank:
            rank.train_launched(own, config, folder)
            return 0
    _make_folders(config, children, folders, folder, resume=how.resume)
    try:
        return _train(config, children, folders, folder, how)
    finally:
        if how.as_json:
            show_json(_as_data(children, folders))


def _train(config: RunConfig, children: "list[Child]", folders: list[Path], whole: Path, how: Manner) -> int:
    """Train the runs in these folders, which lie in `whole`; returns the exit status."""
    from workbench.running.trained_network import checkpoint_files

    for of_child in folders:
        ended = how.resume and last_state(of_child)
        if ended == "done":
            click.echo(f"The run in {of_child} was done already.", err=how.as_json)
            continue
        goes_on = how.resume and (ended != "queued" or bool(checkpoint_files(of_child)))  # its journal may be missing
        if status := _folder_run(config, of_child, whole, goes_on, how):
            return status
    if len(folders) > 1 and not how.as_json and all(last_state(of_child) == "done" for of_child in folders):
        click.echo(_together(config, children, whole, folders))
    return 0


def _as_data(children: "list[Child]", folders: list[Path]) -> dict[str, Any]:
    """As of runs in a workspace, whose numbers these do not have; what else is known of them is in their folders."""
    runs = []
    for child, folder in zip(children, folders, strict=True):
        best, at = _best_of_folder(folder)
        of_run = {"run": None, "name": child.config.name, "status": last_state(folder), "seed": child.seed}
        runs.append({**of_run, "best_epoch": at if best else None, "best": best, "folder": str(folder.absolute())})
    return {"workspace": None, "runs": runs, "experiment": None, "result": None, "reports": []}


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
        again = _resuming(folder, ("run", str(folder / travelling.CONFIG), "--resume"))
        raise Problem(
            f"The run in {folder} has another config.", kept="It was not changed.", todo=f"Continue with: {again}"
        )


def _experiment(config: RunConfig, folders: list[Path]) -> ExperimentCopy:
    """The experiment of these folders: that of those that were made, so that the others belong to it, too."""
    for folder in folders:
        with contextlib.suppress(Problem, OSError, ValueError):
            stored = read_experiment(folder)
            if stored is not None and config.is_recorded_as(stored.config):
                return stored
    return ExperimentCopy(name=config.name, config=config.to_toml(), created=now())


def _folder_run(config: RunConfig, folder: Path, whole: Path, resume: bool, how: Manner) -> int:
    """Train one run of a config whose runs are in the folder `whole`; returns the exit status."""
    from workbench.running.launch import make_folder_job

    control, line = Control(), ProgressLine(config.training.epochs, quiet=how.quiet, as_json=how.as_json)
    try:
        job = make_folder_job(folder, control, line, resume=resume, device=how.devices)
    except Problem as refused:
        if resume:
            raise
        kept = f"The run in {folder} is made, and was not started."
        todo = f"After correcting that: {_resuming(whole, how.again)}"
        raise Problem(refused.what, kept=kept, todo=todo) from refused
    asked = folder / travelling.AFTER_EPOCH
    with obeying_signals(control):
        ended = finished(job, control, line, asked)
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
        click.echo(f"Continue with: {_resuming(whole, how.again)}", err=True)
        return INTERRUPTED
    return 0


def _resuming(folder: Path, words: tuple[str, ...]) -> str:
    """The command of these words that goes on in a run folder, as a person types it."""
    return command_line("workbench", *words, "--folder", str(folder))


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
