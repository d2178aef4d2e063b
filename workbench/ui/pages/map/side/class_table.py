"""The table of the map's classes: radius, margin, similarities, and the class that each is confused with most."""

from collections.abc import Sequence
from math import isnan
from typing import Any

from PySide6.QtCore import QModelIndex, QObject, Qt, Signal
from PySide6.QtWidgets import QDialogButtonBox, QHeaderView, QTableView, QWidget

from workbench.progress import Progress
from workbench.results.class_geometry import TITLES, ClassRow, ClassTable, measure_classes
from workbench.ui.models.sorted_rows import SortedRows
from workbench.ui.pages.map.side.class_panel import ClassPanel
from workbench.ui.state.background.tasks import Task
from workbench.ui.state.session import Session
from workbench.ui.style import theme
from workbench.ui.style.words import NO_VALUE, counted
from workbench.ui.widgets.boxes import in_column
from workbench.ui.widgets.buttons import button
from workbench.ui.widgets.dialogs.first_size import open_at
from workbench.ui.widgets.dialogs.main_button import MainButtonDialog
from workbench.ui.widgets.dialogs.save_file import Content
from workbench.ui.widgets.labels import label
from workbench.ui.widgets.tables.row_table import select_rows
from workbench.ui.widgets.tables.table_actions import TableActions

TIPS = (
    "",
    "Images of the test set",
    "Radius of the smallest ball around one of its own images that contains all of them",
    "Distance of an image to the nearest centre of another class minus that to its own, mean; negative is bad",
    "Percentage of its images that are nearer to the centre of another class than to their own",
    "Mean cosine similarity between two of its images",
    "Mean cosine similarity between its images and those of all other classes",
    "The other class whose centre is most often the nearest to its images",
    "Percentage of its images for which that class is the nearest",
)
DIGITS = {2: 3, 3: 3, 4: 1, 5: 3, 6: 3, 8: 1}  # column -> decimal places
NAMES, MARGIN = (0, 7), 3  # columns
MEASURED_ROWS = 50  # rows whose text sets the width of a column
HINT = "Click a class (or press Enter) to select it and show it on the map."


