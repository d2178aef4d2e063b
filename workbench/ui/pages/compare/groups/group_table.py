"""The table of groups by several metrics: the baseline first, then the others with their differences from it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtGui import QColor, QFont, QIcon
from PySide6.QtWidgets import QWidget

from workbench.comparing.comparison_text import cost, limits, metric_title, number, over_seeds
from workbench.comparing.difference.baseline import BaselineRow, Cell
from workbench.comparing.grouping.groups import unlike_parts
from workbench.comparing.grouping.tested import NETWORK
from workbench.comparing.measures import is_share, unfinished
from workbench.files.spreadsheet import pasted
from workbench.ui.pages.compare.groups.row_order import Kind, RowOrder, first_order, in_order
from workbench.ui.pages.compare.style.group_styles import GroupStyle, swatch
from workbench.ui.pages.compare.style.word_table import LEFT, RIGHT
from workbench.ui.style import theme
from workbench.ui.widgets.labels import plain_tip

Index = QModelIndex | QPersistentModelIndex
CELL_ROLE = Qt.ItemDataRole.UserRole + 1  # Cell of a column of a metric
STYLE_ROLE = CELL_ROLE + 1  # GroupStyle of the row's group
CHIP_ROLE = STYLE_ROLE + 1  # words behind the title of the row
MEMORY_TIP = "Peak memory, the highest of the runs: GPU memory if they trained on a GPU, else memory of the process"
APART = "Tests of the best, the last and any one epoch are separate groups"
BASELINE, UNFINISHED = "baseline", "not finished"


@dataclass(frozen=True, slots=True)
class Column:
    """One column; `cell` is the place of its metric among the cells of a row."""

    kind: Kind
    title: str
    tip: str = ""
    cell: int = 0


class GroupTable(QAbstractTableModel):
    """The rows of `comparing.difference.baseline.against_baseline` as text."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.rows: list[BaselineRow] = []
        self.columns: list[Column] = []
        self._styles: dict[str, GroupStyle] = {}
        self.order: RowOrder | None = None  # that a user chose
        self._short: list[str] = []  # titles
        self._icons: dict[str, QIcon] = {}

    def show(self, rows: Sequence[BaselineRow], styles: dict[str, GroupStyle]) -> None:
        """Show other rows; `styles` are by the group's title."""
        self.beginResetModel()
        self.rows, self._styles = list(rows), styles
        self._short = unlike_parts([row.group.title for row in rows])
        self._icons = {}  # drawn when they are first shown: there may be a thousand
        self.columns = _columns([cell.metric for cell in rows[0].cells], len(rows) > 1) if rows else []
        self.endResetModel()

    def in_order(self, rows: Sequence[BaselineRow]) -> list[BaselineRow]:
        """Rows, the baseline first, in the order that the user chose."""
        return in_order(rows, self.order)

    def order_by(self, place: int) -> None:
        """Order the rows shown next by a column; by the same one again, the other way round, and then as they come."""
        column = self.columns[place]
        key = column.kind, self._metric(column)
        self.order = first_order(*key) if self.order is None else self.order.clicked(*key)

    @property
    def ordered(self) -> tuple[int, Qt.SortOrder]:
        """The column that the rows are ordered by, and the direction; -1 if they are not."""
        order = self.order
        for place, column in enumerate(self.columns if order is not None else ()):
            if order is not None and (column.kind, self._metric(column)) == (order.kind, order.metric):
                return place, Qt.SortOrder.DescendingOrder if order.falling else Qt.SortOrder.AscendingOrder
        return -1, Qt.SortOrder.AscendingOrder

    def _metric(self, column: Column) -> str:
        of_metric = column.kind in (Kind.VALUE, Kind.INTERVAL, Kind.DIFFERENCE) and self.rows
        return self.rows[0].cells[column.cell].metric if of_metric else ""

    def cells_of(self, column: int) -> list[Cell]:
        """The cells of a metric's column, one per row."""
        return [row.cells[self.columns[column].cell] for row in self.rows]

    def lines(self) -> list[str]:
        """Header and rows, their cells separated by tabs; a spreadsheet does not read a pasted name as a formula.

        The header says what ± is, as tooltips are not copied.
        """
        head, rows = self.cells()
        return ["\t".join(head), *("\t".join((pasted(cells[0]), *cells[1:])) for cells in rows)]

    def cells(self) -> tuple[list[str], list[list[str]]]:
        """Header and rows as texts, without what keeps a spreadsheet from reading a name as a formula.

        A group whose values are of runs that are not done says so behind its title, as in the window.
        """
        meant = {Kind.VALUE: ", mean ± half of the 95% interval over seeds", Kind.DIFFERENCE: " from the first row"}
        meant[Kind.MEMORY] = ", peak"
        head = [f"{column.title}{meant.get(column.kind, '')}" for column in self.columns]
        rows = [[self._text(row, column) for column in self.columns] for row in self.rows]
        for cells, row in zip(rows, self.rows, strict=True):
            cells[0] += f" ({UNFINISHED})" if _unfinished(row) else ""
        return head, rows

    def _icon(self, title: str) -> QIcon | None:
        """The swatch of a group, drawn once."""
        if title not in self._icons and (look := self._styles.get(title)) is not None:
            self._icons[title] = swatch(look)
        return self._icons.get(title)

    def rowCount(self, parent: Index = QModelIndex()) -> int:
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:
        return 0 if parent.isValid() else len(self.columns)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """The content of a cell for a role, or the object that GroupDelegate draws; None for other roles."""
        row, column = self.rows[index.row()], self.columns[index.column()]
        title, group = row.group.title, column.kind is Kind.GROUP
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return self._short[index.row()] if group else self._text(row, column)
            case Qt.ItemDataRole.AccessibleTextRole:
                return ", ".join(filter(None, (title, self._chip(row)))) if group else self._text(row, column)
            case Qt.ItemDataRole.ToolTipRole:
                return plain_tip(_tip(row, column))
            case Qt.ItemDataRole.TextAlignmentRole:
                return LEFT if group else RIGHT
            case Qt.ItemDataRole.DecorationRole if group:
                return self._icon(title)
            case Qt.ItemDataRole.FontRole if column.kind is Kind.VALUE and row.cells[column.cell].best:
                bold = QFont()
                bold.setBold(True)
                return bold
            case Qt.ItemDataRole.BackgroundRole if row.is_baseline and len(self.rows) > 1:
                return QColor(theme.current().window)
        if role == CELL_ROLE and column.kind in (Kind.VALUE, Kind.INTERVAL, Kind.DIFFERENCE):
            return row.cells[column.cell]
        if role == STYLE_ROLE:
            return self._styles.get(title)
        return self._chip(row) if role == CHIP_ROLE and group else None

    def _chip(self, row: BaselineRow) -> str:
        """Whether it is the baseline of others, and whether its values are of runs that are not done; else empty."""
        words = (BASELINE if row.is_baseline and len(self.rows) > 1 else "", UNFINISHED if _unfinished(row) else "")
        return ", ".join(filter(None, words))

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation != Qt.Orientation.Horizontal or section >= len(self.columns):
            return None
        column = self.columns[section]
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return column.title
            case Qt.ItemDataRole.ToolTipRole:
                return column.tip or None
            case Qt.ItemDataRole.TextAlignmentRole:
                return LEFT if column.kind is Kind.GROUP else RIGHT
        return None

    def _text(self, row: BaselineRow, column: Column) -> str:
        cell = row.cells[column.cell]
        summary, metric = cell.summary, cell.metric
        match column.kind:
            case Kind.GROUP:
                return row.group.title
            case Kind.SEEDS:
                return str(summary.interval.n)
            case Kind.VALUE:
                interval = summary.interval
                mean = number(interval.mean, metric)
                return f"{mean} ± {number(interval.high - interval.mean, metric)}" if interval.known else mean
            case Kind.INTERVAL:
                return over_seeds(summary.interval, metric)
            case Kind.DIFFERENCE:
                difference = cell.difference
                return "" if difference is None else number(difference.mean, metric, signed=True)
        return cost(summary)[0 if column.kind is Kind.SECONDS else 1]


