"""The exact nearest of a few queries among all rows of a gallery, in one pass over its blocks. faiss."""

from collections.abc import Iterator

import numpy as np

from workbench.progress import Progress
from workbench.searching.index import best_of
from workbench.workspace.measured.galleries import Gallery

SPARE = 16  # neighbours beyond the requested ones: float32 may swap two of nearly the same similarity


def exact_nearest(
    gallery: Gallery, queries: np.ndarray, k: int, own: np.ndarray | None, progress: Progress
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Rows [<= k] int64 and similarities [<= k] float64 of the k nearest of each query, best first; ties by row.

    Args:
        queries: [m, d]. k: at least 1.
        own: [m] the gallery row that each query is and that is left out, or None.
        progress: called with the rows so far; may raise Cancelled.
    """
    import faiss
    from faiss.contrib.exhaustive_search import knn_ground_truth

    def blocks() -> Iterator[np.ndarray]:
        for start, block in gallery.blocks():
            progress("Comparing with all", start, gallery.note.count)
            yield block

    metric = faiss.METRIC_L2 if gallery.note.distance == "l2" else faiss.METRIC_INNER_PRODUCT
    wanted = min(gallery.note.count, k + SPARE + (own is not None))
    _, near = knn_ground_truth(gallery.comparable(queries), blocks(), wanted, metric_type=metric, ngpu=0)
    return [
        best_of(gallery, query, np.sort(rows), k, None if own is None else int(own[at]))
        for at, (query, rows) in enumerate(zip(queries, near, strict=True))
    ]
