"""Title and legend above a plot in a file: all of the legend, in as many lines as it needs."""

from collections.abc import Iterator, Sequence

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QPen

from workbench.ui.style import theme

HEAD, LINE = 52, 20  # px above the curves: title and one line of the legend; each further line
SIDE, STROKE, BETWEEN = 8, 32, 16  # px: at both ends of a line, of a curve's stroke before its title, behind it
Entry = tuple[str, str, Qt.PenStyle]  # title, colour and stroke of a curve


def head_px(entries: Sequence[Entry], font: QFont, width: int) -> int:
    """Px above the curves of a plot of this width (px): the title, and the whole legend."""
    return HEAD + LINE * max((line for _, _, line in _placed(entries, font, width)), default=0)


def paint_head(painter: QPainter, size: QSize, title: str, entries: Sequence[Entry], font: QFont) -> None:
    """Write the title and draw the legend, in the light theme, at the top of a white picture of this size (px)."""
    text = QColor(theme.LIGHT.text)
    painter.setFont(_sized(font))
    painter.setPen(text)
    painter.drawText(QRectF(SIDE, 4, size.width() - 2 * SIDE, 20), Qt.AlignmentFlag.AlignVCenter, title)
    for (words, colour, style), left, line in _placed(entries, font, size.width()):
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
