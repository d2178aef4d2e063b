"""Which rows of a map are given samples: sorted once, because np.isin sorts a million ids at every selection."""

import numpy as np


class SampleRows:
    """Rows by sample id.

    Args:
        ids: [n] int64, each once.
    """

    def __init__(self, ids: np.ndarray) -> None:
        self._ids = ids
        self._order = np.argsort(ids, kind="stable")
        self._sorted = ids[self._order]
        self._last: tuple[np.ndarray, np.ndarray] | None = None  # ids that `changed` gave, and their rows

    def among(self, wanted: np.ndarray) -> np.ndarray:
        """Bool [n]: the rows whose sample is one of these ids [k]; ids that are not on the map are passed over."""
        if self._last is not None and wanted is self._last[0]:
            return self._last[1]
        rows_mask = np.zeros(len(self._ids), bool)
        if len(wanted) and len(self._ids):
            wanted = np.sort(wanted)  # looked up in order, which is five times as fast
            index = np.minimum(np.searchsorted(self._sorted, wanted), len(self._sorted) - 1)
            rows_mask[self._order[index[self._sorted[index] == wanted]]] = True
        return rows_mask

    def changed(self, now: np.ndarray, rows: np.ndarray, way: str) -> np.ndarray:
        """The ids selected after `rows` are clicked or outlined: instead of `now`, added to it or removed from it."""
        if way == "replace":
            mask, elsewhere = np.zeros(len(self._ids), bool), now[:0]
        else:
            mask = self.among(now).copy()
            elsewhere = now[~np.isin(now, self._ids[mask])] if int(mask.sum()) < len(now) else now[:0]
        mask[rows] = way != "remove"
        ids = np.concatenate([self._ids[mask], elsewhere])
        self._last = (ids, mask)
        return ids
