"""What the Retrieval page reads from a workspace, on threads."""

from dataclasses import dataclass

import numpy as np

from workbench.evaluation.conventions import searched
from workbench.problem import Problem
from workbench.progress import Progress
from workbench.results.search_methods import ByMethod
from workbench.ui.pages.retrieval.model.class_scores import ClassScores, class_scores
from workbench.ui.pages.retrieval.model.listing import Gains, InOrder, in_order, in_order_of_gains
from workbench.workspace import Workspace
from workbench.workspace.choices.sample_tags import all_tags, tag_sample
from workbench.workspace.measured.searched import read_searched
from workbench.workspace.rows import Evaluation, Neighbour, Queries, Query


@dataclass(frozen=True, slots=True, eq=False)
class ShownEvaluation:
    """An evaluation with the data that the page needs at once."""

    evaluation: Evaluation
    dataset_id: int
    class_names: tuple[str, ...]
    queries: Queries
    sorted_by: InOrder
    classes: ClassScores
    tags: dict[str, np.ndarray]  # tag -> sample ids of the data set
    of_run: tuple[Evaluation, ...]  # all evaluations of its run
    gallery: int  # samples that are searched


@dataclass(frozen=True, slots=True, eq=False)
class ShownQuery:
    """A query with its stored neighbours, best first, in the shown evaluation and in the compared one."""

    query: Query
    near: list[Neighbour]
    elsewhere: Query | None  # None: no evaluation is compared, or the sample is not a query there
    near_elsewhere: list[Neighbour]


def read_evaluation(workspace: Workspace, evaluation_id: int, progress: Progress) -> ShownEvaluation:
    """Read an evaluation with all its queries. Raises Problem if the database cannot be read."""
    evaluation = workspace.evaluation(evaluation_id)
    dataset_id = workspace.run(evaluation.run_id).dataset_id or 0
    class_names = workspace.dataset(dataset_id).class_names
    queries = workspace.queries(evaluation_id)
    return ShownEvaluation(
        evaluation,
        dataset_id,
        class_names,
        queries,
        in_order(queries, class_names),
        class_scores(queries, class_names),
        read_tags(workspace, dataset_id),
        tuple(workspace.evaluations(evaluation.run_id)),
        int(searched(queries.labels, queries.r).sum()),
    )


def read_query(
    workspace: Workspace, evaluation: Evaluation, sample_id: int, before: Evaluation | None, progress: Progress
) -> ShownQuery | None:
    """Read a query with its neighbours in `evaluation`, and in `before` if given; None if `evaluation` lacks it."""
    here = _query(workspace, evaluation, sample_id)
    if here is None:
        return None
    there = None if before is None else _query(workspace, before, sample_id)
    return ShownQuery(*here, *(there or (None, [])))


def read_by_method(
    workspace: Workspace, shown: ShownEvaluation, method: str, progress: Progress
) -> tuple[ByMethod, Gains] | None:
    """Read the stored lists by a method of search, with the orders by what it gains; None without them."""
    lists = read_searched(workspace, shown.evaluation.id, method, len(shown.queries.sample_ids))
    if lists is None:
        return None
    by_method = ByMethod(lists, shown.queries)
    return by_method, in_order_of_gains(by_method.gains, shown.sorted_by)


def read_tags(workspace: Workspace, dataset_id: int) -> dict[str, np.ndarray]:
    """The tags of a data set, each with its sample ids [m] int64."""
    return {tag: np.array(ids, np.int64) for tag, ids in all_tags(workspace, dataset_id).items()}


def write_tag(workspace: Workspace, dataset_id: int, sample_id: int, tag: str, on: bool) -> dict[str, np.ndarray]:
    """Add a tag to a sample (`on`) or remove it; returns all tags as `read_tags`. Raises Problem as `tag_sample`."""
    tag_sample(workspace, dataset_id, sample_id, tag, on=on)
    return read_tags(workspace, dataset_id)


def _query(workspace: Workspace, evaluation: Evaluation, sample_id: int) -> tuple[Query, list[Neighbour]] | None:
    """A query and its neighbours; None if the evaluation does not have it."""
    try:
        query = workspace.query(evaluation.id, sample_id)
    except Problem:
        if sample_id in workspace.queries(evaluation.id).sample_ids:
            raise  # its row is damaged
        return None
    return query, workspace.neighbours(evaluation.run_id, sample_id, evaluation.id)
