"""Methods of search beside plain nearest neighbours: their names, what they cost, and what they change of each query.

deploying/ searches by them; the window reads here what can be chosen, and the stored lists of neighbours.
"""

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from workbench.numerals import signed
from workbench.progress import duration
from workbench.results.mistakes import Changes
from workbench.workspace.measured.searched import Searched
from workbench.workspace.rows import Queries

QUERY_EXPANSION, AUGMENTATION, RECIPROCAL = "float32+aqe", "float32+dba", "float32+reciprocal"
CANDIDATES = "float32+candidates"  # k-reciprocal among the nearest of each query
EXPANDED, MOST_EXPANDED = 10, 100  # neighbours in a mean: usually, and at most
SHARED = 20  # k1 of k-reciprocal: neighbours of which two images share some
REORDERED = 300  # nearest of a query that are ranked again by the neighbours they share with it
FEWEST_CANDIDATES, MOST_CANDIDATES = SHARED + 2, 1000
MOST_LISTED = {AUGMENTATION: 65_000, RECIPROCAL: 5_000}  # images, unless asked: about a minute on one core
MOST_QUERIES = 5_000  # if there are more, this many are drawn; the gallery stays whole
AT_ONCE = 10.0  # s: what takes no longer is begun without a question
PER_PAIR = 3e-8  # s for one distance and its place in an order, on one core
PER_QUERY, PER_IMAGE, MOST_PER_QUERY = 8e-3, 2e-6, 5e-2  # s of re-ranking: more in a larger gallery, up to a limit
PER_CANDIDATE = 2e-5  # s of a query for each of its nearest, where these alone are ranked
STARTING = 2.0  # s until the process has loaded faiss


@dataclass(frozen=True, slots=True)
class Way:
    """A family of methods that can be chosen."""

    name: str  # of the method; with a size its beginning, before the number
    title: str
    choice: str  # its title where no number stands beside it
    tip: str
    size: int = 0  # usually, of its number: neighbours in a mean, or images that are re-ranked; 0: it has none
    least: int = 1
    most: int = MOST_EXPANDED
    unit: str = "neighbours"  # what the number counts
    by_cosine: bool = False  # whether it needs cosines

    @property
    def usual(self) -> str:
        """The name of the method with its usual number."""
        return f"{self.name}{self.size or ''}"


WAYS = (
    Way(
        QUERY_EXPANSION, "αQE", "αQE", "Query expansion: the query becomes a mean with its nearest; two scans",
        EXPANDED, by_cosine=True,
    ),
    Way(
        AUGMENTATION, "DBA", "DBA", "Augmented gallery: each image becomes a mean with its nearest, computed once",
        EXPANDED, by_cosine=True,
    ),
    Way(
        RECIPROCAL, "k-reciprocal", "k-reciprocal",
        "Re-ranking by the neighbours that a query and an image share; those of all images are looked up once",
    ),
    Way(
        CANDIDATES, "k-reciprocal of", "k-reciprocal of the nearest",
        "Re-ranking by the neighbours that a query and an image share among the nearest of the query alone: nothing is "
        "looked up before, and the time does not grow with the gallery but for the scan",
        REORDERED, FEWEST_CANDIDATES, MOST_CANDIDATES, "images",
    ),
)  # fmt: skip
USUAL = tuple(way.usual for way in WAYS)


def way_of(name: str) -> Way | None:
    """The family of a method by its name, such as "float32+aqe10"; None for what is none."""
    return next((way for way in WAYS if (_is_sized(way, name) if way.size else name == way.name)), None)


def title_of(name: str) -> str:
    """The title of a method: "αQE 10", "k-reciprocal"; the name itself for what is none."""
    way = way_of(name)
    return name if way is None else f"{way.title} {name.removeprefix(way.name)}".strip()


def _is_sized(way: Way, name: str) -> bool:
    rest = name.removeprefix(way.name)
    return name.startswith(way.name) and rest.isdecimal() and way.least <= int(rest) <= way.most


