"""Amounts as the parts of one bar."""

from collections.abc import Sequence

from PySide6.QtCore import QRectF, QSize
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from workbench.ui.style import theme

GAP = 1  # px between two parts
LEAST = 80  # px


class SharesBar(QWidget):
    """Painted, from left to right; words beside it say the same.

    Args:
        height: px.
    """

    def __init__(self, height: int) -> None:
        super().__init__()
        self._parts: list[tuple[float, str]] = []
        self.setFixedHeight(height)

    def show_parts(self, parts: Sequence[tuple[float, str]]) -> None:
        """Show amounts, 0 or more, each in a colour: "#RRGGBB" or a token of the theme."""
        self._parts = list(parts)
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(LEAST, self.height())

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter, left, tokens = QPainter(self), 0.0, theme.current()
        painter.fillRect(self.rect(), QColor(tokens.divider))
        whole = sum(amount for amount, _ in self._parts)
        for amount, colour in self._parts if whole > 0 else ():
            width = self.width() * amount / whole
            ink = theme.drawn(colour, tokens) if colour.startswith("#") else getattr(tokens, colour)
            painter.fillRect(QRectF(left, 0, max(0.0, width - GAP), self.height()), QColor(ink))
            left += width
        painter.end()
