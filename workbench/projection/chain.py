"""The maps of one run over its epochs: each starts from the one before and is aligned with it, so that they can play.

The first starts from PCA. Method, parameters, seed and the map it started from are stored with each, so that the same
chain gives the same maps.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.problem import Problem
from workbench.progress import Progress, quiet
from workbench.projection.align import matched
from workbench.projection.maps import Map, make_map
from workbench.projection.params import read_params
from workbench.projection.subset import AT_MOST, LIMITED, MOST_POINTS, among, mark, rows_of, sample_by_class
from workbench.workspace import Workspace
from workbench.workspace.measured.stored_maps import Measured, maps_of, same_course, store_map
from workbench.workspace.rows import Projection

PARTS = 100  # of the progress bar, for one map


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which map is requested."""

    method: str
    params: dict[str, Any]  # missing ones are the defaults
    seed: int
    only: list[int] | None = None  # ids of the samples that are mapped; None: all
    most: int = MOST_POINTS  # points of UMAP and t-SNE: with more samples they show some of each class

    def fits(self, projection: Projection) -> bool:
        """Whether a stored map has these samples, method, parameters and seed. Raises Problem for bad parameters."""
        whole = self.stored(read_params(self.method, self.params).model_dump())
        older = {AT_MOST: MOST_POINTS} if self.method in LIMITED else {}
        return (projection.method, projection.seed, {**older, **projection.params}) == (self.method, self.seed, whole)

    def stored(self, params: dict[str, Any]) -> dict[str, Any]:
        """Parameters as stored: with the maximum of points, and a mark of the samples if these are not all."""
        limit = {AT_MOST: self.most} if self.method in LIMITED else {}
        return {**params, **limit} if self.only is None else {**params, **limit, "only": mark(self.only)}

    def rows(self, ids: np.ndarray, labels: np.ndarray) -> np.ndarray:
        """Which of the samples [n] are mapped, as row numbers [m]. Raises Problem as rows_of and sample_by_class."""
        rows = rows_of(ids, self.only)
        if self.method in LIMITED:
            rows = rows[sample_by_class(ids[rows], labels[rows], self.most, self.seed)]
        return rows


def draw(
    workspace: Workspace, evaluation_id: int, wanted: Wanted, start: Projection | None, progress: Progress = quiet
) -> tuple[int, Map]:
    """Make and store a map of one evaluation, starting from another map, or from PCA for None; its number and the map.

    A start whose evaluation was deleted meanwhile is as None.

    Raises:
        Problem: as make_map; a workspace that cannot be written; a start whose file is missing.
    """
    _may_be_stored(workspace)
    ids, labels, embeddings = workspace.embeddings(evaluation_id)
    rows = wanted.rows(ids, labels)
    vectors = embeddings if len(rows) == len(ids) else embeddings[rows]
    proxies = workspace.proxies(evaluation_id)
    before = None
    if start is not None:
        try:
            known = workspace.queries(start.evaluation_id).sample_ids
            before = matched(ids[rows], known, workspace.coordinates(start.id)[0])
        except Problem:
            if workspace.has_evaluation(start.evaluation_id):
                raise
            start = None  # its run has deleted it meanwhile
    projected = make_map(
        vectors, proxies and proxies[0], wanted.method, wanted.params, wanted.seed, progress, before, labels[rows]
    )
    progress("Storing the map", 0, 0)
    measured = Measured(
        kept=None if projected.kept is None else _among(projected.kept, rows, len(ids)),
        doubts=tuple(doubt.plain() for doubt in projected.doubts),
    )
    if projected.trust is not None:
        trust = projected.trust
        measured = Measured(trust.trustworthiness, trust.continuity, trust.queries, measured.kept, measured.doubts)
    number = store_map(
        workspace, evaluation_id, wanted.method, wanted.stored(projected.params), wanted.seed,
        among(projected.points, rows, len(ids)), projected.proxies, projected.versions, measured,
        None if start is None else start.id,
    )  # fmt: skip
    return number, projected


def _may_be_stored(workspace: Workspace) -> None:
    """Raises Problem for a workspace that is only read, in which the map cannot be kept."""
    if workspace.read_only:
        raise Problem(
            "This map is not stored yet, and cannot be: the workspace is open for reading only.",
            kept="PCA and the stored maps are shown.",
            todo="Copy the workspace to a folder where you may write to make another.",
        )


def _among(values: np.ndarray, rows: np.ndarray, count: int) -> np.ndarray:
    """Values [m] at their rows among `count`, float32; NaN elsewhere."""
    every = np.full(count, np.nan, np.float32)
    every[rows] = values
    return every


def latest_before(workspace: Workspace, evaluation_id: int, wanted: Wanted) -> Projection | None:
    """The newest such map of the nearest earlier evaluation that has one, or None."""
    earlier: list[int] = []
    for earlier_evaluation in same_course(workspace, evaluation_id):
        if earlier_evaluation.id == evaluation_id:
            break
        earlier.append(earlier_evaluation.id)
    fitting = [
        projection
        for projection in maps_of(workspace, workspace.evaluation(evaluation_id).run_id)
        if wanted.fits(projection)
    ]
    newest = {projection.evaluation_id: projection for projection in fitting}
    return next((newest[number] for number in reversed(earlier) if number in newest), None)


def draw_all(
    workspace: Workspace, evaluation_id: int, wanted: Wanted, progress: Progress = quiet
) -> tuple[list[int], int]:
    """Map every evaluation of the run of this one, with the same distance, in order of epoch.

    One that its run deletes meanwhile is left out.

    Returns:
        the numbers of the maps by epoch, and how many of them were made now.

    Raises:
        Problem: as draw. Cancelled: by `progress`; maps that are done are kept.
    """
    evaluations = same_course(workspace, evaluation_id)
    chain: list[Projection] = []
    count = 0
    for number, evaluation in enumerate(evaluations):

        def tell(text: str, done: int, total: int, number: int = number) -> None:
            part = PARTS * done // total if text == "Optimising layout" and total else 0
            progress(f"map {number + 1} of {len(evaluations)}: {text}", number * PARTS + part, len(evaluations) * PARTS)

        tell("Looking for a stored map", 0, 0)
        start = chain[-1] if chain else None
        try:
            stored = _stored(workspace, evaluation.id, wanted, start)
            if stored is None:
                made_now, _ = draw(workspace, evaluation.id, wanted, start, tell)
                stored = next(made for made in workspace.projections(evaluation.id) if made.id == made_now)
                count += 1
        except (Problem, StopIteration):
            if workspace.has_evaluation(evaluation.id):
                raise
            continue
        chain.append(stored)
    left = [projection.id for projection in chain if workspace.has_evaluation(projection.evaluation_id)]
    if not left:
        raise Problem("This run has no evaluation to map.")
    return left, count


def _stored(workspace: Workspace, evaluation_id: int, wanted: Wanted, start: Projection | None) -> Projection | None:
    """The newest suitable map that started from that one."""
    asked = None if start is None else start.id
    every = reversed(workspace.projections(evaluation_id))
    return next((projection for projection in every if wanted.fits(projection) and projection.start_id == asked), None)