@dataclass(frozen=True, slots=True)
class Rates:
    """How fast queries are searched on one core; None for what was not measured."""

    per_pair: float | None = None  # s of one distance in a scan of all queries, with its place in an order
    per_query: float | None = None  # s in which k-reciprocal re-ranks one
    per_candidate: float | None = None  # s of a query for each of its nearest, where these alone are ranked


UNMEASURED = Rates()


def rates_of(measured: dict[str, Any]) -> Rates:
    """The rates at which a measurement of Deployment was made, as far as it has them.

    Args:
        measured: as deploying.request.deployment gives it.
    """
    per_query = per_candidate = None
    for store in measured["stores"]:
        name, constant = store["name"], store.get("constant_ms")
        if constant and name == RECIPROCAL:
            per_query = constant / 1000
        elif constant and (way := way_of(name)) is not None and way.name == CANDIDATES:
            per_candidate = constant / 1000 / min(measured["gallery"], int(name.removeprefix(CANDIDATES)))
    return Rates(measured["stores"][0].get("pair_seconds") or None, per_query, per_candidate)


def seconds(name: str, gallery: int, queries: int, rates: Rates = UNMEASURED) -> float:
    """About how long a method takes to search by all queries, and by plain neighbours as well, on one core.

    Args:
        gallery: images that are searched. queries: of them at most MOST_QUERIES are asked.
    """
    way, asked = way_of(name), min(queries, MOST_QUERIES)
    family = "" if way is None else way.name
    pairs = (3 if family == QUERY_EXPANSION else 2) * asked * gallery
    if family in (AUGMENTATION, RECIPROCAL):
        pairs += gallery**2
    return STARTING + (rates.per_pair or PER_PAIR) * pairs + asked * _re_ranking(name, gallery, rates)


def _re_ranking(name: str, gallery: int, rates: Rates) -> float:
    """Seconds in which a method re-ranks one query; 0 where it does not."""
    if name == RECIPROCAL:
        return rates.per_query or min(MOST_PER_QUERY, PER_QUERY + PER_IMAGE * gallery)
    if name.startswith(CANDIDATES):
        return (rates.per_candidate or PER_CANDIDATE) * min(gallery, int(name.removeprefix(CANDIDATES)))
    return 0.0


def _source(name: str, gallery: int, rates: Rates) -> str:
    """From what the time of a method is estimated."""
    re_ranking = _re_ranking(name, gallery, rates)
    of_it = rates.per_query if name == RECIPROCAL else rates.per_candidate
    if rates.per_pair is not None and (of_it is not None or not re_ranking):
        return "the measured times"
    pairs = f"{1e9 * (rates.per_pair or PER_PAIR):.0f} ns a pair of images"
    return f"{pairs} and {1000 * re_ranking:.3g} ms to re-rank a query" if re_ranking else pairs


def not_by_itself(names: Collection[str], gallery: int, cosine: bool) -> str:
    """Which usual methods are not among these stores because the gallery is large, and what to do; empty for none."""
    missing = [
        way
        for way in WAYS
        if way.usual not in names and gallery > MOST_LISTED.get(way.name, gallery) and (cosine or not way.by_cosine)
    ]
    listed = " and ".join(f"{title_of(way.usual)} up to {MOST_LISTED[way.name]:,}" for way in missing)
    if not listed:
        return ""
    above = f" {title_of(USUAL[-1])} has no such limit." if RECIPROCAL in [way.name for way in missing] else ""
    return f"Measured by default: {listed} images; below the table you can measure any number.{above}"


