"""Retrieval across the values of an attribute: exact scores of each query among the images of each group of values.

Two more galleries stand beside those groups: all images, and all but the query's matches of its own value. The second
is the rule of re-identification: images of the same identity by the same camera are ignored, and are no errors (Zheng
et al., 2015, "Scalable person re-identification: a benchmark", Market-1501; Liu et al., 2016, VeRi). NumPy only.
"""

from dataclasses import dataclass
from math import inf

import numpy as np

from workbench.evaluation.compared_rows import compared_rows, without_copies
from workbench.evaluation.conventions import NOISE, ball_gaps, row_mask
from workbench.problem import Problem
from workbench.progress import Progress, quiet

ALL, OTHERS = -2, -1  # columns: all images, and all but the matches of the query's own value
BLOCK = 2**21  # gaps of a block of queries, 16 MB: larger blocks do not fit a processor's cache


@dataclass(frozen=True, slots=True, eq=False)
class Across:
    """What each query scores in each gallery: k groups of values, then ALL and OTHERS."""

    rows: np.ndarray  # [q] int64, of the queries among the samples
    matches: np.ndarray  # [q, k + 2] int32, other images of the query's class in the gallery
    others: np.ndarray  # [q, k + 2] int32, images of the gallery, without the query and what is ignored
    right: np.ndarray  # [q, k + 2] bool, whether the nearest image is a match; False without a match
    ap: np.ndarray  # [q, k + 2] float64, average precision at R; NaN without a match


