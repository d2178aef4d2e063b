"""Buttons with an icon: of a word, or bare with an accessible name."""

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QPushButton, QToolButton, QWidget

from workbench.ui.icons import SIZE, icon


def button(text: str, icon_name: str = "", kind: str = "", parent: QWidget | None = None) -> QPushButton:
    """A button of one verb; `kind` is "primary", "quiet", "danger" or empty."""
    made = QPushButton(text, parent)
    if icon_name:
        made.setIcon(icon(icon_name, "on_accent" if kind == "primary" else "text"))
        made.setIconSize(QSize(SIZE, SIZE))
    if kind:
        made.setProperty("kind", kind)
    made.setAutoDefault(False)
    return made


def icon_button(icon_name: str, name: str, role: str = "muted", parent: QWidget | None = None) -> QToolButton:
    """A bare icon; `name` is its tooltip and what a screen reader says."""
    made = QToolButton(parent)
    made.setIcon(icon(icon_name, role))
    made.setIconSize(QSize(SIZE, SIZE))
    made.setToolTip(name)
    made.setAccessibleName(name)
    made.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    return made
