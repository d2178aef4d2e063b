"""Methods of search beside plain nearest neighbours: their names, what they cost, and what they change of each query.

deploying/ searches by them; the window reads here what can be chosen, and the stored lists of neighbours.
"""

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from workbench.numerals import signed
from workbench.progress import duration
from workbench.results.mistakes import Changes
from workbench.workspace.measured.searched import Searched
from workbench.workspace.rows import Queries

QUERY_EXPANSION, AUGMENTATION, RECIPROCAL = "float32+aqe", "float32+dba", "float32+reciprocal"
EXPANDED, MOST_EXPANDED = 10, 100  # neighbours in a mean: usually, and at most
SHARED = 20  # k1 of k-reciprocal: neighbours of which two images share some
MOST_LISTED = {AUGMENTATION: 65_000, RECIPROCAL: 5_000}  # images, unless asked: about a minute on one core
MOST_QUERIES = 5_000  # if there are more, this many are drawn; the gallery stays whole
AT_ONCE = 10.0  # s: what takes no longer is begun without a question
PER_PAIR = 3e-8  # s for one distance and its place in an order, on one core
PER_QUERY, PER_IMAGE, MOST_PER_QUERY = 4e-3, 2e-6, 4e-2  # s of re-ranking: more in a larger gallery, up to a limit
STARTING = 2.0  # s until the process has loaded faiss


@dataclass(frozen=True, slots=True)
class Way:
    """A family of methods that can be chosen."""

    name: str  # of the method; with `sized` its beginning, before the number of neighbours
    title: str
    sized: bool  # whether it is followed by the number of neighbours in a mean
    tip: str


WAYS = (
    Way(QUERY_EXPANSION, "αQE", True, "Query expansion: the query becomes the mean with its nearest; two scans"),
    Way(AUGMENTATION, "DBA", True, "Augmented gallery: each image becomes the mean with its nearest, made once"),
    Way(RECIPROCAL, "k-reciprocal", False, "Re-ranking by the neighbours that a query and an image share"),
)
USUAL = tuple(way.name + (str(EXPANDED) if way.sized else "") for way in WAYS)


def way_of(name: str) -> Way | None:
    """The family of a method by its name, such as "float32+aqe10"; None for what is none."""
    return next((way for way in WAYS if (_is_sized(way, name) if way.sized else name == way.name)), None)


def title_of(name: str) -> str:
    """The title of a method: "αQE 10", "k-reciprocal"; the name itself for what is none."""
    way = way_of(name)
    return name if way is None else f"{way.title} {name.removeprefix(way.name)}".strip()


def _is_sized(way: Way, name: str) -> bool:
    rest = name.removeprefix(way.name)
    return name.startswith(way.name) and rest.isdecimal() and 1 <= int(rest) <= MOST_EXPANDED


def seconds(name: str, gallery: int, queries: int) -> float:
    """About how long a method takes to search by all queries, and by plain neighbours as well, on one core.

    Args:
        gallery: images that are searched. queries: of them at most MOST_QUERIES are asked.
    """
    way, asked = way_of(name), min(queries, MOST_QUERIES)
    scans = 3 if way is not None and way.name == QUERY_EXPANSION else 2
    pairs = scans * asked * gallery
    if way is not None and way.name in (AUGMENTATION, RECIPROCAL):
        pairs += gallery**2
    ranked = asked * min(MOST_PER_QUERY, PER_QUERY + PER_IMAGE * gallery) if name == RECIPROCAL else 0.0
    return STARTING + PER_PAIR * pairs + ranked


def not_by_itself(names: Collection[str], gallery: int, cosine: bool) -> str:
    """Which usual methods are not among these stores because the gallery is large, as a sentence; empty for none."""
    left_out = [
        f"{title_of(name)} up to {MOST_LISTED[way.name]:,}"
        for name, way in zip(USUAL, WAYS, strict=True)
        if name not in names and gallery > MOST_LISTED.get(way.name, gallery) and (cosine or not way.sized)
    ]
    listed = " and ".join(left_out)
    return f"By itself is measured {listed} images; below the table it is measured in any number." if listed else ""


def cost_words(name: str, gallery: int, queries: int) -> str:
    """What a search by a method takes, as a sentence for who may begin it."""
    whole = seconds(name, gallery, queries)
    about = f"about {duration(60 * max(1, round(whole / 60)) if whole > 90 else whole)}"
    some = (
        f" {MOST_QUERIES:,} of the {queries:,} queries are asked, as in Deployment." if queries > MOST_QUERIES else ""
    )
    lists_all = not name.startswith(QUERY_EXPANSION)
    squared = " The neighbours of every image are looked up first." if lists_all else ""
    return f"{title_of(name)} takes {about}.{squared}{some}"


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
