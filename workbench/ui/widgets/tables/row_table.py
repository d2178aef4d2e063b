"""The look that tables of whole rows share."""

from typing import Any

from PySide6.QtCore import QEvent, QLocale, QObject, Qt
from PySide6.QtGui import QFont, QFontMetrics
from PySide6.QtWidgets import QHeaderView, QStyledItemDelegate, QTableView

from workbench.numerals import minus
from workbench.ui.style import theme

HEAD_SIDE = 9  # px at each side of a column's title


class NumberDelegate(QStyledItemDelegate):
    """Draws negative numbers with a minus sign; the model keeps the hyphen, and so do copies and exports."""

    def displayText(self, value: Any, locale: QLocale | QLocale.Language) -> str:
        return minus(super().displayText(value, locale))


def select_rows(table: QTableView, name: str) -> None:
    """Make a table select whole rows, one at a time, without grid, row numbers, wrapped text or Tab between cells.

    Args:
        name: for screen readers.
    """
    table.setAccessibleName(name)
    table.setItemDelegate(NumberDelegate(table))
    table.setSelectionBehavior(QTableView.SelectionBehavior.SelectRows)
    table.setSelectionMode(QTableView.SelectionMode.SingleSelection)
    table.setTabKeyNavigation(False)
    table.setWordWrap(False)
    for view in (table, table.horizontalHeader()):
        view.setTextElideMode(Qt.TextElideMode.ElideMiddle)  # names that are alike differ at their ends
    table.horizontalHeader().setHighlightSections(False)  # titles stay as they are where a row is chosen
    table.setShowGrid(False)
    table.verticalHeader().hide()


def set_row_height(table: QTableView, px: int) -> None:
    """Give all rows a height that follows the size of the text; `px` is that at 100%."""
    _RowHeight(table, px)


class _RowHeight(QObject):
    """Listens to the rows' header, which is told of other text as the table is, but of nothing that is painted."""

    def __init__(self, table: QTableView, px: int) -> None:
        super().__init__(table)
        self._header, self._px = table.verticalHeader(), px
        self._header.installEventFilter(self)
        self._fit()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Follow the text."""
        if event.type() in theme.DRESSES:
            self._fit()
        return False

    def _fit(self) -> None:
        if self._header.defaultSectionSize() != theme.text_px(self._px):
            self._header.setDefaultSectionSize(theme.text_px(self._px))


def fit_columns_to_words(table: QTableView) -> None:
    """Make columns as wide as their title and cells; Qt's own hint for a title adds room for an arrow beside it."""
    header = table.horizontalHeader()
    for column in range(header.count()):
        table.setColumnWidth(column, max(table.sizeHintForColumn(column), head_width(header, column)))


def head_width(header: QHeaderView, column: int) -> int:
    """Px that the title of a column needs. Qt's own hint adds room for the arrow that stands above it."""
    font = theme.caption_font(QFont(header.font()))
    title = str(header.model().headerData(column, Qt.Orientation.Horizontal))
    return QFontMetrics(font).horizontalAdvance(title) + 2 * HEAD_SIDE
