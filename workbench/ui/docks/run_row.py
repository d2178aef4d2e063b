"""How one run looks in the Runs list: tick, colour, number and name, state in icon and word, chosen columns."""

import re
from collections.abc import Callable

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, QRect, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontInfo, QFontMetrics, QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from workbench.control import Control
from workbench.entries.catalog import Catalog
from workbench.settings.field_words import abbreviated
from workbench.ui.models.run_list import COLUMNS, FOLD_ROLE, OTHER_GROUPS, RUN_ROLE, SIZE_ROLE, SOME, TICK, TICKED
from workbench.ui.style import theme
from workbench.ui.style.icons import icon
from workbench.ui.style.words import STATES, counted, duration, epoch_at_work, state_word, where, work_word
from workbench.ui.widgets.labels import names_near, shortened
from workbench.workspace.rows import Run
from workbench.workspace.run_names import data_title, title_of

SCORE_WIDTH = 48  # px of a column of numbers at 100%
BAR, BAR_LEAST, THICK = 44, 16, 4  # px: the progress bar of a run that is training
PAD, DOT, ICON, INDENT, BOX = 8, 10, 14, 14, 14  # px
SECONDS = re.compile(r"(\d\s+min) \d+\s+s\b")  # behind minutes
NAME = "Name of the run"
WEAK = 0.5  # opacity of the mark of a group that hides the shown run
Index = QModelIndex | QPersistentModelIndex


