"""Scores of an evaluation for the images of each tag: where a method is weak, and by how much that is sure."""

from dataclasses import dataclass

import numpy as np

from workbench.evaluation.intervals import bootstrap_interval
from workbench.problem import Problem
from workbench.workspace import Workspace
from workbench.workspace.choices.sample_tags import all_tags, attribute_of


@dataclass(frozen=True, slots=True)
class Slice:
    """The queries of one tag; scores are fractions, NaN without any query that counts.

    Every query is searched among all images of the evaluation, with any tag or none.
    """

    tag: str
    images: int  # of the evaluation
    queries: int  # of these, with another image of their class
    recall: float  # recall@1
    map_at_r: float
    low: float  # 95% bootstrap limits of MAP@R over these queries
    high: float


def slices(workspace: Workspace, evaluation_id: int) -> list[Slice]:
    """A slice for each tag that an image of the evaluation has: attributes by name, each from its lowest MAP@R on.

    Raises:
        Problem: the run has no data set, or a file of the evaluation is missing or damaged.
    """
    dataset_id = workspace.run(workspace.evaluation(evaluation_id).run_id).dataset_id
    if dataset_id is None:
        raise Problem("This run has no data set yet.")
    queries = workspace.queries(evaluation_id)
    made = []
    for tag, members in all_tags(workspace, dataset_id).items():
        of_tag = np.isin(queries.sample_ids, members)
        if of_tag.any():
            made.append(_slice(tag, of_tag, queries.ap, queries.first_hit, queries.r))
    return sorted(made, key=lambda entry: (attribute_of(entry.tag)[0], np.nan_to_num(entry.map_at_r), entry.tag))


def _slice(tag: str, of_tag: np.ndarray, ap: np.ndarray, first_hit: np.ndarray, r: np.ndarray) -> Slice:
    counted = of_tag & (r > 0)
    precisions = ap[counted].astype(np.float64)
    if not len(precisions):
        return Slice(tag, int(of_tag.sum()), 0, *([float("nan")] * 4))
    low, high = bootstrap_interval(precisions)
    right = float((first_hit[counted] == 1).mean())
    return Slice(tag, int(of_tag.sum()), len(precisions), right, float(precisions.mean()), float(low), float(high))
