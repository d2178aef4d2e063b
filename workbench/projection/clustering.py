"""Agreement of clusters with classes. In the analysis process only: scikit-learn brings its own OpenMP runtime."""

import numpy as np
from sklearn.cluster import KMeans
from sklearn.metrics import normalized_mutual_info_score

from workbench.problem import Problem
from workbench.projection.vectors import prepared


def nmi(embeddings: np.ndarray, labels: np.ndarray, metric: str = "cosine", seed: int = 0) -> float:
    """Normalised mutual information, in 0..1 with the arithmetic mean, of k-means clusters and classes.

    Args:
        embeddings: [n, d] finite; brought to unit length for "cosine".
        labels: [n] int; k is the number of distinct ones.
        seed: of the k-means++ start; one start, as is usual in metric learning.

    Raises:
        Problem: as vectors.prepared, or lengths that differ.
    """
    vectors, labels = prepared(embeddings, metric), np.asarray(labels)
    if labels.shape != (len(vectors),):
        raise Problem(f"There are {len(vectors):,} embeddings but {labels.size:,} labels.")
    classes = min(len(np.unique(labels)), len(np.unique(vectors, axis=0)))  # k-means cannot split copies
    clusters = KMeans(n_clusters=classes, n_init=1, random_state=seed).fit_predict(vectors)
    return float(normalized_mutual_info_score(labels, clusters, average_method="arithmetic"))