class RunRow(QStyledItemDelegate):
    """Two lines a run."""

    columns: tuple[str, ...] = ("MAP@R",)  # names of COLUMNS

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.known: Catalog = {}  # how entries are called
        self.control_of: Callable[[int], Control | None] = lambda run_id: None  # of a run that the window steers
        self.over_shown = 0  # the number of the folded group that hides the shown run; 0 for none
        self.away = False  # the workspace cannot be read at the moment

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(120, 2 * option.fontMetrics.height() + 3 * 4)

    def createEditor(self, parent: QWidget, option: QStyleOptionViewItem, index: Index) -> QWidget:
        """The line for another name of a run, with words for a screen reader."""
        editor = super().createEditor(parent, option, index)
        editor.setAccessibleName(NAME)
        return editor

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Draw one run: its colour, name, state and best scores."""
        tokens = theme.current()
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if option.state & QStyle.StateFlag.State_Selected:
            painter.fillRect(option.rect, QColor(tokens.selection))
        elif option.state & QStyle.StateFlag.State_MouseOver:
            painter.fillRect(option.rect, QColor(tokens.divider))
        elif index.data(RUN_ROLE).id == self.over_shown:
            painter.setOpacity(WEAK)
            painter.fillRect(option.rect, QColor(tokens.selection))
            painter.setOpacity(1)
        fold = index.data(FOLD_ROLE)
        if (tick := index.data(TICK)) is not None:
            self._paint_box(painter, box_of(option.rect, fold, option.direction), tick, tokens)
        inner = inside(option.rect, fold)
        line = inner.height() // 2
        top = QRect(inner.x(), inner.y(), inner.width(), line)
        bottom = QRect(inner.x(), inner.y() + line, inner.width(), inner.height() - line)
        if fold in ("open", "folded"):
            arrow = QRect(top.right() - ICON, top.center().y() - ICON // 2, ICON, ICON)
            top.setRight(arrow.left() - 4)
            folded = "caret-right" if option.direction == Qt.LayoutDirection.LeftToRight else "caret-left"
            icon("caret-down" if fold == "open" else folded, "muted").paint(painter, _seen(option, arrow))
        self._paint_name(painter, option, top, index, tokens)
        self._paint_state(painter, option, bottom, index, tokens)
        if option.state & QStyle.StateFlag.State_HasFocus:
            painter.setPen(QColor(tokens.accent))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(option.rect.adjusted(0, 0, -1, -1))
        painter.restore()

    def _paint_name(
        self, painter: QPainter, option: QStyleOptionViewItem, rect: QRect, index: Index, tokens: theme.Tokens
    ) -> None:
        run: Run = index.data(RUN_ROLE)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(theme.run_colour(run.colour)))
        dot = QRect(rect.x(), rect.center().y() - DOT // 2, DOT, DOT)
        painter.drawRoundedRect(_seen(option, dot), 3, 3)
        text = rect.adjusted(DOT + PAD, 0, 0, 0)
        painter.setFont(option.font)
        painter.setPen(QColor(tokens.text))
        if run.id > 0:
            painter.setPen(QColor(tokens.muted))
            painter.drawText(_seen(option, text), _LEFT, number := f"#{run.id} ")
            painter.setPen(QColor(tokens.text))
            text.setLeft(text.left() + option.fontMetrics.horizontalAdvance(number))
        name = " ".join(run.name.split())  # one line, whatever the name holds
        if option.fontMetrics.horizontalAdvance(name) > text.width():
            name = shortened(name, names_near(index), option.fontMetrics, text.width())
        painter.drawText(_seen(option, text), _LEFT, name)

    def _paint_state(
        self, painter: QPainter, option: QStyleOptionViewItem, rect: QRect, index: Index, tokens: theme.Tokens
    ) -> None:
        run: Run = index.data(RUN_ROLE)
        _, icon_name, role = STATES[run.status]
        icon_rect = QRect(rect.x() - (ICON - DOT) // 2, rect.center().y() - ICON // 2 + 1, ICON, ICON)
        icon(icon_name, role).paint(painter, _seen(option, icon_rect))
        small = QFont(option.font)
        small.setPixelSize(round(QFontInfo(option.font).pixelSize() * theme.CAPTION_PX / theme.BODY_PX))
        painter.setFont(small)
        painter.setPen(QColor(tokens.muted))
        width = score_width(option.font)
        text = rect.adjusted(DOT + PAD, 0, -len(self.columns) * width, 0)
        words = about(run, self.known, self.control_of(run.id) if run.live and run.id > 0 else None, self.away)
        share, bar = share_done(run), bar_beside(words, painter.fontMetrics(), text.width())
        if share is not None and bar:
            text.setRight(text.right() - bar - PAD)
        short = fitted(words, painter.fontMetrics(), text.width(), keep_last=run.id < 0)
        painter.drawText(_seen(option, text), _LEFT, short)
        if share is not None and bar:
            left = text.left() + painter.fontMetrics().horizontalAdvance(short) + PAD
            track = QRect(left, text.center().y() - THICK // 2 + 1, bar, THICK)
            painter.fillRect(_seen(option, track), QColor(tokens.border))
            track.setWidth(round(bar * share))
            moves = run.status == "running" and not self.away
            painter.fillRect(_seen(option, track), QColor(tokens.accent if moves else tokens.muted))
        painter.setPen(QColor(tokens.text))
        for column, name in enumerate(reversed(self.columns)):
            cell = QRect(rect.right() + 1 - (column + 1) * width, rect.y(), width, rect.height())
            painter.drawText(_seen(option, cell), _RIGHT, COLUMNS[name][1](run, index.data(SIZE_ROLE)))

    def _paint_box(self, painter: QPainter, box: QRect, tick: Qt.CheckState, tokens: theme.Tokens) -> None:
        """The check box; with a line in it for a group of which some runs are ticked."""
        painter.setPen(QColor(tokens.accent if tick == TICKED else tokens.muted))
        painter.setBrush(QColor(tokens.accent if tick == TICKED else tokens.surface))
        painter.drawRoundedRect(box, 3, 3)
        if tick == TICKED:
            icon("check", "on_accent").paint(painter, box.adjusted(1, 1, 0, 0))
        elif tick == SOME:
            painter.fillRect(box.adjusted(4, BOX // 2, -3, -BOX // 2 + 2), QColor(tokens.text))

    def updateEditorGeometry(self, editor: QWidget, option: QStyleOptionViewItem, index: Index) -> None:
        """Put the editor of a name over its line."""
        inner = inside(option.rect, index.data(FOLD_ROLE))
        editor.setGeometry(_seen(option, inner.adjusted(DOT + PAD - 4, -4, PAD, 4)))


def share_done(run: Run) -> float | None:
    """The fraction of its steps that a running or paused run has done, 0 to 1; None for others, or if unknown."""
    if run.id < 0 or run.status not in ("running", "waiting") or run.total <= 0:
        return None
    return min(1.0, run.done / run.total)


def box_of(rect: QRect, fold: str, direction: Qt.LayoutDirection) -> QRect:
    """Where the box of the tick is in a row."""
    box = QRect(rect.x() + PAD + (INDENT if fold == "inside" else 0), rect.y() + 8, BOX, BOX)
    return QStyle.visualRect(direction, rect, box)


def _seen(option: QStyleOptionViewItem, part: QRect) -> QRect:
    """A part of a row that was worked out from left to right, where the layout has it."""
    return QStyle.visualRect(option.direction, option.rect, part)


def inside(rect: QRect, fold: str) -> QRect:
    """Where the words of a row are."""
    return rect.adjusted(2 * PAD + BOX + (INDENT if fold == "inside" else 0), 4, -PAD, -4)


def about(run: Run, known: Catalog, control: Control | None = None, away: bool = False) -> str:
    """The second line: state, data set and loss as the catalog `known` calls them, time, tags.

    With `away` the workspace cannot be read at the moment, and a state that may have changed is the last one seen.
    """
    if run.id < 0:  # a group counts its runs; those of an experiment have loss and data set in common
        shared = [data_title(known, run), abbreviated(title_of(known, "loss", run.loss))]
        count = f"{run.epoch} of {run.epochs} done" if run.epoch < run.epochs else counted(run.epochs, "run")
        return " · ".join((*filter(None, shared if -run.id < OTHER_GROUPS else []), count))
    word = work_word(run, control, away)
    ends = work_word(run, control) != state_word(run.status)
    if run.status == "running" and run.epochs and not ends:
        word = f"{'Last seen in epoch' if away else 'Epoch'} {epoch_at_work(run)} / {run.epochs}"
    at = where(run.placement) if run.placement is not None else ""
    if run.placement is not None and run.placement.silent and run.live:
        return " · ".join((at, word, data_title(known, run)))
    took = duration(run.seconds) if run.seconds and not run.live else ""
    return " · ".join(part for part in (word, at, data_title(known, run), took, *run.tags) if part)


def bar_beside(words: str, letters: QFontMetrics, width: int) -> int:
    """How long a progress bar is beside the second line, px: the state is written in full, so it may have no room."""
    state = words.partition(" · ")[0]
    bar = min(BAR, width - letters.horizontalAdvance(state) - PAD)
    return bar if bar >= BAR_LEAST else 0


def fitted(words: str, letters: QFontMetrics, width: int, keep_last: bool) -> str:
    """The second line in `width` px: the state in full if it fits; with `keep_last` the count of runs at the end."""
    if keep_last:
        first, dot, last = words.rpartition(" · ")
        room = width - letters.horizontalAdvance(dot + last)
        return letters.elidedText(first, Qt.TextElideMode.ElideRight, room) + dot + last
    state = words.partition(" · ")[0]
    if letters.horizontalAdvance(words) > width:
        words = SECONDS.sub(r"\1", words)  # "7 min …" would leave open how much is cut off
    short = letters.elidedText(words, Qt.TextElideMode.ElideRight, width).removesuffix(" · …")
    return state if len(short) <= len(state) and letters.horizontalAdvance(state) <= width else short


_LEFT = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
_RIGHT = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)


def score_width(font: QFont) -> int:
    """Width of a column of scores at this text size."""
    return round(SCORE_WIDTH * QFontInfo(font).pixelSize() / theme.BODY_PX)
