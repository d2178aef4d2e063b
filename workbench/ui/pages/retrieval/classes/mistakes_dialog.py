"""The mistakes of one evaluation: which classes are confused, and which samples are hubs."""

from typing import Any

from PySide6.QtCore import QModelIndex, QSize, Qt, Signal
from PySide6.QtGui import QPixmap
from PySide6.QtWidgets import (
    QDialogButtonBox,
    QHeaderView,
    QStackedWidget,
    QTableView,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from workbench.results.explanations import ConfusedPair, FailedQueries, Hub
from workbench.ui.models.sorted_rows import SortedRows
from workbench.ui.pages.retrieval.classes.confusion_matrix import ConfusionMatrix
from workbench.ui.style import theme
from workbench.ui.style.words import percent
from workbench.ui.widgets.dialogs.first_size import open_at
from workbench.ui.widgets.dialogs.main_button import MainButtonDialog
from workbench.ui.widgets.images.pictures import PictureLoader
from workbench.ui.widgets.labels import label
from workbench.ui.widgets.tables.remembered_tables import WIDTHS
from workbench.ui.widgets.tables.row_table import select_rows
from workbench.ui.widgets.tables.table_actions import ShownTableButtons, TableActions

PAIR_TITLES = ("Class", "Taken for", "Times", "Share of class %")
HUB_TITLES = ("Hub", "Times among the ten", "In other classes", "Which classes")
THUMBNAIL, AHEAD = 36, 20  # px of a picture; rows before and after a visible one whose pictures are loaded, too
PLACE = "hubs"
WORKING, NOT_WORKING, EMPTY, TABLE = range(4)  # the widgets of a tab
MOST_NAMED = 5  # most classes that are named beside a hub
NONE_FAILED = "No query failed: every nearest neighbour is of its class."
PAIR_HINT = (
    "Classes of failed queries and of their nearest neighbours. Double-click (or press Enter) to list the queries."
)
HUB_HINT = (
    "Samples that are among the ten neighbours of far more other samples than usual (two standard deviations above "
    "the mean). Click one to make it the query."
)


class MistakesDialog(MainButtonDialog):
    """A window that stays open beside the main window and follows the shown evaluation.

    Args:
        loader: of the pictures of hubs.
    """

    pair_chosen = Signal(object)  # ConfusedPair
    sample_chosen = Signal(object)  # sample id
    wished = Signal(object)  # Wish, for Session.fulfil

    def __init__(self, loader: PictureLoader, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._loader = loader
        self.setWindowTitle("Confusions and hubs")
        open_at(self, theme.text_px(760), theme.text_px(560))
        self.pairs = SortedRows(PAIR_TITLES, pair_cells, written_pair, self)
        self.hubs = SortedRows(HUB_TITLES, hub_cells, written_hub, self, picture=self._picture)
        loader.ready.connect(self.hubs.pictures_came)
        self.pair_table = _table_view(self.pairs, "Confusions", 2)
        self.hub_table = _table_view(self.hubs, "Hubs", 2)
        for view, name in ((self.pair_table, "retrieval-confusions"), (self.hub_table, "retrieval-hubs")):
            view.setObjectName(name)
            view.setProperty(WIDTHS, True)
        self.hub_table.setIconSize(QSize(THUMBNAIL, THUMBNAIL))
        self.hub_table.verticalHeader().setDefaultSectionSize(THUMBNAIL + 6)
        self.matrix = ConfusionMatrix()
        self.tabs = QTabWidget()
        self.tabs.setObjectName("retrieval-mistakes")
        self._stacks: list[QStackedWidget] = []
        for title, hint, table, none in (
            ("Confusions", PAIR_HINT, self.pair_table, NONE_FAILED),
            ("Matrix", "", self.matrix, NONE_FAILED),
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
        self._actions = [
            TableActions(self.wished.emit, table, f"{name}.csv", lines)
            for table, name, lines in (
                (self.pair_table, "confusions", self.pairs.unwritten),
                (self.matrix.table, "confusion-matrix", lambda: self.matrix.model.lines),
                (self.hub_table, "hubs", self.hubs.unwritten),
            )
        ]
        self.buttons = ShownTableButtons(buttons, lambda: self._actions[self.tabs.currentIndex()])
        self.tabs.currentChanged.connect(self.buttons.refresh)
        column = QVBoxLayout(self)
        column.addWidget(self.tabs, 1)
        column.addWidget(buttons)
        self.matrix.pair_chosen.connect(self.pair_chosen)
        self.pair_table.activated.connect(self._choose_pair)  # a double click, or Enter
        self.hub_table.clicked.connect(self._choose_hub)
        self.hub_table.activated.connect(self._choose_hub)

    def show_failures(self, explained: FailedQueries | None, working: bool = True) -> None:
        """Show another evaluation; None while `working`, or if it could not be computed."""
        pairs, hubs = (explained.pairs, explained.hubs) if explained is not None else ([], [])
        self.pairs.show(pairs)
        self.hubs.show(hubs)
        self.matrix.show_pairs(pairs)
        unknown = WORKING if working else NOT_WORKING
        for stack, rows in zip(self._stacks, (len(pairs), len(pairs), len(hubs)), strict=True):
            stack.setCurrentIndex(unknown if explained is None else TABLE if rows else EMPTY)
        self.buttons.refresh()
        self.tabs.setTabText(0, f"Confusions ({len(pairs):,})")
        self.tabs.setTabText(2, f"Hubs ({len(hubs):,})")

    def _page(self, hint: str, table: QWidget, none: str) -> QWidget:
        page, stack = QWidget(), QStackedWidget()
        for words in ("Computing…", "This could not be computed. Choose the evaluation again to retry.", none):
            line = label(words, "muted", wrap=True)
            line.setAlignment(Qt.AlignmentFlag.AlignCenter)
            stack.addWidget(line)
        stack.addWidget(table)
        self._stacks.append(stack)
        column = QVBoxLayout(page)
        if hint:
            column.addWidget(label(hint, "muted", wrap=True))
        column.addWidget(stack, 1)
        return page

    def _picture(self, hub: Hub) -> QPixmap | None:
        picture = self._loader.pixmap(hub.sample_id, THUMBNAIL)
        if picture is None and not self._loader.absent(hub.sample_id):
            every = [row.sample_id for row in self.hubs.rows]
            self._loader.request(
                PLACE, every[max(0, (at := every.index(hub.sample_id)) - AHEAD) : at + AHEAD], THUMBNAIL
            )
        return picture

    def _choose_pair(self, index: QModelIndex) -> None:
        pair = self.pairs.row(index.row())
        if pair is not None:
            self.pair_chosen.emit(pair)

    def _choose_hub(self, index: QModelIndex) -> None:
        hub = self.hubs.row(index.row())
        if hub is not None:
            self.sample_chosen.emit(hub.sample_id)


def pair_cells(pair: ConfusedPair) -> tuple[Any, ...]:
    """The values of one confusion, by column."""
    return pair.class_name, pair.taken_for, pair.times, pair.share


def written_pair(column: int, value: Any) -> str:
    """The text of a value in the table of confusions."""
    return value if isinstance(value, str) else percent(value) if column == 3 else f"{value:,}"


def hub_cells(hub: Hub) -> tuple[Any, ...]:
    """The values of one hub, by column."""
    named = ", ".join(f"{times} of “{name}”" for name, times in hub.victims[:MOST_NAMED])
    more = len(hub.victims) - MOST_NAMED
    return hub.class_name, hub.times, hub.wrong_times, f"{named} and {more} more" if more > 0 else named


def written_hub(column: int, value: Any) -> str:
    """The text of a value in the table of hubs."""
    return value if isinstance(value, str) else f"{value:,}"


def _table_view(model: SortedRows, name: str, most_first: int) -> QTableView:
    table = QTableView()
    table.setModel(model)
    select_rows(table, name)
    header = table.horizontalHeader()
    header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
    header.setStretchLastSection(True)
    header.setSortIndicator(most_first, Qt.SortOrder.DescendingOrder)
    table.setSortingEnabled(True)
    for column in range(model.columnCount() - 1):
        table.setColumnWidth(column, 140)
    return table
