"""Scores of an evaluation for the images of each tag: where a method is weak, and by how much that is sure."""

from dataclasses import dataclass

import numpy as np

from workbench.evaluation.intervals import bootstrap_interval
from workbench.results.stored import dataset_of
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
    dataset_id = dataset_of(workspace, evaluation_id)
    queries = workspace.queries(evaluation_id)
    row_of = {number: row for row, number in enumerate(queries.sample_ids.tolist())}
    made = []
    for tag, members in all_tags(workspace, dataset_id).items():
        rows = np.array([row_of[number] for number in members if number in row_of], np.int64)
        if len(rows):
            made.append(_slice(tag, queries.ap[rows], queries.first_hit[rows], queries.r[rows]))
    return sorted(made, key=lambda entry: (attribute_of(entry.tag)[0], np.nan_to_num(entry.map_at_r), entry.tag))


def _slice(tag: str, ap: np.ndarray, first_hit: np.ndarray, r: np.ndarray) -> Slice:
    counted = r > 0
    precisions = ap[counted].astype(np.float64)
    if not len(precisions):
        return Slice(tag, len(ap), 0, *([float("nan")] * 4))
    low, high = bootstrap_interval(precisions)
    right = float((first_hit[counted] == 1).mean())
    return Slice(tag, len(ap), len(precisions), right, float(precisions.mean()), float(low), float(high))
