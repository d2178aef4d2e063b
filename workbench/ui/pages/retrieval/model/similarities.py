"""The similarity of each query's nearest neighbour, with histograms of the right and the wrong neighbours."""

from dataclasses import dataclass
from math import ceil, floor

import numpy as np

from workbench.progress import Progress
from workbench.workspace import Workspace
from workbench.workspace.measured.ranking import read_nearest_similarities
from workbench.workspace.rows import Queries

BINS = 40
STEP, DECIMALS = 0.01, 2  # the ends of the histograms are multiples of it

Range = tuple[float, float]  # lowest and highest similarity, both included


@dataclass(frozen=True, slots=True, eq=False)
class Similarities:
    """Similarities of the nearest neighbours of an evaluation's queries, with their histograms.

    Attributes:
        nearest: [n] float64, cosine or minus the distance, in the order of the queries; NaN for images that are not
            queries.
        edges: [BINS + 1], ascending.
        right: [BINS], number of queries whose nearest neighbour is of their class.
        wrong: [BINS], number of the other queries.
    """

    nearest: np.ndarray
    edges: np.ndarray
    right: np.ndarray
    wrong: np.ndarray

    @property
    def ends(self) -> Range:
        """The whole range of the histograms."""
        return float(self.edges[0]), float(self.edges[-1])

    def within(self, limits: Range) -> np.ndarray:
        """Bool [n]: queries whose nearest neighbour has a similarity within the limits, ends included."""
        low, high = limits
        return (self.nearest >= low) & (self.nearest <= high)


def similarities_of(queries: Queries, nearest: np.ndarray) -> Similarities:
    """The histograms of the queries that have at least one true neighbour.

    Args:
        nearest: [n] float64, similarity of the nearest neighbour of each of `queries`.
    """
    nearest = np.where(queries.r > 0, nearest, np.nan)
    known = np.isfinite(nearest)
    low, high = (float(nearest[known].min()), float(nearest[known].max())) if known.any() else (0.0, 1.0)
    low = round(floor(low / STEP) * STEP, DECIMALS)
    high = round(max(ceil(high / STEP) * STEP, low + STEP), DECIMALS)
    edges = np.linspace(low, high, BINS + 1)
    right, wrong = (np.histogram(nearest[known & of_kind], edges)[0] for of_kind in (queries.right, ~queries.right))
    return Similarities(nearest, edges, right, wrong)


def read_similarities(workspace: Workspace, evaluation_id: int, queries: Queries, progress: Progress) -> Similarities:
    """Read the similarities of an evaluation. Raises Problem as `read_nearest_similarities`."""
    sample_ids, nearest = read_nearest_similarities(workspace, evaluation_id)
    order = np.argsort(sample_ids)
    return similarities_of(queries, nearest[order[np.searchsorted(sample_ids, queries.sample_ids, sorter=order)]])
