"""All queries of an evaluation searched by a method, beside plain nearest neighbours: what a person looks at."""

import numpy as np

from workbench.deploying.kinds import BASELINE, Kind, kind, no_rule
from workbench.deploying.measure import KS, Search, as_an_index_compares, rankings, search_of
from workbench.deploying.neighbourhood import Neighbourhood, neighbourhood
from workbench.deploying.ranking import scores
from workbench.deploying.stores import build, one_thread
from workbench.evaluation.conventions import VOTERS
from workbench.problem import Problem
from workbench.progress import Progress, quiet
from workbench.results.search_methods import REORDERED, way_of
from workbench.results.stored import Stored, read_stored, rows_of
from workbench.workspace import Workspace
from workbench.workspace.measured.searched import Searched, store_searched

LISTED = 48  # neighbours of each query that are kept


def search_queries(workspace: Workspace, evaluation_id: int, name: str, progress: Progress = quiet) -> Searched:
    """Search by the queries that a deployment measures, and store their neighbours and APs.

    Args:
        name: of a method, as "float32+aqe10".
        progress: called with the queries done; may raise Cancelled, after which nothing is stored.

    Raises:
        Problem: no such method, a gallery that it cannot search, and as `request.deployment`.
        Cancelled: by `progress`.
    """
    wanted = kind(name)
    if way_of(name) is None:
        raise Problem(f"{wanted.title} stores embeddings and is not a search method.")
    progress("Reading the embeddings", 0, 0)
    stored = read_stored(workspace, evaluation_id)
    search = search_of(as_an_index_compares(stored))
    why = no_rule(wanted, len(search.gallery), search.cosine)
    if why:
        raise Problem(f"{wanted.title} cannot search this evaluation: {why}.", kept="Nothing was changed.")
    with one_thread():
        searched = searched_by(wanted, stored, search, progress)
    store_searched(workspace, evaluation_id, searched)
    return searched


def searched_by(wanted: Kind, stored: Stored, search: Search, progress: Progress = quiet) -> Searched:
    """The queries of a search by a method; `stored` is the evaluation with its own distance."""
    near = neighbourhood(search.gallery, wanted.listed, progress) if wanted.listed else None
    depth = max(int(search.r.max()), *KS, VOTERS, LISTED, REORDERED)
    plain_ap, plain = _ranked(kind(BASELINE), search, depth, near, progress)
    ap, ranked = _ranked(wanted, search, depth, near, progress)
    listed = ranked[:, :LISTED]
    queries = rows_of(stored.sample_ids, search.query_ids)  # rising, as `search_of` takes them
    gallery = rows_of(stored.sample_ids, search.gallery_ids)
    rows = gallery[listed]
    gaps = stored.gaps(np.repeat(queries, rows.shape[1]), rows.ravel()).reshape(rows.shape)
    return Searched(
        wanted.name, search.drawn_from, queries, rows, _ranks(plain, listed),
        1 - gaps**2 / 2 if stored.distance == "cosine" else -gaps, ap, plain_ap,
    )  # fmt: skip


def _ranked(
    wanted: Kind, search: Search, depth: int, near: Neighbourhood | None, progress: Progress
) -> tuple[np.ndarray, np.ndarray]:
    """AP [m] of each query, and its first gallery rows [m, k], at most REORDERED."""
    built = build(wanted, search.gallery, search.fitted_on, search.cosine, near)

    def report(done: int) -> None:
        progress(f"Searching by {wanted.title}", done, len(search.queries))

    report(0)
    precisions, firsts = [], []
    for part, rows in rankings(built, search, depth, report):
        precisions.append(scores(rows, search.labels[part], search.gallery_labels, search.r[part], KS)[:, -1])
        firsts.append(rows[:, :REORDERED])
    return np.concatenate(precisions), np.concatenate(firsts)


def _ranks(plain: np.ndarray, listed: np.ndarray) -> np.ndarray:
    """The rank [m, k] from 1 of each listed row [m, k] among the plain ones [m, p] of its query; 0 behind them."""
    ranks = np.zeros(listed.shape, np.int32)
    for column in range(listed.shape[1]):
        same = plain == listed[:, column : column + 1]
        ranks[:, column] = np.where(same.any(axis=1), same.argmax(axis=1) + 1, 0)
    return ranks
