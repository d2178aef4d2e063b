"""The failed queries of one stored evaluation, with their causes, confusions and hubs."""

from dataclasses import dataclass

import numpy as np

from workbench.progress import Progress
from workbench.results import mistakes
from workbench.results.failures import Failures, find_causes
from workbench.results.stored import Stored, read_stored
from workbench.workspace import Workspace
from workbench.workspace.rows import Neighbour

MOST_HUBS = 500
STEPS = 4  # of the analysis, as its progress is counted


@dataclass(frozen=True, slots=True, eq=False)
class Standing:
    """The ranks of the images of a query's class in its ranking."""

    near: list[Neighbour]  # some of those after the shown neighbours, nearest first
    missed: int  # how many come after them
    ranks: np.ndarray  # [n] int64 of all of the class, from 1, ascending
    searched: int  # images in the ranking


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why one query failed, with the evidence, also for causes that do not apply."""

    cause: str  # one of workbench.results.failures.CAUSES
    also: tuple[str, ...]  # other causes that apply
    first_hit: int  # rank of the first true neighbour
    distance: str  # of the evaluation
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
    """A sample that is among the ten neighbours of very many others."""

    sample_id: int
    class_name: str
    times: int
    wrong_times: int  # in lists of other classes
    victims: tuple[tuple[str, int], ...]  # those classes and how often, most first


class FailedQueries:
    """Answers about one evaluation, without reading anything again. Safe on any thread; made by `explain_failures`."""

    def __init__(
        self,
        evaluation_id: int,
        stored: Stored,
        failures: Failures,
        pairs: list[ConfusedPair],
        hubs: list[Hub],
        class_names: tuple[str, ...],
    ) -> None:
        self.evaluation_id = evaluation_id
        self.pairs, self.hubs = pairs, hubs
        self.counts = failures.counts()  # by cause, in order of precedence
        self._stored, self._failures, self._names = stored, failures, class_names
        self._by_id = np.argsort(stored.sample_ids)  # rows; a dict of a million ids holds the interpreter lock
        self._sorted_ids = stored.sample_ids[self._by_id]

    def of_cause(self, cause: str) -> np.ndarray:
        """Sample ids [m] int64 of the failed queries with a cause, one of `failures.CAUSES`."""
        wanted = list(self.counts).index(cause)
        return self._ids(self._failures.rows[self._failures.cause == wanted])

    def of_pair(self, label: int, taken_label: int) -> np.ndarray:
        """Sample ids [m] int64 of the failed queries of one class that are taken for another."""
        labels, failures = self._stored.labels, self._failures
        return self._ids(failures.rows[(labels[failures.rows] == label) & (labels[failures.nearest] == taken_label)])

    def about(self, sample_id: int) -> Explanation | None:
        """Explain why a query failed; None if it did not fail, or is no query of this evaluation."""
        row, failures = self._row_of(sample_id), self._failures
        at = len(failures.rows) if row is None else int(np.searchsorted(failures.rows, row))
        if row is None or at >= len(failures.rows) or failures.rows[at] != row:
            return None
        causes = list(self.counts)
        holding = [causes[number] for number in np.flatnonzero(failures.holds[at]).tolist()]
        near, seen = int(failures.nearest[at]), failures.occurrences
        return Explanation(
            cause=holding[0] if holding else causes[-1],
            also=tuple(holding[1:]),
            first_hit=int(self._stored.first_hit[row]),
            distance=self._stored.distance,
            nearest=int(self._stored.sample_ids[near]),
            nearest_class=self._name(int(self._stored.labels[near])),
            gap=float(failures.gap[at]),
            typical_gap=failures.typical_gap,
            agreed_class=self._name(int(failures.agreed[at])),
            votes=int(failures.votes[at]),
            voters=int(failures.voters[at]),
            times=int(seen.times[near]),
            wrong_times=int(seen.wrong[near]),
            mean_times=seen.mean,
            r=int(self._stored.r[row]),
            typical_r=failures.typical_r,
            own_proxy=float(failures.own_proxy[at]),
            other_proxy=float(failures.other_proxy[at]),
            other_proxy_class=self._name(int(failures.other_proxy_label[at])),
        )

    def standing(self, sample_id: int, beyond: int, most: int) -> Standing:
        """Find the ranks of a query's class in the whole ranking, and its images after rank `beyond`.

        At most `most` of these are named, nearest first. Compares the query with every embedding: not for the window's
        thread.

        Raises:
            KeyError: it is no sample of this evaluation.
        """
        row = self._row_of(sample_id)
        if row is None:
            raise KeyError(sample_id)
        rows, ranks, similarities = mistakes.missed(self._stored, row, 0)
        later = int(np.searchsorted(ranks, beyond, side="right"))
        chosen = slice(later, later + most)
        label = int(self._stored.labels[row])
        near = [
            Neighbour(rank, int(self._stored.sample_ids[other]), similarity, True, label, self._name(label))
            for other, rank, similarity in zip(
                rows[chosen].tolist(), ranks[chosen].tolist(), similarities[chosen].tolist(), strict=True
            )
        ]
        searched = self._stored.searched()
        return Standing(near, len(rows) - later, ranks, int(searched.sum()) - int(searched[row]))  # without itself

    def _row_of(self, sample_id: int) -> int | None:
        at = int(np.searchsorted(self._sorted_ids, sample_id))
        there = at < len(self._sorted_ids) and self._sorted_ids[at] == sample_id
        return int(self._by_id[at]) if there else None

    def _ids(self, rows: np.ndarray) -> np.ndarray:
        return np.asarray(self._stored.sample_ids[rows])

    def _name(self, label: int) -> str:
        return _named(self._names, label)


def explain_failures(workspace: Workspace, evaluation_id: int, progress: Progress) -> FailedQueries:
    """Read an evaluation and explain its failed queries: seconds for 60,000 queries, not for the window's thread.

    Raises:
        Problem: a file of the evaluation is missing or cannot be read.
        Cancelled: by `progress`.
    """
    progress("Reading the neighbours", 0, STEPS)
    stored, run_id = read_stored(workspace, evaluation_id), workspace.evaluation(evaluation_id).run_id
    names = workspace.dataset(workspace.run(run_id).dataset_id or 0).class_names
    progress("Looking for causes", 1, STEPS)
    failures = find_causes(stored, lambda: progress("Looking for causes", 1, STEPS))
    progress("Counting confusions", 2, STEPS)
    confused = mistakes.confusions(stored)
    columns = (confused.true.tolist(), confused.taken.tolist(), confused.times.tolist(), confused.share.tolist())
    pairs = [
        ConfusedPair(true, _named(names, true), taken, _named(names, taken), times, share)
        for true, taken, times, share in zip(*columns, strict=True)
    ]
    progress("Looking for hubs", 3, STEPS)
    rows = mistakes.intruding_hubs(failures.occurrences, MOST_HUBS)
    hubs = [
        Hub(
            int(stored.sample_ids[row]),
            _named(names, int(stored.labels[row])),
            int(failures.occurrences.times[row]),
            int(failures.occurrences.wrong[row]),
            tuple((_named(names, label), times) for label, times in disturbed),
        )
        for row, disturbed in zip(rows.tolist(), mistakes.victims(stored, rows), strict=True)
    ]
    return FailedQueries(evaluation_id, stored, failures, pairs, hubs, names)


def _named(names: tuple[str, ...], label: int) -> str:
    return names[label] if 0 <= label < len(names) else str(label)
