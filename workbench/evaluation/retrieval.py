"""Retrieval metrics: recall@k, P@1, P@R and MAP@R (Musgrave et al., 2020)."""

from __future__ import annotations  # `help` shows ArrayLike, not the types behind it

import operator
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import ArrayLike

from workbench.evaluation.conventions import Between
from workbench.evaluation.intervals import bootstrap_interval
from workbench.evaluation.neighbours import Gallery
from workbench.evaluation.plain_arrays import array_of, labels_of
from workbench.evaluation.ranked_blocks import Ranks, ranked_blocks
from workbench.events import Distance
from workbench.problem import Problem
from workbench.progress import Progress, quiet


@dataclass(frozen=True, slots=True, eq=False)
class Retrieval:
    """What an evaluation stores; every row is a query, in the order of the embeddings."""

    metrics: dict[str, float]  # fractions, "queries", "queries/left_out", "MAP@R/low", ...
    ap: np.ndarray  # [n] float32: average precision at R; NaN if r is 0
    first_hit: np.ndarray  # [n] int32: rank of the first true neighbour in the whole gallery, from 1; 0 if r is 0
    r: np.ndarray  # [n] int32: other samples of the query's class
    neighbours: np.ndarray  # [n, k'] int64 sample ids, best first; k' = min(k, n - 1)
    similarities: np.ndarray  # [n, k'] float32: cosine, or minus the distance


@dataclass(frozen=True, slots=True, eq=False)
class _Ranked:
    """Arrays over queries, as in Retrieval, before they are summed up; `rows` are gallery rows."""

    ap: np.ndarray
    precision: np.ndarray  # [n] P@R
    first_hit: np.ndarray
    r: np.ndarray
    rows: np.ndarray
    similarities: np.ndarray


def retrieve(
    embeddings: np.ndarray,
    labels: np.ndarray,
    sample_ids: np.ndarray,
    k: int = 100,
    ks: Sequence[int] = (1, 2, 4, 8),
    distance: Distance = "cosine",
    device: str | torch.device = "cpu",
    is_query: np.ndarray | None = None,
    between: Between = lambda: None,
    progress: Progress = quiet,
) -> Retrieval:
    """Search all samples with every sample, which is left out of its own ranking; ties go to the lower sample id.

    With `is_query` the protocol is query / gallery (In-shop): queries search the other samples, the gallery, only.
    Gallery samples are not scored: their AP is NaN, first hit and R are 0, and their neighbours are in the gallery.

    Args:
        embeddings: [n, d] finite. labels: [n] int. sample_ids: [n] int64, unique.
        k: neighbours kept per query, for browsing; metrics do not depend on it.
        ks: ranks of recall@k, each at least 1; a rank beyond the size of the gallery means the whole gallery.
        is_query: [n] bool, some true and some false.
        between: called after each block of queries; may raise Cancelled.
        progress: likewise, with how many queries are done and how many there are; not with `is_query`.

    Returns:
        Retrieval. When no class has two samples every metric is NaN and "queries" is 0.

    Raises:
        Problem: empty or non-finite embeddings, lengths that differ, ids that repeat, an unknown distance.
    """
    vectors = array_of(embeddings)
    count = len(vectors)
    classes, sample_ids = labels_of(labels, count), np.asarray(sample_ids)
    if is_query is not None:
        asks = np.asarray(is_query, dtype=bool)
        if not asks.shape == sample_ids.shape == (count,):
            raise Problem(
                "There must be one sample id for each embedding, and one flag that says whether it is a query."
            )
        return _query_gallery(vectors, classes, sample_ids, asks, k, ks, distance, device, between)
    gallery = Gallery(vectors, sample_ids, distance, device)
    ranked = _rank(gallery, vectors, classes, classes, np.arange(gallery.count), k, between, progress)
    return _retrieval(ranked, _metrics(ranked, ks), sample_ids)


def _retrieval(ranked: _Ranked, metrics: dict[str, float], sample_ids: np.ndarray) -> Retrieval:
    """sample_ids: of the gallery."""
    return Retrieval(
        metrics=metrics,
        ap=ranked.ap.astype(np.float32),
        first_hit=ranked.first_hit.astype(np.int32),
        r=ranked.r.astype(np.int32),
        neighbours=sample_ids[ranked.rows],
        similarities=ranked.similarities,
    )


