"""Title and legend above a plot in a file: all of the legend, in as many lines as it needs."""

from collections.abc import Iterator, Sequence

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QPen
from PySide6.QtWidgets import QGraphicsView

from workbench.ui.plots.export import SavedPlot
from workbench.ui.style import theme
from workbench.ui.style.theme import Tokens

HEAD, LINE = 52, 20  # px above the curves: title and one line of the legend; each further line
SIDE, STROKE, BETWEEN = 8, 32, 16  # px: at both ends of a line, of a curve's stroke before its title, behind it
Entry = tuple[str, str, Qt.PenStyle]  # title, colour and stroke of a curve


class RenderedPlot(SavedPlot):
    """A base class of plots that pyqtgraph paints: in a file, title and legend stand above the surface."""

    def surface(self) -> QGraphicsView:
        """What is painted."""
        raise NotImplementedError

    def dress(self, look: Tokens) -> None:
        """Give the surface the colours of a theme."""
        raise NotImplementedError

    def entries(self) -> list[Entry]:
        """The legend of a file, in its order; without one it has a title alone."""
        return []

    def size_in_file(self) -> QSize:
        """The size of the picture in a file, with title and legend, in px."""
        surface = self.surface()
        return QSize(surface.width(), surface.height() + self._head_px())

    def paint_in_file(self, painter: QPainter, size: QSize) -> None:
        """Draw the plot below its title and legend, in the light theme."""
        self._paint_head(painter, size)
        head = self._head_px()
        self.dress(theme.LIGHT)
        try:
            place = QRectF(0, head, size.width(), size.height() - head)
            self.surface().render(painter, place, self.surface().rect())
        finally:
            self.dress(theme.current())

    def _head_px(self) -> int:
        """Px above the curves: the title, and the whole legend in as many lines as the picture's width needs."""
        placed = _placed(self.entries(), self.font(), self.surface().width())
        return HEAD + LINE * max((line for _, _, line in placed), default=-1)

    def _paint_head(self, painter: QPainter, size: QSize) -> None:
        text = QColor(theme.LIGHT.text)
        painter.setFont(_sized(self.font()))
        painter.setPen(text)
        painter.drawText(QRectF(SIDE, 4, size.width() - 2 * SIDE, 20), Qt.AlignmentFlag.AlignVCenter, self.title)
        for (words, colour, style), left, line in _placed(self.entries(), self.font(), size.width()):
            top = 28 + LINE * line
            painter.setPen(QPen(QColor(colour), 2, style))
            painter.drawLine(left, top + 10, left + STROKE - 4, top + 10)
            painter.setPen(text)
            room = QRectF(left + STROKE, top, size.width() - left - STROKE, 20)
            painter.drawText(room, Qt.AlignmentFlag.AlignVCenter, words)


def _placed(entries: Sequence[Entry], font: QFont, width: int) -> Iterator[tuple[Entry, int, int]]:
    """The entries, each with the px at which it begins and its line, from 0."""
    metrics, left, line = QFontMetrics(_sized(font)), SIDE, 0
    for entry in entries:
        wide = STROKE + metrics.horizontalAdvance(entry[0])
        if left > SIDE and left + wide > width - SIDE:
            left, line = SIDE, line + 1
        yield entry, left, line
        left += wide + BETWEEN


def _sized(font: QFont) -> QFont:
    sized = QFont(font)
    sized.setPixelSize(13)
    return sized
