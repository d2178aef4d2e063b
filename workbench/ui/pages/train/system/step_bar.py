"""The parts of a step as one bar."""

from PySide6.QtCore import QRectF
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from workbench.ui.pages.train.system.load_charts import COLOURS
from workbench.ui.style import theme

BAR_PX = 10


class StepBar(QWidget):
    """The parts of a step as one bar."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._seconds: dict[str, float] = {}
        self.setFixedHeight(BAR_PX)

    def show_parts(self, seconds: dict[str, float]) -> None:
        """Show these seconds by the names of PARTS."""
        self._seconds = seconds
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter, left = QPainter(self), 0.0
        painter.fillRect(self.rect(), QColor(theme.current().divider))
        whole = sum(self._seconds.values())
        for name, spent in self._seconds.items():
            width = self.width() * spent / whole if whole > 0 else 0.0
            painter.fillRect(QRectF(left, 0, max(0.0, width - 1), BAR_PX), QColor(theme.drawn(COLOURS[name])))
            left += width
        painter.end()
