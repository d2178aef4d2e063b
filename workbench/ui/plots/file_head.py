"""Title and legend of a curve plot in a file, above the curves: all of the legend, in as many lines as it needs."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QPen

from workbench.ui.style import theme

if TYPE_CHECKING:
    from workbench.ui.plots.curve_plot import CurvePlot
    from workbench.ui.plots.items import Series

HEAD, LINE = 52, 20  # px above the curves: title and one line of the legend; each further line
SIDE, STROKE, BETWEEN = 8, 32, 16  # px: at both ends of a line, of a curve's stroke before its title, behind it


def head_px(plot: "CurvePlot") -> int:
    """Px above the curves: the title, and the whole legend in as many lines as the picture's width needs."""
    entries = _legend(plot)
    return HEAD + LINE * (entries[-1][2] if entries else 0)


def paint_head(plot: "CurvePlot", painter: QPainter, size: QSize) -> None:
    """Write the title and draw the legend, in the light theme, at the top of a picture of this size (px)."""
    text = QColor(theme.LIGHT.text)
    painter.setFont(_font(plot))
    painter.setPen(text)
    painter.drawText(QRectF(SIDE, 4, size.width() - 2 * SIDE, 20), Qt.AlignmentFlag.AlignVCenter, plot.title)
    for series, left, line in _legend(plot):
        top = 28 + LINE * line
        painter.setPen(QPen(QColor(series.colour), 2, series.style))
        painter.drawLine(left, top + 10, left + STROKE - 4, top + 10)
        painter.setPen(text)
        room = QRectF(left + STROKE, top, size.width() - left - STROKE, 20)
        painter.drawText(room, Qt.AlignmentFlag.AlignVCenter, series.title)


def _legend(plot: "CurvePlot") -> list[tuple["Series", int, int]]:
    """The shown series, each with the px at which its entry begins and its line, from 0."""
    metrics, left, line = QFontMetrics(_font(plot)), SIDE, 0
    entries = []
    for series in plot.shown():
        width = STROKE + metrics.horizontalAdvance(series.title)
        if left > SIDE and left + width > plot.canvas.width() - SIDE:
            left, line = SIDE, line + 1
        entries.append((series, left, line))
        left += width + BETWEEN
    return entries


def _font(plot: "CurvePlot") -> QFont:
    font = QFont(plot.font())
    font.setPixelSize(13)
    return font
