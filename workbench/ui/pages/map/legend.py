"""The groups of the colouring with their counts; a list that does not mind ten thousand classes."""

from typing import Any

from PySide6.QtCore import (
    QAbstractListModel,
    QEvent,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QSortFilterProxyModel,
    Qt,
    Signal,
)
from PySide6.QtGui import QColor, QFont, QKeyEvent, QPainter, QPixmap
from PySide6.QtWidgets import QCheckBox, QLineEdit, QListView, QVBoxLayout, QWidget

from workbench.ui.pages.map.map_data import Groups
from workbench.ui.widgets.labels import label

SWATCH = 12  # px
Index = QModelIndex | QPersistentModelIndex


class GroupModel(QAbstractListModel):
    """One row per group; hidden ones are struck out and their swatch is hollow."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.groups: Groups | None = None
        self.hidden: frozenset[int] = frozenset()

    def show(self, groups: Groups | None, hidden: frozenset[int]) -> None:
        """Other groups."""
        self.beginResetModel()
        self.groups, self.hidden = groups, hidden
        self.endResetModel()

    def set_hidden(self, hidden: frozenset[int]) -> None:
        """Strike these out."""
        self.hidden = hidden
        if self.rowCount():
            self.dataChanged.emit(self.index(0), self.index(self.rowCount() - 1))

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
                return swatch(QColor.fromRgba(int(self.groups.colours[row])), row in self.hidden)
            case Qt.ItemDataRole.FontRole:
                font = QFont()
                font.setStrikeOut(row in self.hidden)
                return font
            case Qt.ItemDataRole.ToolTipRole:
                return f"{self.groups.names[row]}: click hides or shows, double-click shows it alone"
            case Qt.ItemDataRole.AccessibleTextRole:
                state = ", hidden" if row in self.hidden else ""
                return f"{self.groups.names[row]}, {self.groups.counts[row]:,} images{state}"
        return None


class Legend(QWidget):
    """Right of the map."""

    hidden_changed = Signal(object)  # frozenset of group numbers
    proxies_toggled = Signal(bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.model = GroupModel(self)
        self._found = QSortFilterProxyModel(self)
        self._found.setSourceModel(self.model)
        self._found.setFilterCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        self.search = QLineEdit()
        self.search.setPlaceholderText("Search the legend")
        self.search.setAccessibleName("Search the legend")
        self.search.setClearButtonEnabled(True)
        self.list = QListView()
        self.list.setModel(self._found)
        self.list.setUniformItemSizes(True)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.list.setAccessibleName("Legend: groups with their counts")
        self.list.installEventFilter(self)
        self.count = label("", "caption")
        self.proxies = QCheckBox()
        self.proxies.setChecked(True)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addWidget(self.search)
        column.addWidget(self.list, 1)
        column.addWidget(self.count)
        column.addWidget(self.proxies)
        column.addWidget(label("Click hides, double-click solos", "caption", wrap=True))
        self.search.textChanged.connect(self._found.setFilterFixedString)
        self.list.clicked.connect(self._toggle)
        self.list.doubleClicked.connect(self._solo)
        self.proxies.toggled.connect(self.proxies_toggled)

    @property
    def hidden(self) -> frozenset[int]:
        """Numbers of the groups that are hidden."""
        return self.model.hidden

    def show_groups(self, groups: Groups | None, proxies: int) -> None:
        """Other groups; those of the same name stay hidden. `proxies` are the stars on the map."""
        before = self.model.groups
        names = set() if before is None else {before.names[row] for row in self.model.hidden}
        now = [] if groups is None else groups.names
        hidden = frozenset(row for row, name in enumerate(now) if name in names) if names else frozenset()
        self.model.show(groups, hidden if len(hidden) < len(now) else frozenset())
        self.proxies.setVisible(proxies > 0)
        self.proxies.setText(f"★ Class proxies  {proxies:,}")
        self._tell_count()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Space hides or shows the current group, Enter shows it alone."""
        if watched is self.list and isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            action = {Qt.Key.Key_Space: self._toggle, Qt.Key.Key_Return: self._solo, Qt.Key.Key_Enter: self._solo}.get(
                Qt.Key(event.key())
            )
            if action is not None and self.list.currentIndex().isValid():
                action(self.list.currentIndex())
                return True
        return super().eventFilter(watched, event)

    def _toggle(self, index: QModelIndex) -> None:
        row = self._found.mapToSource(index).row()
        self._hide(self.model.hidden ^ {row})

    def _solo(self, index: QModelIndex) -> None:
        """Only this group; all again when it stands alone already. The first click of the two has toggled it."""
        row = self._found.mapToSource(index).row()
        others = frozenset(range(self.model.rowCount())) - {row}
        alone = bool(others) and self.model.hidden in (others, others | {row})
        self._hide(frozenset() if alone else others)

    def _hide(self, hidden: frozenset[int]) -> None:
        self.model.set_hidden(hidden)
        self._tell_count()
        self.hidden_changed.emit(hidden)

    def _tell_count(self) -> None:
        every = self.model.rowCount()
        hidden = len(self.model.hidden)
        self.count.setText(f"{every - hidden:,} of {every:,} groups shown" if hidden else f"{every:,} groups")


def swatch(colour: QColor, hollow: bool) -> QPixmap:
    """A square of a colour, or its outline."""
    made = QPixmap(SWATCH, SWATCH)
    made.fill(Qt.GlobalColor.transparent)
    painter = QPainter(made)
    if hollow:
        painter.setPen(colour)
        painter.drawRect(0, 0, SWATCH - 1, SWATCH - 1)
    else:
        painter.fillRect(made.rect(), colour)
    painter.end()
    return made
