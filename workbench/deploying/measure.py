"""Measures stores of an evaluation's embeddings: recall, MAP@R, bytes and milliseconds."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial

import numpy as np

from workbench.deploying.kinds import BASELINE, RERANKED, Kind, kind, no_rule, refusal
from workbench.deploying.neighbourhood import Neighbourhood, neighbourhood
from workbench.deploying.ranking import nearest, scores
from workbench.deploying.reciprocal import AmongNearest, Reciprocal
from workbench.deploying.stores import Built, build, rescored, without_direction
from workbench.evaluation.conventions import VOTERS, Between
from workbench.evaluation.intervals import bootstrap_interval
from workbench.problem import Problem
from workbench.progress import Progress, quiet
from workbench.results.search_methods import MOST_QUERIES
from workbench.results.stored import SEARCHED, TRAINED, Stored, comparable, lengths

KS = (1, 2, 4, 8)
TIMED = 200  # queries, one at a time
SEED = 0
Report = Callable[[int], None]
SAME = 1e-5  # relative difference of lengths that float32 does not tell apart


@dataclass(frozen=True, slots=True, eq=False)
class Search:
    """Queries and gallery of an evaluation as they are compared, the gallery by sample id."""

    queries: np.ndarray  # [m, d] float32
    labels: np.ndarray  # [m] int64
    r: np.ndarray  # [m] int64 true neighbours, at least 1
    own: np.ndarray | None  # [m] gallery row of each query; None if queries are not searched
    gallery: np.ndarray  # [n, d] float32
    gallery_labels: np.ndarray  # [n] int64
    gallery_ids: np.ndarray  # [n] int64, rising
    cosine: bool
    drawn_from: int  # number of all queries
    query_ids: np.ndarray  # [m] int64 sample ids
    training: np.ndarray | None = None  # [t, d] float32 on which stores are fitted; None: on the gallery

    @property
    def fitted_on(self) -> np.ndarray:
        """Vectors [t, d] to which ranges, components and code words are fitted."""
        return self.gallery if self.training is None else self.training

    @property
    def fitted_words(self) -> str:
        """What those are, in words."""
        return SEARCHED if self.training is None else TRAINED


@dataclass(frozen=True, slots=True)
class Measured:
    """One store. Fractions, each with the limits of its 95% bootstrap interval over queries."""

    name: str
    title: str
    detail: str
    bytes: float  # of one more image
    fixed_bytes: int  # independent of the number of images
    ms: float  # median of one query's search for its ten nearest, one thread
    grows: str  # "linear" or "log": how that time grows with the gallery
    metrics: dict[str, float]  # "MAP@R", "recall@1", ...; "MAP@R/low", "MAP@R/high"
    difference: tuple[float, float, float]  # MAP@R less the baseline's, paired by query: mean, low, high
    kept: float  # share of the exact ten nearest that are among the store's
    refused: str = ""  # why it was not measured
    constant_ms: float = 0.0  # part of `ms` that does not grow with the gallery
    pair_seconds: float = 0.0  # s of one query and one image while all queries searched, one thread


def search_of(stored: Stored, most: int = MOST_QUERIES) -> Search:
    """Queries and gallery of an evaluation; of more than `most` queries, `most` are drawn, the same ones each time.

    Raises:
        Problem: no query has a true neighbour, or for cosine an embedding has length zero.
    """
    vectors = comparable(stored.embeddings, stored.distance).astype(np.float32)
    if stored.distance == "cosine":
        _refuse_without_direction(vectors)
    searched = np.flatnonzero(stored.searched())
    searched = searched[np.argsort(stored.sample_ids[searched])]
    place = np.full(len(stored.labels), -1, np.int64)
    place[searched] = np.arange(len(searched))
    rows = np.flatnonzero(stored.r > 0)
    if not len(rows):
        raise Problem("No query of this evaluation has anything to find.")
    asked = rows
    if len(rows) > most:
        asked = np.sort(np.random.default_rng(SEED).choice(rows, most, replace=False))
    own = None if (place[asked] < 0).all() else place[asked]
    training = None
    if stored.training is not None:
        training = comparable(stored.training.embeddings, stored.distance).astype(np.float32)
    return Search(
        vectors[asked], stored.labels[asked], stored.r[asked].astype(np.int64), own, vectors[searched],
        stored.labels[searched], stored.sample_ids[searched], stored.distance == "cosine", len(rows),
        stored.sample_ids[asked], training,
    )  # fmt: skip


def as_an_index_compares(stored: Stored) -> Stored:
    """The evaluation as an index can compare it: points in the ball by cosine, where that ranks them alike.

    Raises:
        Problem: points in the ball have unlike lengths; at one length the nearest is that of the largest cosine.
    """
    if stored.distance != "hyperbolic":
        return stored
    sizes = lengths(np.asarray(stored.embeddings, np.float64))
    shorter = int((sizes < (1 - SAME) * sizes.max(initial=0)).sum())
    if shorter:
        raise Problem(
            f"{shorter:,} of {len(sizes):,} embeddings are shorter than the longest, so hyperbolic distances "
            "rank differently from cosine, and an index has no hyperbolic distance.",
            kept="The evaluation is unchanged.",
            todo="Choose an epoch at which all are as long as the radius, or train with evaluation.distance = cosine.",
        )
    return replace(stored, distance="cosine")


def _refuse_without_direction(vectors: np.ndarray) -> None:
    """Raise Problem for a zero vector: its cosine with all others is 0, but in L2 it is nearer than orthogonal ones."""
    zero = int((~vectors.any(axis=1)).sum())
    if zero:
        raise Problem(
            f"{zero:,} of {len(vectors):,} embeddings {'has' if zero == 1 else 'have'} length zero, and so no "
            "direction: an index of unit vectors would rank them wrongly.",
            kept="The evaluation is unchanged; its metrics take their cosine with every image as 0.",
            todo="Choose another epoch, or a run without those images.",
        )


def measure(
    search: Search, kinds: Sequence[Kind], ks: Sequence[int] = KS, progress: Progress = quiet,
    near: Neighbourhood | None = None,
) -> list[Measured]:  # fmt: skip
    """Build every store and measure it; the baseline comes first, asked for or not.

    Args:
        kinds: what is measured. ks: ranks of recall@k.
        progress: called with the queries that have searched the stores so far; may raise Cancelled.
        near: the neighbours of the gallery images, as deep as the kinds list them, where they are known already.
    """
    ordered = [kind(BASELINE), *(wanted for wanted in kinds if wanted.name != BASELINE)]
    deepest = max(wanted.listed for wanted in ordered if not no_rule(wanted, len(search.gallery), search.cosine))
    measured: list[Measured] = []
    exact: tuple[np.ndarray, np.ndarray] | None = None  # scores and ten nearest of the baseline
    asked = len(search.queries)
    for number, wanted in enumerate(ordered):
        progress(wanted.title, number * asked, len(ordered) * asked)
        count = min(len(search.gallery), len(search.fitted_on))
        why = refusal(wanted, search.gallery.shape[1], count) or no_rule(wanted, len(search.gallery), search.cosine)
        for vectors in (search.gallery, search.queries):
            why = why or without_direction(wanted, vectors, search.cosine)
        if why:
            measured.append(_refused(wanted, why))
            continue
        report = partial(_report, progress, wanted.title, number * asked, len(ordered) * asked)
        if wanted.listed and near is None:
            near = neighbourhood(search.gallery, deepest, progress)
        built = build(wanted, search.gallery, search.fitted_on, search.cosine, near)
        started = time.perf_counter()
        table, first = _ranked(built, search, ks, report)
        a_pair = min(1.0, (time.perf_counter() - started) / (asked * len(search.gallery)))
        exact = exact or (table, first)
        measured.append(replace(_measured(built, search, ks, table, first, exact), pair_seconds=a_pair))
    return measured


def plain(measured: Sequence[Measured]) -> list[dict[str, object]]:
    """As plain data for JSON."""
    return [asdict(store) for store in measured]


def _measured(
    built: Built, search: Search, ks: Sequence[int], table: np.ndarray, first: np.ndarray,
    exact: tuple[np.ndarray, np.ndarray],
) -> Measured:  # fmt: skip
    """A store with its scores [m, columns], its ten nearest [m, k] and those of the baseline."""
    difference = table[:, -1] - exact[0][:, -1]
    low, high = bootstrap_interval(np.column_stack([table, difference]))
    metrics: dict[str, float] = {}
    for at, name in enumerate([*(f"recall@{k}" for k in ks), "MAP@R"]):
        metrics |= {name: float(table[:, at].mean()), f"{name}/low": float(low[at]), f"{name}/high": float(high[at])}
    kept = (first[:, :, None] == exact[1][:, None, :]).any(2).mean()
    wanted = built.kind
    ms, constant = milliseconds(built, search)
    return Measured(
        wanted.name, wanted.title, wanted.detail, built.bytes_per_image, built.fixed_bytes, ms,
        "log" if wanted.family == "hnsw" else "linear", metrics,
        (float(difference.mean()), float(low[-1]), float(high[-1])), float(kept), constant_ms=constant,
    )  # fmt: skip


def _refused(wanted: Kind, why: str) -> Measured:
    nothing = float("nan")
    return Measured(
        wanted.name, wanted.title, wanted.detail, nothing, 0, nothing, "", {}, (nothing, nothing, nothing), nothing, why
    )


def _report(progress: Progress, title: str, before: int, total: int, done: int) -> None:
    progress(title, before + done, total)


def _ranked(built: Built, search: Search, ks: Sequence[int], report: Report) -> tuple[np.ndarray, np.ndarray]:
    """Scores [m, columns] and the ten nearest gallery rows [m, k] of each query."""
    depth = max(int(search.r.max()), *ks, VOTERS)
    tables, firsts = [], []
    for part, rows in rankings(built, search, depth, report):
        tables.append(scores(rows, search.labels[part], search.gallery_labels, search.r[part], ks))
        firsts.append(rows[:, :VOTERS])
    return np.concatenate(tables), np.concatenate(firsts)


def rankings(built: Built, search: Search, depth: int, report: Report) -> Iterator[tuple[slice, np.ndarray]]:
    """Blocks of queries with their ranking [rows, depth]: exact for a scan, by the index itself where it is one.

    Args:
        depth: ranks, at least 1.
        report: called often with the number of queries that are done; may raise Cancelled.
    """
    done = 0

    def between() -> None:
        report(done)

    for part, rows in _rankings(built, search, depth, between):
        yield part, rows
        done = part.stop


def _rankings(built: Built, search: Search, depth: int, between: Between) -> Iterator[tuple[slice, np.ndarray]]:
    if built.method is not None:
        yield from built.method.rankings(search.queries, search.own, depth, between)
        return
    if built.decoded is not None:
        asked, reach = built.prepare(search.queries), max(depth, RERANKED) if built.fine else depth
        for part, rows in nearest(asked, built.decoded, search.own, reach, between):
            yield part, rows if built.fine is None else rescored(search.queries[part], built.fine, rows)[:, :depth]
        return
    for start in range(0, len(search.queries), TIMED):
        part = slice(start, start + TIMED)
        rows = built.search(search.queries[part], min(depth + 1, len(search.gallery)))
        yield part, rows if search.own is None else _without(rows, search.own[part])
        between()


def _without(rows: np.ndarray, own: np.ndarray) -> np.ndarray:
    """Rankings [m, k] less the query itself: [m, k - 1]."""
    stays = rows != own[:, None]
    stays[stays.all(1), -1] = False  # the query was not found: the last goes instead
    return np.asarray(rows[stays].reshape(len(rows), -1))


def milliseconds(built: Built, search: Search) -> tuple[float, float]:
    """Median time of one query's search for its ten nearest, queries one at a time, and what of it does not grow.

    The whole time of a scan or an index grows with the gallery; that of re-ranking a fixed number of images does not.
    """
    depth = min(VOTERS + (search.own is not None), len(search.gallery))
    asked = [search.queries[at : at + 1] for at in range(min(TIMED, len(search.queries)))]
    total = _median([_took(built.search, query, depth) for query in asked])
    if isinstance(built.method, Reciprocal | AmongNearest):
        scan = _median([_took(built.method.scanned, query[0]) for query in asked])
    elif built.fine is not None:
        coarse = replace(built, fine=None)
        scan = _median([_took(coarse.search, query, min(RERANKED, len(search.gallery))) for query in asked])
    else:
        scan = total
    return total, max(0.0, total - scan)


def _took(work: Callable[..., object], *of: object) -> float:
    started = time.perf_counter()
    work(*of)
    return time.perf_counter() - started


def _median(seconds: Sequence[float]) -> float:
    return 1000 * float(np.median(seconds))
