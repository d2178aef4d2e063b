"""MAP@R of an evaluation as it would be without some samples, such as those with a wrong label."""

from dataclasses import dataclass
from typing import cast

import numpy as np

from workbench.events import Distance
from workbench.problem import Problem
from workbench.progress import Progress
from workbench.results.stored import BLOCK, Stored, read_stored
from workbench.workspace import Workspace


@dataclass(frozen=True, slots=True)
class LeftOut:
    """MAP@R (a fraction; NaN if no query counts) of one evaluation with and without some samples."""

    whole: float
    without: float
    count: int  # samples left out, of those that the evaluation has


def without_samples(workspace: Workspace, evaluation_id: int, sample_ids: np.ndarray, progress: Progress) -> LeftOut:
    """Measure MAP@R as if some samples were neither queries nor in the gallery. Nothing stored is changed.

    This is fast if enough neighbours are stored. If classes are larger than their number, all samples are ranked
    again, which takes as long as an evaluation. Not for the window's thread.

    Args:
        sample_ids: [m] int64; ids that the evaluation does not have are passed over.

    Raises:
        Problem: a file of the evaluation is missing, or nothing is left of the queries or of the gallery.
        Cancelled: by `progress`.
    """
    progress("Reading the neighbours", 0, 0)
    stored, evaluation = read_stored(workspace, evaluation_id), workspace.evaluation(evaluation_id)
    searched, kept = stored.searched(), ~np.isin(stored.sample_ids, sample_ids)
    if kept.sum() < 2:
        raise Problem("Fewer than two samples would be left.", kept="Nothing was changed.")
    without = map_at_r_of(stored, kept)
    if without is None:
        from workbench.evaluation import retrieve  # loads torch

        without = retrieve(
            stored.embeddings[kept], stored.labels[kept], stored.sample_ids[kept], k=1,
            distance=cast(Distance, evaluation.distance),
            is_query=None if searched.all() else ~searched[kept],
            between=lambda: progress("Ranking without them", 0, 0),
        ).metrics["MAP@R"]  # fmt: skip
    return LeftOut(evaluation.metrics.get("MAP@R", float("nan")), without, int((~kept).sum()))


def map_at_r_of(stored: Stored, kept: np.ndarray) -> float | None:
    """MAP@R of some of the samples among themselves, from the stored neighbours.

    Args:
        stored: one evaluation.
        kept: [n] bool, the samples that stay; the others are neither queries nor in the gallery.

    Returns:
        A fraction; NaN if no query counts; None if a query has more true neighbours than stored neighbours that
        stay, so that all must be ranked anew.
    """
    searched = stored.searched()
    _, classes = np.unique(stored.labels, return_inverse=True)
    sizes = np.bincount(classes[kept & searched], minlength=int(classes.max()) + 1)
    one_set = bool(searched.all())
    rows = np.flatnonzero(kept if one_set else kept & ~searched)
    r = sizes[classes[rows]] - one_set  # not itself
    rows, r = rows[r > 0], r[r > 0]
    total = 0.0
    for start in range(0, len(rows), BLOCK):
        part = slice(start, start + BLOCK)
        near, limit = stored.near[rows[part]], r[part, None]
        stays = kept[near]
        rank = np.cumsum(stays, axis=1)
        if (rank.max(1, initial=0) < limit[:, 0]).any():
            return None
        hits = stays & (rank <= limit) & (classes[near] == classes[rows[part], None])
        precision = np.cumsum(hits, axis=1) / np.maximum(rank, 1)
        total += float(((precision * hits).sum(1, keepdims=True) / limit).sum())
    return total / len(rows) if len(rows) else float("nan")
