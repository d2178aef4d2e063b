"""The list of queries with its filters, drawn from Browsing."""

from PySide6.QtCore import QItemSelectionModel, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import (
    QComboBox,
    QCompleter,
    QHeaderView,
    QListView,
    QTableView,
    QWidget,
)

from workbench.ui.pages.retrieval.model.browsing import Browsing
from workbench.ui.pages.retrieval.model.listing import AP, CLASS, FIRST_HIT, GAIN, Gains
from workbench.ui.pages.retrieval.queries.failure_filter import FailureFilter
from workbench.ui.pages.retrieval.queries.query_name import QueryName
from workbench.ui.pages.retrieval.queries.query_table import THUMBNAIL, QueryTable
from workbench.ui.pages.retrieval.queries.similarity_filter import SimilarityFilter
from workbench.ui.style.theme import Theme, caption_font, text_px
from workbench.ui.widgets.boxes import in_column, in_row
from workbench.ui.widgets.buttons import button
from workbench.ui.widgets.fields.segments import Segments
from workbench.ui.widgets.images.image_menu import offer_image_menu
from workbench.ui.widgets.images.pictures import PictureLoader
from workbench.ui.widgets.labels import label, plain_tip
from workbench.ui.widgets.tables.row_table import head_width, select_rows

WIDTH = 300  # px at 100% text
AROUND_NAME = 52  # px of a button around its text
DROP_CELL = "Press to list the queries of all values of the attribute again"
WIDEST_NUMBERS = ((AP, "100.0"), (FIRST_HIT, "99,999"), (GAIN, "−100.0"))  # column and widest text
ORDERED = (CLASS, AP, FIRST_HIT, GAIN)  # columns that the list can be sorted by
NUMBER_SIDE = 8  # px at each side of a number
EVERY_CLASS = "All classes"
NO_QUERY = "No query passes all of these filters."
NO_FAILURE = "No query failed."
EVERY, FAILED = "all", "failures"  # values of the choice of queries


