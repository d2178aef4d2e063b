"""Maps of evaluations with their measurements, and the chain of maps of a run over its epochs."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.files import NoSpace, parts
from workbench.problem import Problem
from workbench.workspace.contract import OpenWorkspace
from workbench.workspace.measured import projections, superseded
from workbench.workspace.measured.arrays import check_form, read_array
from workbench.workspace.rows import Evaluation, Projection


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """How far a map can be trusted, by projection.trust, projection.kept and projection.doubts."""

    trustworthiness: float | None = None
    continuity: float | None = None
    queries: int | None = None  # points that both were asked of
    kept: np.ndarray | None = None  # [n] float32 in 0..1, NaN if it was not measured
    doubts: tuple[dict[str, Any], ...] = ()  # plain data


def store_map(
    workspace: OpenWorkspace,
    evaluation_id: int,
    method: str,
    params: dict[str, Any],
    seed: int,
    points: np.ndarray,
    proxies: np.ndarray | None,
    versions: dict[str, str],
    measured: Measured,
    start: int | None = None,
) -> int:
    """Store a map and return its number, or that of the same map, if another program has stored it meanwhile.

    Args:
        points: [n, k] in the order of the embeddings, k being 2 or 3. proxies: [p, k] or None.
        start: the number of the map that this one started from, or None.
    """
    columns: dict[str, Any] = {
        "method": method,
        "params": json.dumps(params),
        "seed": seed,
        "trustworthiness": measured.trustworthiness,
        "versions": json.dumps(versions),
        "continuity": measured.continuity,
        "trust_queries": measured.queries,
        "start_id": start,
        "doubts": json.dumps(measured.doubts),
    }
    run_id = workspace.evaluation(evaluation_id).run_id
    parts.remove_dead(workspace.folder(run_id))  # maps have names of their own: none is written in another's place
    try:
        return projections.store_projection(workspace, evaluation_id, points, proxies, measured.kept, columns)
    except NoSpace:
        what = f"The disk of {workspace.path} is full: the map of run {run_id} cannot be stored."
        raise NoSpace(what, kept="Its other maps are kept.", todo="Free some space, then make it again.") from None
    except Problem:
        if not workspace.has_evaluation(evaluation_id):
            superseded.remove_maps(workspace, run_id, evaluation_id)
        raise


def kept_neighbours(workspace: OpenWorkspace, projection_id: int) -> np.ndarray | None:
    """The fraction [n] of each point's neighbours that a map keeps, in 0..1; None if it was not measured.

    Raises:
        Problem: the file is missing or damaged.
    """
    stored = projections.stored_file(workspace, projection_id, "kept_id")
    if stored is None:
        return None
    path, digest, count = stored
    return check_form(path, read_array(path, digest), (count,), "shares")


def start_epoch(workspace: OpenWorkspace, projection: Projection) -> int | None:
    """The epoch of the map that this one started from, or None."""
    with workspace.reading() as db:
        row = db.execute(
            "select e.epoch from projections p join evaluations e on e.id = p.evaluation_id where p.id = ?",
            (projection.start_id,),
        ).fetchone()
    return None if row is None else int(row[0])


def same_course(workspace: OpenWorkspace, evaluation_id: int) -> list[Evaluation]:
    """The evaluations of the same run with the same distance, by epoch."""
    evaluation = workspace.evaluation(evaluation_id)
    return [other for other in workspace.evaluations(evaluation.run_id) if other.distance == evaluation.distance]


def maps_of(workspace: OpenWorkspace, run_id: int) -> list[Projection]:
    """All maps of a run, in the order in which they were made."""
    with workspace.reading() as db:
        where = "evaluation_id in (select id from evaluations where run_id = ?)"
        return projections.read_projections(db, where, (run_id,))


def longest_chain(maps: list[Projection], fits: Callable[[Projection], bool]) -> list[Projection]:
    """Maps that each started from the one before, first to last; of several chains the longest, then the newest.

    Args:
        maps: in the order in which they were made. fits: whether a map is of the wanted method, parameters and seed.
    """
    known = {projection.id: projection for projection in maps if fits(projection)}
    length: dict[int, int] = {}
    for later in known.values():  # a map is made after the one it starts from
        length[later.id] = length.get(later.start_id or 0, 0) + 1
    if not length:
        return []
    last: Projection | None = known[max(length, key=lambda number: (length[number], number))]
    chain = []
    while last is not None:
        chain.append(last)
        last = known.get(last.start_id or 0)
    return chain[::-1]
