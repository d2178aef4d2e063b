"""The failed queries of one stored evaluation, for the window: found on a thread, then asked at once.

Light to import; the analysis, and torch behind its package, are loaded inside the functions.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from workbench.problem import Problem
from workbench.progress import Progress
from workbench.workspace import Workspace
from workbench.workspace.ranking import read_first_hits, read_ranking
from workbench.workspace.rows import Neighbour

if TYPE_CHECKING:
    from workbench.evaluation.failures import Failures
    from workbench.evaluation.stored import Stored

MOST_HUBS = 500
STEPS = 4  # of the analysis, as its progress counts them


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why one query failed, with the numbers behind it; those of causes that do not hold are there, too."""

    cause: str  # one of workbench.evaluation.failures.CAUSES
    also: tuple[str, ...]  # other causes that hold
    first_hit: int  # rank of the first true neighbour
    distance: str  # "cosine" or "l2"
    nearest: int  # sample id of the nearest neighbour
    nearest_class: str
    gap: float  # distance to it; of unit vectors for cosine
    typical_gap: float  # median over all samples
    agreed_class: str  # of most of the first ten neighbours
    votes: int
    voters: int
    times: int  # how often the nearest neighbour is among the ten neighbours of others
    wrong_times: int  # of them lists of other classes
    mean_times: float
    r: int  # other samples of the query's class
    typical_r: float  # median over classes
    own_proxy: float  # similarity to the nearest proxy of its class; NaN without
    other_proxy: float
    other_proxy_class: str


@dataclass(frozen=True, slots=True)
class ConfusedPair:
    """Queries of one class whose nearest neighbour is of another."""

    label: int
    class_name: str
    taken_label: int
    taken_for: str
    times: int
    share: float  # of the queries of the class


@dataclass(frozen=True, slots=True)
class Hub:
    """A sample among the ten neighbours of very many."""

    sample_id: int
    class_name: str
    times: int
    wrong_times: int  # in lists of other classes
    victims: tuple[tuple[str, int], ...]  # those classes and how often, most first


@dataclass(frozen=True, slots=True, eq=False)
class Changes:
    """The queries that count in two evaluations, by whether the nearest neighbour is of the class."""

    won: np.ndarray  # [w] int64 sample ids: wrong before, right now
    lost: np.ndarray  # [l] int64 sample ids: right before, wrong now
    right: int  # right in both
    wrong: int  # wrong in both


@dataclass(frozen=True, slots=True)
class LeftOut:
    """MAP@R (a fraction; NaN where no query counts) of one evaluation with and without some samples."""

    whole: float
    without: float
    count: int  # samples left out, of those that the evaluation has


class FailedQueries:
    """Answers about one evaluation without reading anything again; safe on any thread. Made by `find`."""

    def __init__(
        self,
        evaluation_id: int,
        stored: "Stored",
        failures: "Failures",
        pairs: list[ConfusedPair],
        hubs: list[Hub],
        class_names: tuple[str, ...],
    ) -> None:
        self.evaluation_id = evaluation_id
        self.pairs, self.hubs = pairs, hubs
        self.counts = failures.counts()  # by cause, in order of precedence
        self._stored, self._failures, self._names = stored, failures, class_names
        self._row = dict(zip(stored.sample_ids.tolist(), range(len(stored.sample_ids)), strict=True))

    def of_cause(self, cause: str) -> np.ndarray:
        """Sample ids [m] int64 of the failed queries with that cause."""
        wanted = list(self.counts).index(cause)
        return self._ids(self._failures.rows[self._failures.cause == wanted])

    def of_pair(self, label: int, taken_label: int) -> np.ndarray:
        """Sample ids [m] int64 of the failed queries of one class that are taken for another."""
        labels, found = self._stored.labels, self._failures
        return self._ids(found.rows[(labels[found.rows] == label) & (labels[found.nearest] == taken_label)])

    def about(self, sample_id: int) -> Explanation | None:
        """Why a query failed; None where it did not, or is no query of this evaluation."""
        row, found = self._row.get(sample_id, -1), self._failures
        at = int(np.searchsorted(found.rows, row))
        if row < 0 or at >= len(found.rows) or found.rows[at] != row:
            return None
        causes = list(self.counts)
        holding = [causes[place] for place in np.flatnonzero(found.holds[at]).tolist()]
        near, seen = int(found.nearest[at]), found.occurrences
        return Explanation(
            cause=holding[0] if holding else causes[-1],
            also=tuple(holding[1:]),
            first_hit=int(self._stored.first_hit[row]),
            distance=self._stored.distance,
            nearest=int(self._stored.sample_ids[near]),
            nearest_class=self._name(int(self._stored.labels[near])),
            gap=float(found.gap[at]),
            typical_gap=found.typical_gap,
            agreed_class=self._name(int(found.agreed[at])),
            votes=int(found.votes[at]),
            voters=int(found.voters[at]),
            times=int(seen.times[near]),
            wrong_times=int(seen.wrong[near]),
            mean_times=seen.mean,
            r=int(self._stored.r[row]),
            typical_r=found.typical_r,
            own_proxy=float(found.own_proxy[at]),
            other_proxy=float(found.other_proxy[at]),
            other_proxy_class=self._name(int(found.other_proxy_label[at])),
        )

    def missed(self, sample_id: int, beyond: int, most: int) -> tuple[list[Neighbour], int]:
        """True neighbours of a query behind rank `beyond`, nearest first, at most so many; and how many there are.

        Compares the query with every embedding: not for the window's thread.
        """
        from workbench.evaluation.mistakes import missed

        rows, ranks, similarities = missed(self._stored, self._row[sample_id], beyond)
        label = int(self._stored.labels[self._row[sample_id]])
        return [
            Neighbour(rank, int(self._stored.sample_ids[row]), similarity, True, label, self._name(label))
            for row, rank, similarity in zip(
                rows[:most].tolist(), ranks[:most].tolist(), similarities[:most].tolist(), strict=True
            )
        ], len(rows)

    def _ids(self, rows: np.ndarray) -> np.ndarray:
        return np.asarray(self._stored.sample_ids[rows])

    def _name(self, label: int) -> str:
        return _named(self._names, label)