class QueryList(QWidget):
    """Left side of the page: draws listing and filters of `browsing` and passes the user's choices to it."""

    selection_dropped = Signal()
    export_asked = Signal()

    def __init__(self, browsing: Browsing, loader: PictureLoader, saved: QWidget) -> None:
        super().__init__()
        self.browsing, self.saved = browsing, saved
        self._gains: Gains | None = None  # as they were last drawn
        self._marked = -1  # the row of the query, as it was last painted
        self.model = QueryTable(browsing.listing, loader, self)
        self._build()
        offer_image_menu(self.table, loader, lambda: browsing.query)  # a right click makes its row the query
        self._connect()

    def _build(self) -> None:
        self.which = Segments("Queries", [(EVERY, "All"), (FAILED, "Failures")])
        self.every, self.failures = self.which.buttons[EVERY], self.which.buttons[FAILED]
        self.failures.setToolTip("Queries whose nearest neighbour is of another class")
        self.classes = self._class_chooser()
        self.selected = button("", "x", "quiet")
        self.selected.setToolTip("Show all queries")
        self.selected.hide()
        self.group = button("", "x", "quiet")
        self.group.setToolTip("List the queries of classes of all sizes again")
        self.group.hide()
        self.cell = button("", "x", "quiet")
        self.cell.hide()
        self.count = label("", "caption")
        self.nothing = label(NO_QUERY, "muted", wrap=True)
        self.nothing.hide()
        self.export = button("Export CSV", "export", "quiet")
        self.table = self._query_table()
        self.why = FailureFilter(self.browsing)
        self.similarity = SimilarityFilter(self.browsing)
        self._column = in_column(
            in_row(self.which, 1, self.saved, spacing=8),
            in_row((self.classes, 1), (self.why.causes, 1), spacing=8),
            self.why,
            self.similarity,
            (self.selected, Qt.AlignmentFlag.AlignLeft),
            (self.group, Qt.AlignmentFlag.AlignLeft),
            (self.cell, Qt.AlignmentFlag.AlignLeft),
            self.nothing,
            (self.table, 1),
            in_row((self.count, 1), self.export),
            on=self,
            spacing=8,
        )

    def fit_text(self, theme: Theme) -> None:
        """Set the sizes of the parts for the current text size."""
        self.similarity.fit_text(theme)
        self._fit_columns()
        lines = self.table.fontMetrics().height() + QFontMetrics(caption_font(self.table.font())).height()
        self.table.verticalHeader().setDefaultSectionSize(max(THUMBNAIL, lines) + 6)

    def fit_room(self, theme: Theme, page: int) -> None:
        """Set the width for the current text size and the px of the page."""
        self.setFixedWidth(theme.side(WIDTH, page))

    def _fit_columns(self) -> None:
        """Give the numbers and their heads the width that they need, and the class names the rest."""
        header, letters = self.table.horizontalHeader(), self.table.fontMetrics()
        for column, widest in WIDEST_NUMBERS:
            number = letters.horizontalAdvance(widest) + 2 * NUMBER_SIDE
            self.table.setColumnWidth(column, max(number, head_width(header, column)))

    def show_above(self, part: QWidget) -> None:
        """Insert a widget between the filters and the list; it shares the height with the list."""
        self._column.insertWidget(self._column.indexOf(self.table), part, 1)

    @property
    def spare(self) -> int:
        """Height that is left when every part has its minimum, px; negative where they do not fit."""
        return self.height() - self._column.totalMinimumHeightForWidth(self.width())

    def _class_chooser(self) -> QComboBox:
        box = QComboBox()
        box.setEditable(True)
        box.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        box.setAccessibleName("Class of the queries: type to search")
        box.setToolTip("Only queries of this class: type to search")
        popup = box.view()
        if isinstance(popup, QListView):
            popup.setUniformItemSizes(True)
        completer = box.completer()
        if completer is not None:
            completer.setFilterMode(Qt.MatchFlag.MatchContains)
            completer.setCompletionMode(QCompleter.CompletionMode.PopupCompletion)
        return box

    def _query_table(self) -> QTableView:
        table = QTableView()
        table.setModel(self.model)
        select_rows(table, "Queries")
        table.setObjectName("retrieval-queries")
        table.setSortingEnabled(True)
        table.setIconSize(QSize(THUMBNAIL, THUMBNAIL))
        table.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        table.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        table.verticalHeader().setDefaultSectionSize(THUMBNAIL + 6)
        header = table.horizontalHeader()
        header.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        header.setSectionResizeMode(1, QHeaderView.ResizeMode.Stretch)
        table.setItemDelegateForColumn(CLASS, QueryName(table))
        table.setColumnWidth(0, THUMBNAIL + 6)
        header.setSortIndicator(AP, Qt.SortOrder.AscendingOrder)
        table.setColumnHidden(GAIN, True)
        return table

    def _connect(self) -> None:
        self.failures.toggled.connect(self._choose_failures)
        self.classes.activated.connect(self._choose_class)
        edit = self.classes.lineEdit()
        if edit is not None:
            edit.editingFinished.connect(self._take_typed_class)
        self.selected.clicked.connect(self.selection_dropped)
        self.group.clicked.connect(self._drop_group)
        self.cell.clicked.connect(self._drop_cell)
        self.export.clicked.connect(self.export_asked)
        self.table.selectionModel().currentRowChanged.connect(self._pick)
        self.model.sort_asked.connect(self._sort)

    def draw_evaluation(self) -> None:
        """Show the classes, the choices and the list of another evaluation."""
        self.classes.blockSignals(True)
        self.classes.clear()
        self.classes.addItems([EVERY_CLASS, *self.browsing.listing.names])
        self.classes.blockSignals(False)
        self.why.draw()
        self.draw_list()

    def draw_list(self) -> None:
        """Show other listed queries, or another order; the query stays marked."""
        listing, filters = self.browsing.listing, self.browsing.filters
        self.model.relist()
        self.model.explain(filters.explained)
        self._show_gains()
        self._draw_choices()
        self.similarity.draw()
        self.selected.setVisible(filters.narrowed_by_selection)
        self.selected.setText(f"{len(filters.selection):,} selected in the map")
        self.group.setVisible(filters.group is not None)
        self.group.setText("" if filters.group is None else filters.group.title.replace("&", "&&"))
        self._draw_cell()
        self.count.setText(f"{len(listing):,} of {listing.total:,} queries")
        self.nothing.setText(NO_FAILURE if filters.failures_only and not listing.failures else NO_QUERY)
        self.nothing.setVisible(listing.total > 0 and not len(listing))
        self.mark_query()

    def _show_gains(self) -> None:
        """Show what a method of search gains in place of the first hit, while one is compared with."""
        gains = self.browsing.listing.gains
        if gains is not self._gains:
            self._gains = gains
            self.model.show_gains()
        self.table.setColumnHidden(GAIN, gains is None)
        self.table.setColumnHidden(FIRST_HIT, gains is not None)

    def _draw_choices(self) -> None:
        """Show the model's failure filter, class and order, which a saved view may have changed."""
        listing, filters = self.browsing.listing, self.browsing.filters
        header = self.table.horizontalHeader()
        for widget in (self.failures, self.classes, header):
            widget.blockSignals(True)
        self.which.set_value(FAILED if filters.failures_only else EVERY)
        self.every.setText(f"All {listing.total:,}")
        self.failures.setText(f"Failures {listing.failures:,}")
        at = 1 + listing.labels.index(filters.label) if filters.label in listing.labels else 0
        if at != self.classes.currentIndex():  # the user may be typing
            self.classes.setCurrentIndex(at)
        order = Qt.SortOrder.DescendingOrder if listing.descending else Qt.SortOrder.AscendingOrder
        known = listing.column != GAIN or listing.gains is not None
        header.setSortIndicator(listing.column if known else AP, order if known else Qt.SortOrder.AscendingOrder)
        for widget in (self.failures, self.classes, header):
            widget.blockSignals(False)

    def mark_query(self) -> None:
        """Mark the query in the list if it is listed."""
        position = self.browsing.listing.position_of(self.browsing.query)
        chosen = self.table.selectionModel()
        chosen.blockSignals(True)
        if position < 0:
            chosen.clear()
        else:
            flags = QItemSelectionModel.SelectionFlag.ClearAndSelect | QItemSelectionModel.SelectionFlag.Rows
            chosen.setCurrentIndex(self.model.index(position, 1), flags)
            self.table.scrollTo(self.model.index(position, 1))
        chosen.blockSignals(False)
        for row in {self._marked, position}:  # not all rows: a failed query has three texts to lay out
            self._repaint(row)
        self._marked = position

    def _repaint(self, row: int) -> None:
        """Paint a row of the list again, where it is seen."""
        if row >= 0:
            viewport = self.table.viewport()
            viewport.update(0, self.table.rowViewportPosition(row), viewport.width(), self.table.rowHeight(row))

    def _drop_group(self) -> None:
        self.browsing.choose_filters(group=None)

    def _draw_cell(self) -> None:
        """Name the cell of an attribute's matrix whose queries are listed; values may be long."""
        cell = self.browsing.filters.cell
        title = "" if cell is None else cell.title
        room = self.width() - text_px(AROUND_NAME)
        shown = self.cell.fontMetrics().elidedText(title, Qt.TextElideMode.ElideMiddle, room)
        self.cell.setText(shown.replace("&", "&&"))
        self.cell.setToolTip(plain_tip(f"{title}\n{DROP_CELL}"))
        self.cell.setVisible(cell is not None)

    def _drop_cell(self) -> None:
        self.browsing.choose_filters(cell=None)

    def _choose_failures(self, failures_only: bool) -> None:
        self.browsing.choose_filters(failures_only=failures_only)

    def _choose_class(self, position: int) -> None:
        self.browsing.choose_filters(label=self.browsing.listing.labels[position - 1] if position > 0 else None)

    def _take_typed_class(self) -> None:
        """Choose the class that was typed, or the only one with that text in its name; other text changes nothing."""
        text = self.classes.currentText()
        typed = self.classes.findText(text, Qt.MatchFlag.MatchFixedString)
        if typed < 0:
            part = text.casefold()
            rows = [row for row in range(self.classes.count()) if part in self.classes.itemText(row).casefold()]
            typed = rows[0] if len(rows) == 1 else -1
        if typed >= 0 and typed != self.classes.currentIndex():
            self.classes.setCurrentIndex(typed)
            self._choose_class(typed)
        self.classes.setEditText(self.classes.itemText(self.classes.currentIndex()))

    def _sort(self, column: int, descending: bool) -> None:
        if column in ORDERED:
            self.browsing.sort(column, descending=descending)
        else:
            self._draw_choices()  # pictures have no order: the head shows the list's own again

    def _pick(self) -> None:
        sample_id = self.browsing.listing.sample_id(self.table.currentIndex().row())
        if sample_id is not None:
            self.browsing.choose(sample_id)
