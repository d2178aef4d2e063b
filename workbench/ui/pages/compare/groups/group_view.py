"""The view of the table of groups: intervals drawn on one scale, differences in chips."""

from math import isfinite

from PySide6.QtCore import QEvent, QModelIndex, QPersistentModelIndex, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QPen, QResizeEvent
from PySide6.QtWidgets import QHeaderView, QStyle, QStyleOptionViewItem, QTableView, QWidget

from workbench.comparing.difference.baseline import Cell
from workbench.numerals import minus
from workbench.ui.pages.compare.groups.group_table import (
    CELL_ROLE,
    CHIP_ROLE,
    STYLE_ROLE,
    GroupTable,
    significant,
)
from workbench.ui.pages.compare.groups.row_order import Kind
from workbench.ui.pages.compare.style.word_table import table_view, title_width
from workbench.ui.style import theme
from workbench.ui.style.mirrored import mirrored
from workbench.ui.widgets.labels import names_near, shortened
from workbench.ui.widgets.tables.row_table import NumberDelegate, head_width

Index = QModelIndex | QPersistentModelIndex
ROW_PX, LEAST_ROWS, MOST_ROWS = 30, 3, 12  # px of a row; rows in view at once, by the page's height
LEAST_ALONE = 5  # rows where the choices above the table have given way to it
MEASURED, ALIKE = 100, 25  # rows, from the first in view, that set the widths: of titles; of numbers as long as others
TITLE_PX = 130  # minimum width of the first column
SHORTENED_PX = 220  # its width from which on titles are shortened that would not be whole if the table scrolled either
TITLE_LEFT = 36  # px before a title, for its line
TITLE_BESIDE = 120  # px for the line of a title and its chip, before intervals get what is left
INTERVAL_PX, MARGIN = 110, 8
INTERVAL_PART = 3  # the part of the table that intervals may take of what the titles leave
CHIP_PX, BESIDE = 20, 4  # height of a chip, and room beside it
CAP, DOT = 4, 4  # half the height of an interval's end, radius of its mean
TINT = 36  # of 255, opacity behind a difference
CENTRE = Qt.AlignmentFlag.AlignCenter


