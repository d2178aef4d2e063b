"""The legend: the groups of the colouring with their counts, in a list that is fast with ten thousand classes."""

from typing import Any

import numpy as np
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
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QLineEdit, QListView, QWidget

from workbench.ui.pages.map.model.groups import Groups
from workbench.ui.pages.map.side.colour_bar import ColourBar
from workbench.ui.pages.map.side.legend_row import (
    COLOUR_ROLE,
    COUNT_ROLE,
    GAP,
    HIDDEN_ROLE,
    NAME_ROLE,
    SCORE_ROLE,
    LegendRow,
)
from workbench.ui.pages.map.side.look import LookControls
from workbench.ui.style.words import counted
from workbench.ui.widgets.boxes import in_column
from workbench.ui.widgets.labels import label, plain_tip

MEASURED = 200  # names that are measured: the longest decides whether there is room for bars
Index = QModelIndex | QPersistentModelIndex


class GroupModel(QAbstractListModel):
    """One row per group; hidden ones are struck out and their dot is hollow."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.groups: Groups | None = None
        self.hidden: frozenset[int] = frozenset()
        self.scores: np.ndarray | None = None  # [g] mean average precision

    def show(self, groups: Groups | None, hidden: frozenset[int], scores: np.ndarray | None = None) -> None:
        """Show other groups, some of them hidden; `scores` [g] are shown beside their names."""
        self.beginResetModel()
        self.groups, self.hidden, self.scores = groups, hidden, scores
        self.endResetModel()

    def set_hidden(self, hidden: frozenset[int]) -> None:
        """Strike out the names of these groups."""
        self.hidden = hidden
        if self.rowCount():
            self.dataChanged.emit(self.index(0), self.index(self.rowCount() - 1))

    def rowCount(self, parent: Index = QModelIndex()) -> int:
        return 0 if parent.isValid() or self.groups is None else len(self.groups.names)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Text, name and colour of a group's row, and the roles that LegendRow draws."""
        if self.groups is None or not index.isValid():
            return None
        row = index.row()
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return f"{self.groups.names[row]} ({self.groups.counts[row]:,})"  # names may be numbers
            case _ if role == NAME_ROLE:
                return self.groups.names[row]
            case _ if role == COUNT_ROLE:
                return int(self.groups.counts[row])
            case _ if role == SCORE_ROLE:
                return None if self.scores is None else float(self.scores[row])
            case _ if role == COLOUR_ROLE:
                return int(self.groups.colours[row])
            case _ if role == HIDDEN_ROLE:
                return row in self.hidden
            case Qt.ItemDataRole.ToolTipRole:
                how = "click or Space hides or shows it, double-click or Enter shows only this one"
                return plain_tip(f"{self.groups.names[row]}: {how}")
            case Qt.ItemDataRole.AccessibleTextRole:
                state = ", hidden" if row in self.hidden else ""
                return f"{self.groups.names[row]}, {counted(self.groups.counts[row], 'image')}{state}"
        return None


class Legend(QWidget):
    """A searchable list of groups, or the scale of a continuous colouring, to the right of the map."""

    toggled = Signal(int)  # group to hide or show
    alone_asked = Signal(int)  # group to show alone

    def __init__(self) -> None:
        super().__init__()
        self.model = GroupModel(self)
        self._filtered = QSortFilterProxyModel(self)
        self._filtered.setSourceModel(self.model)
        self._filtered.setFilterRole(NAME_ROLE)
        self._filtered.setFilterCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        self.search = QLineEdit()
        self.search.setPlaceholderText("Find a class or group")
        self.search.setAccessibleName("Search the legend")
        self.search.setClearButtonEnabled(True)
        self.list = QListView()
        self.list.setModel(self._filtered)
        self.list.setUniformItemSizes(True)
        self.rows = LegendRow(self.list)
        self.list.setItemDelegate(self.rows)
        self.list.setFrameShape(QFrame.Shape.NoFrame)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.list.setAccessibleName("Legend: groups with their counts")
        self.list.installEventFilter(self)
        self.scale_title = label("", "caption", wrap=True)
        self.bar = ColourBar()
        self.count = label("", "caption", wrap=True)
        self.look = LookControls()
        self.head = label("", "caption")
        self.head.setAlignment(Qt.AlignmentFlag.AlignRight)
        column = in_column(
            self.search,
            self.head,
            (self.list, 1),
            self.scale_title,
            (self.bar, 1),
            self.count,
            self.look,
            on=self,
            margins=12,
            spacing=8,
        )
        self.how = label("Click to hide a group; double-click to show only that group.", "caption", wrap=True)
        column.addWidget(self.how)
        column.addStretch(0)
        self._show_kind(None)
        self.search.textChanged.connect(self._filtered.setFilterFixedString)
        self.list.clicked.connect(self._toggle)
        self.list.doubleClicked.connect(self._show_alone)

    def show_groups(self, groups: Groups | None, hidden: frozenset[int], scores: np.ndarray | None = None) -> None:
        """Show other groups, some of them hidden; `scores` [g] are MAP@R in 0..1, or NaN."""
        self.model.show(groups, hidden, scores)
        names = [] if groups is None else groups.names[:MEASURED]
        counts = [] if groups is None else [f"{max(groups.counts, default=0):,}"]
        longest = [max(map(self.fontMetrics().horizontalAdvance, words), default=0) for words in (names, counts)]
        self.rows.beside = sum(longest) + GAP
        self.head.setText("Images, MAP@R %" if scores is not None else "Images")
        self._show_kind(groups)
        self._tell_count()

    def show_hidden(self, hidden: frozenset[int]) -> None:
        """Mark these groups as hidden."""
        self.model.set_hidden(hidden)
        self._tell_count()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Space hides or shows the current group, Enter shows it alone."""
        if watched is self.list and isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            action = {
                Qt.Key.Key_Space: self._toggle,
                Qt.Key.Key_Return: self._show_alone,
                Qt.Key.Key_Enter: self._show_alone,
            }.get(Qt.Key(event.key()))
            if action is not None and self.list.currentIndex().isValid():
                action(self.list.currentIndex())
                return True
        return super().eventFilter(watched, event)

    def _toggle(self, index: QModelIndex) -> None:
        self.toggled.emit(self._filtered.mapToSource(index).row())

    def _show_alone(self, index: QModelIndex) -> None:
        self.alone_asked.emit(self._filtered.mapToSource(index).row())

    def _show_kind(self, groups: Groups | None) -> None:
        """Show the list of groups, or the scale of colours."""
        scale = None if groups is None else groups.scale
        of_list: list[QWidget] = [self.search, self.head, self.list, self.how]
        of_scale: list[QWidget] = [self.scale_title, self.bar]
        for widget in of_list + of_scale:
            widget.setVisible((widget in of_scale) == (scale is not None))
        if groups is not None and scale is not None:
            self.scale_title.setText(scale.title)
            self.bar.show_scale(groups)

    def _tell_count(self) -> None:
        if self.model.groups is not None and self.model.groups.scale is not None:
            without = self.model.groups.scale.without
            self.count.setText(f"{without:,} without a value, in grey" if without else "")
            return
        every = self.model.rowCount()
        hidden = len(self.model.hidden)
        by_class = self.model.groups is not None and self.model.groups.labels is not None
        words = counted(every, "class", "classes") if by_class else counted(every, "group")
        self.count.setText(f"{every - hidden:,} of {words} shown" if hidden else words)
