"""The list below a line in which the name of a model is typed: one row for each model, with its size and licence."""

from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, QPoint, Qt
from PySide6.QtWidgets import QAbstractItemView, QCompleter, QHeaderView, QLineEdit, QTableView

from workbench.entries.offered_models import OfferedModel, offered_models
from workbench.ui.style.icons import icon
from workbench.ui.style.words import THIN
from workbench.ui.widgets.labels import plain_tip

Index = QModelIndex | QPersistentModelIndex
TITLES = ("Model", "Parameters", "Image", "Features", "Licence")
WIDE, EDGE, LINES, PAD = 760, 8, 14, 6  # px, px left free at the screen's edge, rows shown, px around a row's text
LICENCE, WIDEST_LICENCE = 4, "fair-…-license-4.0"  # the column, and as wide as it may be: names need the room
MEASURED = 20  # texts of a column: the widest is among the longest
LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


class OfferedRows(QAbstractTableModel):
    """The models whose name or licence contains every word of what was typed last."""

    def __init__(self, table: str) -> None:
        super().__init__()
        self._table = table
        self._rows: list[OfferedModel] = []

    def search(self, typed: str) -> None:
        """Keep the models that contain each word, those that begin with them first; all of them without a word."""
        words = typed.lower().split()
        self.beginResetModel()
        self._rows = [model for model in offered_models(self._table) if model.has(words)]
        if words:
            starts = ("_".join(words), words[0])
            self._rows.sort(key=lambda model: [not model.name.startswith(start) for start in starts])
        self.endResetModel()

    def row_of(self, name: str) -> int | None:
        """The row of the model of that name; None if it is not among them."""
        return next((row for row, model in enumerate(self._rows) if model.name == name), None)

    def longest(self) -> list[list[int]]:
        """Of each column the rows whose texts have the most letters, one row for each text, at most 20."""
        columns = zip(*map(_cells, self._rows), strict=True)
        rows_of = [{text: row for row, text in enumerate(texts)} for texts in columns]
        return [[rows[text] for text in sorted(rows, key=len, reverse=True)[:MEASURED]] for rows in rows_of]

    def rowCount(self, parent: Index = QModelIndex()) -> int:
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:
        return 0 if parent.isValid() else len(TITLES)

    def headerData(self, section: int, way: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """The title of a column; numbers are at the right."""
        if way == Qt.Orientation.Vertical:
            return None
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return RIGHT if 0 < section < 4 else LEFT
        return TITLES[section] if role == Qt.ItemDataRole.DisplayRole else None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """The text of a cell; the completer writes that of the first column into the line."""
        if not index.isValid():
            return None
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return RIGHT if 0 < index.column() < 4 else LEFT
        model = self._rows[index.row()]
        if role == Qt.ItemDataRole.EditRole and index.column() == 0:
            return model.name
        if role == Qt.ItemDataRole.ToolTipRole and index.column() in (0, LICENCE):  # they may be shortened
            return plain_tip(_cells(model)[index.column()])
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return ", ".join(words for words in _cells(model) if words)
        return _cells(model)[index.column()] if role == Qt.ItemDataRole.DisplayRole else None


class OfferedNames(QCompleter):
    """Completes a line by the names of a table; while one types, and with all of them by Down or the arrow."""

    def __init__(self, table: str, line: QLineEdit) -> None:
        self.rows = OfferedRows(table)
        super().__init__(self.rows, line)
        self.rows.setParent(self)
        self._line = line
        self.setCompletionMode(QCompleter.CompletionMode.UnfilteredPopupCompletion)  # `rows` filters by words
        self.setMaxVisibleItems(LINES)
        self.list = _table_view()
        self.setPopup(self.list)
        self.list.horizontalHeader().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self._fitted = ""  # the font that the columns are wide enough for
        line.textEdited.connect(self._search)
        arrow = line.addAction(icon("caret-down"), QLineEdit.ActionPosition.TrailingPosition)
        arrow.setToolTip("Show all models (Down)")
        arrow.triggered.connect(self.show_all)

    def show_all(self, _checked: bool = False) -> None:
        """Open the list with every model; the one in the line is in view."""
        self._search("")
        self.complete()
        row = self.rows.row_of(self._line.text())
        if row is not None:
            here = self.completionModel().index(row, 0)
            self.list.scrollTo(here, QAbstractItemView.ScrollHint.PositionAtCenter)

    def _search(self, typed: str) -> None:
        if self._fitted != self.list.font().key():
            self._fit_columns()
        self.rows.search(typed)
        rows = min(self.rows.rowCount(), LINES) * self.list.verticalHeader().defaultSectionSize()
        self.list.setMinimumHeight(rows + self.list.horizontalHeader().sizeHint().height() + 2 * self.list.frameWidth())
        left = self._line.mapToGlobal(QPoint(0, 0)).x()
        self.list.setMinimumWidth(
            max(self._line.width(), min(WIDE, self._line.screen().geometry().right() - left - EDGE))
        )

    def _fit_columns(self) -> None:
        """Make columns of numbers wide enough for every model: to measure the rows of each search took 100 ms a key."""
        self._fitted = self.list.font().key()
        self.rows.search("")
        header = self.list.horizontalHeader()
        for column, rows in list(enumerate(self.rows.longest()))[1:]:  # the first takes the room that is left
            cells = [self.completionModel().index(row, column) for row in rows]
            widths = [self.list.sizeHintForIndex(cell).width() for cell in cells]
            header.resizeSection(column, max([header.sectionSizeHint(column), *widths]))
        widest = self.list.fontMetrics().horizontalAdvance(WIDEST_LICENCE)
        header.resizeSection(LICENCE, min(header.sectionSize(LICENCE), widest))


def _table_view() -> QTableView:
    view = QTableView()
    view.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
    view.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
    view.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
    view.setShowGrid(False)
    view.setWordWrap(False)  # else a long licence ends at its first hyphen
    view.setTextElideMode(Qt.TextElideMode.ElideMiddle)  # the tag at the end tells weights apart
    view.verticalHeader().hide()
    view.verticalHeader().setDefaultSectionSize(view.fontMetrics().height() + PAD)
    view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    return view


def _cells(model: OfferedModel) -> tuple[str, ...]:
    millions = model.parameters / 1e6
    count = f"{millions:,.0f}" if millions >= 100 else f"{millions:.3g}"
    return (model.name, f"{count}{THIN}M", f"{model.image}{THIN}px", f"{model.features:,}", model.licence)