class GroupView(QTableView):
    """As high as its rows, but at most `MOST_ROWS` and about a quarter of the page; with more rows it scrolls.

    What is left in a wide table is first of the intervals, which can be compared better then, and then of the titles.
    A click on a title of a column orders the rows below the baseline: the caller shows them anew after `order_chosen`.
    """

    order_chosen = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.table, self._row_px = GroupTable(self), 0  # as laid out
        self._least, self._page_height = LEAST_ROWS, 0
        self._titles = 0  # px of the first column in which every measured title is whole
        self._needed = 0  # px of all titles, where they have room in a table that scrolls
        self._intervals = -1  # column; -1 without metrics
        self._shortest = 0  # px of the first column from which on the table need not scroll
        table_view(self.table, "Groups by metric", self)
        self.setItemDelegate(GroupDelegate(self))
        self.horizontalHeader().setTextElideMode(Qt.TextElideMode.ElideNone)  # Qt elides as if that arrow were there
        self.horizontalHeader().setSectionsClickable(True)
        self.horizontalHeader().setSortIndicatorShown(True)
        self.horizontalHeader().sectionClicked.connect(self.order_by)
        self.setVerticalScrollMode(QTableView.ScrollMode.ScrollPerPixel)

    def order_by(self, column: int) -> None:
        """Order the groups by a column; see `GroupTable.order_by`."""
        self.table.order_by(column)
        self.order_chosen.emit()

    def fit(self) -> None:
        """Set the height to that of the rows, and give the first column the width that the others leave.

        If that is too narrow for the titles, time and memory are left out, which the tab Cost has, too. If that is not
        enough, the column gets the width it needs, and the table scrolls sideways. Titles that would be shortened even
        then give way first.
        """
        self._row_px = theme.text_px(ROW_PX)
        self.verticalHeader().setDefaultSectionSize(self._row_px)
        header = self.horizontalHeader()
        self._show_costs(True)
        header.setSortIndicator(*self.table.ordered)
        header.setResizeContentsPrecision(ALIKE)
        header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        for column in range(1, header.count()):  # by their words: Qt's own hint keeps room for an arrow of sorting
            self.setColumnWidth(column, max(head_width(header, column), self.sizeHintForColumn(column)))
        header.setResizeContentsPrecision(MEASURED)
        self._titles = self.sizeHintForColumn(0)
        kinds = [column.kind for column in self.table.columns]
        self._intervals = kinds.index(Kind.INTERVAL) if Kind.INTERVAL in kinds else -1
        self._needed = title_width(self, TITLE_PX)
        whole = self._needed >= self._titles
        self._shortest = self._needed if whole else min(self._needed, theme.text_px(SHORTENED_PX))
        self._fit_measured()

    def _fit_measured(self) -> None:
        header = self.horizontalHeader()
        if self._intervals > 0:
            self.setColumnWidth(self._intervals, theme.text_px(INTERVAL_PX))
        room = self.viewport().width()
        self._show_costs(True)
        rest = self._rest()
        if rest + self._shortest > room:
            self._show_costs(False)
            rest = self._rest()
        wide = rest + self._shortest > room
        titles = self._titles + theme.text_px(TITLE_BESIDE)
        if self._intervals > 0 and (free := room - rest - titles) > 0:
            self.setColumnWidth(self._intervals, min(theme.text_px(INTERVAL_PX) + free, room // INTERVAL_PART))
        header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        if header.count():
            mode = QHeaderView.ResizeMode.Interactive if wide else QHeaderView.ResizeMode.Stretch
            header.setSectionResizeMode(0, mode)
            if wide:
                self.setColumnWidth(0, self._needed)
        most = max(self._least, self._page_height // (4 * self._row_px))
        rows = max(1, min(MOST_ROWS, most, self.table.rowCount()))
        bar = self.horizontalScrollBar().sizeHint().height() if wide else 0
        self.setFixedHeight(header.sizeHint().height() + rows * self._row_px + 2 * self.frameWidth() + bar)

    def _rest(self) -> int:
        """Px of all shown columns but the first."""
        return sum(self.columnWidth(column) for column in range(1, self.horizontalHeader().count()))

    def _show_costs(self, shown: bool) -> None:
        """Show or hide time and memory; one by which the groups are ordered stays."""
        by = self.table.ordered[0]
        for place, column in enumerate(self.table.columns):
            if column.kind in (Kind.SECONDS, Kind.MEMORY):
                self.setColumnHidden(place, not shown and place != by)

    def show_more(self, alone: bool, page_height: int = 0) -> None:
        """Have more rows in view where nothing but the title stands above the table, and in a high page.

        Args:
            page_height: px of the page that are in sight at once.
        """
        room = LEAST_ALONE if alone else LEAST_ROWS, page_height
        if room != (self._least, self._page_height):
            self._least, self._page_height = room
            if self._row_px:  # else the first `fit` takes it
                self._fit_measured()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width() and self._row_px:
            self._fit_measured()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in theme.DRESSES and hasattr(self, "table") and theme.text_px(ROW_PX) != self._row_px:
            self.fit()


class GroupDelegate(NumberDelegate):
    """Draws intervals, differences and chips behind titles; Qt draws everything else."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        hint = super().sizeHint(option, index)
        kind = _kind(index)
        if kind is Kind.INTERVAL:
            return QSize(theme.text_px(INTERVAL_PX), hint.height())
        if kind is Kind.DIFFERENCE and index.data():
            return QSize(_chip_width(option, index) + 2 * BESIDE, hint.height())
        return hint

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Draw a title with its chip, an interval or a difference; the base class draws everything else."""
        kind = _kind(index)
        if kind not in (Kind.GROUP, Kind.INTERVAL, Kind.DIFFERENCE):
            super().paint(painter, option, index)
            return
        self.initStyleOption(option, index)
        room = option.rect.width() - TITLE_LEFT - MARGIN
        option.text = shortened(index.data(), names_near(index), option.fontMetrics, room) if kind is Kind.GROUP else ""
        style = option.widget.style()
        style.drawControl(QStyle.ControlElement.CE_ItemViewItem, option, painter, option.widget)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if kind is Kind.GROUP and index.data(CHIP_ROLE):
            self._title_chip(painter, option, index)
        elif kind is Kind.INTERVAL:
            self._interval(painter, QRectF(option.rect), index)
        elif kind is Kind.DIFFERENCE and index.data():
            self._difference(painter, option, index)
        painter.restore()

    def _title_chip(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Draw the chip after the title if there is room."""
        metrics, words = QFontMetrics(option.font), index.data(CHIP_ROLE)
        width = metrics.horizontalAdvance(words) + 2 * MARGIN
        start = option.rect.left() + TITLE_LEFT + metrics.horizontalAdvance(index.data())
        if start + width <= option.rect.right():
            tokens, tall = theme.current(), theme.text_px(CHIP_PX)
            painter.save()
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            area = mirrored(option, QRectF(start, option.rect.top(), width, option.rect.height()))
            _chip(painter, _middle(area, option.rect.center().y() + 1, tall), tokens.selection)
            painter.setPen(QColor(tokens.text))
            painter.drawText(area, CENTRE, words)
            painter.restore()

    def _difference(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        tokens, cell = theme.current(), index.data(CELL_ROLE)
        role = significant(cell)
        text, rect = minus(index.data()), QRectF(option.rect)
        width = _chip_width(option, index)
        colour = QColor(getattr(tokens, role))
        fill = QColor(colour)
        fill.setAlpha(TINT)
        tall = theme.text_px(CHIP_PX)
        area = mirrored(option, QRectF(rect.right() - width - BESIDE, rect.top(), width, rect.height()))
        _chip(painter, _middle(area, rect.center().y(), tall), fill)
        font = option.font
        font.setBold(role != "muted")
        painter.setFont(font)
        painter.setPen(QColor(tokens.text) if role == "muted" else colour)
        painter.drawText(area, CENTRE, text)

    def _interval(self, painter: QPainter, rect: QRectF, index: Index) -> None:
        model = index.model()
        if not isinstance(model, GroupTable):
            return
        cells = model.cells_of(index.column())
        low, high = span(cells)
        if not low < high:
            low, high = low - 1, high + 1
        left, width = rect.left() + MARGIN, rect.width() - 2 * MARGIN

        def x(value: float) -> float:
            return left + width * (value - low) / (high - low)

        middle, interval = rect.center().y(), cells[index.row()].summary.interval
        baseline = cells[0].summary.interval.mean
        if isfinite(baseline) and len(cells) > 1:
            painter.setPen(QPen(QColor(theme.current().disabled), 1, Qt.PenStyle.DotLine))
            painter.drawLine(QPointF(x(baseline), rect.top()), QPointF(x(baseline), rect.bottom()))
        if not isfinite(interval.mean):
            return
        style = index.data(STYLE_ROLE)
        colour = QColor(style.colour if style is not None else theme.current().text)
        painter.setPen(QPen(colour, 2))
        if interval.known:
            painter.drawLine(QPointF(x(interval.low), middle), QPointF(x(interval.high), middle))
            for end in (interval.low, interval.high):
                painter.drawLine(QPointF(x(end), middle - CAP), QPointF(x(end), middle + CAP))
            painter.setBrush(colour)
        painter.drawEllipse(QPointF(x(interval.mean), middle), DOT, DOT)


def span(cells: list[Cell]) -> tuple[float, float]:
    """The lowest and the highest finite number of the cells' intervals and means; (0, 0) without any."""
    intervals = [cell.summary.interval for cell in cells]
    ends = [value for interval in intervals for value in (interval.mean, interval.low, interval.high)]
    known = [value for value in ends if isfinite(value)]
    return (min(known), max(known)) if known else (0.0, 0.0)


def _kind(index: Index) -> Kind | None:
    model = index.model()
    return model.columns[index.column()].kind if isinstance(model, GroupTable) else None


def _chip_width(option: QStyleOptionViewItem, index: Index) -> int:
    """Px of the chip of a difference; significant ones are bold."""
    font = QFont(option.font)
    font.setBold(True)
    return QFontMetrics(font).horizontalAdvance(minus(index.data())) + 2 * MARGIN


def _middle(area: QRectF, centre: float, tall: float) -> QRectF:
    """The part of an area that is so tall, around a height."""
    return QRectF(area.left(), centre - tall / 2, area.width(), tall)


def _chip(painter: QPainter, rect: QRectF, fill: QColor | str) -> None:
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(fill))
    painter.drawRoundedRect(rect, rect.height() / 2, rect.height() / 2)
