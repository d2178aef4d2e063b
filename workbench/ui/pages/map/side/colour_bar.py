"""The legend of a colouring by a number: its colours from low to high."""

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from workbench.numerals import significant
from workbench.ui.pages.map.model.groups import Groups
from workbench.ui.style import theme

WIDE, TOP = 20, 12  # px: width of the bar, and space above it so that its first number is not cut off
TICKS = 5


class ColourBar(QWidget):
    """A bar of the steps of a scale, the highest at the top, with numbers beside it."""

    def __init__(self) -> None:
        super().__init__()
        self._groups: Groups | None = None
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Expanding)
        self.setMaximumHeight(320)
        self.setMinimumHeight(120)

    def show_scale(self, groups: Groups) -> None:
        """Show the scale of these groups; they must have one."""
        self._groups = groups
        assert groups.scale is not None
        low, high = groups.scale.low, groups.scale.high
        self.setAccessibleName(
            f"Colour scale of {groups.scale.title}, from {significant(low, 4)} to {significant(high, 4)}"
        )
        self.update()

    def ticks(self) -> list[tuple[float, str]]:
        """Position from the bottom, 0..1, and the number there; only one tick if all values are equal."""
        if self._groups is None or self._groups.scale is None:
            return []
        low, high = self._groups.scale.low, self._groups.scale.high
        if low == high:
            return [(0.5, significant(low, 4))]
        return [(step / (TICKS - 1), significant(low + (high - low) * step / (TICKS - 1), 4)) for step in range(TICKS)]

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._groups is None or self._groups.scale is None:
            return
        tokens, painter = theme.current(), QPainter(self)
        tall = self.height() - 2 * TOP
        steps = self._groups.colours[: len(self._groups.names) - 1].tolist()
        for number, ink in enumerate(steps):
            low, high = round(tall * number / len(steps)), round(tall * (number + 1) / len(steps))
            painter.fillRect(QRect(0, TOP + tall - high, WIDE, high - low), QColor.fromRgba(ink))
        painter.setPen(QPen(QColor(tokens.text)))
        for at, word in self.ticks():
            y = TOP + round(tall * (1 - at))
            painter.drawLine(WIDE, y, WIDE + 4, y)
            line = QRect(WIDE + 8, y - TOP, self.width() - WIDE - 8, 2 * TOP)
            painter.drawText(line, int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter), word)
