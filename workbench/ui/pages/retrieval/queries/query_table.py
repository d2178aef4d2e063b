"""The listed queries as a Qt table: draws a Listing and requests the pictures of visible rows."""

from typing import Any

import numpy as np
from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal

from workbench.numerals import minus, percentage, signed
from workbench.results.explanations import Explanation, FailedQueries
from workbench.ui.models.sorted_rows import NUMBER, WORDS
from workbench.ui.pages.retrieval.model.cause_names import TITLES as CAUSES
from workbench.ui.pages.retrieval.model.cause_names import WORDS as CAUSE_WORDS
from workbench.ui.pages.retrieval.model.listing import CLASS, GAIN, Listing
from workbench.ui.style.words import NO_VALUE, percent
from workbench.ui.widgets.images.pictures import PictureLoader
from workbench.ui.widgets.labels import plain_tip

TITLES = ("", "Class", "AP %", "Hit", "Δ AP")
TIPS = (
    "The query",
    "Class of the query",
    "Average precision at R, in percent; higher is better",
    "Rank of the first neighbour of its class; lower is better",
    "What the search method adds to AP, in points: those that gain or lose most come first",
)
THUMBNAIL = 36  # px
AHEAD = 40  # rows below a visible one whose pictures are loaded, too
PLACE = "query list"
TAKEN_ROLE, CAUSE_ROLE = Qt.ItemDataRole.UserRole, Qt.ItemDataRole.UserRole + 1  # of a failed query: class, word
Index = QModelIndex | QPersistentModelIndex


class QueryTable(QAbstractTableModel):
    """One row for each listed query; call `relist` after the listing has changed."""

    sort_asked = Signal(int, bool)  # column, whether descending

    def __init__(self, listing: Listing, loader: PictureLoader, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.listing, self._loader = listing, loader
        self._count = len(listing)
        self._listed = listing.sample_ids
        self._explained: FailedQueries | None = None
        self._asked: dict[int, Explanation | None] = {}  # by sample id: a row is painted and asked about many times
        loader.ready.connect(self._pictures_came)

    def relist(self) -> None:
        """Show the listing again, if its queries or their order have changed."""
        if self.listing.sample_ids is self._listed:
            return
        self.beginResetModel()
        self._listed, self._count = self.listing.sample_ids, len(self.listing)
        self.endResetModel()

    def explain(self, explained: FailedQueries | None) -> None:
        """Say of failed queries what they were taken for, and why; None: it is not known."""
        if explained is not self._explained:
            self._explained = explained
            self._asked.clear()
            if self._count:
                self.dataChanged.emit(self.index(0, CLASS), self.index(self._count - 1, CLASS))

    def show_gains(self) -> None:
        """Show again what a method of search adds to each query, after it has changed."""
        if self._count:
            self.dataChanged.emit(self.index(0, GAIN), self.index(self._count - 1, GAIN))

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Emit `sort_asked` with the column and whether descending; this model itself is not reordered."""
        self.sort_asked.emit(column, order == Qt.SortOrder.DescendingOrder)

    def rowCount(self, parent: Index = QModelIndex()) -> int:
        return 0 if parent.isValid() else self._count

    def columnCount(self, parent: Index = QModelIndex()) -> int:
        return 0 if parent.isValid() else len(TITLES)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Thumbnail, text, alignment or tooltip of a cell; None for other roles."""
        if not index.isValid():
            return None
        row, column = index.row(), index.column()
        match role:
            case Qt.ItemDataRole.DecorationRole if column == 0:
                return self._picture(row)
            case Qt.ItemDataRole.TextAlignmentRole if column > 1:
                return NUMBER
            case Qt.ItemDataRole.DisplayRole:
                return self._words(row)[column]
            case Qt.ItemDataRole.AccessibleTextRole:
                _, _, _, first_hit, gain = self._words(row)
                of_method = "" if self.listing.gains is None else f", by the method {gain} points of AP"
                said = f"{self._said(row)}, AP {percentage(self.listing.query(row).ap)}, first hit {first_hit}"
                return said + of_method
            case Qt.ItemDataRole.ToolTipRole:
                absent = self._loader.absent(self.listing.query(row).sample_id) if column == 0 else ""
                return plain_tip(absent or self._said(row))
            case _ if role == TAKEN_ROLE:
                return "" if (about := self._about(row)) is None else about.nearest_class
            case _ if role == CAUSE_ROLE:
                return "" if (about := self._about(row)) is None else CAUSE_WORDS[about.cause]
        return None

    def _about(self, row: int) -> Explanation | None:
        """Why the query of a row failed; None if it did not, or while that is not known."""
        if self._explained is None:
            return None
        sample_id = int(self.listing.sample_ids[row])
        if sample_id not in self._asked:
            self._asked[sample_id] = self._explained.about(sample_id)
        return self._asked[sample_id]

    def _said(self, row: int) -> str:
        """The class of a query, and what it was taken for and why if it failed."""
        name, about = self.listing.query(row).class_name, self._about(row)
        return name if about is None else f"{name}, taken for {about.nearest_class}: {CAUSES[about.cause]}"

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation == Qt.Orientation.Horizontal:
            if role == Qt.ItemDataRole.DisplayRole:
                return TITLES[section]
            if role == Qt.ItemDataRole.ToolTipRole:
                return TIPS[section]
            if role == Qt.ItemDataRole.TextAlignmentRole:
                return NUMBER if section > 1 else WORDS
        return super().headerData(section, orientation, role)

    def _words(self, row: int) -> tuple[str, str, str, str, str]:
        query = self.listing.query(row)
        hit = f"{query.first_hit:,}" if query.first_hit else NO_VALUE
        gain = NO_VALUE if query.gain is None else minus(signed(100 * query.gain, ".1f"))
        return "", query.class_name, percent(query.ap), hit, gain

    def _picture(self, row: int) -> Any:
        ids = self.listing.sample_ids
        sample_id = int(ids[row])
        picture = self._loader.pixmap(sample_id, THUMBNAIL)
        if picture is None and not self._loader.absent(sample_id):
            self._loader.request(PLACE, ids[max(0, row - AHEAD // 2) : row + AHEAD].tolist(), THUMBNAIL)
        return picture

    def _pictures_came(self, sample_ids: set[int]) -> None:
        rows = np.flatnonzero(np.isin(self.listing.sample_ids, list(sample_ids)))
        if len(rows):
            first, last = self.index(int(rows[0]), 0), self.index(int(rows[-1]), 0)
            self.dataChanged.emit(first, last, [Qt.ItemDataRole.DecorationRole, Qt.ItemDataRole.ToolTipRole])
