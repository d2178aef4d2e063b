"""One row of the legend: colour, name, number of images and, for a class, its MAP@R as a bar."""

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPen
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from workbench.names import in_one_line
from workbench.ui.style import theme
from workbench.ui.style.mirrored import mirrored
from workbench.ui.widgets.labels import names_near, shortened

TALL, DOT, SIDE, GAP = 30, 10, 10, 8  # px: row, dot, left and right of a row, between its parts
BAR, SHORT_BAR, THICK = 72, 28, 6  # px; a bar takes the length that the names leave, or is not drawn
COUNT_ROLE, SCORE_ROLE, COLOUR_ROLE, HIDDEN_ROLE, NAME_ROLE = (Qt.ItemDataRole.UserRole + number for number in range(5))
TRANSPARENT = 90  # of 255: opacity of a hidden group


class LegendRow(QStyledItemDelegate):
    """Draws the roles of GroupModel; a score is in 0..1, None or NaN."""

    beside = 0  # px of the longest name and the widest count, so that all bars have the same length

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        return QSize(0, max(TALL, option.fontMetrics.height() + GAP))

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Draw symbol, text and score bar of one group."""
        tokens, widget = theme.current(), option.widget
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._background(painter, option, widget)
        hidden = bool(index.data(HIDDEN_ROLE))
        colour = QColor.fromRgba(index.data(COLOUR_ROLE))
        area = option.rect.adjusted(SIDE, 0, -SIDE, 0)
        dot = QRectF(area.left(), area.center().y() - DOT / 2 + 0.5, DOT, DOT)
        painter.setPen(QPen(colour, 1.5))
        painter.setBrush(Qt.BrushStyle.NoBrush if hidden else colour)
        painter.drawEllipse(mirrored(option, dot))
        text, muted = QColor(tokens.text), QColor(tokens.muted)
        if hidden:
            text.setAlpha(TRANSPARENT)
        count = f"{index.data(COUNT_ROLE):,}"
        wide = painter.fontMetrics().horizontalAdvance(count)
        room = area.width() - DOT - self.beside - 3 * GAP
        right = self._score(painter, option, index.data(SCORE_ROLE), colour, muted, room)
        painter.setPen(muted)
        middle = int(Qt.AlignmentFlag.AlignVCenter)
        painter.drawText(_seen(option, QRect(right - wide, area.top(), wide, area.height())), middle, count)
        left = area.left() + DOT + GAP
        name = QRect(left, area.top(), right - wide - GAP - left, area.height())
        font = painter.font()
        font.setStrikeOut(hidden)
        painter.setFont(font)
        painter.setPen(text)
        words = in_one_line(str(index.data(NAME_ROLE)))
        words = shortened(words, names_near(index, NAME_ROLE), painter.fontMetrics(), name.width())
        painter.drawText(_seen(option, name), middle, words)
        painter.restore()

    def _background(self, painter: QPainter, option: QStyleOptionViewItem, widget: QWidget | None) -> None:
        if widget is not None:
            style = widget.style()
            style.drawPrimitive(QStyle.PrimitiveElement.PE_PanelItemViewItem, option, painter, widget)

    def _score(
        self, painter: QPainter, option: QStyleOptionViewItem, score: float | None, colour: QColor, ink: QColor,
        room: int,
    ) -> int:  # fmt: skip
        """Draw the score at the right end, and a bar before it if `room` px hold both. Returns the x of their start."""
        area = option.rect.adjusted(SIDE, 0, -SIDE, 0)
        if score is None or score != score:
            return area.right()
        number = f"{100 * score:.1f}"
        wide = painter.fontMetrics().horizontalAdvance("100.0")
        painter.setPen(ink)
        figure = QRect(area.right() - wide, area.top(), wide, area.height())
        at = _seen(option, figure)
        painter.drawText(at, int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight), number)
        long = min(BAR, room - wide - GAP)
        if long < SHORT_BAR:
            return figure.left() - GAP
        left = figure.left() - GAP - long
        track = QRectF(left, area.center().y() - THICK / 2 + 0.5, long, THICK)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(theme.current().divider))
        painter.drawRoundedRect(mirrored(option, track), THICK / 2, THICK / 2)
        painter.setBrush(colour)
        filled = QRectF(left, track.top(), max(THICK, long * score), THICK)
        painter.drawRoundedRect(mirrored(option, filled), THICK / 2, THICK / 2)
        return left - GAP


def _seen(option: QStyleOptionViewItem, part: QRect) -> QRect:
    return QStyle.visualRect(option.direction, option.rect, part)
