"""The most frequent confusions of an evaluation as bars: a click lists the queries of one."""

from typing import Any

from PySide6.QtCore import (
    QAbstractListModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QRect,
    QRectF,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QColor, QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from workbench.numerals import percentage
from workbench.results.explanations import ConfusedPair, FailedQueries
from workbench.ui.pages.retrieval.classes.bar_list import GAP, SIDE, BarList, paint_bar, paint_ground
from workbench.ui.pages.retrieval.model.browsing import Browsing
from workbench.ui.style import theme
from workbench.ui.style.words import counted
from workbench.ui.widgets.boxes import in_column, in_row
from workbench.ui.widgets.buttons import button
from workbench.ui.widgets.labels import label, plain_tip

MOST = 50  # pairs
THICK = 6  # px, of a bar
PAIR_ROLE, SHARE_ROLE = Qt.ItemDataRole.UserRole, Qt.ItemDataRole.UserRole + 1  # the share of the longest bar
NONE_FAILED, WORKING = "No query failed.", "Computing…"
Index = QModelIndex | QPersistentModelIndex


class PairRows(QAbstractListModel):
    """One row for each of the most frequent pairs of classes."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.pairs: list[ConfusedPair] = []

    def show(self, pairs: list[ConfusedPair]) -> None:
        """List the most frequent of these pairs, most first."""
        self.beginResetModel()
        self.pairs = sorted(pairs, key=lambda pair: -pair.times)[:MOST]
        self.endResetModel()

    def rowCount(self, parent: Index = QModelIndex()) -> int:
        return 0 if parent.isValid() else len(self.pairs)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Names, pair, length of the bar, tooltip and spoken text of a row; None for other roles."""
        if not index.isValid():
            return None
        pair = self.pairs[index.row()]
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return f"{pair.class_name} › {pair.taken_for}"
            case _ if role == PAIR_ROLE:
                return pair
            case _ if role == SHARE_ROLE:
                return pair.times / self.pairs[0].times
            case Qt.ItemDataRole.ToolTipRole | Qt.ItemDataRole.AccessibleTextRole:
                said = (
                    f"“{pair.class_name}” taken for “{pair.taken_for}”: {counted(pair.times, 'query', 'queries')}, "
                    f"{percentage(pair.share)} of its class"
                )
                return plain_tip(said) if role == Qt.ItemDataRole.ToolTipRole else said
        return None


class PairRow(QStyledItemDelegate):
    """Draws a pair: both names and the number of queries, and a bar below them."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(0, option.fontMetrics.height() + THICK + GAP)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Draw the pair of a row."""
        tokens, pair = theme.current(), index.data(PAIR_ROLE)
        painter.save()
        paint_ground(painter, option)
        area, metrics, times = option.rect.adjusted(SIDE, 2, -SIDE, 0), painter.fontMetrics(), f"{pair.times:,}"
        line = QRect(area.left(), area.top(), area.width(), metrics.height())
        painter.setPen(QColor(tokens.text))
        painter.drawText(line, int(Qt.AlignmentFlag.AlignRight), times)
        room = line.width() - metrics.horizontalAdvance(times) - GAP
        taken = f" › {pair.taken_for}"
        most = max(room // 2, room - metrics.horizontalAdvance(taken))  # where both are long, each has half
        for words, colour, width in ((pair.class_name, tokens.text, most), (taken, tokens.wrong, room)):
            shown = metrics.elidedText(words, Qt.TextElideMode.ElideMiddle, min(width, room))
            painter.setPen(QColor(colour))
            at = QStyle.visualRect(option.direction, option.rect, line)
            painter.drawText(at, int(Qt.AlignmentFlag.AlignLeft), shown)
            line.setLeft(line.left() + metrics.horizontalAdvance(shown))
            room -= metrics.horizontalAdvance(shown)
        track = QRectF(area.left(), area.top() + metrics.height() + 1, area.width(), THICK)
        paint_bar(painter, option, track, index.data(SHARE_ROLE), tokens.wrong)
        painter.restore()


class ConfusionBars(QWidget):
    """Draws the confusions that `browsing` knows and passes the chosen one to it.

    `all_asked`: the user wants all of them, as a matrix too, and the hubs.
    """

    all_asked = Signal()

    def __init__(self, browsing: Browsing) -> None:
        super().__init__()
        self._browsing = browsing
        self._drawn: FailedQueries | None = None
        self.rows = PairRows(self)
        self.list = BarList(self.rows, PairRow(), "Most frequent confusions")
        self.none = label(WORKING, "muted")
        self.every = button("Matrix, hubs", kind="quiet")
        self.every.setToolTip("Which classes are mistaken for which, all of them, and which samples are hubs")
        head = in_row(label("Confusions", "strong"), 1, self.every, spacing=8)
        in_column(head, self.none, (self.list, 1), on=self, spacing=4)
        self.list.picked.connect(self._toggle)
        self.every.clicked.connect(self.all_asked)
        self.draw()

    def draw(self) -> None:
        """Show the confusions of another evaluation once they are known; the chosen one is marked."""
        filters = self._browsing.filters
        if filters.explained is not self._drawn or not self.rows.pairs:
            self._drawn = filters.explained
            self.rows.show([] if self._drawn is None else self._drawn.pairs)
        self.none.setText(NONE_FAILED if self._drawn is not None else WORKING if self._browsing.explaining else "")
        self.none.setVisible(not self.rows.pairs)
        self.list.setVisible(bool(self.rows.pairs))
        if filters.pair in self.rows.pairs:
            self.list.setCurrentIndex(self.rows.index(self.rows.pairs.index(filters.pair), 0))
        else:
            self.list.clearSelection()

    def _toggle(self, index: QModelIndex) -> None:
        pair = index.data(PAIR_ROLE)
        self._browsing.narrow(None if pair == self._browsing.filters.pair else pair)
