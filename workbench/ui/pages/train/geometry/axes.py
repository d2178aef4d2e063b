"""What the plots of the tab have in common: their colours, the room around axes, places on them, the legend."""

from collections.abc import Collection, Sequence

from PySide6.QtCore import QRectF
from PySide6.QtGui import QColor, QPainter

from workbench.colours import OKABE_ITO
from workbench.ui.plots.value_scale import MOST_TICKS
from workbench.ui.style import theme
from workbench.ui.style.theme import Tokens

LEFT, RIGHT, TOP, BOTTOM = 44, 12, 28, 32  # px around the axes
BETWEEN, CLOSE, LINE = 28, 19, 13  # px from an entry of the legend to the next, at least, and to a second line of it
TICK_PX = 38  # of a number below an axis
POSITIVE, NEGATIVE, STAR, OTHER_RUN = OKABE_ITO[1], "#5A6372", "#E69F00", OKABE_ITO[0]


def paint_legend(
    painter: QPainter, place: QRectF, lines: Sequence[tuple[str, str]], tokens: Tokens,
    dashed: Collection[str] = (),
) -> None:  # fmt: skip
    """Titles with a stroke of their colour before them, in the upper right corner; those in `dashed` have two."""
    right, metrics = place.right() - RIGHT, painter.fontMetrics()
    room = place.width() - RIGHT - sum(metrics.horizontalAdvance(title) for title, _ in lines)
    between = max(CLOSE, min(BETWEEN, room / max(1, len(lines))))
    for title, colour in reversed(lines):
        width = metrics.horizontalAdvance(title)
        painter.setPen(QColor(tokens.text))
        painter.drawText(QRectF(right - width, place.top(), width + 2, 14), 0, title)
        left, ink = right - width - 16, QColor(theme.drawn(colour, tokens))
        for start, long in ((0, 5), (7, 5)) if title in dashed else ((0, 12),):
            painter.fillRect(QRectF(left + start, place.top() + 6, long, 2), ink)
        right -= width + between


def numbers_below(box: QRectF) -> int:
    """How many numbers stand below an axis without touching each other."""
    return max(1, min(MOST_TICKS, int(box.width() / TICK_PX) - 1))


def place_of(value: float, span: tuple[float, float], start: float, end: float) -> float:
    """Where a value of `span` is between `start` and `end`, px."""
    return start + (value - span[0]) / (span[1] - span[0]) * (end - start)
