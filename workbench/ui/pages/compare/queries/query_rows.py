"""The queries of two groups as rows of a table: all, better or worse ones, or those of a point."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtGui import QPixmap
from PySide6.QtWidgets import QWidget

from workbench.comparing.comparison_text import number
from workbench.comparing.queries.pairing import Comparison
from workbench.ui.models.sorted_rows import SortedRows, lines_of
from workbench.ui.pages.compare.model.reading import Named
from workbench.ui.widgets.images.pictures import PictureLoader
from workbench.ui.widgets.labels import plain_tip

THUMBNAIL, AHEAD = 36, 40  # px of a picture; rows before and after a visible one whose pictures are loaded, too
PLACE = "compared queries"
ALL, BETTER, WORSE = "All queries", "Better than the baseline", "Worse than the baseline"
SAME = "With the same two scores"  # offered once a point with several queries was clicked
TITLES = ("Query", "Class", "Baseline % ↑", "Other % ↑", "Δ points", "Pairs n")


class QueryRows(SortedRows):
    """The queries of a comparison; only visible rows are formatted."""

    def __init__(self, loader: PictureLoader, parent: QWidget | None = None) -> None:
        super().__init__(TITLES, self._cells_of, self._words_of, parent, picture=self._thumbnail)
        self._loader = loader
        self.comparison: Comparison | None = None
        self._named: Named = {}
        loader.ready.connect(self.pictures_came)

    def show_comparison(
        self, comparison: Comparison | None, named: Named, kind: str, same: np.ndarray | None = None
    ) -> None:
        """Show queries.

        Args:
            named: class and path of each sample id.
            kind: `ALL`, `BETTER`, `WORSE` or `SAME`.
            same: the rows of `SAME`, [n].
        """
        self.comparison, self._named = comparison, named
        queries = None if comparison is None else comparison.queries
        rows = np.empty(0, np.int64) if queries is None else np.arange(len(queries.difference))
        if queries is not None and kind == BETTER:
            rows = np.flatnonzero(queries.difference > 0)[::-1]
        elif queries is not None and kind == WORSE:
            rows = np.flatnonzero(queries.difference < 0)
        elif kind == SAME and same is not None:
            rows = same
        self.show(rows.tolist())

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if role == Qt.ItemDataRole.ToolTipRole and orientation == Qt.Orientation.Horizontal:
            if section in (2, 3) and self.comparison is not None:
                return plain_tip((self.comparison.first if section == 2 else self.comparison.second).title)
            return self.titles[section]
        return super().headerData(section, orientation, role)

    def unwritten(self) -> Callable[[], list[str]]:
        """What writes the lines of the rows as they are now, on any thread: there may be very many."""
        if self.comparison is None:
            return super().unwritten()
        values, words = partial(_values, self.comparison, self._named), partial(_in_words, self.comparison)
        return partial(lines_of, self.titles, list(self.rows), values, words)

    def _cells_of(self, row: int) -> tuple[Any, ...]:
        assert self.comparison is not None  # there are rows
        return _values(self.comparison, self._named, row)

    def _words_of(self, column: int, value: Any) -> str:
        assert self.comparison is not None  # there are rows
        return _in_words(self.comparison, column, value)

    def _thumbnail(self, row: int) -> QPixmap | None:
        assert self.comparison is not None  # there are rows
        assert self.comparison.queries is not None
        ids = self.comparison.queries.sample_ids
        sample_id = int(ids[row])
        picture = self._loader.pixmap(sample_id, THUMBNAIL)
        if picture is None and not self._loader.absent(sample_id):
            self._loader.request(PLACE, ids[max(0, row - AHEAD) : row + AHEAD].tolist(), THUMBNAIL)
        return picture


def _values(comparison: Comparison, named: Named, row: int) -> tuple[Any, ...]:
    queries = comparison.queries
    assert queries is not None  # there are rows
    class_name, path = named.get(int(queries.sample_ids[row]), ("", str(queries.sample_ids[row])))
    scores = (queries.first[row], queries.second[row], queries.difference[row])
    return path, class_name, *map(float, scores), int(queries.runs[row])


def _in_words(comparison: Comparison, column: int, value: Any) -> str:
    return number(value, comparison.metric, signed=column == 4) if isinstance(value, float) else str(value)
