"""How one run looks in the Runs list: colour, name, state in icon and word, best scores."""

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontInfo, QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from workbench.ui import theme
from workbench.ui.icons import icon
from workbench.ui.models.run_list import FOLD_ROLE, RUN_ROLE
from workbench.ui.words import STATES, epoch_at_work, percent, state_word
from workbench.workspace.rows import Run

SCORE_WIDTH = 48  # px of a column of numbers at 100%
PAD, DOT, ICON, INDENT = 8, 10, 14, 14  # px


class RunRow(QStyledItemDelegate):
    """Two lines a run."""

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        return QSize(120, 2 * option.fontMetrics.height() + 3 * 4)

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Draw one run: its colour, name, state and best scores."""
        run: Run = index.data(RUN_ROLE)
        tokens = theme.current()
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if option.state & QStyle.StateFlag.State_Selected:
            painter.fillRect(option.rect, QColor(tokens.selection))
        elif option.state & QStyle.StateFlag.State_MouseOver:
            painter.fillRect(option.rect, QColor(tokens.divider))
        fold = index.data(FOLD_ROLE)
        inner = option.rect.adjusted(PAD + (INDENT if fold == "inside" else 0), 4, -PAD, -4)
        line = inner.height() // 2
        top = QRect(inner.x(), inner.y(), inner.width(), line)
        bottom = QRect(inner.x(), inner.y() + line, inner.width(), inner.height() - line)
        self._paint_name(painter, option, top, run, tokens)
        if fold in ("open", "folded"):
            arrow = QRect(top.right() - ICON, top.center().y() - ICON // 2, ICON, ICON)
            icon("caret-down" if fold == "open" else "caret-right", "muted").paint(painter, arrow)
        self._paint_state(painter, option, bottom, run, tokens)
        if option.state & QStyle.StateFlag.State_HasFocus:
            painter.setPen(QColor(tokens.accent))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(option.rect.adjusted(0, 0, -1, -1))
        painter.restore()

    def _paint_name(
        self, painter: QPainter, option: QStyleOptionViewItem, rect: QRect, run: Run, tokens: theme.Tokens
    ) -> None:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(theme.run_colour(run.colour)))
        painter.drawRoundedRect(rect.x(), rect.center().y() - DOT // 2, DOT, DOT, 3, 3)
        text = rect.adjusted(DOT + PAD, 0, 0, 0)
        painter.setFont(option.font)
        painter.setPen(QColor(tokens.text))
        name = " ".join(run.name.split())  # one line, whatever the name holds
        painter.drawText(text, _LEFT, option.fontMetrics.elidedText(name, Qt.TextElideMode.ElideRight, text.width()))

    def _paint_state(
        self, painter: QPainter, option: QStyleOptionViewItem, rect: QRect, run: Run, tokens: theme.Tokens
    ) -> None:
        _, icon_name, role = STATES[run.status]
        icon_rect = QRect(rect.x() - (ICON - DOT) // 2, rect.center().y() - ICON // 2 + 1, ICON, ICON)
        icon(icon_name, role).paint(painter, icon_rect)
        small = QFont(option.font)
        small.setPixelSize(round(QFontInfo(option.font).pixelSize() * theme.CAPTION_PX / theme.BODY_PX))
        painter.setFont(small)
        painter.setPen(QColor(tokens.muted))
        word = state_word(run.status)
        if run.status == "running" and run.epochs:
            word = f"Epoch {epoch_at_work(run)} / {run.epochs}"
        if run.id < 0:  # an experiment counts its runs
            word = f"{run.epoch} of {run.epochs} done"
        width = score_width(option.font)
        text = rect.adjusted(DOT + PAD, 0, -2 * width, 0)
        short = painter.fontMetrics().elidedText(word, Qt.TextElideMode.ElideRight, text.width())
        painter.drawText(text, _LEFT, short)
        painter.setPen(QColor(tokens.text))
        for column, name in enumerate(("MAP@R", "recall@1")):
            cell = QRect(rect.right() + 1 - (column + 1) * width, rect.y(), width, rect.height())
            painter.drawText(cell, _RIGHT, percent(run.best.get(name)))


_LEFT = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
_RIGHT = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)


def score_width(font: QFont) -> int:
    """Width of a column of scores at this text size."""
    return round(SCORE_WIDTH * QFontInfo(font).pixelSize() / theme.BODY_PX)
