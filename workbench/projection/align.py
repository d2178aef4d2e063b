"""Aligns two maps of one run, so that differences between them come from the embedding and not from the projection."""

import numpy as np


def align(
    points: np.ndarray, onto: np.ndarray, others: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray | None]:
    """Rotate, reflect and shift a map so that it is as near as possible to another one of the same samples.

    The least sum of squared distances between the rows of the two (orthogonal Procrustes; Schönemann, 1966). Distances
    within the map do not change: there is no scaling.

    Args:
        points: [n, k]. onto: [n, k], the same samples in the same order, k being 2 or 3; rows that are not
            finite there, or here, are moved with the rest but not fitted.
        others: [p, k] moved in the same way (proxies), or None.

    Returns:
        points [n, k] and others [p, k] float32; unchanged if no row is finite in both.
    """
    known = np.isfinite(points).all(1) & np.isfinite(onto).all(1)
    if not known.any():
        return points.astype(np.float32), None if others is None else others.astype(np.float32)
    now, before = points[known].astype(np.float64), onto[known].astype(np.float64)
    centre, middle = now.mean(axis=0), before.mean(axis=0)
    left, _, right = np.linalg.svd((now - centre).T @ (before - middle))
    turn = left @ right

    def moved(table: np.ndarray) -> np.ndarray:
        turned: np.ndarray = (table.astype(np.float64) - centre) @ turn + middle
        return turned.astype(np.float32)

    return moved(points), None if others is None else moved(others)


def matched(ids: np.ndarray, before_ids: np.ndarray, before: np.ndarray) -> np.ndarray:
    """The coordinates of samples in an earlier map: float32 [n, k], NaN for samples that it did not have.

    Args:
        ids: [n] sample ids wanted. before_ids: [m] unique sample ids of the earlier map. before: [m, k] its points.
    """
    places = np.full((len(ids), before.shape[1]), np.nan, np.float32)
    if len(before_ids):
        order = np.argsort(before_ids)
        at = order[np.minimum(np.searchsorted(before_ids, ids, sorter=order), len(order) - 1)]
        known = before_ids[at] == ids
        places[known] = before[at[known]]
    return places
