"""What an evaluation measures besides retrieval: votes of neighbours, hubs, and the shape of the embedding."""

import numpy as np

from workbench.evaluation.conventions import VOTERS, rows_of_classes, searched
from workbench.evaluation.geometry import alignment_uniformity, class_distances, covering_radius, effective_rank
from workbench.evaluation.health import WATCHED, look, stored_numbers
from workbench.evaluation.retrieval import Retrieval

SAMPLED, CLASSES = 3000, 300  # embeddings, and classes, of which distances of all pairs are measured

ROOMY = 1e15  # numbers up to this have squares whose sum is finite in float32


def quality(
    embeddings: np.ndarray, labels: np.ndarray, sample_ids: np.ndarray, retrieval: Retrieval, distance: str = "cosine"
) -> dict[str, float]:
    """Numbers of one evaluation, NaN if they are undefined.

    Args:
        embeddings: [n, d] finite. labels: [n]. sample_ids: [n], in the order of `retrieval`.
        distance: that of `retrieval`.

    Returns:
        "kNN@10": fraction of queries whose ten neighbours vote for their class (ties go to the nearer neighbour);
        "hubness": skewness of how often a sample is among the ten neighbours of others (Radovanovic et al. 2010), over
        the samples that are searched;
        "geometry/effective_rank", "geometry/alignment", "geometry/uniformity" (see geometry.py), and on the sphere
        "geometry/covering_radius", "geometry/class_distance", "geometry/intra_cosine", "geometry/inter_cosine". Those
        of all pairs are measured on at most 300 classes, evenly spread, and about 3,000 of their samples;
        "geometry/largest_hub", of these lists: in how many of ten neighbours the most frequent sample is;
        "geometry/dead_dimensions" and the others of health.stored_numbers, on 1,000 samples.
    """
    labels, embeddings = np.asarray(labels), np.asarray(embeddings)
    if embeddings.dtype not in (np.float32, np.float64):  # squares of float16 end at 65,504
        embeddings = embeddings.astype(np.float32)
    watched = stored_numbers(look(embeddings, labels, WATCHED, distance))
    return watched | _geometry(embeddings, labels) | _votes(labels, sample_ids, retrieval)


def _votes(labels: np.ndarray, sample_ids: np.ndarray, retrieval: Retrieval) -> dict[str, float]:
    near = retrieval.neighbours[:, :VOTERS]
    counted = retrieval.r > 0
    if not near.size or not counted.any():
        return {"kNN@10": float("nan"), "hubness": float("nan")}
    order = np.argsort(sample_ids)
    rows = order[np.searchsorted(sample_ids, near, sorter=order)]
    voted = labels[rows]  # [n, 10]
    same = voted[:, :, None] == voted[:, None, :]
    winner = voted[np.arange(len(voted)), same.sum(2).argmax(1)]  # ties go to the nearest
    times = np.bincount(rows.ravel(), minlength=len(labels))[searched(labels, retrieval.r)].astype(float)
    spread = times.std()
    skewness = float(((times - times.mean()) ** 3).mean() / spread**3) if spread else 0.0
    hub = float(times.max() * VOTERS / times.mean())  # as if the mean were ten, also where there are fewer
    return {"kNN@10": float((winner == labels)[counted].mean()), "hubness": skewness, "geometry/largest_hub": hub}


def _geometry(embeddings: np.ndarray, labels: np.ndarray) -> dict[str, float]:
    if np.abs(embeddings).max() > ROOMY:  # of a diverged run
        embeddings = embeddings.astype(np.float64)
    norms = np.linalg.norm(embeddings, axis=1, keepdims=True)
    known = (norms > 0).all()
    names = ("alignment", "uniformity", "covering_radius", "class_distance", "intra_cosine", "inter_cosine")
    numbers = {"geometry/effective_rank": effective_rank(embeddings)}
    if not known:  # a vector of length zero has no direction
        return numbers | {f"geometry/{name}": float("nan") for name in names}
    rows = sampled(labels)
    unit, classes = (embeddings / norms)[rows].astype(np.float64), labels[rows]
    apart = class_distances(unit, classes)
    between = ~np.eye(len(apart), dtype=bool)
    intra, inter = _cosines(unit, classes)
    values = (
        *alignment_uniformity(unit, classes), covering_radius(unit, classes),
        float(apart[between].mean()) if between.any() else float("nan"), intra, inter,
    )  # fmt: skip
    return numbers | {f"geometry/{name}": value for name, value in zip(names, values, strict=True)}


def sampled(labels: np.ndarray) -> np.ndarray:
    """Rows of at most CLASSES classes of `labels` [n], all or evenly thinned, about SAMPLED in total."""
    classes = rows_of_classes(labels)
    kept = [classes[number] for number in np.unique(np.linspace(0, len(classes) - 1, CLASSES).astype(int))]
    per_class = max(2, SAMPLED // len(kept))
    return np.concatenate([rows[np.unique(np.linspace(0, len(rows) - 1, per_class).astype(int))] for rows in kept])


def _cosines(unit: np.ndarray, classes: np.ndarray) -> tuple[float, float]:
    """Mean cosine of pairs within classes and between classes; from sums of vectors, without all pairs."""
    _, numbers, counts = np.unique(classes, return_inverse=True, return_counts=True)
    sums = np.zeros((len(counts), unit.shape[1]))
    np.add.at(sums, numbers, unit)
    within, whole = (sums**2).sum() - len(unit), (unit.sum(0) ** 2).sum() - len(unit)
    pairs, all_pairs = float((counts * (counts - 1)).sum()), float(len(unit) * (len(unit) - 1))
    intra = within / pairs if pairs else float("nan")
    inter = (whole - within) / (all_pairs - pairs) if all_pairs > pairs else float("nan")
    return float(intra), float(inter)