def find(workspace: Workspace, evaluation_id: int, progress: Progress) -> FailedQueries:
    """Read an evaluation and explain its failed queries: seconds for 60,000 queries, not for the window's thread.

    Raises:
        Problem: a file of the evaluation is missing or cannot be read.
    """
    from workbench.evaluation import failures, mistakes

    progress("Reading the neighbours", 0, STEPS)
    stored, run_id = _read(workspace, evaluation_id), workspace.evaluation(evaluation_id).run_id
    names = workspace.dataset(workspace.run(run_id).dataset_id or 0).class_names
    progress("Looking for causes", 1, STEPS)
    found = failures.explain(stored, lambda: progress("Looking for causes", 1, STEPS))
    progress("Counting confusions", 2, STEPS)
    confused = mistakes.confusions(stored)
    columns = (confused.true.tolist(), confused.taken.tolist(), confused.times.tolist(), confused.share.tolist())
    pairs = [
        ConfusedPair(true, _named(names, true), taken, _named(names, taken), times, share)
        for true, taken, times, share in zip(*columns, strict=True)
    ]
    progress("Looking for hubs", 3, STEPS)
    rows = mistakes.intruding_hubs(found.occurrences, MOST_HUBS)
    hubs = [
        Hub(
            int(stored.sample_ids[row]),
            _named(names, int(stored.labels[row])),
            int(found.occurrences.times[row]),
            int(found.occurrences.wrong[row]),
            tuple((_named(names, label), times) for label, times in disturbed),
        )
        for row, disturbed in zip(rows.tolist(), mistakes.victims(stored, rows), strict=True)
    ]
    return FailedQueries(evaluation_id, stored, found, pairs, hubs, names)


def compare(workspace: Workspace, before: int, after: int) -> Changes:
    """What the evaluation `after` finds that `before` did not, and the other way round. Raises Problem as `find`."""
    from workbench.evaluation.mistakes import changes

    found = changes(*read_first_hits(workspace, before), *read_first_hits(workspace, after))
    return Changes(found.won, found.lost, found.right, found.wrong)


def without_samples(workspace: Workspace, evaluation_id: int, sample_ids: np.ndarray, progress: Progress) -> LeftOut:
    """MAP@R if some samples were neither queries nor in the gallery. Nothing stored is changed.

    At once from the stored neighbours where they reach far enough; where classes are larger than their number all is
    ranked anew, which takes as long as an evaluation. Not for the window's thread.

    Args:
        sample_ids: [m] int64; those that the evaluation has not are passed over.

    Raises:
        Problem: a file of the evaluation is missing, or nothing is left of the queries or of the gallery.
    """
    from workbench.evaluation import retrieve
    from workbench.evaluation.mistakes import map_at_r_of

    progress("Reading the neighbours", 0, 0)
    stored, evaluation = _read(workspace, evaluation_id), workspace.evaluation(evaluation_id)
    searched, kept = stored.searched(), ~np.isin(stored.sample_ids, sample_ids)
    if kept.sum() < 2:
        raise Problem("Fewer than two samples would be left.", kept="Nothing was changed.")
    without = map_at_r_of(stored, kept)
    if without is None:
        found = retrieve(
            stored.embeddings[kept], stored.labels[kept], stored.sample_ids[kept], k=1,
            distance="l2" if evaluation.distance == "l2" else "cosine",
            is_query=None if searched.all() else ~searched[kept],
            between=lambda: progress("Ranking without them", 0, 0),
        )  # fmt: skip
        without = found.metrics["MAP@R"]
    return LeftOut(evaluation.metrics.get("MAP@R", float("nan")), without, int((~kept).sum()))


def _read(workspace: Workspace, evaluation_id: int) -> "Stored":
    from workbench.evaluation.stored import Stored

    evaluation, ranking = workspace.evaluation(evaluation_id), read_ranking(workspace, evaluation_id)
    vectors, proxies = workspace.vectors(evaluation_id), workspace.proxies(evaluation_id)
    return Stored(
        ranking.sample_ids, ranking.labels, vectors, ranking.neighbours, ranking.first_hit, ranking.r,
        evaluation.distance, *(proxies or (None, None)),
    )  # fmt: skip


def _named(names: tuple[str, ...], label: int) -> str:
    return names[label] if 0 <= label < len(names) else str(label)
