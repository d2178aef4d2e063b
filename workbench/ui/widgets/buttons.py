"""Buttons with text and an icon, or with an icon and an accessible name."""

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QToolButton, QWidget

from workbench.ui.style.icons import SIZE, icon

BESIDE = 4  # px at the sides of an icon, between it and the text


def button(text: str, icon_name: str = "", kind: str = "", parent: QWidget | None = None) -> QPushButton:
    """A button of one verb; `kind` is "primary", "quiet", "danger" or empty."""
    push_button = QPushButton(text, parent)
    if icon_name:
        push_button.setIcon(icon(icon_name, "on_accent" if kind == "primary" else "text"))
        push_button.setIconSize(QSize(SIZE + BESIDE, SIZE) if text else QSize(SIZE, SIZE))
    if kind:
        push_button.setProperty("kind", kind)
    push_button.setAutoDefault(False)
    return push_button


def icon_button(icon_name: str, name: str, role: str = "muted", parent: QWidget | None = None) -> QToolButton:
    """A bare icon; `name` is its tooltip and what a screen reader says."""
    tool_button = QToolButton(parent)
    tool_button.setIcon(icon(icon_name, role))
    tool_button.setIconSize(QSize(SIZE, SIZE))
    tool_button.setToolTip(name)
    tool_button.setAccessibleName(name)
    tool_button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    return tool_button


def button_row(*buttons: QWidget) -> QHBoxLayout:
    """The buttons side by side at the right end of a row, in this order."""
    row = QHBoxLayout()
    row.addStretch(1)
    for widget in buttons:
        row.addWidget(widget)
    return row
