"""The table of epochs below the curves, folded to one line until somebody asks for it."""

from collections.abc import Callable

from PySide6.QtCore import QEvent, QItemSelectionModel, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHeaderView, QTableView, QWidget

from workbench.ui.pages.train.epochs import EpochTable
from workbench.ui.preferences import Preferences
from workbench.ui.style import theme
from workbench.ui.style.icons import icon
from workbench.ui.style.words import counted
from workbench.ui.widgets.boxes import in_column
from workbench.ui.widgets.buttons import button
from workbench.ui.widgets.row_table import head_width, select_rows
from workbench.workspace.rows import Evaluation

ROW_PX = 24
TABLE_ROWS, UNFOLDED = 5, "train/table"  # rows of the table with its head; whether it is unfolded


class WideTable(QTableView):
    """A table whose heads are whole: its columns fill the width, and it scrolls where they have no room."""

    def __init__(self, model: EpochTable, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
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
        """Give the first column the width of its words; the others share what is left, at least that of their heads."""
        header = self.horizontalHeader()
        least = [head_width(header, column) for column in range(header.count())]
        least[0] = max(least[0], self.sizeHintForColumn(0))
        room, others = self.viewport().width() - least[0], max(1, len(least) - 1)
        equal, spare = room // others, max(0, room - sum(least[1:])) // others
        alike = equal >= max(least[1:], default=0)
        for column, width in enumerate(least):
            header.resizeSection(column, width if column == 0 else equal if alike else width + spare)
        bar = self.horizontalScrollBar().sizeHint().height() if room < sum(least[1:]) else 0
        self.setFixedHeight(TABLE_ROWS * ROW_PX + bar)


class EvaluationTable(QWidget):
    """The evaluations of a run, newest first, with a line that folds them away.

    Args:
        accuracy_at: the training accuracy in % at a step, or None.
    """

    chosen = Signal(int)  # evaluation that was double-clicked

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
        self.table.hide()
        in_column((self.unfold, Qt.AlignmentFlag.AlignLeft), self.table, on=self, spacing=8)
        self.unfold.toggled.connect(self._fold_or_unfold)
        self.table.doubleClicked.connect(self._choose)
        self.unfold.setChecked(preferences.flag(UNFOLDED))

    def show_evaluations(self, evaluations: list[Evaluation], measured: int) -> Evaluation | None:
        """Show the stored evaluations of a run, oldest first, of so many; returns the best of them."""
        self.model.show(evaluations)
        best = self.model.best()
        said = f", best epoch {best.epoch}" if best is not None else ""
        kept = f"{len(evaluations):,} of " if len(evaluations) < measured else ""
        count = f"{kept}{counted(measured, 'evaluation')}{' kept' if kept else ''}"
        self.unfold.setText(f"{count}{said}" if evaluations else "No evaluations yet")
        if evaluations:
            first = self.model.index(0, 0)
            self.table.selectionModel().setCurrentIndex(first, QItemSelectionModel.SelectionFlag.NoUpdate)
        return best

    def _fold_or_unfold(self, on: bool) -> None:
        self.unfold.setIcon(icon("caret-down" if on else "caret-right"))
        self.table.setVisible(on)
        self._preferences.set_flag(UNFOLDED, on)

    def _choose(self) -> None:
        row = self.table.currentIndex().row()
        if row >= 0:
            self.chosen.emit(self.model.evaluation(row).id)
