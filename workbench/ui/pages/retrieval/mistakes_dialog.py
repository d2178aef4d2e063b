"""Mistakes of one evaluation seen together: which class is taken for which, and which samples intrude."""

from typing import Any

from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QHeaderView,
    QStackedWidget,
    QTableView,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from workbench.failed_queries import ConfusedPair, FailedQueries, Hub
from workbench.ui.models.sorted_rows import SortedRows
from workbench.ui.widgets.labels import label
from workbench.ui.words import percent

PAIR_TITLES = ("Class", "Taken for", "Times", "Share of class %")
HUB_TITLES = ("Hub, of class", "Among ten neighbours", "Of other classes", "Of which classes")
MOST_NAMED = 5  # classes that a hub stands before
PAIR_HINT = "Classes of failed queries and of their nearest neighbours. A double click lists those queries."
HUB_HINT = (
    "Samples that are among the ten neighbours of far more others than usual (two standard deviations above the mean). "
    "A click makes one the query."
)


class MistakesDialog(QDialog):
    """Stays open beside the window; follows the evaluation that is shown."""

    pair_chosen = Signal(object)  # ConfusedPair
    sample_chosen = Signal(object)  # sample id

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Confusions and hubs")
        self.resize(640, 520)
        self.pairs = SortedRows(PAIR_TITLES, pair_cells, written_pair, self)
        self.hubs = SortedRows(HUB_TITLES, hub_cells, written_hub, self)
        self.pair_table = _table(self.pairs, "Confusions", 2)
        self.hub_table = _table(self.hubs, "Hubs", 2)
        self.hub_table.setColumnWidth(3, 200)
        self.tabs = QTabWidget()
        self._stacks: list[QStackedWidget] = []
        for title, hint, table, none in (
            ("Confusions", PAIR_HINT, self.pair_table, "No query failed: every nearest neighbour is of its class."),
            (
                "Hubs",
                HUB_HINT,
                self.hub_table,
                "No sample stands out among the neighbours of others.",
            ),
        ):
            self.tabs.addTab(self._page(hint, table, none), title)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        copy = buttons.addButton("Copy table", QDialogButtonBox.ButtonRole.ActionRole)
        copy.clicked.connect(self.copy)
        column = QVBoxLayout(self)
        column.addWidget(self.tabs, 1)
        column.addWidget(buttons)
        self.pair_table.doubleClicked.connect(self._choose_pair)
        self.pair_table.activated.connect(self._choose_pair)
        self.hub_table.clicked.connect(self._choose_hub)
        self.hub_table.activated.connect(self._choose_hub)

    def show_failures(self, found: FailedQueries | None) -> None:
        """Show another evaluation; None while it is being worked out."""
        for stack, model, rows in zip(
            self._stacks, (self.pairs, self.hubs), (found.pairs, found.hubs) if found else ((), ()), strict=True
        ):
            model.show(rows)
            stack.setCurrentIndex(0 if found is None else 1 if rows else 2)
        for place, (title, model) in enumerate((("Confusions", self.pairs), ("Hubs", self.hubs))):
            self.tabs.setTabText(place, f"{title} ({model.rowCount():,})")

    def copy(self) -> None:
        """Put the shown table into the clipboard, with tabs between its columns."""
        model = (self.pairs, self.hubs)[self.tabs.currentIndex()]
        QGuiApplication.clipboard().setText("\n".join(model.lines()))

    def _page(self, hint: str, table: QTableView, none: str) -> QWidget:
        page, stack = QWidget(), QStackedWidget()
        for words in ("Being worked out…", none):
            line = label(words, "muted", wrap=True)
            line.setAlignment(Qt.AlignmentFlag.AlignCenter)
            stack.addWidget(line)
        stack.insertWidget(1, table)
        self._stacks.append(stack)
        column = QVBoxLayout(page)
        column.addWidget(label(hint, "muted", wrap=True))
        column.addWidget(stack, 1)
        return page

    def _choose_pair(self, index: QModelIndex) -> None:
        pair = self.pairs.row(index.row())
        if pair is not None:
            self.pair_chosen.emit(pair)

    def _choose_hub(self, index: QModelIndex) -> None:
        hub = self.hubs.row(index.row())
        if hub is not None:
            self.sample_chosen.emit(hub.sample_id)


def pair_cells(pair: ConfusedPair) -> tuple[Any, ...]:
    """The values of one confusion by column."""
    return pair.class_name, pair.taken_for, pair.times, pair.share


def written_pair(column: int, value: Any) -> str:
    """A value as it stands in the table of confusions."""
    return value if isinstance(value, str) else percent(value) if column == 3 else f"{value:,}"


def hub_cells(hub: Hub) -> tuple[Any, ...]:
    """The values of one hub by column."""
    named = ", ".join(f"{times} × {name}" for name, times in hub.victims[:MOST_NAMED])
    more = len(hub.victims) - MOST_NAMED
    return hub.class_name, hub.times, hub.wrong_times, f"{named} and {more} more" if more > 0 else named


def written_hub(column: int, value: Any) -> str:
    """A value as it stands in the table of hubs."""
    return value if isinstance(value, str) else f"{value:,}"


def _table(model: SortedRows, name: str, most_first: int) -> QTableView:
    made = QTableView()
    made.setModel(model)
    made.setAccessibleName(name)
    made.setSelectionBehavior(QTableView.SelectionBehavior.SelectRows)
    made.setSelectionMode(QTableView.SelectionMode.SingleSelection)
    made.setShowGrid(False)
    made.setTabKeyNavigation(False)
    made.setWordWrap(False)
    made.verticalHeader().hide()
    header = made.horizontalHeader()
    header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
    header.setStretchLastSection(True)
    header.setSortIndicator(most_first, Qt.SortOrder.DescendingOrder)
    made.setSortingEnabled(True)
    for column in range(model.columnCount() - 1):
        made.setColumnWidth(column, 150)
    return made
