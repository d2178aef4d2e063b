"""A menu on a page that has keys without Ctrl or Alt: typed into the open menu, they are not the page's."""

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QMenu

HELD = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier | Qt.KeyboardModifier.MetaModifier


class PageMenu(QMenu):
    """Keeps the letters that are typed while it is open."""

    def event(self, event: QEvent) -> bool:
        """Take a key without Ctrl or Alt before it is a shortcut: Qt looks for those of the window below first."""
        override = event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent)
        if override and not event.modifiers() & HELD:  # type: ignore[attr-defined]
            event.accept()
            return True
        return super().event(event)
