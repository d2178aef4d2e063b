"""Re-ranking by the neighbours that a query and an image share: k-reciprocal encoding.

Zhong, Zheng, Cao, Li: "Re-ranking person re-identification with k-reciprocal encoding", CVPR 2017, with k1 = 20, k2 = 6
and lambda = 0.3. Where the authors' public code departs from the text, it is followed: a neighbour's own set is added
when they share more than two thirds of it (not "at least"), distances are divided by the largest of their row, and the
weights of a row sum to 1. As in the text, one query at a time is compared with the gallery; the public code puts all
queries into one set, so that they would be each other's neighbours.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.deploying.neighbourhood import Neighbourhood, neighbourhood
from workbench.deploying.ranking import nearest, ranked, squared_gaps
from workbench.evaluation.conventions import Between, without_last_bits
from workbench.results.search_methods import REORDERED, SHARED

HALF = SHARED // 2 + 1  # of a neighbour's own set, with itself
AVERAGED = 6  # k2: nearest, with the image itself, over which encodings are averaged
ORIGINAL = 0.3  # lambda: weight of the original distance beside that of the shared neighbours
ROUNDING = 1 + 1e-9  # of distances that were computed in two blocks
HELD = 2**22  # numbers of differences in memory at once (16 MB)

Lists = Callable[[np.ndarray], np.ndarray]  # images [m] -> [m, SHARED + 1], themselves and their nearest


@dataclass(frozen=True, slots=True, eq=False)
class Reciprocal:
    """A scan for the nearest of a query, and some of them in another order; the others stay as they are.

    The query counts as one more image, number n, which enters the lists of its neighbours.
    """

    gallery: np.ndarray  # [n, d] float32, C-contiguous
    near: Neighbourhood  # SHARED + 1 deep
    size: int = REORDERED  # nearest of a query that are put into another order

    def rankings(
        self, queries: np.ndarray, own: np.ndarray | None, depth: int, between: Between
    ) -> Iterator[tuple[slice, np.ndarray]]:
        """As `ranking.nearest`, re-ranked; a query's own row is in no list, as if the gallery did not contain it."""
        reach = min(max(depth, self.size), len(self.gallery) - (own is not None))
        for part, gaps in squared_gaps(queries, self.gallery, between):
            if own is not None:
                gaps[np.arange(len(gaps)), own[part]] = np.inf
            rows = ranked(gaps, reach)
            for row, number in enumerate(range(part.start, part.stop)):
                itself = None if own is None else int(own[number])
                rows[row] = self.reordered(queries[number], gaps[row], rows[row], itself)
                between()
            yield part, rows[:, :depth]

    def search(self, queries: np.ndarray, depth: int) -> np.ndarray:
        """Gallery rows [m, depth] of queries [m, d] from outside the gallery."""
        scans = [self.scanned(query) for query in queries]
        rows = [self.reordered(query, *scan) for query, scan in zip(queries, scans, strict=True)]
        return np.array([order[:depth] for order in rows])

    def scanned(self, query: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Squared distances [n] of one query [d] to the gallery, and its nearest rows: what grows with the gallery."""
        import faiss

        single = np.empty(len(self.gallery), np.float32)
        asked = np.ascontiguousarray(query, np.float32)
        # The scan of faiss's flat index, which has no call for the distances to all: those of NumPy took four times as
        # long (docs/questions.md).
        native: Any = faiss  # what it takes from its library is not in its Python source
        native.fvec_L2sqr_ny(*map(faiss.swig_ptr, (single, asked, self.gallery)), self.gallery.shape[1], len(single))
        gaps = without_last_bits(single.astype(np.float64), len(single))
        return gaps, ranked(gaps[None], min(self.size, len(gaps)))[0]

    def reordered(
        self, query: np.ndarray, gaps: np.ndarray, order: np.ndarray, itself: int | None = None
    ) -> np.ndarray:
        """A query's ranking [k] with its first `size` by the weighted sum of both distances, of equals as before.

        Args:
            query: [d]. gaps: [n] float64 its squared distances, infinite to its own row. order: [k] as `ranked` gives.
            itself: its own row; None without one.
        """
        first = order[: self.size]
        farthest = gaps.max(where=np.isfinite(gaps), initial=0) or 1
        distances = ORIGINAL * gaps[first] / farthest
        distances += (1 - ORIGINAL) * self.unshared(query, gaps, first, itself)
        return np.concatenate([first[np.argsort(distances, kind="stable")], order[self.size :]])

    def unshared(self, query: np.ndarray, gaps: np.ndarray, rows: np.ndarray, itself: int | None = None) -> np.ndarray:
        """Jaccard distances [k] in 0..1 between the averaged encodings of a query and of gallery rows [k].

        Args:
            query, gaps, itself: as of `reordered`. rows: the query's nearest, at least SHARED, best first.
        """
        lists = self._lists(gaps, rows, itself)
        averaged = lists(np.append(rows, len(self.gallery)))[:, :AVERAGED]
        encoded = distinct(averaged)
        rows, members = reciprocal_sets(encoded, lists)
        weights = self._encodings(query, gaps, encoded, rows, members)
        averaged = places(encoded, len(self.gallery) + 1)[averaged]
        of_query = np.zeros(len(encoded), bool)
        of_query[averaged[-1]] = True
        held = distinct(members[of_query[rows]])  # what is in no set of the query adds nothing
        column = places(held, len(self.gallery) + 1)[members]
        is_held = column >= 0
        table = np.zeros((len(encoded), len(held)))
        table[rows[is_held], column[is_held]] = weights[is_held]
        mean = table[averaged[-1]].mean(axis=0)
        common = np.minimum(table[averaged[:-1]].mean(axis=1), mean).sum(axis=1)
        return np.asarray(1 - common / (2 - common))

    def _encodings(
        self, query: np.ndarray, gaps: np.ndarray, images: np.ndarray, rows: np.ndarray, members: np.ndarray
    ) -> np.ndarray:
        """The weight exp(-distance) of each member [p] in the set of images[rows[p]]; those of a set sum to 1.

        The query is the last of `images`.
        """
        farthest = np.append(
            np.maximum(self.near.farthest[images[:-1]], gaps[images[:-1]]), gaps.max(where=np.isfinite(gaps), initial=0)
        )
        farthest[farthest == 0] = 1  # all images are alike
        weights = np.empty(len(rows))
        step = max(1, HELD // len(query))
        for start in range(0, len(rows), step):
            part = slice(start, start + step)
            away = self._vectors(images[rows[part]], query) - self._vectors(members[part], query)
            weights[part] = np.exp(-np.einsum("ij,ij->i", away, away) / farthest[rows[part]])
        return np.asarray(weights / np.bincount(rows, weights)[rows])

    def _vectors(self, images: np.ndarray, query: np.ndarray) -> np.ndarray:
        """Embeddings [m, d] of images [m]; the query has the number after the last of the gallery."""
        number = len(self.gallery)
        vectors = self.gallery[np.minimum(images, number - 1)]
        vectors[images == number] = query
        return np.asarray(vectors)

    def _lists(self, gaps: np.ndarray, rows: np.ndarray, itself: int | None) -> Lists:
        """The lists of neighbours with the query in them, and without its own row."""
        number = len(self.gallery)
        entered = np.flatnonzero(gaps <= self.near.gaps[:, SHARED] * ROUNDING)
        others = np.column_stack([self.near.rows[entered], np.full(len(entered), number)])
        distances = np.column_stack([self.near.gaps[entered], gaps[entered]])
        if itself is not None:
            distances[others == itself] = np.inf
        ties = np.where(others == number, number if itself is None else itself, others)  # of equals the lower is first
        order = np.lexsort((ties, distances), axis=-1)[:, :SHARED]
        changed = np.column_stack([entered, np.take_along_axis(others, order, axis=1)])
        changed = np.vstack([changed, [number, *rows[:SHARED]]])
        place = places(np.append(entered, number), number + 1)

        def lists(images: np.ndarray) -> np.ndarray:
            at = place[images]
            is_changed = at >= 0
            listed = np.empty((len(images), SHARED + 1), np.int64)
            listed[:, 0] = images
            np.take(self.near.rows[:, :SHARED], np.minimum(images, number - 1), axis=0, out=listed[:, 1:])
            listed[is_changed] = changed[at[is_changed]]
            return listed

        return lists


@dataclass(frozen=True, slots=True, eq=False)
class AmongNearest:
    """As Reciprocal, in a gallery of the nearest of each query alone: no list of neighbours is kept of any image.

    Distances are divided by the largest among those images, and an image beyond them is no one's neighbour.
    """

    gallery: np.ndarray  # [n, d] float32
    index: Any  # faiss.Index of the gallery
    size: int  # nearest of a query, at least SHARED + 2; in a smaller gallery all

    def rankings(
        self, queries: np.ndarray, own: np.ndarray | None, depth: int, between: Between
    ) -> Iterator[tuple[slice, np.ndarray]]:
        """As `ranking.nearest`, re-ranked; a query's own row is in no list, as if the gallery did not contain it."""
        for part, rows in nearest(queries, self.gallery, own, max(depth, self.size), between):
            for row, query in enumerate(queries[part]):
                rows[row] = self.reordered(query, rows[row])
                between()
            yield part, rows[:, :depth]

    def search(self, queries: np.ndarray, depth: int) -> np.ndarray:
        """Gallery rows [m, depth] of queries [m, d] from outside the gallery, by a scan of the index."""
        rows = self.index.search(queries, min(max(depth, self.size), len(self.gallery)))[1]
        return np.array([self.reordered(query, order)[:depth] for query, order in zip(queries, rows, strict=True)])

    def scanned(self, query: np.ndarray) -> np.ndarray:
        """The nearest gallery rows of one query [d]: what grows with the gallery."""
        return np.asarray(self.index.search(query[None], min(self.size, len(self.gallery)))[1][0])

    def reordered(self, query: np.ndarray, order: np.ndarray) -> np.ndarray:
        """A query's ranking [k] with its first `size` re-ranked.

        Args:
            query: [d]. order: gallery rows, best first.
        """
        rows = np.sort(order[: self.size])  # of equal distances the lower row is first, as in a whole gallery
        images = self.gallery[rows]
        ((_, gaps),) = squared_gaps(query[None], images)
        method = Reciprocal(images, neighbourhood(images, SHARED + 1), self.size)
        first = rows[method.reordered(query, gaps[0], ranked(gaps, len(rows))[0])]
        return np.concatenate([first, order[self.size :]])


def reciprocal_sets(images: np.ndarray, lists: Lists) -> tuple[np.ndarray, np.ndarray]:
    """The expanded sets of k-reciprocal neighbours, R* of the paper.

    Args:
        images: [m] int64, rising. lists: gives each image's nearest, itself first.

    Returns:
        Places in `images` [p], rising, and the image numbers [p] that are in the sets of those, rising for each.
    """
    near = lists(images)  # [m, SHARED + 1]
    row, place = np.nonzero((lists(near.ravel()).reshape(*near.shape, -1) == images[:, None, None]).any(axis=2))
    own = near[row, place]
    neighbours = distinct(own)
    half = lists(neighbours)[:, :HALF]
    is_half = (lists(half.ravel())[:, :HALF].reshape(*half.shape, HALF) == neighbours[:, None, None]).any(axis=2)
    members = distinct(np.concatenate([neighbours, half[is_half]]))
    count = int(max(near.max(), half.max())) + 1
    column, neighbour = places(members, count), places(neighbours, count)[own]
    is_member = np.zeros(len(images) * len(members), bool)  # of the set of each image
    of_row = row * len(members)
    is_member[of_row + column[own]] = True
    theirs, counts = of_row[:, None] + column[half[neighbour]], is_half[neighbour]  # [pairs, HALF]
    joins = 3 * (is_member[theirs] & counts).sum(axis=1) > 2 * counts.sum(axis=1)
    is_member[theirs[counts & joins[:, None]]] = True
    rows, columns = np.divmod(np.flatnonzero(is_member), len(members))
    return rows, members[columns]


def distinct(images: np.ndarray) -> np.ndarray:
    """The image numbers among these, rising: a table of flags is faster than sorting while galleries have millions."""
    flags = np.zeros(int(images.max()) + 1, bool)
    flags[images] = True
    return np.flatnonzero(flags)


def places(images: np.ndarray, count: int) -> np.ndarray:
    """Where each of `count` image numbers is among these [m]: [count] int64, -1 for those that are not."""
    place = np.full(count, -1)
    place[images] = np.arange(len(images))
    return place
