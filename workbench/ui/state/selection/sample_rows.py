"""Which rows are some samples: sorted once, because np.isin sorts a million ids at every selection."""

from collections.abc import Iterator

import numpy as np

LONGEST = 32  # ids of one bucket; where more lie together, buckets are slower than sorting


class SampleRows:
    """Rows by sample id.

    Args:
        ids: [n] int64, each once.
    """

    def __init__(self, ids: np.ndarray) -> None:
        self._ids = ids
        self.order = np.argsort(ids, kind="stable")  # rows by id
        self._sorted = ids[self.order]
        self._fill_buckets()
        self._last: tuple[np.ndarray, np.ndarray] | None = None  # ids that `changed` gave, and their rows

    def among(self, wanted: np.ndarray) -> np.ndarray:
        """Bool [n]: the rows whose sample is one of these ids [k]; ids that are not on the map are passed over."""
        if self._last is not None and wanted is self._last[0]:
            return self._last[1]
        rows_mask = np.zeros(len(self._ids), bool)
        if len(wanted) and len(self._ids):
            for slots in self._found(wanted[(wanted >= self._sorted[0]) & (wanted <= self._sorted[-1])]):
                rows_mask[self.order[slots]] = True
        return rows_mask

    def _fill_buckets(self) -> None:
        """Split the range of the ids into twice as many buckets as ids: they are hashes, which lie evenly in it."""
        self._starts = np.zeros(1, np.int32)  # the first slot of each bucket in the sorted ids
        self._shift, self._longest = np.uint64(0), 0
        if len(self._ids):
            span = int(self._sorted[-1]) - int(self._sorted[0])
            self._shift = np.uint64(max(0, span.bit_length() - len(self._ids).bit_length() - 1))
            sizes = np.bincount(self._buckets(self._sorted))
            self._starts = (np.cumsum(sizes) - sizes).astype(np.int32)
            self._longest = int(sizes.max())

    def _buckets(self, ids: np.ndarray) -> np.ndarray:
        """The bucket [k] of ids that are not below the lowest nor above the highest."""
        return np.asarray(((ids - self._sorted[0]).view(np.uint64) >> self._shift).view(np.int64))

    def _found(self, wanted: np.ndarray) -> Iterator[np.ndarray]:
        """Slots of those of some ids that are there, in parts; none is below the lowest or above the highest."""
        if self._longest > LONGEST:
            wanted = np.sort(wanted)  # looked up in order, which is five times as fast
            slots = np.searchsorted(self._sorted, wanted)
            yield slots[self._sorted[slots] == wanted]
            return
        slots = self._starts[self._buckets(wanted)]
        while len(wanted):
            here = self._sorted[slots]
            yield slots[here == wanted]
            behind = here < wanted
            slots, wanted = slots[behind] + 1, wanted[behind]

    def changed(self, now: np.ndarray, rows: np.ndarray, way: str) -> np.ndarray:
        """The ids selected after `rows` are clicked or outlined: instead of `now`, added to it or removed from it."""
        if way == "replace":
            mask, elsewhere = np.zeros(len(self._ids), bool), now[:0]
        else:
            mask = self.among(now).copy()
            elsewhere = self._elsewhere(now) if int(mask.sum()) < len(now) else now[:0]
        mask[rows] = way != "remove"
        ids = np.concatenate([self._ids[mask], elsewhere])
        self._last = (ids, mask)
        return ids

    def _elsewhere(self, ids: np.ndarray) -> np.ndarray:
        """Those of some ids that have no row."""
        return np.asarray(ids[~SampleRows(ids).among(self._ids)])
