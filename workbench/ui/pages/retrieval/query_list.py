"""The list of queries with its filters: worst first, failures only, one class, or what is selected in the map."""

import numpy as np
from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QCompleter,
    QHBoxLayout,
    QHeaderView,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from workbench.ui.models.query_table import THUMBNAIL, Filter, QueryTable
from workbench.ui.widgets.buttons import button
from workbench.ui.widgets.labels import label

WIDTH = 300  # px
EVERY_CLASS = "All classes"


class QueryList(QWidget):
    """Left side of the page. `chosen` says the query that the person picked."""

    chosen = Signal(object)  # sample id
    selection_dropped = Signal()
    export_asked = Signal()

    def __init__(self, model: QueryTable, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.model = model
        self._evaluation_id: int | None = None
        self._samples: tuple[int, ...] | None = None
        self._labels: list[int] = []
        self._build()
        self._connect()

    def _build(self) -> None:
        self.setFixedWidth(WIDTH)
        self.failures = QCheckBox("Failures only")
        self.failures.setToolTip("Queries whose nearest neighbour is of another class")
        self.classes = QComboBox()
        self.classes.setEditable(True)
        self.classes.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        self.classes.setAccessibleName("Class of the queries")
        completer = self.classes.completer()
        if completer is not None:
            completer.setFilterMode(Qt.MatchFlag.MatchContains)
            completer.setCompletionMode(QCompleter.CompletionMode.PopupCompletion)
        self.selected = button("", "x", "quiet")
        self.selected.setToolTip("List all queries again")
        self.selected.hide()
        self.count = label("", "caption")
        self.export = button("Export CSV…", kind="quiet")
        self.table = QTableView()
        self.table.setModel(self.model)
        self.table.setAccessibleName("Queries, worst first")
        self.table.setSelectionBehavior(QTableView.SelectionBehavior.SelectRows)
        self.table.setSelectionMode(QTableView.SelectionMode.SingleSelection)
        self.table.setSortingEnabled(True)
        self.table.setShowGrid(False)
        self.table.setTabKeyNavigation(False)
        self.table.setIconSize(QSize(THUMBNAIL, THUMBNAIL))
        self.table.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.table.verticalHeader().hide()
        self.table.verticalHeader().setDefaultSectionSize(THUMBNAIL + 6)
        header = self.table.horizontalHeader()
        header.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        header.setSectionResizeMode(1, QHeaderView.ResizeMode.Stretch)
        for column, width in ((0, THUMBNAIL + 14), (2, 62), (3, 78)):
            self.table.setColumnWidth(column, width)
        header.setSortIndicator(2, Qt.SortOrder.AscendingOrder)
        filters = QHBoxLayout()
        filters.addWidget(self.failures)
        filters.addWidget(self.classes, 1)
        foot = QHBoxLayout()
        foot.addWidget(self.count, 1)
        foot.addWidget(self.export)
        rows = QVBoxLayout(self)
        rows.setContentsMargins(0, 0, 0, 0)
        rows.setSpacing(8)
        rows.addLayout(filters)
        rows.addWidget(self.selected)
        rows.addWidget(self.table, 1)
        rows.addLayout(foot)

    def _connect(self) -> None:
        self.failures.toggled.connect(self._filter)
        self.classes.activated.connect(self._filter)
        self.selected.clicked.connect(self.selection_dropped)
        self.export.clicked.connect(self.export_asked)
        self.table.selectionModel().currentRowChanged.connect(self._pick)

    def show_evaluation(self, evaluation_id: int | None, labels: np.ndarray, class_names: tuple[str, ...]) -> None:
        """List another evaluation; the filters stay where they still mean something."""
        self._evaluation_id = evaluation_id
        before = self.classes.currentText()
        self._labels = sorted(set(labels.tolist()))
        self.classes.blockSignals(True)
        self.classes.clear()
        self.classes.addItems([EVERY_CLASS, *(class_names[each] for each in self._labels)])
        self.classes.setCurrentIndex(max(0, self.classes.findText(before)))
        self.classes.blockSignals(False)
        self._filter()

    def show_selection(self, samples: np.ndarray) -> None:
        """List only these samples; none lists all."""
        self._samples = tuple(samples.tolist()) if len(samples) > 1 else None
        self.selected.setVisible(self._samples is not None)
        self.selected.setText(f"{len(samples):,} selected in the map")
        self._filter()

    def go_to(self, sample_id: int | None) -> None:
        """Mark a query in the list, where it is listed."""
        row = -1 if sample_id is None else self.model.row_of(sample_id)
        with_signal = self.table.selectionModel()
        with_signal.blockSignals(True)
        if row < 0:
            self.table.clearSelection()
        else:
            self.table.selectRow(row)
            self.table.scrollTo(self.model.index(row, 1))
        with_signal.blockSignals(False)
        self.table.viewport().update()

    def step(self, by: int) -> None:
        """The next (1) or previous (-1) query becomes the query."""
        row = self.table.currentIndex().row() + by
        if 0 <= row < self.model.rowCount():
            self.table.selectRow(row)

    def _filter(self) -> None:
        place = self.classes.currentIndex()
        label_of = self._labels[place - 1] if 0 < place <= len(self._labels) else None
        self.model.show(self._evaluation_id, Filter(self.failures.isChecked(), label_of, self._samples))
        self.count.setText(f"{self.model.rowCount():,} of {self.model.total:,} queries")

    def _pick(self) -> None:
        sample_id = self.model.sample_id(self.table.currentIndex().row())
        if sample_id is not None:
            self.chosen.emit(sample_id)
