"""The classes of an evaluation as bars, worst first: a click lists the queries of a class."""

from typing import Any

from PySide6.QtCore import (
    QAbstractListModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QRect,
    QRectF,
    QSize,
    QSortFilterProxyModel,
    Qt,
)
from PySide6.QtGui import QColor, QPainter
from PySide6.QtWidgets import (
    QComboBox,
    QFrame,
    QLineEdit,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
)

from workbench.colours import class_colours
from workbench.numerals import percentage
from workbench.ui.pages.retrieval.classes.bar_list import GAP, SIDE, BarList, paint_bar, paint_ground
from workbench.ui.pages.retrieval.classes.confusion_bars import ConfusionBars
from workbench.ui.pages.retrieval.model.browsing import Browsing
from workbench.ui.pages.retrieval.model.class_scores import MEASURES, ORDERS, ClassListing
from workbench.ui.style import theme
from workbench.ui.style.mirrored import mirrored
from workbench.ui.style.theme import Theme
from workbench.ui.style.words import counted, percent
from workbench.ui.widgets.boxes import in_column, in_row
from workbench.ui.widgets.labels import label, names_near, plain_tip, shortened

WIDTH = 236  # px at 100% text
DOT, THICK = 8, 8  # px: a dot, height of a bar
LEAST = 84  # px: height of the list, three rows
WIDEST = 16_777_215  # px, Qt's own limit
SHORT, MEASURED = 64, 200  # px of a name that leaves room for a bar beside it; names that are measured
FEW = 12  # classes that need no search
COLOUR_ROLE, VALUE_ROLE = Qt.ItemDataRole.UserRole, Qt.ItemDataRole.UserRole + 1
HINT = "Click to list those queries; click again to list all."
Index = QModelIndex | QPersistentModelIndex


