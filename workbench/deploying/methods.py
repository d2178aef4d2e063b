"""What a method of search does: expansion.py and reciprocal.py have them."""

from collections.abc import Iterator
from typing import Protocol

import numpy as np

from workbench.evaluation.conventions import Between


class Method(Protocol):
    """How a store is searched."""

    def rankings(
        self, queries: np.ndarray, own: np.ndarray | None, depth: int, between: Between
    ) -> Iterator[tuple[slice, np.ndarray]]:
        """As `ranking.nearest`: neither the own row of a query [m, d] nor its embedding there is used."""

    def search(self, queries: np.ndarray, depth: int) -> np.ndarray:
        """Gallery rows [m, depth] of queries [m, d] from outside the gallery."""