def _query_gallery(
    embeddings: np.ndarray,
    labels: np.ndarray,
    sample_ids: np.ndarray,
    is_query: np.ndarray,
    k: int,
    ks: Sequence[int],
    distance: Distance,
    device: str | torch.device,
    between: Between,
) -> Retrieval:
    """Queries against the gallery, then the gallery's own neighbours, merged in the order of the samples."""
    asks, searched = np.flatnonzero(is_query), np.flatnonzero(~is_query)
    if not len(asks) or not len(searched):
        raise Problem("Query / gallery needs at least one query and one image in the gallery.")
    ids = sample_ids[searched]
    gallery = Gallery(embeddings[searched], ids, distance, device)
    k = min(k, gallery.count - 1)
    ranked = _rank(gallery, embeddings[asks], labels[asks], labels[searched], None, k, between)
    beside = _rank(
        gallery, embeddings[searched], labels[searched], labels[searched], np.arange(len(searched)), k, between
    )
    beside.ap[:], beside.precision[:], beside.first_hit[:], beside.r[:] = np.nan, np.nan, 0, 0
    order = np.argsort(np.concatenate([asks, searched]))
    parts = (
        np.concatenate([getattr(ranked, name), getattr(beside, name)])[order]
        for name in ("ap", "precision", "first_hit", "r", "rows", "similarities")
    )
    return _retrieval(_Ranked(*parts), _metrics(ranked, ks), ids)


def retrieval_metrics(
    embeddings: ArrayLike,
    labels: ArrayLike,
    ks: Sequence[int] = (1, 2, 4, 8),
    distance: Distance = "cosine",
    gallery: tuple[ArrayLike, ArrayLike] | None = None,
) -> dict[str, float]:
    """Retrieval metrics of embeddings among themselves, or against a separate gallery.

    Args:
        embeddings: [n, d] finite, the queries; also lists, and tensors of any device. labels: [n] numbers or names.
        ks: ranks of recall@k.
        distance: "cosine" or "l2"; ties go to the lower gallery row.
        gallery: (embeddings [m, d], labels [m]); None: the queries themselves, each left out of its own ranking.

    Returns:
        {"recall@1", ..., "P@1", "P@R", "MAP@R": fractions; the same with "/low" and "/high": 95% bootstrap limits over
        queries; "queries": number counted; "queries/left_out": number whose class has no other sample}.
        Every fraction is NaN when no query counts.

    Raises:
        Problem: as in `retrieve`; invalid embeddings or labels.
    """
    return metrics_heard(embeddings, labels, ks, distance, gallery, quiet)


def metrics_heard(
    embeddings: ArrayLike,
    labels: ArrayLike,
    ks: Sequence[int],
    distance: Distance,
    gallery: tuple[ArrayLike, ArrayLike] | None,
    progress: Progress,
) -> dict[str, float]:
    """As `retrieval_metrics`; `progress` is called after each block of queries, and may raise Cancelled."""
    queries, own = array_of(embeddings), None
    if gallery is None:
        searched = Gallery(queries, None, distance)
        own, classes = np.arange(searched.count), labels_of(labels, searched.count)
        of_queries = classes
    else:
        searched = Gallery(array_of(gallery[0]), None, distance)
        of_queries, classes = labels_of(labels, len(queries)), labels_of(gallery[1], searched.count)
    return _metrics(_rank(searched, queries, of_queries, classes, own, 0, progress=progress), ks)