def _unfinished(row: BaselineRow) -> bool:
    """Whether the values of a group are of runs that are not done."""
    return any(cell.summary.values and not cell.summary.trained_to_the_end for cell in row.cells)


def _columns(metrics: Sequence[str], several: bool) -> list[Column]:
    columns = [Column(Kind.GROUP, "Group"), Column(Kind.SEEDS, "Seeds", "Number of seeds with a value")]
    for index, metric in enumerate(metrics):
        tip = "Mean over seeds ± half-width of the 95% t-interval, from three seeds on. Bold: the highest mean"
        columns.append(Column(Kind.VALUE, metric_title(metric), tip, index))
        if index == 0:
            columns.append(Column(Kind.INTERVAL, "95% interval", "Over seeds, all on one scale; dotted: baseline", 0))
        if several:
            unit = ", in percentage points" if "%" in metric_title(metric) else ""
            tip = f"Difference from the baseline{unit}, over seeds; coloured where p is below 0.05 after Holm"
            columns.append(Column(Kind.DIFFERENCE, "Δ", tip, index))
    return [
        *columns,
        Column(Kind.SECONDS, "Time s", "Mean of the runs"),
        Column(Kind.MEMORY, "Memory MB", MEMORY_TIP),
    ]


def _of_tests(row: BaselineRow) -> str:
    """What a group of tests holds, which its title does not say; empty of other groups."""
    network = row.group.settings.get(NETWORK)
    if not network:
        return ""
    seeds = ", ".join(map(str, row.group.seeds))
    return f"Tests on other images; network: {network} of each run, seeds {seeds}.\n{APART}"


def _tip(row: BaselineRow, column: Column) -> str:
    cell = row.cells[column.cell]
    match column.kind:
        case Kind.GROUP:
            runs = ", ".join(str(run.id) for run in row.group.runs)
            ended = [f"{run.id} ({unfinished(run)})" for run in row.group.runs if unfinished(run)]
            lines = (row.group.title, f"Runs {runs}", _of_tests(row), "Baseline" if row.is_baseline else "")
            return "\n".join(filter(None, (*lines, f"Not finished: {', '.join(ended)}" if ended else "")))
        case Kind.VALUE | Kind.INTERVAL:
            spread = number(cell.summary.spread, cell.metric)
            return f"95% interval over seeds: {over_seeds(cell.summary.interval, cell.metric)}; std. dev. {spread}"
        case Kind.DIFFERENCE if cell.difference is not None:
            interval = cell.difference
            known = f"95% interval {limits(interval, cell.metric, signed=True)}" if interval.known else "no interval"
            return f"Minus the baseline: {known}, n = {interval.n}"
    return ""


def significant(cell: Cell) -> str:
    """ "right" for an increase with p below 0.05 after Holm's correction, "wrong" for such a decrease, else "muted".

    Metrics that are not shares are always "muted".
    """
    difference = cell.difference
    if difference is None or not cell.differs or not is_share(cell.metric):
        return "muted"
    return "right" if difference.mean > 0 else "wrong"
