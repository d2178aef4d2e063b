"""One stored evaluation as arrays: the input of all later analyses. NumPy only."""

from dataclasses import dataclass

import numpy as np

from workbench.evaluation.conventions import Between, ball_distances, ball_gaps, searched
from workbench.numerals import minus, signed
from workbench.problem import Problem
from workbench.workspace import Workspace
from workbench.workspace.measured.evaluations import read_training
from workbench.workspace.measured.ranking import read_ranking

BLOCK = 8192  # rows of embeddings held at once in float64
SEARCHED, TRAINED = "the searched images themselves", "the training set"  # what stores are fitted on
MAY_BE_0 = "A difference marked ? may be 0: its paired 95% interval includes it."


def fitted_sentence(fitted_on: str) -> str:
    """What the stores of a deployment were fitted on, SEARCHED or TRAINED, as a sentence."""
    beyond = ": on new images they may keep less" if fitted_on == SEARCHED else ""
    return f"Components, ranges and code words are fitted on {fitted_on}{beyond}."


def difference_words(points: float, sure: bool) -> str:
    """A difference of MAP@R in points, with ? before one that MAY_BE_0 is said of: "−0.30", "? +0.02"."""
    return f"{'' if sure else '? '}{minus(signed(points, '.2f'))}"


@dataclass(frozen=True, slots=True, eq=False)
class Training:
    """The training set at an evaluation, as far as it was stored."""

    sample_ids: np.ndarray  # [t] int64
    labels: np.ndarray  # [t] int64, numbered as those of the evaluation
    embeddings: np.ndarray  # [t, d] float32


@dataclass(frozen=True, slots=True, eq=False)
class Stored:
    """One evaluation; every row is a sample, in the order of its embeddings."""

    sample_ids: np.ndarray  # [n] int64, unique
    labels: np.ndarray  # [n] int64
    embeddings: np.ndarray  # [n, d] float, finite
    near: np.ndarray  # [n, k] int64 rows of the neighbours, best first; never the sample itself
    first_hit: np.ndarray  # [n] int32, rank of the first true neighbour in the whole gallery; 0 if r is 0
    r: np.ndarray  # [n] int32, other samples of the class in the gallery; 0 for what is no query
    distance: str = "cosine"  # as in events.Evaluated
    proxies: np.ndarray | None = None  # [p, d] float
    proxy_labels: np.ndarray | None = None  # [p] int64, numbered as `labels`
    training: "Training | None" = None  # where it was stored

    @property
    def failed(self) -> np.ndarray:
        """Rows [f] of the queries whose nearest neighbour is of another class."""
        return np.flatnonzero(self.first_hit > 1)

    def searched(self) -> np.ndarray:
        """Which samples [n] bool are searched, as `conventions.searched` says."""
        return searched(self.labels, self.r)

    def vectors(self, rows: np.ndarray | slice) -> np.ndarray:
        """Embeddings [m, d] float64 as they are compared: of length one for cosine (a zero vector stays zero)."""
        return comparable(self.embeddings[rows], self.distance)

    def gaps(self, rows: np.ndarray, others: np.ndarray, between: Between = lambda: None) -> np.ndarray:
        """Distances [m] float64 of pairs of rows: Euclidean or hyperbolic; for cosine those of unit vectors, 0..2.

        A zero vector is as far from every other as unit vectors of cosine 0 are, as the metrics rank it.
        """
        gaps = np.empty(len(rows))
        for start in range(0, len(rows), BLOCK):
            part = slice(start, start + BLOCK)
            first, second = self.vectors(rows[part]), self.vectors(others[part])
            gaps[part] = apart(first, second, self.distance)
            if self.distance == "cosine":
                gaps[part][~(first.any(axis=1) & second.any(axis=1))] = 2**0.5
            between()
        return gaps


def read_stored(workspace: Workspace, evaluation_id: int) -> Stored:
    """Read an evaluation from its files: seconds for 60,000 samples, not for the window's thread.

    Raises:
        Problem: a file of the evaluation is missing, damaged or of other samples.
    """
    evaluation, ranking = workspace.evaluation(evaluation_id), read_ranking(workspace, evaluation_id)
    vectors = workspace.vectors(evaluation_id)
    proxies, proxy_labels = workspace.proxies(evaluation_id) or (None, None)
    return Stored(
        ranking.sample_ids, ranking.labels, vectors, ranking.neighbours, ranking.first_hit, ranking.r,
        evaluation.distance, proxies, proxy_labels, read_training_half(workspace, evaluation_id),
    )  # fmt: skip


def dataset_of(workspace: Workspace, evaluation_id: int) -> int:
    """The number of the data set of an evaluation. Raises Problem if its run has none."""
    dataset_id = workspace.run(workspace.evaluation(evaluation_id).run_id).dataset_id
    if dataset_id is None:
        raise Problem("This run has no data set yet.")
    return dataset_id


def read_training_half(workspace: Workspace, evaluation_id: int) -> Training | None:
    """The training set of an evaluation; None if it was not stored. Raises Problem: its file is damaged."""
    stored = read_training(workspace, evaluation_id)
    dataset_id = workspace.run(workspace.evaluation(evaluation_id).run_id).dataset_id
    if stored is None or dataset_id is None:
        return None
    samples = workspace.samples(dataset_id)
    rows = rows_of(samples.ids, stored[0]) if len(samples.ids) else np.empty(0, np.int64)
    if not np.array_equal(samples.ids[rows], stored[0]):  # np.isin holds the interpreter lock for as long as it takes
        raise Problem("The stored training set is of another data set.", kept="The evaluation is there.")
    return Training(stored[0], samples.labels[rows], stored[1])


def comparable(embeddings: np.ndarray, distance: str) -> np.ndarray:
    """Embeddings [m, d] as float64, of length one for cosine (a zero vector stays zero), else as they are."""
    vectors = np.asarray(embeddings, np.float64)
    if distance != "cosine":
        return vectors
    norms = lengths(vectors)[:, None]
    unit = np.zeros_like(vectors)
    np.divide(vectors, norms, out=unit, where=norms > 0)
    return unit


def apart(first: np.ndarray, second: np.ndarray, distance: str) -> np.ndarray:
    """Distances [m] of comparable vectors [m, d]: hyperbolic, else Euclidean."""
    gaps = lengths(first - second)
    if distance != "hyperbolic":
        return gaps
    return ball_distances(ball_gaps(gaps**2, lengths(first) ** 2, lengths(second) ** 2))


def lengths(vectors: np.ndarray) -> np.ndarray:
    """Euclidean lengths [m] of rows [m, d]; several times faster than numpy's norm."""
    return np.asarray(np.sqrt(np.einsum("ij,ij->i", vectors, vectors)))


def rows_of(sample_ids: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Rows, of the shape of `wanted`, of the wanted sample ids; of one that is not among `sample_ids`, another row."""
    order = np.argsort(sample_ids)
    return np.asarray(order[np.searchsorted(sample_ids[order[:-1]], wanted)])
