"""Moves the keyboard focus from one part of the window to the next: the list of runs, the page, the Inspector."""

from collections.abc import Sequence

from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QApplication, QWidget
from shiboken6 import isValid

from workbench.ui.state.commands import Commands
from workbench.ui.style.tab_order import START, stops
from workbench.ui.window.frame.kept_focus import can_stop


class PartKeys(QObject):
    """The commands for the next and the previous part. What had the focus in a part has it again.

    Args:
        window: that has the parts.
        parts: in their order; those that are hidden, or have no control that can be used, are passed over.
    """

    def __init__(self, window: QWidget, commands: Commands, parts: Sequence[QWidget]) -> None:
        super().__init__(window)
        self._window, self._parts = window, tuple(parts)
        self._last: dict[QWidget, QWidget] = {}  # that had the focus, by its part
        self.forward = commands.add("view.next-part", "Next part of the window", self._next, "F6")
        self.back = commands.add("view.previous-part", "Previous part of the window", self._previous, "Shift+F6")
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        app.focusChanged.connect(self._follow)

    def _follow(self) -> None:
        if not isValid(self._window):  # it is being destroyed, and takes the focus from its parts
            return
        now = QApplication.focusWidget()
        if now is not None and (part := self._part_of(now)) is not None:
            self._last[part] = now

    def _part_of(self, widget: QWidget | None) -> QWidget | None:
        if widget is None:
            return None
        return next((part for part in self._parts if part is widget or part.isAncestorOf(widget)), None)

    def _next(self) -> None:
        self._go(1)

    def _previous(self) -> None:
        self._go(-1)

    def _go(self, by: int) -> None:
        now, order = self._part_of(QApplication.focusWidget()), self._parts[::by]
        at = order.index(now) + 1 if now is not None else 0
        for part in order[at:] + order[:at]:
            if part is not now and part.isVisible() and (stop := self._stop_in(part)) is not None:
                stop.setFocus(Qt.FocusReason.ShortcutFocusReason)
                return

    def _stop_in(self, part: QWidget) -> QWidget | None:
        """Where the focus was in a part, else its first control that can be used."""
        last = self._last.get(part)
        if last is not None and isValid(last) and last.isEnabled() and last.isVisible():
            return last
        return next((stop for stop in stops([part]) if can_stop(stop) or _is_shown_page(stop)), None)


def _is_shown_page(widget: QWidget) -> bool:
    """Whether it is a page, whose own keys work while it has the focus."""
    return bool(widget.property(START)) and widget.isVisible() and widget.focusPolicy() != Qt.FocusPolicy.NoFocus
