"""Names of the clusters of a selection: the class that most images have, and how many have it. No Qt."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from workbench.numerals import percentage
from workbench.projection.islands import clusters_in
from workbench.ui.pages.map.model.map_data import MapData
from workbench.ui.style.words import counted

MOST = 6  # clusters that are named; of more, the largest
FEW = 20  # images of a cluster are counted by class, unless they are fewer than one for this many classes: then sorted


@dataclass(frozen=True, slots=True)
class Cluster:
    """A group of points that lie together on the map."""

    name: str  # of the majority class; of two equally large ones, the first
    purity: float  # share of its images that are of this class, in 0..1
    images: int


def named_clusters(data: MapData, selected: np.ndarray) -> list[Cluster]:
    """The clusters of the selected points (bool [n]), the largest first; points without coordinates are in none."""
    rows, classes, cells = np.flatnonzero(selected), data.numbered, data.cells
    numbers, group = clusters_in(cells.number[rows], cells.shape), classes.of[rows]
    named = []
    for members in _by_number(numbers, group):
        counts = np.bincount(members) if FEW * len(members) > len(classes.labels) else None
        present, times = np.unique(members, return_counts=True) if counts is None else (np.arange(len(counts)), counts)
        majority = int(times.argmax())
        name = classes.names[int(present[majority])]
        named.append(Cluster(name, float(times[majority] / len(members)), len(members)))
    return named


def _by_number(numbers: np.ndarray, values: np.ndarray) -> list[np.ndarray]:
    """The values [n] of each number from 0 on, in lists; those of -1 are left out."""
    if not len(numbers) or numbers.max() < 0:
        return []
    if not numbers.any():
        return [values]
    order = np.argsort(numbers.astype(np.int16), kind="stable")  # few numbers are sorted in linear time
    ends = np.cumsum(np.bincount(numbers + 1))
    return np.split(values[order], ends[:-1])[1:]


def words_of(named: Sequence[Cluster]) -> str:
    """A line for each cluster, the majority class with its share; empty for fewer than two images."""
    if sum(cluster.images for cluster in named) < 2:
        return ""
    lines = [f"{counted(len(named), 'cluster')} on the map, by majority class:"]
    lines += [
        f"{cluster.name}: {percentage(cluster.purity)} of {counted(cluster.images, 'image')}"
        for cluster in named[:MOST]
    ]
    if len(named) > MOST:
        lines.append(f"and {len(named) - MOST:,} smaller")
    return "\n".join(lines)
