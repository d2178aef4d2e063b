"""The evaluations of a run: a card beside the curves, or a line below them that unfolds to the table."""

from collections.abc import Callable
from itertools import accumulate

from PySide6.QtCore import QEvent, QItemSelectionModel, Qt, Signal
from PySide6.QtGui import QGuiApplication, QResizeEvent
from PySide6.QtWidgets import QFrame, QHeaderView, QMenu, QTableView, QToolButton, QWidget

from workbench.files.spreadsheet import pasted
from workbench.ui.pages.train.epochs import EpochTable
from workbench.ui.preferences import Preferences
from workbench.ui.style import theme
from workbench.ui.style.icons import icon
from workbench.ui.style.words import counted
from workbench.ui.widgets.boxes import in_column, in_row
from workbench.ui.widgets.buttons import button, icon_button
from workbench.ui.widgets.labels import label
from workbench.ui.widgets.row_table import head_width, select_rows
from workbench.workspace.rows import Evaluation

ROW_PX, ANY_PX = 24, 16_777_215  # height of a row; no limit, as Qt has it
TABLE_ROWS, UNFOLDED = 5, "train/table"  # rows of the table with its head; whether it is unfolded


class WideTable(QTableView):
    """A table whose heads are whole: its columns fill the width, and it scrolls where they have no room.

    As a card it is as high as its place, and shows only the columns that matter most where not all have room; otherwise
    it is TABLE_ROWS high.
    """

    def __init__(self, model: EpochTable, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.card = False
        self._epochs = model
        self.setModel(model)
        select_rows(self, name)
        self.setHorizontalScrollMode(QTableView.ScrollMode.ScrollPerPixel)
        header = self.horizontalHeader()
        header.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        header.setStretchLastSection(True)
        header.setTextElideMode(Qt.TextElideMode.ElideNone)  # Qt elides as if an arrow stood beside the words
        model.modelReset.connect(self.fit)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.fit()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in theme.DRESSES:
            self.fit()

    def fit(self) -> None:
        """Give the first column the width of its words; the others share what is left, at least that of theirs."""
        header = self.horizontalHeader()
        least = {
            column: max(head_width(header, column), self.sizeHintForColumn(column)) for column in range(header.count())
        }
        room = self.viewport().width()
        shown = self._that_fit(least, room) if self.card and sum(least.values()) > room else set(least)
        for column in least:
            self.setColumnHidden(column, column not in shown)
        behind = {column: width for column, width in least.items() if column in shown and column}
        room, others = room - least[0], max(1, len(behind))
        equal, spare = room // others, max(0, room - sum(behind.values())) // others
        alike = equal >= max(behind.values(), default=0)
        header.resizeSection(0, least[0])
        for column, width in behind.items():
            header.resizeSection(column, equal if alike else width + spare)
        bar = self.horizontalScrollBar().sizeHint().height() if room < sum(behind.values()) else 0
        self.setMinimumHeight(TABLE_ROWS * ROW_PX + bar)
        self.setMaximumHeight(ANY_PX if self.card else self.minimumHeight())

    def _that_fit(self, least: dict[int, int], room: int) -> set[int]:
        """As many of the columns that matter most as have room beside the epoch, one at least."""
        first = self._epochs.first_columns()
        widths = accumulate((least[column] for column in first), initial=least[0])
        fit = sum(width <= room for width in widths) - 1
        return {0, *first[: max(1, fit)]}


class EvaluationTable(QFrame):
    """The evaluations of a run, newest first: a card, or a line that folds them away.

    Args:
        accuracy_at: the training accuracy in % at a step, or None.
    """

    chosen = Signal(int)  # evaluation that was double-clicked
    full_size_asked = Signal()  # of the card

    def __init__(
        self, preferences: Preferences, accuracy_at: Callable[[int], float | None], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._preferences = preferences
        self.unfold = button("Evaluations", "caret-right", kind="quiet")
        self.unfold.setCheckable(True)
        self.model = EpochTable(accuracy_at)
        self.table = WideTable(self.model, "Metrics of each evaluated epoch, newest first")
        self.table.setToolTip("Double-click shows that epoch on the other pages")
        self.table.verticalHeader().setDefaultSectionSize(ROW_PX)
        self.setFocusProxy(self.table)
        self.title, self.count = label("Evaluations", "strong"), label("", "caption")
        self.menu = QMenu(self)
        self.menu.addAction("All metrics at full size, and back", self.full_size_asked.emit)
        self.menu.addAction("Copy table", self.copy_table)
        self._more = icon_button("dots-three", "Menu of the evaluations")
        self._more.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self._more.setMenu(self.menu)
        self._more.setToolTip("Full size with all metrics, copy")
        head = in_row(self.unfold, self.title, self.count, 1, self._more, spacing=8)
        self._column = in_column(head, (self.table, 1), on=self, spacing=4)
        self.unfold.toggled.connect(self._fold_or_unfold)
        self.table.doubleClicked.connect(self._choose)
        self.unfold.setChecked(preferences.flag(UNFOLDED))
        self._take_form(False)

    def become_card(self, on: bool) -> None:
        """A card, which always shows the table, or a line, which is folded until somebody unfolds it."""
        if on != self.table.card:
            self._take_form(on)

    def _take_form(self, on: bool) -> None:
        self.setProperty("card", "true" if on else "false")
        self.style().polish(self)
        self._column.setContentsMargins(*((8, 4, 4, 8) if on else (0, 0, 0, 0)))
        for widget in (self.title, self.count, self._more):
            widget.setVisible(on)
        self.unfold.setVisible(not on)
        self.table.card = on
        self.table.setFrameShape(QFrame.Shape.NoFrame if on else QFrame.Shape.StyledPanel)
        self.table.setVisible(on or self.unfold.isChecked())
        self.model.shorten(on)

    def show_evaluations(self, evaluations: list[Evaluation], measured: int) -> Evaluation | None:
        """Show the stored evaluations of a run, oldest first, of so many; returns the best of them."""
        self.model.show(evaluations)
        best = self.model.best()
        said = f", best epoch {best.epoch}" if best is not None else ""
        kept = f"{len(evaluations):,} of " if len(evaluations) < measured else ""
        count = f"{kept}{counted(measured, 'evaluation')}{' kept' if kept else ''}"
        self.unfold.setText(f"{count}{said}" if evaluations else "No evaluations yet")
        self.count.setText(f"{kept}{measured:,}{' kept' if kept else ''}" if evaluations else "none yet")
        if evaluations:
            first = self.model.index(0, 0)
            self.table.selectionModel().setCurrentIndex(first, QItemSelectionModel.SelectionFlag.NoUpdate)
        return best

    def _fold_or_unfold(self, on: bool) -> None:
        self.unfold.setIcon(icon("caret-down" if on else "caret-right"))
        self.table.setVisible(on or self.table.card)
        self._preferences.set_flag(UNFOLDED, on)

    def copy_table(self) -> None:
        """Copy all columns as text, with tabs between them."""
        columns = range(self.model.columnCount())
        head = [pasted(self.model.headerData(column, Qt.Orientation.Horizontal)) for column in columns]
        rows = ([self.model.index(row, column).data() for column in columns] for row in range(self.model.rowCount()))
        QGuiApplication.clipboard().setText("\n".join("\t".join(cells) for cells in (head, *rows)))

    def _choose(self) -> None:
        row = self.table.currentIndex().row()
        if row >= 0:
            self.chosen.emit(self.model.evaluation(row).id)
