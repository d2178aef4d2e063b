"""Queries that are better or worse in the other group, as points and as a table; a row opens its query on Retrieval."""

from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import QSignalBlocker, QSize, Qt, Signal
from PySide6.QtWidgets import QComboBox, QSplitter, QWidget

from workbench.comparing.comparison_text import queries_told, seed_title
from workbench.comparing.queries.overlap import PairOfRuns
from workbench.comparing.queries.pairing import Comparison
from workbench.ui.pages.compare.model.reading import Named
from workbench.ui.pages.compare.queries.open_buttons import OpenButtons
from workbench.ui.pages.compare.queries.query_neighbours import NOT_KEPT, AskedQuery, QueryNeighbours
from workbench.ui.pages.compare.queries.query_plot import QueryPlot
from workbench.ui.pages.compare.queries.query_rows import ALL, BETTER, SAME, THUMBNAIL, WORSE, QueryRows
from workbench.ui.pages.compare.style.word_table import fit_columns, table_view
from workbench.ui.state.session import Session
from workbench.ui.widgets.boxes import in_column, in_row
from workbench.ui.widgets.images.pictures import PictureLoader
from workbench.ui.widgets.labels import label
from workbench.ui.widgets.scrolled import Scrolled
from workbench.ui.widgets.tables.table_actions import TableActions

SHARES = (1, 2)  # of the width beyond the least: points and table


class QueryDifferences(QWidget):
    """The Queries tab. `opened` (run, sample id) asks to show the query in that run."""

    opened = Signal(int, object)

    def __init__(self, session: Session, loader: PictureLoader, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._named: Named = {}
        self._paired: dict[tuple[int, int], PairOfRuns] = {}  # by both runs
        self._same: np.ndarray | None = None  # queries of the clicked point
        self.model = QueryRows(loader, self)
        self.kind = QComboBox()
        self.kind.addItems([ALL, BETTER, WORSE])
        self.kind.setAccessibleName("Which queries are listed")
        self.count = label("", "muted", wrap=True)
        self.table = table_view(self.model, "Queries with their difference")
        TableActions(session.fulfil, self.table, "queries.csv", self.model.unwritten)
        self.table.setIconSize(QSize(THUMBNAIL, THUMBNAIL))
        self.table.verticalHeader().setDefaultSectionSize(THUMBNAIL + 6)
        self.table.setToolTip(
            "Click to show its neighbours in both groups below; double-click to open it in a run of the other group"
        )
        self.hint = label("", "muted", wrap=True)
        self.openers = OpenButtons(self.table)
        self.plot = QueryPlot()
        self.plot.setToolTip(
            "Each point is a query, or several with the same scores; above the diagonal the other group is better. "
            "Click a point to list its queries"
        )
        self.sides = QSplitter(Qt.Orientation.Horizontal)
        self.sides.setObjectName("compare-queries")
        self.sides.setChildrenCollapsible(False)
        head = in_row(self.kind, (self.openers, 1))
        self.near = QueryNeighbours(session, loader)
        inside = QWidget()
        in_column((Scrolled(inside), 1), on=self)
        in_column(head, self.count, self.hint, (self.sides, 1), self.near, 0, on=inside, margins=8)
        for side, share in zip((self.plot, self.table), SHARES, strict=True):
            self.sides.addWidget(side)
            self.sides.setStretchFactor(self.sides.count() - 1, share)
        self.plot.picked.connect(self._choose)
        self.plot.wished.connect(session.fulfil)
        self.table.selectionModel().currentChanged.connect(self._ring)
        self.kind.currentTextChanged.connect(self._filter)
        self.openers.asked.connect(self._open)
        self.near.opened.connect(self.opened)
        self.show_comparison(None, {}, "")

    def show_comparison(
        self,
        comparison: Comparison | None,
        named: Named,
        hint: str,
        paired: Sequence[PairOfRuns] = (),
        called: str = "",
    ) -> None:
        """Show other queries, or a hint if there are none.

        Args:
            named: class and path of each sample id.
            paired: the runs whose neighbours are stored.
            called: what the page calls the second group; by default its title.
        """
        self._named = named
        self._paired = {(pair.first_run, pair.second_run): pair for pair in paired}
        self._forget_point()
        self.model.show_comparison(comparison, named, self.kind.currentText())
        self.count.setVisible(comparison is not None)
        self.count.setText("" if comparison is None else queries_told(comparison, called))
        self.hint.setText(hint)
        self.hint.setVisible(bool(hint))
        for widget in (self.kind, self.openers):
            widget.setVisible(not hint)
        self.table.setVisible(not hint)
        self.sides.setVisible(not hint)
        self.plot.show_comparison(comparison)
        self.kind.setEnabled(not hint)
        fit_columns(self.table)
        self.openers.check()
        self._show_near(None)

    def _filter(self) -> None:
        self.model.show_comparison(self.model.comparison, self._named, self.kind.currentText(), self._same)
        self.openers.check()
        self._ring()

    def _forget_point(self) -> None:
        if (at := self.kind.findText(SAME)) >= 0:
            self._same = None
            with QSignalBlocker(self.kind):  # what is listed next is up to the caller
                self.kind.removeItem(at)
                self.kind.setCurrentText(ALL)

    def _choose(self, queries: np.ndarray) -> None:
        """List the queries of a clicked point; a single one is shown among the others, or among all."""
        query = int(queries[0])
        if len(queries) > 1:
            self._same = queries
            if self.kind.findText(SAME) < 0:
                self.kind.addItem(SAME)
            self.kind.setCurrentText(SAME)
            self._filter()  # also where it was another point before
            query = self.model.rows[0]  # in the order of the table
        elif query not in self.model.rows:
            self.kind.setCurrentText(ALL)
        self.table.setCurrentIndex(self.model.index(self.model.rows.index(query), 0))

    def _ring(self) -> None:
        row = self.model.row(self.table.currentIndex().row())
        self.plot.ring(row)
        self._show_near(row)

    def _show_near(self, row: int | None) -> None:
        """Show the neighbours of the query in this row of the comparison, in the first two runs that have it."""
        comparison = self.model.comparison
        if row is None or comparison is None or comparison.queries is None:
            self.near.show_query(None)
            return
        sample_id = int(comparison.queries.sample_ids[row])
        runs = comparison.queries.paired[int(comparison.queries.seen[row])]
        pair = self._paired.get(runs)
        if pair is None:
            self.near.show_query(None, why=NOT_KEPT)
            return
        seeds = {(seed.first_run, seed.second_run): seed_title(seed.seed, seed.fold) for seed in comparison.seeds}
        asked = AskedQuery(sample_id, pair, seeds[runs], (comparison.first.title, comparison.second.title))
        self.near.show_query(asked, self._named.get(sample_id, ("", str(sample_id))))

    def _open(self, side: int) -> None:
        row, comparison = self.model.row(self.table.currentIndex().row()), self.model.comparison
        if row is None or comparison is None or comparison.queries is None:
            return
        pair = comparison.queries.paired[int(comparison.queries.seen[row])]
        self.opened.emit(pair[side], int(comparison.queries.sample_ids[row]))
