"""The scores of the runs on the test set: at the last epoch, and at the best epoch on held-out classes."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np

from workbench.comparing.queries.query_values import read_query_values
from workbench.fair.runs import Tried
from workbench.problem import Problem
from workbench.running.folds_and_seeds import best_evaluation
from workbench.workspace import Workspace
from workbench.workspace.rows import Evaluation, Run

METRIC = "MAP@R"


@dataclass(frozen=True, slots=True, eq=False)
class Scores:
    """One loss on the test set with its best setting. Columns of `values` are queries, the same for every loss."""

    tried: Tried
    sample_ids: np.ndarray  # [q] int64, rising
    values: np.ndarray  # [s, q] average precision at the last epoch, one row for each seed
    chosen: tuple[float, ...]  # MAP@R of each seed at the epoch that is best on held-out classes
    recall: tuple[float, ...]  # recall@1 of each seed at the last epoch
    steps: int  # of the optimiser, in each run
    seconds: float  # mean over runs, evaluations with them
    memory_bytes: int  # the most of all runs

    @property
    def method(self) -> str:
        """The loss's name."""
        return self.tried.method

    @property
    def last(self) -> tuple[float, ...]:
        """MAP@R of each seed at the last epoch."""
        return tuple(self.values.mean(1).tolist())


def scores_of(workspace: Workspace, tried: Tried, runs: Sequence[Run]) -> Scores:
    """Read what the runs of a best setting stored, in the order of their seeds.

    Raises:
        Problem: a run without an evaluation, or runs that did not search the same queries.
    """
    last = [_last(workspace, run) for run in runs]
    rows = [_by_query(workspace, run, evaluation) for run, evaluation in zip(runs, last, strict=True)]
    if any(not np.array_equal(ids, rows[0][0]) for ids, _ in rows):
        raise Problem(f"The runs of {tried.method} did not search the same queries.")
    return Scores(
        tried,
        rows[0][0],
        np.stack([values for _, values in rows]),
        tuple(best_evaluation(workspace, run).metrics[METRIC] for run in runs),
        tuple(evaluation.metrics["recall@1"] for evaluation in last),
        max(run.total for run in runs),
        fmean(run.seconds for run in runs),
        max(run.memory_bytes for run in runs),
    )


def _last(workspace: Workspace, run: Run) -> Evaluation:
    evaluations = workspace.evaluations(run.id)
    for metric in (METRIC, "recall@1"):
        if not evaluations or metric not in evaluations[-1].metrics:
            raise Problem(f"Run {run.id} has no {metric} at its last epoch.")
    return evaluations[-1]


def _by_query(workspace: Workspace, run: Run, evaluation: Evaluation) -> tuple[np.ndarray, np.ndarray]:
    with workspace.reading() as db:
        values = read_query_values(db, run, evaluation, METRIC)
    order = np.argsort(values.sample_ids)
    return values.sample_ids[order], values.values[order]
