"""Names of the clusters of a selection: the class that most images have, and how many have it. No Qt."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from workbench.projection.islands import clusters
from workbench.ui.pages.map.map_data import MapData
from workbench.ui.words import counted, percent

MOST = 6  # clusters that are named; of more, the largest


@dataclass(frozen=True, slots=True)
class Cluster:
    """A group of points that lie together on the map."""

    name: str  # of the majority class; of two equally large ones, the first
    purity: float  # share of its images that are of this class, in 0..1
    images: int


def named_clusters(data: MapData, selected: np.ndarray) -> list[Cluster]:
    """The clusters of the selected points (bool [n]), the largest first; points without coordinates are in none."""
    rows = np.flatnonzero(selected)
    points = data.points if data.space is None else data.space.points
    numbers = clusters(points[rows], points)
    named = []
    for number in range(int(numbers.max(initial=-1)) + 1):
        labels, counts = np.unique(data.labels[rows[numbers == number]], return_counts=True)
        majority, images = int(counts.argmax()), int(counts.sum())
        named.append(Cluster(data.class_name(int(labels[majority])), float(counts[majority] / images), images))
    return named


def words_of(named: Sequence[Cluster]) -> str:
    """A line for each cluster, the majority class with its share; empty for fewer than two images."""
    if sum(cluster.images for cluster in named) < 2:
        return ""
    lines = [f"{counted(len(named), 'cluster')} on the map, by majority class:"]
    lines += [
        f"{cluster.name}: {percent(cluster.purity)} % of {counted(cluster.images, 'image')}" for cluster in named[:MOST]
    ]
    if len(named) > MOST:
        lines.append(f"and {len(named) - MOST:,} smaller")
    return "\n".join(lines)
