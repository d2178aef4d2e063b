"""Which samples the user should check: suspected label errors, near-copies, and images between two classes.

A suspicion is in 0..1. Neighbours vote with the weight of their own standing: a neighbour whose own label its
neighbours contradict counts less (two rounds, as in relaxation labelling). NumPy only.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from workbench.evaluation.conventions import VOTERS, Between, ball_gaps
from workbench.results.failures import COPY_SHARE
from workbench.results.stored import Stored, apart, comparable

LABEL, COPY, AMBIGUOUS = KINDS = ("label", "copy", "ambiguous")
ROUNDS = 2  # of weighing the votes
LEAST = 0.6  # suspicion from which a label is listed
BETWEEN = 0.35  # share of the votes of each of two classes from which an image stands between them
STRONGEST = 0.05  # least weight of a vote
CELLS = 2**22  # of a table of samples by classes at once: 32 MB
ACROSS = 512  # samples compared with the whole training set at once
SHARPNESS = 12.0  # of the softmax over proxies: a cosine of .1 more makes a class 3.3 times as likely


MANY = 0.25  # share of the images from which suspects say more about the network than about the labels


def doubt(suspects: int, images: int) -> str:
    """A sentence on a queue that is too long to be one of wrong labels; empty for others."""
    if suspects <= MANY * images:
        return ""
    return (
        f"{suspects:,} of {images:,} images are suspects. Most of them are errors of this network, not wrong labels: "
        "use a run with a higher R@1, or check only the most certain."
    )


@dataclass(frozen=True, slots=True)
class Suspect:
    """One suspicious sample with the evidence."""

    sample_id: int
    kind: str  # one of KINDS
    label: int
    suggested: int  # label that it may have instead; its own for a copy with the same label in the training set
    suspicion: float
    votes: int  # of the voters that have the suggested label
    own_votes: int
    voters: int
    other: int | None = None  # the sample that it is a near-copy of, if any; that has the suggested label
    own_proxy: float | None = None  # cosine, or minus the distance, to the nearest proxy of its class
    other_proxy: float | None = None  # the same of the suggested class
    across: bool = False  # whether `other` is of the training set


def queue(stored: Stored, least: float = LEAST, between: Between = lambda: None) -> list[Suspect]:
    """List the suspects of an evaluation, the surest first; a sample is listed once.

    Of the suspected labels those come first whose image has a near-copy with another label, which is then suggested:
    the votes of a weak network are less sure. The neighbours of an image say nothing against its label if no other
    searched image has it: none could vote for it.

    Args:
        stored: one evaluation with at least a few neighbours per sample.
        least: suspicion from which a label is listed, in 0..1.
        between: called now and then; may raise Cancelled.
    """
    if not stored.near.shape[1] or len(np.unique(stored.labels)) < 2:
        return []
    names, classes = np.unique(stored.labels, return_inverse=True)
    own, best, second, suspicion = _standings(stored, names, classes, between)
    close = _Close.of(stored, names)
    copies = _copies(stored, own, between)
    contradicted = (suspicion >= least) | (own >= BETWEEN) & (second >= BETWEEN)
    suspects: list[Suspect] = []
    for row in np.flatnonzero(contradicted & (_others(stored, classes) > 0)).tolist():
        kind = LABEL if suspicion[row] >= least else AMBIGUOUS
        suspects.append(_suspect(stored, row, kind, int(names[best[row]]), float(suspicion[row]), close))
    listed = {suspect.sample_id for suspect in suspects if suspect.kind == LABEL}
    suspects = [
        _with_copy(stored, suspect, copies, close) for suspect in suspects
        if suspect.kind == LABEL or suspect.sample_id not in copies
    ]  # fmt: skip
    crossing = {suspect.sample_id: suspect for suspect in _copies_across(stored, between)}
    suspects = [suspect for suspect in suspects if suspect.sample_id not in crossing] + list(crossing.values())
    listed |= set(crossing)
    for sample_id, (row, other, sureness) in copies.items():
        if sample_id not in listed:
            label = int(stored.labels[other])
            suspects.append(_suspect(stored, row, COPY, label, sureness, close, int(stored.sample_ids[other])))
    return sorted(suspects, key=_place_in_queue)


def _with_copy(
    stored: Stored, suspect: Suspect, copies: Mapping[int, tuple[int, int, float]], close: "_Close | None"
) -> Suspect:
    """The suspect of a label; if it has a near-copy with another label, that is suggested, whatever the votes are."""
    if suspect.sample_id not in copies:
        return suspect
    row, other, _ = copies[suspect.sample_id]
    label, copied = int(stored.labels[other]), int(stored.sample_ids[other])
    return _suspect(stored, row, LABEL, label, suspect.suspicion, close, copied)


def _place_in_queue(suspect: Suspect) -> tuple[int, bool, float, int]:
    return (
        KINDS.index(suspect.kind),
        suspect.kind == LABEL and suspect.other is None,
        -suspect.suspicion,
        suspect.sample_id,
    )


def _standings(
    stored: Stored, names: np.ndarray, classes: np.ndarray, between: Between
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """As `_standing` and `suspicions` of all samples: a table of every class exists for some of them at a time."""
    votes, count = _votes(stored, classes, between), len(classes)
    own, best, second, suspicion = np.empty(count), np.empty(count, np.int64), np.empty(count), np.empty(count)
    step = max(1, CELLS // len(names))
    for start in range(0, count, step):
        part = slice(start, start + step)
        shares = _shares(stored, names, classes, votes, part)
        own[part], best[part], second[part] = _standing(shares, classes[part])
        suspicion[part] = suspicions(shares, classes[part])
        between()
    return own, best, second, suspicion


def class_shares(stored: Stored, between: Between = lambda: None) -> tuple[np.ndarray, np.ndarray]:
    """Votes of the classes for each sample: fractions [n, K] that add up to 1, and the labels [K] of the columns.

    The votes of the nearest neighbours (ten, or as many as the class that leads has samples), weighed by how their own
    neighbours see them; where there are proxies of the classes, half of it is a softmax over them.
    """
    names, classes = np.unique(stored.labels, return_inverse=True)
    votes = _votes(stored, classes, between)
    return _shares(stored, names, classes, votes, slice(0, len(classes))), names


def _votes(stored: Stored, classes: np.ndarray, between: Between) -> np.ndarray:
    """The votes [n, v] of the nearest neighbours of each sample, which add up to 1."""
    near = stored.near[:, :VOTERS]
    count = np.minimum(near.shape[1], np.maximum(1, _others(stored, classes)))
    asked = np.arange(near.shape[1]) < np.maximum(count, min(3, near.shape[1]))[:, None]
    same, weights = classes[near] == classes[:, None], np.ones(len(classes))
    votes = np.zeros(near.shape)
    for _ in range(ROUNDS):
        votes = weights[near] * asked
        votes /= np.maximum(votes.sum(1, keepdims=True), 1e-12)
        weights = np.maximum((votes * same).sum(1), STRONGEST)
        between()
    return votes


def _others(stored: Stored, classes: np.ndarray) -> np.ndarray:
    """How many other samples of its class are searched for each sample [n]."""
    searched = stored.searched()
    return np.asarray(np.bincount(classes[searched], minlength=int(classes.max()) + 1)[classes] - searched)


def _shares(stored: Stored, names: np.ndarray, classes: np.ndarray, votes: np.ndarray, part: slice) -> np.ndarray:
    """Shares [m, K] of the classes for some samples."""
    near = classes[stored.near[part, :VOTERS]]
    shares = np.zeros((len(near), len(names)))
    np.add.at(shares, (np.arange(len(near))[:, None], near), votes[part])
    close = _Close.of(stored, names)
    if close is None:
        return shares
    cosines = close.cosines(part)
    likely = np.exp(SHARPNESS * (cosines - cosines.max(1, keepdims=True)))
    return np.asarray((shares + likely / likely.sum(1, keepdims=True)) / 2)


def suspicions(shares: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Suspicion against the label of each sample [n], in 0..1: one half if another class has as many votes as its own.

    Args:
        shares: [n, K] of each class. classes: [n] column of the sample's own label.
    """
    own, best, _ = _standing(shares, classes)
    other = shares[np.arange(len(shares)), best]
    return np.asarray(np.clip((1 + other - own) / 2, 0, 1))


