"""A read-only table of strings, and its view."""

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, QSize, Qt
from PySide6.QtGui import QIcon, QResizeEvent
from PySide6.QtWidgets import QHeaderView, QTableView, QWidget

from workbench.ui.pages.compare.style.group_styles import SWATCH
from workbench.ui.style import theme
from workbench.ui.widgets.labels import plain_tip
from workbench.ui.widgets.tables.row_table import select_rows, set_row_height

Index = QModelIndex | QPersistentModelIndex
LEFT = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
RIGHT = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
ROW_PX = 24
MEASURED = 20  # rows, from the first in view, that set the widths of columns
NARROWEST, WIDEST = 110, 260  # px at 100% text: minimum width of the first column, largest width of the others
TITLE_SHARE = 0.4  # the first column's largest share of the width of a table that scrolls sideways


class WordTable(QAbstractTableModel):
    """Rows of strings under a head; the first column is words, the others are numbers on the right, or words, too."""

    def __init__(self, parent: QWidget | None = None, *, only_words: bool = False) -> None:
        super().__init__(parent)
        self.only_words = only_words
        self._head: list[str] = []
        self._rows: list[list[str]] = []
        self._icons: list[QIcon] = []

    def show(self, head: Sequence[str], rows: Sequence[Sequence[str]], icons: Sequence[QIcon] = ()) -> None:
        """Show another table; `icons` belong to its rows and may be fewer."""
        self.beginResetModel()
        self._head, self._rows, self._icons = list(head), [list(row) for row in rows], list(icons)
        self.endResetModel()

    def rowCount(self, parent: Index = QModelIndex()) -> int:
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:
        return 0 if parent.isValid() else len(self._head)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Text, tooltip, alignment or icon of a cell; None for other roles."""
        match role:
            case Qt.ItemDataRole.DisplayRole | Qt.ItemDataRole.AccessibleTextRole:
                return self._rows[index.row()][index.column()]
            case Qt.ItemDataRole.ToolTipRole:
                text = self._rows[index.row()][index.column()]
                return f"<qt>{text.replace('&', '&amp;').replace('<', '&lt;')}</qt>" if text else None
            case Qt.ItemDataRole.TextAlignmentRole:
                return self._side(index.column())
            case Qt.ItemDataRole.DecorationRole if index.column() == 0 and index.row() < len(self._icons):
                return self._icons[index.row()]
        return None

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return self._head[section]
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_tip(self._head[section])
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return self._side(section)
        return None

    def _side(self, column: int) -> int:
        return RIGHT if column and not self.only_words else LEFT


class FittedTable(QTableView):
    """Calls `fit_columns` whenever the width of the table changes."""

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            fit_columns(self)


def table_view(model: QAbstractTableModel, name: str, view: QTableView | None = None) -> QTableView:
    """A read-only view that selects whole rows, a new one or `view`; `name` is for screen readers."""
    table = view or FittedTable()
    table.setModel(model)
    select_rows(table, name)
    table.setIconSize(QSize(*SWATCH))
    table.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
    set_row_height(table, ROW_PX)
    table.horizontalHeader().setMinimumSectionSize(40)
    table.horizontalHeader().setResizeContentsPrecision(MEASURED)
    table.horizontalHeader().setMaximumSectionSize(3 * WIDEST)
    return table


def fit_columns(view: QTableView) -> None:
    """The first column takes what the others leave, which are as wide as their text.

    The columns of a table of words alone are equally wide, if the first one has room for its words then.
    """
    header = view.horizontalHeader()
    header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)  # a stretched column takes no width
    view.resizeColumnsToContents()
    columns, widest, narrowest = range(1, header.count()), theme.text_px(WIDEST), title_width(view, NARROWEST)
    for column in columns:
        view.setColumnWidth(column, min(widest, view.columnWidth(column)))
    wide = sum(view.columnWidth(column) for column in columns) + narrowest > view.viewport().width()
    mode = QHeaderView.ResizeMode.Interactive if wide else QHeaderView.ResizeMode.Stretch
    if header.count():
        model = view.model()
        fits = view.sizeHintForColumn(0) <= view.viewport().width() // header.count()
        alike = fits and not wide and isinstance(model, WordTable) and model.only_words
        header.setSectionResizeMode(mode) if alike else header.setSectionResizeMode(0, mode)
        if wide:
            view.setColumnWidth(0, narrowest)


def title_width(view: QTableView, least: int) -> int:
    """Px that the first column needs for its text and `least`, px at 100% text; at most TITLE_SHARE of the table."""
    most = int(TITLE_SHARE * view.viewport().width())
    return max(theme.text_px(least), min(view.sizeHintForColumn(0), most))  # a stretched column's own width may be old
