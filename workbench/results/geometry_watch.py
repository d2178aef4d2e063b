"""The geometry of a run over its epochs: numbers, histograms of similarities, MAP@R of each class, and alarms."""

from dataclasses import dataclass

import numpy as np

from workbench.evaluation.health import Alarm, Look, alarms, falling_classes, look
from workbench.progress import Progress, quiet
from workbench.workspace import Workspace
from workbench.workspace.measured.ranking import read_labels, read_scores
from workbench.workspace.rows import Evaluation

ACCURACY = "train/accuracy"


@dataclass(frozen=True, slots=True, eq=False)
class Watched:
    """A run's evaluations by epoch."""

    evaluations: list[Evaluation]
    looks: list[Look]
    labels: np.ndarray  # [K] int64, of the columns of `of_classes`
    of_classes: np.ndarray  # [epochs, K] MAP@R of each class; NaN without a query
    accuracy: list[float | None]  # on training images at each evaluation, in 0..1; None if it is not known
    falling: np.ndarray  # columns of classes that fall while the mean rises, the steepest first

    @property
    def epochs(self) -> list[int]:
        """Epochs of the evaluations."""
        return [evaluation.epoch for evaluation in self.evaluations]

    def alarms(self, at: int) -> list[Alarm]:
        """The alarms of the evaluation at index `at`."""
        before = self.looks[0].numbers if at and self.evaluations[0].epoch == 0 else None
        return alarms(self.looks[at].numbers, before, self.accuracy[at], self.evaluations[at].metrics.get("MAP@R"))


def watch(workspace: Workspace, run_id: int, progress: Progress = quiet) -> Watched:
    """Measure every evaluation of a run; some tenths of a second each. Not for the window's thread.

    Raises:
        Problem: a file of an evaluation is missing or damaged.
        Cancelled: by `progress`.
    """
    evaluations = workspace.evaluations(run_id)
    looks, rows = [], []
    names = np.empty(0, np.int64)
    for at, evaluation in enumerate(evaluations):
        progress("Looking at the embeddings", at, len(evaluations))
        labels = read_labels(workspace, evaluation.id)
        looks.append(look(workspace.vectors(evaluation.id), labels))
        names = np.unique(labels) if not len(names) else names
        rows.append(class_means(labels, read_scores(workspace, evaluation.id)[2], names))
    of_classes = np.stack(rows) if rows else np.empty((0, 0))
    accuracy = _accuracy(workspace, run_id, [evaluation.step for evaluation in evaluations])
    return Watched(evaluations, looks, names, of_classes, accuracy, falling_classes(of_classes))


def _accuracy(workspace: Workspace, run_id: int, steps: list[int]) -> list[float | None]:
    """The last accuracy on training images at or before each step."""
    if ACCURACY not in workspace.scalar_names(run_id):
        return [None] * len(steps)
    known, values = workspace.scalars(run_id, ACCURACY)
    places = np.searchsorted(known, steps, side="right") - 1
    return [float(values[at]) if at >= 0 and np.isfinite(values[at]) else None for at in places.tolist()]


def class_means(labels: np.ndarray, scores: np.ndarray, names: np.ndarray) -> np.ndarray:
    """Mean score [K] of each class; NaN without a number.

    Args:
        labels: [n]. scores: [n], NaN for what is no query. names: [K] labels, rising.
    """
    known = np.isfinite(scores) & np.isin(labels, names)
    columns = np.searchsorted(names, labels[known])
    sums = np.bincount(columns, scores[known], minlength=len(names))
    counts = np.bincount(columns, minlength=len(names))
    return np.asarray(np.divide(sums, counts, out=np.full(len(names), np.nan), where=counts > 0))
