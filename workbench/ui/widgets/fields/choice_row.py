"""How an entry of a searchable list looks: its title, words at the right, and a line below."""

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QSize, Qt
from PySide6.QtGui import (
    QAbstractTextDocumentLayout,
    QColor,
    QFont,
    QFontInfo,
    QFontMetrics,
    QPainter,
    QPalette,
    QTextDocument,
)
from PySide6.QtWidgets import QAbstractItemView, QStyle, QStyledItemDelegate, QStyleOptionViewItem

from workbench.ui.style import theme
from workbench.ui.style.formula import rich

Index = QModelIndex | QPersistentModelIndex
NOTE_ROLE = Qt.ItemDataRole.UserRole + 2  # of an entry: the line below its title
ASIDE_ROLE = NOTE_ROLE + 1  # the words at the right of its title
FORMULA_ROLE = ASIDE_ROLE + 1  # a formula in place of the note
PAD, GAP = 8, 3  # px
TEXT = Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine


class ChoiceRow(QStyledItemDelegate):
    """One line, or two if the entry has a note, more for a long formula; Qt draws an entry without a note."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        assert isinstance(option.widget, QAbstractItemView)
        room = option.widget.viewport().width() - 2 * PAD
        height = QFontMetrics(option.font).height() + 2 * GAP
        if index.data(NOTE_ROLE):
            height += QFontMetrics(_small(option.font)).height()
        if index.data(FORMULA_ROLE):
            height += round(_formula(index.data(FORMULA_ROLE), option.font, room).size().height())
        return QSize(120, height)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Draw one entry; the right words have their room, and the rest is shortened."""
        note, aside, formula = (index.data(role) or "" for role in (NOTE_ROLE, ASIDE_ROLE, FORMULA_ROLE))
        if not note and not aside and not formula:
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
        if formula:
            self._draw_formula(painter, below, formula, option.font)
        painter.setFont(option.font)
        painter.setPen(QColor(tokens.text))
        room = rect.width() - words.horizontalAdvance(aside) - PAD
        shown = QFontMetrics(option.font).elidedText(title, Qt.TextElideMode.ElideMiddle, room)
        painter.drawText(top, int(TEXT), shown)
        painter.restore()

    def _draw_formula(self, painter: QPainter, rect: QRect, formula: str, font: QFont) -> None:
        document, context = _formula(formula, font, rect.width()), QAbstractTextDocumentLayout.PaintContext()
        context.palette.setColor(QPalette.ColorRole.Text, QColor(theme.current().muted))
        painter.save()
        painter.translate(rect.topLeft())
        document.documentLayout().draw(painter, context)
        painter.restore()


def _formula(text: str, font: QFont, room: int) -> QTextDocument:
    """The formula, in several lines where it is wider than the room."""
    document = QTextDocument()
    document.setDocumentMargin(0)
    document.setDefaultFont(font)
    document.setHtml(rich(text))
    if document.idealWidth() > room:
        document.setTextWidth(room)
    return document


def _small(font: QFont) -> QFont:
    small = QFont(font)
    small.setPixelSize(round(QFontInfo(font).pixelSize() * theme.CAPTION_PX / theme.BODY_PX))
    return small
