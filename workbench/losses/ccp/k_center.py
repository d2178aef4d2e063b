"""Centres that cover a pool of embeddings: greedy k-center, and the radii of classes around their proxies."""

import numpy as np

from workbench.problem import Problem


def k_center(pool: np.ndarray, count: int, fixed: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Choose centres among a pool, each time the sample that is farthest from its nearest centre.

    Algorithm 2 of Gürbüz et al. 2023 (CCP) for one class, which follows Sener and Savarese (2018) and Gonzalez (1985).

    Args:
        pool: [b, d] finite embeddings; not normalised here.
        count: centres to choose, 1 to b; no sample is chosen twice.
        fixed: [g, d] centres that are already chosen and are not chosen again (rho_c). Without any, the first centre is
            the sample with the smallest distance to its farthest sample, and the radius is at most twice the optimum.

    Returns:
        indices: [count] int64 into the pool, in the order of choice.
        radii: [count] Euclidean: after each choice, the largest distance from a sample to its nearest centre, fixed
            centres included. It never increases.

    Raises:
        Problem: an empty or non-finite pool, fixed centres of other dimensions, count out of range.
    """
    vectors = _finite(pool, "A pool")
    if not 1 <= count <= len(vectors):
        raise Problem(f"From a pool of {len(vectors)} samples 1 to {len(vectors)} centres can be chosen, not {count}.")
    nearest = np.full(len(vectors), np.inf)  # squared
    if fixed is not None and len(fixed):
        standing = _finite(fixed, "Given centres")
        if standing.shape[1] != vectors.shape[1]:
            raise Problem(f"The centres have {standing.shape[1]} dimensions and the samples {vectors.shape[1]}.")
        for centre in standing:
            nearest = np.minimum(nearest, _squares(vectors, centre))
        start = int(nearest.argmax())
    else:
        start = int(np.argmin([_squares(vectors, centre).max() for centre in vectors]))
    free = np.ones(len(vectors), dtype=bool)
    indices, radii = np.empty(count, dtype=np.int64), np.empty(count)
    for step in range(count):
        chosen = int(np.where(free, nearest, -1).argmax()) if step else start
        free[chosen] = False
        nearest = np.minimum(nearest, _squares(vectors, vectors[chosen]))
        indices[step], radii[step] = chosen, np.sqrt(nearest.max())
    return indices, radii


def proxy_radii(embeddings: np.ndarray, labels: np.ndarray, proxies: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """The distance within which the proxies of each class cover its samples: Gürbüz et al. 2023 (CCP), Prop. 4.2.

    Args:
        embeddings: [n, d] finite; not normalised here. labels: [n] int, their classes.
        proxies: [p, d] finite. classes: [p] int, the classes of the proxies; must contain every label.

    Returns:
        [K] Euclidean, in order of label: the largest distance from a sample to its class's nearest proxy
        (Corollary 4.3). Classes without a sample are left out. Proposition 4.2 takes the largest of them.

    Raises:
        Problem: empty or non-finite tables, proxies of other dimensions, a label without a proxy.
    """
    vectors, centres = _finite(embeddings, "Embeddings"), _finite(proxies, "Proxies")
    if centres.shape[1] != vectors.shape[1]:
        raise Problem(f"Proxies of {centres.shape[1]} dimensions cannot cover embeddings of {vectors.shape[1]}.")
    present = np.unique(labels)
    if not np.isin(present, classes).all():
        raise Problem("Every class that is covered needs a proxy.")
    nearest = [
        np.min([_squares(vectors[labels == k], centre) for centre in centres[classes == k]], axis=0) for k in present
    ]
    return np.sqrt([squares.max() for squares in nearest])


def _finite(vectors: np.ndarray, what: str) -> np.ndarray:
    array = np.asarray(vectors, dtype=np.float64)
    if array.ndim != 2 or 0 in array.shape or not np.isfinite(array).all():
        raise Problem(f"{what} must be a table of finite embeddings with at least one row.")
    return array


def _squares(vectors: np.ndarray, centre: np.ndarray) -> np.ndarray:
    squares: np.ndarray = ((vectors - centre) ** 2).sum(axis=1)
    return squares
