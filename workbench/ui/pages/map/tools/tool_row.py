"""The row of tools above the map."""

from functools import partial

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QAction, QActionGroup, QKeySequence
from PySide6.QtWidgets import QHBoxLayout, QToolButton, QWidget

from workbench.ui.style.icons import SIZE, icon
from workbench.ui.style.words import own_keys

GAP = 4  # px, for a separator


class ToolRow(QWidget):
    """One button per action, with a gap for each separator. The window's menu shows the same actions."""

    def __init__(self, actions: list[QAction]) -> None:
        super().__init__()
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        self.buttons: dict[QAction, QToolButton] = {}
        for action in actions:
            if action.isSeparator():
                row.addSpacing(GAP)
                continue
            tool = QToolButton()
            tool.setDefaultAction(action)
            tool.setIconSize(QSize(SIZE, SIZE))
            tool.setFocusPolicy(Qt.FocusPolicy.TabFocus)
            tool.setAccessibleName(action.text())
            row.addWidget(tool)
            tool.setVisible(action.isVisible())  # Qt hides what is of an action in menus and tool bars alone
            action.visibleChanged.connect(partial(_show_as, action, tool))
            self.buttons[action] = tool


def _show_as(action: QAction, tool: QToolButton) -> None:
    tool.setVisible(action.isVisible())


def tool_action(parent: QWidget, words: str, keys: str, icon_name: str, group: QActionGroup | None = None) -> QAction:
    """A command of the page, with its key in the tooltip. In a group it is a tool, and one of the group is chosen."""
    action = QAction(icon(icon_name), words, parent)
    action.setShortcut(QKeySequence(keys))
    action.setShortcutContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
    action.setToolTip(own_keys(f"{words} ({keys})" if keys else words))
    if group is not None:
        action.setCheckable(True)
        group.addAction(action)
    parent.addAction(action)
    return action