def _rank(
    gallery: Gallery,
    queries: np.ndarray,
    labels: np.ndarray,
    gallery_labels: np.ndarray,
    own: np.ndarray | None,
    k: int,
    between: Between = lambda: None,
    progress: Progress = quiet,
) -> _Ranked:
    """Rank the gallery for every query, block by block."""
    classes, gallery_classes, r = _same_class(labels, gallery_labels)
    r = r if own is None else r - 1
    k = min(k, gallery.count - (own is not None))
    depths = np.maximum(k, r)
    ranked = _Ranked(
        ap=np.full(len(labels), np.nan),
        precision=np.full(len(labels), np.nan),
        first_hit=np.zeros(len(labels), dtype=np.int64),
        r=r,
        rows=np.empty((len(labels), k), dtype=np.int64),
        similarities=np.empty((len(labels), k), dtype=np.float32),
    )
    class_of_place = torch.from_numpy(gallery_classes[gallery.order]).to(gallery.device)
    done = 0
    for part, best, rank_of_first in ranked_blocks(gallery, queries, own, depths, class_of_place, classes):
        places = gallery.places_of(best)
        wanted = torch.from_numpy(classes[part]).to(gallery.device)
        hits = class_of_place[places] == wanted[:, None]
        if own is not None:
            hits &= places != torch.from_numpy(gallery.place[own[part]]).to(gallery.device)[:, None]
        ranked.ap[part], ranked.precision[part] = _average_precision(hits, r[part])
        ranked.first_hit[part] = _rank_of_first_hit(hits, r[part], rank_of_first)
        ranked.rows[part] = gallery.order[places[:, :k].cpu().numpy()]
        ranked.similarities[part] = gallery.similarities_of(best[:, :k]).cpu().numpy()
        done = min(done + len(best), len(labels))  # a query that comes twice counts twice
        between()
        progress("Finding the neighbours", done, len(labels))
    return ranked


def _same_class(labels: np.ndarray, gallery_labels: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Labels of queries and gallery as 0..K-1, and how many of the gallery share each query's label."""
    _, numbers = np.unique(np.concatenate([labels, gallery_labels]), return_inverse=True)
    classes, gallery_classes = numbers[: len(labels)], numbers[len(labels) :]
    counts = np.bincount(gallery_classes, minlength=int(numbers.max()) + 1)
    return classes, gallery_classes, counts[classes]


def _average_precision(hits: torch.Tensor, r: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(AP at R, P@R) of every query of a block; NaN if r is 0. hits: [rows, deepest] bool, best first."""
    depth = hits.shape[1]
    device = hits.device
    limit = torch.from_numpy(r).to(device)
    counted = hits & (torch.arange(depth, device=device) < limit[:, None])
    precision = counted.cumsum(1, dtype=torch.float64)
    precision /= torch.arange(1, depth + 1, device=device, dtype=torch.float64)
    ap = (precision * counted).sum(1) / limit  # 0 / 0 is NaN: left out
    return ap.cpu().numpy(), (counted.sum(1) / limit.double()).cpu().numpy()


def _rank_of_first_hit(hits: torch.Tensor, r: np.ndarray, rank_of_first: Ranks) -> np.ndarray:
    """Rank, from 1, of the first true neighbour in the whole gallery; 0 if there is none."""
    inside = hits.any(1).cpu().numpy()
    rank = np.zeros(len(r), dtype=np.int64)
    if hits.shape[1]:
        rank = np.where(inside, hits.to(torch.uint8).argmax(1).cpu().numpy() + 1, 0)
    beyond = np.flatnonzero(~inside & (r > 0))
    if len(beyond):
        rank[beyond] = rank_of_first(torch.from_numpy(beyond).to(hits.device)).cpu().numpy()
    return rank


def _checked_ranks(ks: Sequence[int]) -> list[int]:
    """The ranks of recall@k. Raises Problem for one that is no whole number of at least 1."""
    try:
        ranks = [operator.index(k) for k in ks]
    except TypeError:
        raise Problem(f"The ranks of recall@k must be whole numbers, such as (1, 2, 4), not {ks!r}.") from None
    if any(k < 1 for k in ranks):
        raise Problem("recall@k needs k of at least 1.")
    return ranks


def _metrics(ranked: _Ranked, ks: Sequence[int]) -> dict[str, float]:
    """Means over the queries whose class has another sample, each with its bootstrap limits."""
    counted = ranked.r > 0
    first = ranked.first_hit[counted]
    per_query = {f"recall@{k}": first <= k for k in _checked_ranks(ks)}
    per_query |= {"P@1": first <= 1, "P@R": ranked.precision[counted], "MAP@R": ranked.ap[counted]}
    lows, highs = bootstrap_interval(np.stack([values.astype(np.float64) for values in per_query.values()], axis=1))
    metrics = {name: _mean(values) for name, values in per_query.items()}
    for name, low, high in zip(per_query, lows, highs, strict=True):
        metrics |= {f"{name}/low": float(low), f"{name}/high": float(high)}
    return metrics | {"queries": int(counted.sum()), "queries/left_out": int((~counted).sum())}


def _mean(values: np.ndarray) -> float:
    return float(values.mean()) if len(values) else float("nan")