def _standing(shares: np.ndarray, classes: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Share [n] of the own class, column [n] of the strongest other one, and its share [n]."""
    rows = np.arange(len(shares))
    own = shares[rows, classes]
    others = shares.copy()
    others[rows, classes] = -1
    best = others.argmax(1)
    return own, best, others[rows, best]


@dataclass(frozen=True, slots=True, eq=False)
class _Close:
    """How near samples are to the proxies of the classes, by cosine."""

    stored: Stored
    proxies: np.ndarray  # [p, d] of length one, by class
    labels: np.ndarray  # [p], rising
    starts: np.ndarray  # [K] the first of each class

    @classmethod
    def of(cls, stored: Stored, names: np.ndarray) -> "_Close | None":
        """None for the Euclidean distance, and where a class has no proxy."""
        if stored.distance != "cosine" or stored.proxies is None or stored.proxy_labels is None:
            return None
        labels = np.asarray(stored.proxy_labels)
        if not np.isin(names, labels).all():
            return None
        rows = np.flatnonzero(np.isin(labels, names))
        rows = rows[np.argsort(labels[rows], kind="stable")]
        return cls(
            stored, comparable(stored.proxies[rows], "cosine"), labels[rows], np.searchsorted(labels[rows], names)
        )

    def cosines(self, part: slice) -> np.ndarray:
        """Of some samples to the nearest proxy of each class [m, K]."""
        return np.asarray(np.maximum.reduceat(self.stored.vectors(part) @ self.proxies.T, self.starts, axis=1))

    def cosine(self, row: int, label: int) -> float:
        """Of one sample to the nearest proxy of one class."""
        return float((self.proxies[self.labels == label] @ self.stored.vectors(np.array([row]))[0]).max())


def _copies(stored: Stored, own: np.ndarray, between: Between) -> dict[int, tuple[int, int, float]]:
    """Samples whose nearest neighbour is a near-copy with another label: row, its row, and how near it is in 0..1.

    Of the two the one is listed whose label has the smaller share `own` [n] of votes, else that with the higher id.
    """
    order = np.lexsort((stored.sample_ids, -np.round(own, 6)))  # rounded: equal shares are equal on every machine
    place = np.argsort(order)
    rows = np.arange(len(stored.labels))
    nearest = stored.near[:, 0]
    gaps = stored.gaps(rows, nearest, between)
    typical = float(np.median(gaps))
    if not typical > 0:
        return {}
    copies: dict[int, tuple[int, int, float]] = {}
    for row in np.flatnonzero((gaps <= COPY_SHARE * typical) & (stored.labels != stored.labels[nearest])).tolist():
        first, second = sorted((row, int(nearest[row])), key=lambda at: int(place[at]))
        sureness = 1 - float(gaps[row]) / (COPY_SHARE * typical) / 2
        copies[int(stored.sample_ids[second])] = (second, first, sureness)
    return copies


def _copies_across(stored: Stored, between: Between) -> list[Suspect]:
    """Samples with a near-copy in the training set, regardless of its label and of other evidence against theirs."""
    training = stored.training
    if training is None or not len(training.sample_ids):
        return []
    rows = np.arange(len(stored.labels))
    limit = COPY_SHARE * float(np.median(stored.gaps(rows, stored.near[:, 0], between)))
    if not limit > 0:
        return []
    theirs = comparable(training.embeddings, stored.distance)
    squares = np.einsum("ij,ij->i", theirs, theirs)
    copies: list[Suspect] = []
    for start in range(0, len(rows), ACROSS):
        ours = stored.vectors(slice(start, start + ACROSS))
        beyond = squares - 2 * ours @ theirs.T  # squared distances, less the own square
        if stored.distance == "hyperbolic":
            own = np.einsum("ij,ij->i", ours, ours)[:, None]
            beyond = ball_gaps(beyond + own, own, squares)
        nearest = beyond.argmin(1)
        gaps = apart(ours, theirs[nearest], stored.distance)
        for at in np.flatnonzero(gaps <= limit).tolist():
            copies.append(_across(stored, start + at, int(nearest[at]), 1 - float(gaps[at]) / limit / 2))
        between()
    return copies


def _across(stored: Stored, row: int, other: int, sureness: float) -> Suspect:
    """A sample with its near-copy in the training set; the suggested label is that of the copy."""
    assert stored.training is not None
    label, suggested = int(stored.labels[row]), int(stored.training.labels[other])
    voted = stored.labels[stored.near[row, :VOTERS]]
    return Suspect(
        int(stored.sample_ids[row]), COPY, label, suggested, sureness, int((voted == suggested).sum()),
        int((voted == label).sum()), len(voted), int(stored.training.sample_ids[other]), across=True,
    )  # fmt: skip


def _suspect(
    stored: Stored, row: int, kind: str, suggested: int, suspicion: float, close: _Close | None,
    other: int | None = None,
) -> Suspect:  # fmt: skip
    voted, label = stored.labels[stored.near[row, :VOTERS]], int(stored.labels[row])
    own_proxy = other_proxy = None
    if close is not None:
        own_proxy, other_proxy = (close.cosine(row, name) for name in (label, suggested))
    return Suspect(
        int(stored.sample_ids[row]), kind, label, suggested, suspicion, int((voted == suggested).sum()),
        int((voted == label).sum()), len(voted), other, own_proxy, other_proxy,
    )  # fmt: skip


def ranked_by_class(stored: Stored, row: int, labels: Sequence[int], most: int) -> dict[int, list[tuple[int, int]]]:
    """The nearest samples of some classes in the stored neighbours of a row: (rank from 1, row), `most` at most."""
    near = stored.near[row]
    of_near = stored.labels[near]
    ranks = {label: np.flatnonzero(of_near == label) for label in labels}
    return {label: [(int(at) + 1, int(near[at])) for at in places[:most]] for label, places in ranks.items()}