def across_values(
    embeddings: np.ndarray, labels: np.ndarray, sample_ids: np.ndarray, values: np.ndarray, groups: np.ndarray,
    searched: np.ndarray, distance: str = "cosine", progress: Progress = quiet,
) -> Across:  # fmt: skip
    """Search each group of values, and all of them, with every query; ties go to the lower sample id.

    Memory is twice that of the embeddings as float64, and blocks of BLOCK gaps; time grows with queries times images.

    Args:
        embeddings: [n, d] finite. labels: [n] int, the classes. sample_ids: [n] int64, unique.
        values: [n] int, the value of the attribute of each sample, 0 or more; samples without one are the caller's to
            leave out.
        groups: [n] int 0..k-1, the gallery of each sample; samples of one value are in one group.
        searched: [n] bool, which samples are searched: all, or with a gallery of its own those that are no queries.
        distance: "cosine", "l2" or "hyperbolic".
        progress: called before each block of queries; may raise Cancelled.

    Raises:
        Problem: as `compared_rows`; there is nothing to search, or no query.
    """
    one_set = bool(searched.all())
    rows = np.arange(len(labels)) if one_set else np.flatnonzero(~searched)
    if not len(rows) or not searched.any():
        raise Problem("There must be at least one query and one image to search.")
    search = _Search(embeddings, labels, sample_ids, values, groups, searched, distance)
    shape = (len(rows), search.galleries + 2)
    made = Across(
        rows, np.zeros(shape, np.int32), np.zeros(shape, np.int32), np.zeros(shape, bool), np.full(shape, np.nan)
    )
    order = np.argsort(search.classes[rows], kind="stable")  # queries of a class have as many matches
    step = max(1, BLOCK // len(search.order))
    for start in range(0, len(rows), step):
        progress("Searching across values", start, len(rows))
        search.rank(made, order[start : start + step])
    return made


class _Search:
    """The searched samples by group, and what a block of queries finds among them.

    A column is a searched sample, those of a group side by side; a place is its number in the order of the ids.
    """

    def __init__(
        self, embeddings: np.ndarray, labels: np.ndarray, sample_ids: np.ndarray, values: np.ndarray,
        groups: np.ndarray, searched: np.ndarray, distance: str,
    ) -> None:  # fmt: skip
        self.classes = np.unique(labels, return_inverse=True)[1]
        self.galleries = int(groups.max()) + 1
        self._values, self._groups, self._distance = values, groups, distance
        self._one_set = bool(searched.all())
        self._vectors = compared_rows(embeddings, distance)
        self._squares = np.einsum("ij,ij->i", self._vectors, self._vectors)
        gallery = np.flatnonzero(searched)
        self.order = gallery[np.argsort(sample_ids[gallery], kind="stable")]  # place -> sample
        by_group = np.argsort(groups[self.order], kind="stable")
        self._places = by_group  # column -> place
        self._column = np.full(len(labels), -1)  # sample -> column
        self._column[self.order[by_group]] = np.arange(len(by_group))
        ends = np.cumsum(np.bincount(groups[self.order], minlength=self.galleries))
        self._parts = [slice(end - count, end) for end, count in zip(ends, np.diff(ends, prepend=0), strict=True)]
        # Copies share one computed column, because two matrix kernels may round the same product differently.
        self._columns, self._copies = without_copies(self._vectors[self.order[by_group]])
        self._of_columns = np.einsum("ij,ij->i", self._columns, self._columns)
        self._mask = row_mask(len(self.order))
        in_group = self.classes[self.order] * self.galleries + groups[self.order]
        of_classes = (int(self.classes.max()) + 1) * self.galleries
        self._in_group = np.bincount(in_group, minlength=of_classes).reshape(-1, self.galleries)  # of each class
        # Each image may have a value of its own: a table of classes and values would not fit in memory.
        pairs = np.unique(self.classes * (int(values.max()) + 1) + values, return_inverse=True)[1]
        self._alike = np.bincount(pairs[self.order], minlength=len(labels))[pairs]  # [n], of its class and value

    def rank(self, made: Across, block: np.ndarray) -> None:
        """Fill in the queries at these positions [b]."""
        rows = made.rows[block]
        classes, values, itself = self.classes[rows], self._values[rows], int(self._one_set)
        matches = np.empty((len(rows), self.galleries + 2), np.int64)
        others = np.empty_like(matches)
        matches[:, :OTHERS] = np.c_[self._in_group[classes], self._in_group[classes].sum(1)]
        others[:, :OTHERS] = [*(part.stop - part.start for part in self._parts), len(self.order)]
        for counts in (matches, others):
            counts[np.arange(len(rows)), self._groups[rows]] -= itself
            counts[:, ALL] -= itself
        ignored = self._alike[rows] - itself
        matches[:, OTHERS], others[:, OTHERS] = matches[:, ALL] - ignored, others[:, ALL] - ignored
        made.matches[block], made.others[block] = matches, others
        keys, depth = self._keys(rows), int(matches[:, ALL].max(initial=0))
        nearest = []  # of each group, as many as the search in all images needs
        for group, part in enumerate(self._parts):
            best = _smallest(keys[:, part], depth)
            hits, _ = self._hits(best[:, : int(matches[:, group].max(initial=0))], classes)
            made.right[block, group], made.ap[block, group] = _scored(hits, np.ones_like(hits), matches[:, group])
            nearest.append(best)
        hits, near = self._hits(np.sort(np.concatenate(nearest, axis=1), axis=1)[:, :depth], classes)
        made.right[block, ALL], made.ap[block, ALL] = _scored(hits, np.ones_like(hits), matches[:, ALL])
        kept = ~(hits & (self._values[near] == values[:, None]))
        made.right[block, OTHERS], made.ap[block, OTHERS] = _scored(hits, kept, matches[:, OTHERS])

    def _keys(self, rows: np.ndarray) -> np.ndarray:
        """Keys [b, m] int64 that sort by rounded gap, then by id, as those of neighbours.py; a query's own is last."""
        queries, squares = self._vectors[rows], self._squares[rows, None]
        gaps = queries @ self._columns.T
        if self._distance == "cosine":
            np.subtract(1, gaps, out=gaps)
            gaps[gaps <= NOISE] = 0
        else:
            gaps *= -2
            gaps += squares
            gaps += self._of_columns
            gaps[gaps < NOISE * squares] = 0
            if self._distance == "hyperbolic":
                gaps = ball_gaps(gaps, squares, self._of_columns)
            np.maximum(gaps, 0, out=gaps)
        if self._copies is not None:
            gaps = gaps[:, self._copies]
        if self._one_set:
            gaps[np.arange(len(rows)), self._column[rows]] = inf
        keys = gaps.view(np.int64)
        keys += (self._mask + 1) >> 1
        keys &= ~self._mask
        keys += self._places
        return np.asarray(keys)

    def _hits(self, keys: np.ndarray, classes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Whether the images of keys [b, depth] are of the query's class [b, depth] bool, and their samples."""
        near = self.order[keys & self._mask]
        return self.classes[near] == classes[:, None], near


def _smallest(keys: np.ndarray, depth: int) -> np.ndarray:
    """The `depth` smallest keys of each row, or all of fewer, rising; reorders the keys."""
    if 0 < depth < keys.shape[1]:
        keys.partition(depth - 1, axis=1)
    return np.sort(keys[:, :depth], axis=1)


def _scored(hits: np.ndarray, kept: np.ndarray, wanted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Whether the nearest kept image is a match [b], and AP at R [b] among those that are kept; NaN without a match.

    Args:
        hits: [b, depth] bool, best first. kept: [b, depth] bool, what is not ignored.
        wanted: [b] matches that are kept.
    """
    rank = kept.cumsum(1)
    counted = hits & kept & (rank <= wanted[:, None])
    precision = counted.cumsum(1) / np.maximum(rank, 1)
    ap = np.divide((precision * counted).sum(1), wanted, out=np.full(len(wanted), np.nan), where=wanted > 0)
    return (counted & (rank == 1)).any(1), ap
