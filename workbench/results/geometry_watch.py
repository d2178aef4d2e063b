"""The geometry of a run over its epochs: numbers, histograms of similarities, MAP@R of each class, and alarms."""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from workbench.evaluation.health import MOST, PREFIX, Alarm, Look, alarms, falling_classes, look, thinned
from workbench.evaluation.small_retrieval import average_precisions
from workbench.problem import Problem
from workbench.progress import Progress, quiet
from workbench.workspace import Workspace
from workbench.workspace.measured.evaluations import read_probe
from workbench.workspace.measured.ranking import read_labels, read_scores
from workbench.workspace.rows import Evaluation

ACCURACY = "train/accuracy"
LARGEST = float(np.finfo(np.float32).max)  # that a run stores; squares of larger ones are infinite
STORED_AS = {  # numbers of a Look -> metrics of an evaluation
    "spectral_rank": "effective_rank", "pairs_alignment": "alignment", "pairs_uniformity": "uniformity",
    **{name: name for name in ("mean_norm", "norm_spread", "overlap", "foreign_margin", "largest_hub")},
}  # fmt: skip
Images = Literal["test", "probe"]  # those whose embeddings are looked at


@dataclass(frozen=True, slots=True, eq=False)
class Watched:
    """A run's evaluations by epoch."""

    evaluations: list[Evaluation]
    scores: list[float]  # MAP@R of these images at each evaluation, in 0..1; NaN where no image is a query
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


def watch(workspace: Workspace, run_id: int, progress: Progress = quiet, images: Images = "test") -> Watched:
    """Measure every evaluation of a run; some tenths of a second each. Not for the window's thread.

    With `images` "probe", the training images of the probe, searched among themselves: of evaluations that stored them.

    Raises:
        Problem: a file of an evaluation is missing or damaged, or holds no finite numbers; none stored the probe.
        Cancelled: by `progress`.
    """
    stored, read = workspace.evaluations(run_id), _test_half if images == "test" else _probe
    evaluations, scores, looks, rows = [], [], [], []
    names = np.empty(0, np.int64)
    for at, evaluation in enumerate(stored):
        progress("Looking at the embeddings", at, len(stored))
        if (seen := read(workspace, evaluation)) is None:
            continue
        if wrong := int((~(np.abs(seen.vectors) <= LARGEST).all(1)).sum()):
            many = f"{wrong:,} of {len(seen.vectors):,} embeddings of epoch {evaluation.epoch}"
            what = f"{many} contain NaN, infinity or numbers above {LARGEST:.0e}."
            raise Problem(what, kept="The run is kept.", todo="Geometry can be measured again once they are restored.")
        evaluations.append(evaluation)
        scores.append(seen.score)
        seen_now = look(seen.vectors, seen.labels, distance=evaluation.distance)
        looks.append(_as_stored(seen_now, evaluation) if images == "test" else seen_now)
        names = np.unique(seen.labels) if not len(names) else names
        rows.append(class_means(seen.labels, seen.ap, names))
    if stored and not evaluations:
        raise Problem(
            f"Run {run_id} stored no embeddings of its probe.",
            kept="Those of its test set are there.",
            todo="Runs from before November 2026 and runs whose field Probe is 0 have none.",
        )
    of_classes = np.stack(rows) if rows else np.empty((0, 0))
    accuracy = _accuracy(workspace, run_id, [evaluation.step for evaluation in evaluations])
    return Watched(evaluations, scores, looks, names, of_classes, accuracy, falling_classes(of_classes))


@dataclass(frozen=True, slots=True, eq=False)
class _Seen:
    """Images of one evaluation: what is looked at."""

    vectors: np.ndarray  # [n, d]
    labels: np.ndarray  # [n]
    ap: np.ndarray  # [n] average precision at R; NaN for what is no query
    score: float  # MAP@R


def _test_half(workspace: Workspace, evaluation: Evaluation) -> _Seen:
    labels = read_labels(workspace, evaluation.id)
    ap, score = read_scores(workspace, evaluation.id)[2], evaluation.metrics.get("MAP@R", np.nan)
    return _Seen(workspace.vectors(evaluation.id), labels, ap, score)


def _as_stored(seen: Look, evaluation: Evaluation) -> Look:
    """The same with the numbers that the evaluation stored, as Compare shows them: a Look is of other samples."""
    stored = {name: evaluation.metrics.get(f"{PREFIX}{metric}", np.nan) for name, metric in STORED_AS.items()}
    return replace(seen, numbers=seen.numbers | {name: value for name, value in stored.items() if np.isfinite(value)})


def _probe(workspace: Workspace, evaluation: Evaluation) -> _Seen | None:
    """At most MOST images of the probe; None if it was not stored."""
    if (stored := read_probe(workspace, evaluation.id)) is None:
        return None
    rows = thinned(stored.labels, MOST)
    vectors, labels = stored.vectors[rows], stored.labels[rows]
    ap = average_precisions(vectors, labels, evaluation.distance)
    return _Seen(vectors, labels, ap, float(np.nanmean(ap)) if np.isfinite(ap).any() else float("nan"))


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