def cost_words(name: str, gallery: int, queries: int, rates: Rates = UNMEASURED) -> str:
    """What a search by a method takes, as a sentence for who may begin it: an estimate, and from what it is made."""
    about = _about(seconds(name, gallery, queries, rates))
    some = f" {MOST_QUERIES:,} of the {queries:,} queries are used, as in Deployment." if queries > MOST_QUERIES else ""
    lists_all = not name.startswith((QUERY_EXPANSION, CANDIDATES))
    squared = " The neighbours of every image are looked up first." if lists_all else ""
    quicker, instead = USUAL[-1], ""
    if name == RECIPROCAL and gallery > MOST_LISTED[RECIPROCAL]:
        instead = f" {title_of(quicker)} takes {_about(seconds(quicker, gallery, queries, rates))}."
    source = _source(name, gallery, rates)
    return f"{title_of(name)} takes {about}, estimated from {source}.{squared}{instead}{some}"


def _about(time: float) -> str:
    """A time of so many seconds in words, from a minute and a half on in whole minutes."""
    return f"about {duration(60 * max(1, round(time / 60)) if time > 90 else time)}"


@dataclass(frozen=True, slots=True, eq=False)
class Answered:
    """One query by a method; all arrays are of its neighbours [k], best first."""

    sample_ids: np.ndarray  # int64
    labels: np.ndarray  # int64
    similarities: np.ndarray  # float32
    before: np.ndarray  # int32 rank among plain nearest neighbours; 0: behind those that were looked at
    ap: float
    gain: float  # of AP, negative where it loses
    first_hit: int  # rank of the first of the query's class among these; 0 without one


class ByMethod:
    """The queries of an evaluation as a method of search answers them.

    Args:
        searched: as it was stored. queries: all of the evaluation.
    """

    def __init__(self, searched: Searched, queries: Queries) -> None:
        self.searched, self.queries = searched, queries
        self.place = np.full(len(queries.sample_ids), -1, np.int32)  # of each query in `searched`; -1: not asked
        self.place[searched.queries] = np.arange(len(searched.queries))

    @property
    def title(self) -> str:
        """The title of the method."""
        return title_of(self.searched.method)

    def answer(self, sample_id: int) -> Answered | None:
        """A query as the method answers it; None if it was not asked."""
        rows = np.flatnonzero(self.queries.sample_ids == sample_id)
        place = int(self.place[rows[0]]) if len(rows) else -1
        if place < 0:
            return None
        searched = self.searched
        near = searched.near[place]
        labels = self.queries.labels[near]
        hits = np.flatnonzero(labels == self.queries.labels[rows[0]])
        return Answered(
            self.queries.sample_ids[near], labels, searched.similarities[place], searched.before[place],
            float(searched.ap[place]), float(searched.ap[place] - searched.plain_ap[place]),
            int(hits[0]) + 1 if len(hits) else 0,
        )  # fmt: skip

    @cached_property
    def gains(self) -> np.ndarray:
        """What each query's AP gains [n] float64, negative where it loses; NaN for those that were not asked."""
        gains = np.full(len(self.place), np.nan)
        gains[self.searched.queries] = self.searched.ap - self.searched.plain_ap
        return gains

    @cached_property
    def changes(self) -> Changes:
        """Which queries have a right nearest neighbour only by the method (won), and only without it (lost)."""
        rows, first = self.searched.queries, self.searched.near[:, 0]
        labels, ids = self.queries.labels, self.queries.sample_ids
        now, before = labels[first] == labels[rows], self.queries.first_hit[rows] == 1
        return Changes(
            ids[rows[now & ~before]], ids[rows[before & ~now]], int((now & before).sum()), int((~now & ~before).sum())
        )

    def sentence(self) -> str:
        """What it changes, in numbers: MAP@R over the queries that were asked, and how many gain and lose."""
        gains = self.searched.ap - self.searched.plain_ap
        asked = len(gains)
        some = f" of {self.searched.there:,}" if asked < self.searched.there else ""
        changes = self.changes
        return (
            f"By {self.title}: MAP@R {signed(100 * float(gains.mean()), '.2f')} points over {asked:,}{some} queries. "
            f"AP rises in {int((gains > 0).sum()):,}, falls in {int((gains < 0).sum()):,}; "
            f"the nearest becomes right in {len(changes.won):,}, wrong in {len(changes.lost):,}."
        )
