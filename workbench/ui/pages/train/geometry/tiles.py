"""The tiles of the Geometry tab: six numbers of the shown evaluation, and how each went over the epochs."""

import numpy as np
from PySide6.QtWidgets import QWidget

from workbench.colours import OKABE_ITO
from workbench.numerals import significant
from workbench.results.geometry_watch import Watched
from workbench.ui.style.theme import SERIES
from workbench.ui.style.words import percent
from workbench.ui.widgets.boxes import in_row
from workbench.ui.widgets.numbers.tile import Tile


class GeometryTiles(QWidget):
    """MAP@R, effective rank, mean norm, margin to the nearest foreign image, overlap and largest hub."""

    def __init__(self) -> None:
        super().__init__()
        self.score, self.rank = Tile("MAP@R", SERIES["MAP@R"]), Tile("Effective rank", OKABE_ITO[1])
        self.norm, self.margin = Tile("Mean norm", OKABE_ITO[2]), Tile("Nearest other class", OKABE_ITO[4])
        self.overlap, self.hub = Tile("Overlap", OKABE_ITO[3]), Tile("Largest hub", OKABE_ITO[0])
        self.margin.setToolTip(
            "Median cosine to the nearest image of the same class minus that to the nearest of another"
        )
        self.hub.setToolTip("How many lists of ten neighbours contain the most frequent image; the mean is 10")
        in_row(
            *((tile, 1) for tile in (self.score, self.rank, self.norm, self.margin, self.overlap, self.hub)),
            on=self, spacing=8,
        )  # fmt: skip

    def show_watched(self, watched: Watched, at: int) -> None:
        """Show the evaluation in place `at` of those of a run, which are in order."""
        evaluations, looks, scores = watched.evaluations, watched.looks, np.array(watched.scores)
        shown = percent(float(scores[at])) if np.isfinite(scores[at]) else ""
        self.score.show_number(shown, "%", f"epoch {evaluations[at].epoch}")
        self.score.show_curve(scores)
        for tile, name, unit, below in (
            (self.rank, "spectral_rank", f"of {looks[at].numbers['dimensions']:.0f}", ""),
            (self.norm, "mean_norm", "", ""),
            (self.margin, "foreign_margin", "", "cosine, same − other"),
            (self.overlap, "overlap", "%", "of the two similarities"),
            (self.hub, "largest_hub", "times", "in lists of 10"),
        ):
            values = np.array([seen.numbers[name] for seen in looks]) * (100 if unit == "%" else 1)
            before = f"was {_short(values[0])} at epoch {evaluations[0].epoch}" if at else ""
            tile.show_number(_short(values[at]), unit, below or before)
            tile.show_curve(values)


def _short(value: float) -> str:
    """A number in three digits; nothing for one that is not known."""
    return significant(value) if np.isfinite(value) else ""