class ClassRows(SortedRows):
    """Rows and columns of the class table; a missing number sorts below every other."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(TITLES, _cells, _written, parent)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation == Qt.Orientation.Horizontal and role == Qt.ItemDataRole.ToolTipRole:
            return TIPS[section]
        return super().headerData(section, orientation, role)


class ClassTableDialog(MainButtonDialog):
    """A window beside the main one. Only visible rows are formatted, so ten thousand classes are fast."""

    class_chosen = Signal(int)  # label
    wished = Signal(object)  # Wish, for Session.fulfil

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Classes of the map")
        open_at(self, theme.text_px(980), theme.text_px(520))
        self.table: ClassTable | None = None
        self.model = ClassRows(self)
        self.view = QTableView()
        self.view.setModel(self.model)
        select_rows(self.view, "Classes with radius, margin and similarities")
        self.view.setObjectName("map-class-table")
        self.view.setEditTriggers(QTableView.EditTrigger.NoEditTriggers)
        header = self.view.horizontalHeader()
        header.setResizeContentsPrecision(MEASURED_ROWS)
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        for number in NAMES:
            header.setSectionResizeMode(number, QHeaderView.ResizeMode.Stretch)
        self.view.setSortingEnabled(True)
        self.view.sortByColumn(MARGIN, Qt.SortOrder.AscendingOrder)
        self.view.clicked.connect(self._choose)
        self.view.activated.connect(self._choose)
        self.words = label("", "muted", wrap=True)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        self.table_actions = TableActions(self.wished.emit, self.view, "classes.csv", self.model.unwritten, self._csv)
        self.copy_button, self.save_button = self.table_actions.add_to(buttons)
        in_column(self.words, (self.view, 1), buttons, on=self, margins=None)
        self.wait("")

    def show_table(self, table: ClassTable) -> None:
        """Show the classes of an evaluation, in the chosen sort order."""
        self.table = table
        self.model.show(table.rows)
        centres = "class vectors" if table.by_proxies else "class means: the method has no vectors of these classes"
        space = "between unit vectors" if table.metric == "cosine" else "between embeddings as they are"
        self.words.setText(
            f"{counted(len(table.rows), 'class', 'classes')}. Centres are the {centres}; distances are {space}. {HINT}"
        )

    def wait(self, words: str) -> None:
        """Show `words` in place of the table."""
        self.table = None
        self.model.show(())
        self.words.setText(words)

    def _csv(self) -> Content:
        assert self.table is not None  # else it has no rows
        return self.table.csv

    def _choose(self, index: QModelIndex) -> None:
        row = self.model.row(index.row())
        if isinstance(row, ClassRow):
            self.class_chosen.emit(row.label)


class ClassTableOpener(QObject):
    """The Classes tab, the button of the table, the table's dialog, and the thread that measures the classes."""

    class_chosen = Signal(int)  # label

    def __init__(self, session: Session, parent: QWidget) -> None:
        super().__init__(parent)
        self._session, self._window = session, parent
        self.button = button("Full table", "table", "quiet")
        self.button.setToolTip("Radius, margin and similarities of every class, measured in the original space")
        self.button.clicked.connect(self.open)
        self.rows = ClassRows(self)
        self.panel = ClassPanel(self.rows, self.button)
        self.panel.class_chosen.connect(self.class_chosen)
        self.panel.looked_at.connect(self._follow)
        self.table: ClassTable | None = None
        self.dialog: ClassTableDialog | None = None
        self._task: Task | None = None
        session.evaluation_changed.connect(self._follow)
        session.workspace_changed.connect(self._forget)

    def open(self) -> None:
        """Open the table of the shown evaluation."""
        if self.dialog is None:
            self.dialog = ClassTableDialog(self._window)
            self.dialog.class_chosen.connect(self.class_chosen)
            self.dialog.wished.connect(self._session.fulfil)
            self._session.part_made.emit(self.dialog)
        self.dialog.show()
        self.dialog.raise_()
        self._follow()

    def _forget(self) -> None:
        """Drop the table: in another workspace its evaluation's number means another one."""
        self.table = None
        self._follow()

    def _follow(self) -> None:
        """Measure the shown evaluation if its table or tab is visible."""
        evaluation = self._session.evaluation_id
        if not self.panel.isVisible() and (self.dialog is None or not self.dialog.isVisible()):
            return
        if self.table is not None and self.table.evaluation == evaluation:
            self._show(self.table)
            return
        if self._task is not None:
            self._task.cancel()
            self._task = None
        if evaluation is None:
            self._wait("Nothing has been evaluated yet.")
            return
        self._wait("Measuring the classes. This takes some seconds for tens of thousands of images.")
        workspace = self._session.workspace

        def work(progress: Progress) -> ClassTable:
            return measure_classes(workspace, evaluation, progress)

        self._task = self._session.run_in_thread(
            "Classes of the map", work, self._measured, self._not_measured, cancelled=self._cancelled
        )

    def _measured(self, table: ClassTable) -> None:
        self._task = None
        if table.evaluation == self._session.evaluation_id:
            self._show(table)

    def _not_measured(self, problem: Any) -> None:
        self._task = None
        self._wait(str(problem))

    def _cancelled(self) -> None:
        self._not_measured("Measuring the classes was cancelled. Open the table again to measure them.")

    def _show(self, table: ClassTable) -> None:
        if self.table is not table:
            self.table = table
            self.rows.show(table.rows)
        self.panel.words.setText(HINT)
        if self.dialog is not None and self.dialog.table is not table:
            self.dialog.show_table(table)

    def _wait(self, words: str) -> None:
        """Show why there is no table."""
        self.table = None
        self.rows.show(())
        self.panel.words.setText(words)
        if self.dialog is not None:
            self.dialog.wait(words)


def _cells(row: ClassRow) -> Sequence[Any]:
    return [float("-inf") if isinstance(cell, float) and isnan(cell) else cell for cell in row.cells()]


def _written(column: int, value: Any) -> str:
    if value == float("-inf") or value == "":
        return NO_VALUE
    return f"{value:.{DIGITS[column]}f}" if column in DIGITS else f"{value:,}" if isinstance(value, int) else str(value)
