"""The row of tools above the map, and the progress strip of a map that is being computed."""

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QAction, QActionGroup, QKeySequence
from PySide6.QtWidgets import QFrame, QHBoxLayout, QProgressBar, QToolButton, QWidget

from workbench.ui.style.icons import SIZE, icon
from workbench.ui.widgets.buttons import button
from workbench.ui.widgets.labels import label

GAP = 12  # px from the map's edge


class ToolRow(QWidget):
    """One button per action, with a gap for each separator. The window's menu shows the same actions."""

    def __init__(self, actions: list[QAction], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        self.buttons: dict[QAction, QToolButton] = {}
        for action in actions:
            if action.isSeparator():
                row.addSpacing(GAP // 3)
                continue
            tool = QToolButton()
            tool.setDefaultAction(action)
            tool.setIconSize(QSize(SIZE, SIZE))
            tool.setFocusPolicy(Qt.FocusPolicy.TabFocus)
            tool.setAccessibleName(action.text())
            row.addWidget(tool)
            self.buttons[action] = tool


class ProgressStrip(QFrame):
    """Shows what is being computed, its progress, and Cancel, over the map; hidden while nothing is computed."""

    cancelled = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setProperty("card", "raised")
        self.words = label("", "caption")
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        self.bar.setFixedWidth(120)
        self.bar.setAccessibleName("Progress of the map")
        self.cancel = button("Cancel", kind="quiet")
        self.cancel.clicked.connect(self.cancelled)
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 2, 4, 2)
        for widget in (self.words, self.bar, self.cancel):
            row.addWidget(widget)
        self.hide()

    def show_progress(self, words: str, done: int, total: int) -> None:
        """Show the stage and its progress; `total` is 0 if unknown. Empty words hide the strip."""
        self.setVisible(bool(words))
        self.words.setText(words)
        self.bar.setRange(0, total)
        self.bar.setValue(done)
        self.adjustSize()
        self.place()

    def place(self) -> None:
        """Move to the middle of the parent's lower edge."""
        parent = self.parentWidget()
        assert parent is not None
        self.move((parent.width() - self.width()) // 2, parent.height() - self.height() - GAP)


def tool_action(parent: QWidget, words: str, keys: str, icon_name: str, group: QActionGroup | None = None) -> QAction:
    """A command of the page, with its key in the tooltip. In a group it is a tool, and one of the group is chosen."""
    action = QAction(icon(icon_name), words, parent)
    action.setShortcut(QKeySequence(keys))
    action.setShortcutContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
    action.setToolTip(f"{words} ({keys})" if keys else words)
    if group is not None:
        action.setCheckable(True)
        group.addAction(action)
    parent.addAction(action)
    return action
