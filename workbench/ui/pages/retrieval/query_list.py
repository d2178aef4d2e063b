"""The list of queries with its filters: worst first, failures only, one class, or what is selected in the map."""

import numpy as np
from PySide6.QtCore import QItemSelectionModel, QSize, Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QCompleter,
    QHBoxLayout,
    QHeaderView,
    QListView,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from workbench.ui.models.query_table import THUMBNAIL, QueryTable
from workbench.ui.pages.retrieval.failure_filter import FailureFilter
from workbench.ui.theme import Theme
from workbench.ui.widgets.buttons import button
from workbench.ui.widgets.labels import label
from workbench.workspace import Workspace
from workbench.workspace.query_listing import Filter

WIDTH = 300  # px at 100% text, as the columns:
NUMBERS = ((2, 64), (3, 76))
EVERY_CLASS = "All classes"


class QueryList(QWidget):
    """Left side of the page. `chosen` says the query that the person picked."""

    chosen = Signal(object)  # sample id
    selection_dropped = Signal()
    export_asked = Signal()

    def __init__(self, model: QueryTable, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.model = model
        self._workspace: Workspace | None = None
        self._evaluation_id: int | None = None
        self._samples: tuple[int, ...] | None = None
        self._current: int | None = None  # sample id of the marked query
        self._build()
        self._connect()

    def _build(self) -> None:
        self.failures = QCheckBox("Failures only")
        self.failures.setToolTip("Queries whose nearest neighbour is of another class")
        self.classes = self._class_chooser()
        self.selected = button("", "x", "quiet")
        self.selected.setToolTip("List all queries again")
        self.selected.hide()
        self.count = label("", "caption")
        self.nothing = label("No query passes all of these filters.", "muted", wrap=True)
        self.nothing.hide()
        self.export = button("Export CSV", "export", "quiet")
        self.table = self._query_table()
        self.why = FailureFilter()
        filters = QHBoxLayout()
        filters.setSpacing(8)
        filters.addWidget(self.failures)
        filters.addWidget(self.classes, 1)
        foot = QHBoxLayout()
        foot.addWidget(self.count, 1)
        foot.addWidget(self.export)
        rows = QVBoxLayout(self)
        rows.setContentsMargins(0, 0, 0, 0)
        rows.setSpacing(8)
        rows.addLayout(filters)
        rows.addWidget(self.why)
        rows.addWidget(self.selected, 0, Qt.AlignmentFlag.AlignLeft)
        rows.addWidget(self.nothing)
        rows.addWidget(self.table, 1)
        rows.addLayout(foot)

    def fit_text(self, theme: Theme) -> None:
        """Take the width that the words need at this size of text."""
        self.setFixedWidth(theme.side(WIDTH))
        for column, width in NUMBERS:
            self.table.setColumnWidth(column, theme.px(width))

    def _class_chooser(self) -> QComboBox:
        made = QComboBox()
        made.setEditable(True)
        made.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        made.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        made.setAccessibleName("Class of the queries: type to search")
        made.setToolTip("Only queries of this class: type to search")
        popup = made.view()
        if isinstance(popup, QListView):
            popup.setUniformItemSizes(True)
        completer = made.completer()
        if completer is not None:
            completer.setFilterMode(Qt.MatchFlag.MatchContains)
            completer.setCompletionMode(QCompleter.CompletionMode.PopupCompletion)
        return made

    def _query_table(self) -> QTableView:
        made = QTableView()
        made.setModel(self.model)
        made.setAccessibleName("Queries")
        made.setSelectionBehavior(QTableView.SelectionBehavior.SelectRows)
        made.setSelectionMode(QTableView.SelectionMode.SingleSelection)
        made.setSortingEnabled(True)
        made.setShowGrid(False)
        made.setTabKeyNavigation(False)
        made.setWordWrap(False)
        made.setIconSize(QSize(THUMBNAIL, THUMBNAIL))
        made.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        made.verticalHeader().hide()
        made.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        made.verticalHeader().setDefaultSectionSize(THUMBNAIL + 6)
        header = made.horizontalHeader()
        header.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        header.setSectionResizeMode(1, QHeaderView.ResizeMode.Stretch)
        made.setColumnWidth(0, THUMBNAIL + 14)
        header.setSortIndicator(2, Qt.SortOrder.AscendingOrder)
        return made

    def _connect(self) -> None:
        self.failures.toggled.connect(self._narrow)
        self.classes.activated.connect(self._narrow)
        edit = self.classes.lineEdit()
        if edit is not None:
            edit.editingFinished.connect(self._take_typed_class)
        self.why.changed.connect(self._filter)
        self.why.chosen.connect(self._show_listed)
        self.selected.clicked.connect(self.selection_dropped)
        self.export.clicked.connect(self.export_asked)
        self.table.selectionModel().currentRowChanged.connect(self._pick)
        self.model.modelReset.connect(self._model_reset)

    def show_evaluation(
        self, workspace: Workspace, evaluation_id: int, class_names: tuple[str, ...], selection: np.ndarray
    ) -> None:
        """List another evaluation, of it only the `selection`; the filters stay where they still mean something."""
        self._workspace, self._evaluation_id = workspace, evaluation_id
        self._take_selection(selection)
        self._filter()
        before = self.classes.currentText()
        named = [class_names[each] if each < len(class_names) else str(each) for each in self.model.labels]
        self.classes.blockSignals(True)
        self.classes.clear()
        self.classes.addItems([EVERY_CLASS, *named])
        self.classes.setCurrentIndex(max(0, self.classes.findText(before, Qt.MatchFlag.MatchExactly)))
        self.classes.blockSignals(False)
        if self.classes.currentIndex() > 0:
            self._filter()

    def show_selection(self, samples: np.ndarray) -> None:
        """List only these samples, where they are more than one; else all."""
        self._take_selection(samples)
        self._filter()

    def _take_selection(self, samples: np.ndarray) -> None:
        self._samples = tuple(samples.tolist()) if len(samples) > 1 else None
        self.selected.setVisible(self._samples is not None)
        self.selected.setText(f"{len(samples):,} selected in the map")

    def go_to(self, sample_id: int | None) -> None:
        """Mark a query in the list, where it is listed."""
        self._current = sample_id
        row = self.model.row_of(sample_id)
        chosen = self.table.selectionModel()
        chosen.blockSignals(True)
        if row < 0:
            chosen.clear()
        else:
            flags = QItemSelectionModel.SelectionFlag.ClearAndSelect | QItemSelectionModel.SelectionFlag.Rows
            chosen.setCurrentIndex(self.model.index(row, 1), flags)
            self.table.scrollTo(self.model.index(row, 1))
        chosen.blockSignals(False)
        self.table.viewport().update()

    def step(self, by: int) -> None:
        """The next (1) or previous (-1) listed query becomes the query; the first where none is marked."""
        row = self.model.row_of(self._current)
        sample_id = self.model.sample_id(0 if row < 0 else row + by)
        if sample_id is not None:
            self.chosen.emit(sample_id)

    def _narrow(self) -> None:
        self._filter()
        self._show_listed()

    def _show_listed(self) -> None:
        """Where the marked query does not pass the filters that were chosen, the first that does becomes the query."""
        if self._current is not None and self.model.rowCount() and self.model.row_of(self._current) < 0:
            self.chosen.emit(self.model.sample_id(0))

    def _filter(self) -> None:
        if self._workspace is None:
            return
        place = self.classes.currentIndex()
        label_of = self.model.labels[place - 1] if 0 < place <= len(self.model.labels) else None
        chosen = Filter(self.failures.isChecked(), label_of, self._wanted())
        self.model.show(self._workspace, self._evaluation_id, chosen)

    def _wanted(self) -> tuple[int, ...] | None:
        """The ids that selection and cause leave; None where neither is chosen."""
        failed = self.why.samples
        if failed is None:
            return self._samples
        ids = failed if self._samples is None else failed[np.isin(failed, self._samples)]
        return tuple(ids.tolist())

    def _model_reset(self) -> None:
        """Another order or filter: the query stays marked."""
        self.count.setText(f"{self.model.rowCount():,} of {self.model.total:,} queries")
        self.nothing.setVisible(self.model.total > 0 and not self.model.rowCount())
        self.go_to(self._current)

    def _take_typed_class(self) -> None:
        """What was typed, where it names a class; else the class that was chosen before."""
        typed = self.classes.findText(self.classes.currentText(), Qt.MatchFlag.MatchFixedString)
        if typed >= 0 and typed != self.classes.currentIndex():
            self.classes.setCurrentIndex(typed)
            self._narrow()
        self.classes.setEditText(self.classes.itemText(self.classes.currentIndex()))

    def _pick(self) -> None:
        sample_id = self.model.sample_id(self.table.currentIndex().row())
        if sample_id is not None:
            self.chosen.emit(sample_id)
