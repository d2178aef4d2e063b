"""How an entry of a searchable list looks: its title, words at the right, and a line below."""

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontInfo, QFontMetrics, QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from workbench.ui import theme

Index = QModelIndex | QPersistentModelIndex
NOTE_ROLE = Qt.ItemDataRole.UserRole + 2  # of an entry: the line below its title
ASIDE_ROLE = NOTE_ROLE + 1  # the words at the right of its title
PAD, GAP = 8, 3  # px
TEXT = Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine


class ChoiceRow(QStyledItemDelegate):
    """One line, or two where the entry has a note; an entry without words beside it is drawn by Qt."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        height = QFontMetrics(option.font).height() + 2 * GAP
        if index.data(NOTE_ROLE):
            height += QFontMetrics(_small(option.font)).height()
        return QSize(120, height)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Draw one entry; the right words have their room, and the rest is shortened."""
        note, aside = index.data(NOTE_ROLE) or "", index.data(ASIDE_ROLE) or ""
        if not note and not aside:
            super().paint(painter, option, index)
            return
        self.initStyleOption(option, index)
        title, option.text = option.text, ""
        style = option.widget.style()
        style.drawControl(QStyle.ControlElement.CE_ItemViewItem, option, painter, option.widget)
        tokens, small = theme.current(), _small(option.font)
        rect = option.rect.adjusted(PAD, GAP, -PAD, -GAP)
        first = QFontMetrics(option.font).height()
        painter.save()
        painter.setFont(small)
        painter.setPen(QColor(tokens.muted))
        words = QFontMetrics(small)
        top = rect.adjusted(0, 0, 0, first - rect.height())
        painter.drawText(top, int(TEXT | Qt.AlignmentFlag.AlignRight), aside)
        below = rect.adjusted(0, first, 0, 0)
        painter.drawText(below, int(TEXT), words.elidedText(note, Qt.TextElideMode.ElideRight, rect.width()))
        painter.setFont(option.font)
        painter.setPen(QColor(tokens.text))
        room = rect.width() - words.horizontalAdvance(aside) - PAD
        shown = QFontMetrics(option.font).elidedText(title, Qt.TextElideMode.ElideRight, room)
        painter.drawText(top, int(TEXT), shown)
        painter.restore()


def _small(font: QFont) -> QFont:
    small = QFont(font)
    small.setPixelSize(round(QFontInfo(font).pixelSize() * theme.CAPTION_PX / theme.BODY_PX))
    return small
