"""The second click of a double-click: it is no second order."""

from PySide6.QtCore import QElapsedTimer
from PySide6.QtWidgets import QApplication


class DoubleClick:
    """Remembers when a click last counted."""

    def __init__(self) -> None:
        self._since = QElapsedTimer()

    def counts(self) -> bool:
        """Whether a click that comes now counts; False so soon after the last one that did."""
        if self.is_under_way:
            return False
        self._since.start()
        return True

    @property
    def is_under_way(self) -> bool:
        """Whether a click that counted is so recent that the next one belongs to it."""
        return self._since.isValid() and self._since.elapsed() < QApplication.doubleClickInterval()
