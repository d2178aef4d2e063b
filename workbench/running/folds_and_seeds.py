"""The runs of one experiment: the folds and seeds of one config, and their joint result."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import isfinite, nan
from statistics import mean, stdev
from typing import Any, Literal

import numpy as np

from workbench.config import Choice, RunConfig
from workbench.entries import catalog as catalogs
from workbench.metric_names import metric_name
from workbench.numerals import words_of
from workbench.problem import Problem
from workbench.progress import Progress, quiet
from workbench.workspace import Workspace
from workbench.workspace.experiments import experiments as stored
from workbench.workspace.measured.ranking import read_r
from workbench.workspace.rows import Evaluation, Experiment, Run

REPORTED = ("recall@1", "P@R", "MAP@R")


@dataclass(frozen=True, slots=True)
class Child:
    """One run of an experiment."""

    config: RunConfig
    seed: int
    fold: int  # from 1; 0 if the split has no folds


def children(config: RunConfig) -> list[Child]:
    """Every run that the config asks for, in order: all folds of the first seed, then of the next."""
    fold, count = config.folds(catalogs.last())
    folds = [fold] if fold or not count else list(range(1, count + 1))
    if len(folds) == config.seeds == 1:
        return [Child(config, config.seed, folds[0])]
    runs = []
    for seed in range(config.seed, config.seed + config.seeds):
        for fold in folds:
            split = config.split
            words = [f"seed {seed}"] if config.seeds > 1 else []
            if len(folds) > 1:
                split = Choice(name=split.name, params={**split.params, "fold": fold})
                words.append(f"fold {fold}")
            name = ", ".join([config.name[: 190 - 10 * len(words)], *words])
            changes = {"name": name, "seed": seed, "seeds": 1, "split": split}
            runs.append(Child(config.model_copy(update=changes), seed, fold))
    return runs


def prepare(config: RunConfig, workspace: Workspace) -> list[int]:
    """Queue every run that the config asks for, several as one experiment; returns their numbers.

    Raises:
        Problem: the workspace cannot be written; then there is no new run and no new experiment.
    """
    runs = children(config)
    if len(runs) == 1:
        return [workspace.create_run(runs[0].config)]
    experiment = stored.create(workspace, config)
    made: list[int] = []
    try:
        for child in runs:
            made.append(workspace.create_run(child.config, experiment))
    except Problem:
        with suppress(Problem):  # the disk may refuse this, too
            stored.take_back(workspace, experiment, made)
        raise
    return made


def unfinished(workspace: Workspace, config: RunConfig) -> tuple[int, list[int]]:
    """The newest experiment of this config without a result, and its runs that are not done, in order.

    Raises:
        Problem: there is none.
    """
    for experiment in stored.every(workspace):
        if not experiment.result and config.is_recorded_as(experiment.config):
            runs = stored.runs_of(workspace, experiment.id)
            return experiment.id, [run.id for run in runs if run.status != "done"]
    raise Problem(
        f"There is no unfinished experiment of this config in {workspace.path}.",
        todo="Leave --resume out to start one.",
    )


def conclude(workspace: Workspace, experiment_id: int, progress: Progress = quiet) -> dict[str, Any] | None:
    """Store and return the result of an experiment whose runs are all done; None before that.

    {"runs": n, "separated": {metric: [one per run]}, "concatenated": [{metric: value} per seed]}; the last only with
    folds: the embeddings of all folds' best evaluations, each normalised, concatenated (Musgrave et al. 2020).

    Args:
        progress: called at each stage; may raise Cancelled, which leaves the experiment without a result.

    Raises:
        Problem: embeddings that are gone, or folds that do not search the same images.
    """
    progress("Reading the runs", 0, 0)
    runs = stored.runs_of(workspace, experiment_id)
    if any("sweep" in other.result for other in stored.every(workspace) if other.id == experiment_id):
        return None  # its runs do not differ only in seed and fold
    if not runs or any(run.status != "done" for run in runs):
        return None
    best = [best_evaluation(workspace, run) for run in runs]
    result: dict[str, Any] = {
        "runs": len(runs),
        "separated": separated([evaluation.metrics for evaluation in best]),
    }
    by_seed: dict[int, list[Evaluation]] = {}
    for run, evaluation in zip(runs, best, strict=True):
        by_seed.setdefault(run.seed, []).append(evaluation)
    if any(len(folds) > 1 for folds in by_seed.values()):
        result["concatenated"] = [concatenated(workspace, folds, progress) for folds in by_seed.values()]
    progress("Storing the result", 0, 0)
    stored.set_result(workspace, experiment_id, result)
    return result


def best_evaluation(workspace: Workspace, run: Run) -> Evaluation:
    """The evaluation that the run marked as its best. Raises Problem if it has none."""
    best = [evaluation for evaluation in workspace.evaluations(run.id) if evaluation.epoch == run.best_epoch]
    if not best:
        raise Problem(f"Run {run.id} has no evaluation.")
    return best[-1]


def separated(best: Sequence[Mapping[str, float]]) -> dict[str, list[float]]:
    """Each metric of REPORTED with its values in the best evaluations of the runs, in their order."""
    return {name: [metrics[name] for metrics in best if name in metrics] for name in REPORTED}


def markdown(experiment: Experiment) -> str:
    """The result of a finished experiment as a Markdown table, in per cent: mean ± standard deviation.

    Folds have a row for each way of the papers to join them; seeds alone have one row, which needs no such word.
    """
    result, title = experiment.result, experiment.name
    word = "mean ± SD over seeds"
    if "concatenated" in result:
        word, title = "separated", f"{title}: mean ± SD over n runs, of concatenated folds over n seeds"
    rows = [(word, result["runs"], result["separated"])]
    if "concatenated" in result:
        rows.append(("concatenated", len(result["concatenated"]), separated(result["concatenated"])))
    lines = [f"| {title} | n | " + " | ".join(f"{metric_name(name)} %" for name in REPORTED) + " |", "|---" * 5 + "|"]
    for word, n, values in rows:
        lines.append(f"| {word} | {n} | " + " | ".join(_spread(values[name]) for name in REPORTED) + " |")
    return "\n".join(lines)


def concatenated(workspace: Workspace, evaluations: list[Evaluation], progress: Progress = quiet) -> dict[str, float]:
    """Metrics REPORTED of the folds' concatenated embeddings, normalised for cosine. Problem: other images."""
    from workbench.evaluation.conventions import searched
    from workbench.evaluation.retrieval import metrics_heard
    from workbench.evaluation.side_by_side import side_by_side

    parts, ids, labels = [], None, None
    distance: Literal["cosine", "l2"] = "l2" if evaluations[0].distance == "l2" else "cosine"
    for done, evaluation in enumerate(evaluations):
        progress("Reading the embeddings", done, len(evaluations))
        sample_ids, labels, vectors = workspace.embeddings(evaluation.id)
        if ids is not None and not np.array_equal(ids, sample_ids):
            raise Problem("The folds did not search the same images, so their embeddings cannot be concatenated.")
        ids = sample_ids
        parts.append(vectors)
    assert labels is not None  # there is at least one fold
    together = side_by_side(parts, [distance == "cosine"] * len(parts))
    kept = searched(labels, read_r(workspace, evaluations[0].id))
    gallery = None if kept.all() else (together[kept], labels[kept])
    asking = np.ones(len(labels), bool) if gallery is None else ~kept
    metrics = metrics_heard(together[asking], labels[asking], (1,), distance, gallery, progress)
    return {name: metrics[name] for name in REPORTED}


def _spread(values: list[float]) -> str:
    """Mean ± standard deviation of the numbers among the values; fewer numbers than values are counted behind it."""
    if not values:
        return ""
    numbers = [value for value in values if isfinite(value)]
    if not numbers:
        return words_of(nan)
    middle = f"{100 * mean(numbers):.2f}"
    if len(numbers) > 1:
        middle += f" ± {100 * stdev(numbers):.2f}"
    return middle if len(numbers) == len(values) else f"{middle} ({len(numbers)} of {len(values)})"
