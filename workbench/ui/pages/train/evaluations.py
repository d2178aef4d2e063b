"""The table of epochs below the curves, folded to one line until somebody asks for it."""

from collections.abc import Callable

from PySide6.QtCore import QItemSelectionModel, Qt, Signal
from PySide6.QtWidgets import QHeaderView, QTableView, QWidget

from workbench.ui.icons import icon
from workbench.ui.pages.train.epochs import EpochTable
from workbench.ui.preferences import Preferences
from workbench.ui.widgets.boxes import in_column
from workbench.ui.widgets.buttons import button
from workbench.ui.widgets.row_table import select_rows
from workbench.ui.words import counted
from workbench.workspace.rows import Evaluation

ROW_PX = 24
TABLE_ROWS, UNFOLDED = 5, "train/table"  # rows of the table with its head; whether it is unfolded


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
        self.table = QTableView()
        self.table.setModel(self.model)
        select_rows(self.table, "Metrics of each evaluated epoch, newest first")
        self.table.setToolTip("Double-click shows that epoch on the other pages")
        self.table.verticalHeader().setDefaultSectionSize(ROW_PX)
        header = self.table.horizontalHeader()
        header.setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
        header.setMinimumSectionSize(60)
        header.setTextElideMode(Qt.TextElideMode.ElideRight)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.ResizeToContents)
        self.table.setFixedHeight(TABLE_ROWS * ROW_PX)
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
