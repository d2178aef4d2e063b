"""The groups of the colouring with their counts; a list that does not mind ten thousand classes."""

from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QPersistentModelIndex, QSortFilterProxyModel, Qt, Signal
from PySide6.QtGui import QColor, QFont, QPixmap
from PySide6.QtWidgets import QLineEdit, QListView, QVBoxLayout, QWidget

from workbench.ui.pages.map.map_data import Groups
from workbench.ui.widgets.labels import label

SWATCH = 12  # px
Index = QModelIndex | QPersistentModelIndex


class GroupModel(QAbstractListModel):
    """One row per group; hidden ones are struck out."""

    def __init__(self) -> None:
        super().__init__()
        self.groups: Groups | None = None
        self.hidden: set[int] = set()

    def show(self, groups: Groups) -> None:
        self.beginResetModel()
        self.groups, self.hidden = groups, set()
        self.endResetModel()

    def set_hidden(self, hidden: set[int]) -> None:
        self.hidden = hidden
        self.dataChanged.emit(self.index(0), self.index(max(0, self.rowCount() - 1)))

    def rowCount(self, parent: Index = QModelIndex()) -> int:
        return 0 if parent.isValid() or self.groups is None else len(self.groups.names)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if self.groups is None or not index.isValid():
            return None
        row = index.row()
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return f"{self.groups.names[row]}  {self.groups.counts[row]:,}"
            case Qt.ItemDataRole.DecorationRole:
                swatch = QPixmap(SWATCH, SWATCH)
                swatch.fill(QColor("transparent") if row in self.hidden else self.groups.colours[row])
                return swatch
            case Qt.ItemDataRole.FontRole:
                font = QFont()
                font.setStrikeOut(row in self.hidden)
                return font
            case Qt.ItemDataRole.ToolTipRole:
                return f"{self.groups.names[row]}: click hides or shows, double-click shows it alone"
        return None


class Legend(QWidget):
    """Right of the map."""

    hidden_changed = Signal(object)  # set of group numbers

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.model = GroupModel()
        self._found = QSortFilterProxyModel(self)
        self._found.setSourceModel(self.model)
        self._found.setFilterCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        self.search = QLineEdit()
        self.search.setPlaceholderText("Search classes")
        self.search.setAccessibleName("Search the legend")
        self.search.setClearButtonEnabled(True)
        self.list = QListView()
        self.list.setModel(self._found)
        self.list.setUniformItemSizes(True)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.list.setAccessibleName("Legend: groups with their counts")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addWidget(self.search)
        column.addWidget(self.list, 1)
        column.addWidget(label("★ class proxy   Click hides, double-click solos", "caption", wrap=True))
        self.search.textChanged.connect(self._found.setFilterFixedString)
        self.list.clicked.connect(self._toggle)
        self.list.doubleClicked.connect(self._solo)

    def show_groups(self, groups: Groups) -> None:
        """Other groups: all shown."""
        self.model.show(groups)

    def _toggle(self, index: QModelIndex) -> None:
        row = self._found.mapToSource(index).row()
        self._hide(self.model.hidden ^ {row})

    def _solo(self, index: QModelIndex) -> None:
        row = self._found.mapToSource(index).row()
        others = set(range(self.model.rowCount())) - {row}
        self._hide(set() if self.model.hidden in (others, others | {row}) else others)

    def _hide(self, hidden: set[int]) -> None:
        self.model.set_hidden(hidden)
        self.hidden_changed.emit(hidden)
