"""The picture of the Similarity tab: a row and a column for each group."""

from collections.abc import Sequence
from math import isfinite

from workbench.comparing.queries.similarity import Similarity
from workbench.comparing.settings_space import Cell, HeatMap
from workbench.ui.pages.compare.settings.heat_map import HeatMapPlot
from workbench.ui.plots.painted_plot import Rows

CKA, NEIGHBOURS = "CKA", "same neighbours %"


class SimilarityPlot(HeatMapPlot):
    """A cell is the mean over the pairs of runs of two groups, n of them; an empty one has no pair."""

    def __init__(self) -> None:
        super().__init__()
        self.retitle("Similarity of embeddings")

    def show_similarity(self, of_groups: Similarity, names: Sequence[str], value: str) -> None:
        """Show CKA or the share of neighbours of all pairs.

        Args:
            names: of the groups, in the order of `of_groups.titles`.
            value: CKA or NEIGHBOURS.
        """
        numbers = {
            place: (similar.cka if value == CKA else 100 * similar.neighbours, similar.pairs)
            for place, similar in of_groups.cells.items()
        }
        cells = {place: Cell(mean, pairs, 1) for place, (mean, pairs) in numbers.items() if isfinite(mean)}
        self.show_map(HeatMap("", "", tuple(names), tuple(names), cells), value)
        self.retitle(f"Similarity of embeddings, {value}: n pairs of runs")

    def limits(self, means: Sequence[float]) -> tuple[float, float]:
        """Those of the number itself: nearly equal cells look equal, whatever else is ticked."""
        return 0.0, 1.0 if self._metric == CKA else 100.0

    def written(self, mean: float) -> str:
        """CKA with two decimals, a percentage with one."""
        return f"{mean:z.2f}" if self._metric == CKA else f"{mean:.1f}"

    def rows(self) -> Rows:
        """The cells as a table with a head: two groups, mean and number of pairs of runs."""
        head, *cells = super().rows()
        return [["group", "other group", head[2], "pairs"], *(cell[:4] for cell in cells)]
