"""How the class of a query looks in the list: its name, and below it what it was taken for and the suspected cause."""

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from workbench.ui.pages.retrieval.queries.query_table import CAUSE_ROLE, TAKEN_ROLE
from workbench.ui.style import theme
from workbench.ui.widgets.labels import names_near, shortened

SIDE, GAP = 4, 6  # px: left and right of the words, between what stands in a line
LEFT = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft)
RIGHT = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight)
Index = QModelIndex | QPersistentModelIndex


class QueryName(QStyledItemDelegate):
    """One line for a query that was answered, two for one that failed."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Draw the class of a query."""
        painter.save()
        if option.widget is not None:
            panel = QStyle.PrimitiveElement.PE_PanelItemViewItem
            option.widget.style().drawPrimitive(panel, option, painter, option.widget)
        area, taken = option.rect.adjusted(SIDE, 0, -SIDE, 0), index.data(TAKEN_ROLE)
        small = theme.caption_font(option.font)
        if not taken:
            self._name(painter, option.font, area, index)
        else:
            line, below = QFontMetrics(option.font).height(), QFontMetrics(small).height()
            top = area.top() + (area.height() - line - below) // 2
            self._name(painter, option.font, QRect(area.left(), top, area.width(), line), index)
            self._failure(painter, small, QRect(area.left(), top + line, area.width(), below), index, option)
        painter.restore()

    def _name(self, painter: QPainter, font: QFont, area: QRect, index: Index) -> None:
        painter.setFont(font)
        painter.setPen(QColor(theme.current().text))
        words = " ".join(str(index.data()).split())
        if painter.fontMetrics().horizontalAdvance(words) > area.width():
            words = shortened(words, names_near(index), painter.fontMetrics(), area.width())
        painter.drawText(area, LEFT, words)

    def _failure(self, painter: QPainter, font: QFont, area: QRect, index: Index, option: QStyleOptionViewItem) -> None:
        """What the query was taken for at the left, the cause in a word at the right."""
        tokens, cause = theme.current(), index.data(CAUSE_ROLE)
        painter.setFont(font)
        metrics = painter.fontMetrics()
        if cause:
            painter.setPen(QColor(tokens.warning))
            painter.drawText(area, RIGHT, cause)
            area = area.adjusted(0, 0, -metrics.horizontalAdvance(cause) - GAP, 0)
        taken = " ".join(f"→ {index.data(TAKEN_ROLE)}".split())
        painter.setPen(QColor(tokens.wrong))
        area = QStyle.visualRect(option.direction, option.rect, area)
        painter.drawText(area, LEFT, metrics.elidedText(taken, Qt.TextElideMode.ElideMiddle, area.width()))