class ClassRows(QAbstractListModel):
    """One row for each class of a ClassListing; `relist` after that has changed."""

    def __init__(self, listing: ClassListing, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._listing = listing
        self._count = 0
        self._colours: list[int] = []  # of all classes, 0xFFRRGGBB

    def relist(self) -> None:
        """Other classes are listed, or in another order."""
        self.beginResetModel()
        self._count = len(self._listing)
        self.dress()
        self.endResetModel()

    def dress(self) -> None:
        """Take the colours of the theme on screen."""
        self._colours = class_colours(self._listing.total, theme.current().dark).tolist()

    def rowCount(self, parent: Index = QModelIndex()) -> int:
        return 0 if parent.isValid() else self._count

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Name, value, colour, tooltip and spoken text of a class; None for other roles."""
        scores = self._listing.scores
        if not index.isValid() or scores is None:
            return None
        row = int(self._listing.rows[index.row()])
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return scores.names[row]
            case _ if role == COLOUR_ROLE:
                return self._colours[row]
            case _ if role == VALUE_ROLE:
                return float(scores.values[self._listing.measure][row])
            case Qt.ItemDataRole.ToolTipRole | Qt.ItemDataRole.AccessibleTextRole:
                both = ", ".join(f"{measure} {percentage(float(scores.values[measure][row]))}" for measure in MEASURES)
                said = f"{scores.names[row]}: {both}, {counted(int(scores.queries[row]), 'query', 'queries')}"
                return plain_tip(said) if role == Qt.ItemDataRole.ToolTipRole else said
        return None


class ClassRow(QStyledItemDelegate):
    """Draws a class: its dot and name, its bar and its value; the bar is below the name where names are long."""

    stacked = False
    widest = 0  # px of the names beside which bars stand

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        tall = option.fontMetrics.height()
        return QSize(0, tall + GAP + (THICK + GAP // 2 if self.stacked else GAP // 2))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Draw the class of a row."""
        tokens = theme.current()
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        paint_ground(painter, option)
        area = option.rect.adjusted(SIDE, 0, -SIDE, 0)
        line = area.adjusted(0, 0, 0, -(THICK + GAP // 2)) if self.stacked else area
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor.fromRgba(index.data(COLOUR_ROLE)))
        painter.drawEllipse(mirrored(option, QRectF(area.left(), line.center().y() - DOT / 2 + 0.5, DOT, DOT)))
        metrics, value = painter.fontMetrics(), index.data(VALUE_ROLE)
        figure = metrics.horizontalAdvance("100.0")
        painter.setPen(QColor(tokens.text))
        number = QRect(area.right() - figure, line.top(), figure, line.height())
        at = QStyle.visualRect(option.direction, option.rect, number)
        painter.drawText(at, int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight), percent(value))
        left = area.left() + DOT + GAP
        room = number.left() - GAP - left
        name = QRect(left, line.top(), room if self.stacked else min(room, SHORT), line.height())
        words = index.data()
        if metrics.horizontalAdvance(words) > name.width():
            words = shortened(words, names_near(index), metrics, name.width())
        at = QStyle.visualRect(option.direction, option.rect, name)
        painter.drawText(at, int(Qt.AlignmentFlag.AlignVCenter), words)
        if self.stacked:
            bar = QRectF(left, line.bottom(), area.right() - left, THICK)
        else:
            start = left + min(self.widest, SHORT) + GAP
            bar = QRectF(start, line.center().y() - THICK / 2 + 0.5, number.left() - GAP - start, THICK)
        paint_bar(painter, option, bar, value, tokens.accent)
        painter.restore()


class ClassBars(QFrame):
    """Right side of the page: draws the classes of `browsing` and passes the chosen one to it."""

    def __init__(self, browsing: Browsing) -> None:
        super().__init__()
        self._browsing, self.listing = browsing, ClassListing()
        self.setProperty("card", "true")
        self._classes = ClassRows(self.listing, self)
        # A list lays out by asking for the number of rows twice a row: this one knows it without asking Python.
        self.model = QSortFilterProxyModel(self)
        self.model.setSourceModel(self._classes)
        self.measure, self.order = QComboBox(), QComboBox()
        for measure in MEASURES:
            self.measure.addItem(f"{measure} %", measure)
        for order, words in ORDERS.items():
            self.order.addItem(words, order)
        self.measure.setAccessibleName("Measure of the classes")
        self.measure.setToolTip("Mean over the queries of a class: average precision at R, or right nearest neighbours")
        self.order.setAccessibleName("Order of the classes")
        self.search = QLineEdit(placeholderText="Find a class", clearButtonEnabled=True)
        self.search.setAccessibleName("Find a class among the bars")
        self.rows = ClassRow()
        self.list = BarList(self.model, self.rows, "Classes with their scores")
        self.list.setMinimumHeight(LEAST)
        self.summary = label("", "caption", wrap=True)
        self.title, self.hint = label("Classes", "strong"), label(HINT, "caption", wrap=True)
        self.confusions = ConfusionBars(browsing)
        self._alone, self._tight = True, False
        self._column = in_column(
            self.title,
            in_row((self.order, 1), self.measure, spacing=8),
            self.search,
            (self.list, 3),
            self.summary,
            (self.confusions, 2),
            self.hint,
            on=self,
            margins=12,
            spacing=8,
        )
        self.measure.activated.connect(self._choose)
        self.order.activated.connect(self._choose)
        self.search.textChanged.connect(self._choose)
        self.list.picked.connect(self._toggle)

    def stand_alone(self, alone: bool) -> None:
        """Be a column of its own, with title, hint and confusions, or a part of another one."""
        self._alone = alone
        self.title.setVisible(alone)
        self.hint.setVisible(alone)
        self.confusions.setVisible(alone)

    def tighten(self, tight: bool) -> None:
        """Show one row at least in place of three, without summary and search, where a column has no more height."""
        self._tight = tight
        self.list.setMinimumHeight(self._least)
        self.summary.setHidden(tight)
        self._show_search()

    @property
    def saved(self) -> int:
        """Height that being tight saves, px; 0 where this is not tight."""
        if not self._tight:
            return 0
        parts = [self.summary.heightForWidth(self.list.width())]
        parts += [self.search.sizeHint().height()] * self._searched
        return LEAST - self._least + sum(parts) + len(parts) * self._column.spacing()

    @property
    def _least(self) -> int:
        row = self.list.sizeHintForRow(0)
        return row + 2 if self._tight and row > 0 else LEAST

    @property
    def _searched(self) -> bool:
        return self.listing.total > FEW or bool(self.listing.search)

    def _show_search(self) -> None:
        self.search.setVisible(self._searched and not (self._tight and not self.listing.search))

    def fit_text(self, theme_of_window: Theme, page: int) -> None:
        """Set the width for this size of text and the px of the page; as a part of a column, use all of it."""
        wide = theme_of_window.side(WIDTH, page)
        self.setMinimumWidth(wide if self._alone else 0)
        self.setMaximumWidth(wide if self._alone else WIDEST)
        self._classes.dress()

    def draw_evaluation(self) -> None:
        """Show the classes of another evaluation."""
        shown = self._browsing.shown
        self.listing.show(None if shown is None else shown.classes)
        self._keep_group()
        names = () if self.listing.scores is None else self.listing.scores.names[:MEASURED]
        widest = max(map(self.fontMetrics().horizontalAdvance, names), default=0)
        self.rows.stacked, self.rows.widest = widest > SHORT, widest
        self._show_search()
        self.relist()

    def relist(self) -> None:
        """Show other classes, or another order; the chosen class stays marked."""
        self._classes.relist()
        row = self.list.sizeHintForRow(0)
        self.list.setMaximumHeight(max(LEAST, len(self.listing) * row + 2) if len(self.listing) else WIDEST)
        self.summary.setText(self.listing.summary)
        self.mark_class()

    def follow_group(self) -> None:
        """Show the classes of the group whose queries are listed, where that is another one."""
        if self._keep_group():
            self.relist()

    def _keep_group(self) -> bool:
        group = self._browsing.filters.group
        labels = None if group is None else group.labels
        changed = labels is not self.listing.among
        if changed:
            self.listing.keep_among(labels)
        return changed

    def mark_class(self) -> None:
        """Mark the class whose queries are listed."""
        position = self.listing.position_of(self._browsing.filters.label)
        if position < 0:
            self.list.clearSelection()
        elif position != self.list.currentIndex().row() or not self.list.selectionModel().hasSelection():
            self.list.setCurrentIndex(self.model.index(position, 0))
            self.list.scrollTo(self.model.index(position, 0))

    def _choose(self) -> None:
        self.listing.choose(
            measure=self.measure.currentData(), order=self.order.currentData(), search=self.search.text()
        )
        self.relist()

    def _toggle(self, index: QModelIndex) -> None:
        label_of_row = self.listing.label(index.row())
        self._browsing.choose_filters(label=None if label_of_row == self._browsing.filters.label else label_of_row)
        self.mark_class()
