"""Tables that are at the next start in the order, and with the widths of columns, that the user gave them."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtWidgets import QHeaderView, QTableView

from workbench.ui.preferences import Preferences

WIDTHS = "keepsWidths"  # property of a table whose columns no code fits again: their widths are the user's
WIDEST = 5  # digits of a width in px
DOWN, UP = Qt.SortOrder.DescendingOrder, Qt.SortOrder.AscendingOrder
Order = tuple[int, Qt.SortOrder]  # column, direction


@dataclass(frozen=True, slots=True)
class First:
    """How a table was before the user changed it."""

    key: str
    order: Order
    widths: tuple[int, ...]  # px; none where code fits the columns


class RememberedTables(QObject):
    """The head of each table is followed: a click on it sorts, and a drag of its lines gives columns other widths."""

    def __init__(self, preferences: Preferences, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._preferences = preferences
        self._heads: dict[QHeaderView, First] = {}

    def follow(self, key: str, table: QTableView) -> None:
        """Arrange a table as the user left it, and remember what he changes.

        Args:
            key: of the preferences. table: with all of its columns.
        """
        head = table.horizontalHeader()
        widths = _widths(head) if table.property(WIDTHS) else ()
        self._heads[head] = First(key, (head.sortIndicatorSection(), head.sortIndicatorOrder()), widths)
        if table.isSortingEnabled():
            column = self._preferences.number(_order_key(key), head.count())
            if (column if column >= 0 else ~column) < head.count():
                head.setSortIndicator(*((column, UP) if column >= 0 else (~column, DOWN)))
            head.sortIndicatorChanged.connect(partial(self._remember_order, key, head))
        if widths:
            _give_widths(head, self._preferences.text(_widths_key(key)).split())
            head.viewport().installEventFilter(self)

    def reset(self) -> None:
        """Put every table back to its first order and widths."""
        for head, first in self._heads.items():
            head.setSortIndicator(*first.order)
            _give_widths(head, map(str, first.widths))
            self._preferences.forget(_order_key(first.key))
            self._preferences.forget(_widths_key(first.key))

    def eventFilter(self, viewport: QObject, event: QEvent) -> bool:
        """Remember the widths when the mouse lets go of a head."""
        if event.type() is QEvent.Type.MouseButtonRelease:
            head = viewport.parent()
            if isinstance(head, QHeaderView) and head in self._heads:
                first, widths = self._heads[head], _widths(head)
                if widths == first.widths:
                    self._preferences.forget(_widths_key(first.key))
                else:
                    self._preferences.set_text(_widths_key(first.key), " ".join(map(str, widths)))
        return False

    def _remember_order(self, key: str, head: QHeaderView, *asked: object) -> None:
        column, order = head.sortIndicatorSection(), head.sortIndicatorOrder()  # a table may refuse what was asked
        self._preferences.set_number(_order_key(key), column if order == UP else ~column)


def _order_key(key: str) -> str:
    """Where the order of a table is stored: the column, or ~column when it falls."""
    return f"{key}-order"


def _widths_key(key: str) -> str:
    return f"{key}-widths"


def _widths(head: QHeaderView) -> tuple[int, ...]:
    """Px of the columns; not of a last one that fills what the others leave."""
    return tuple(head.sectionSize(column) for column in range(head.count() - head.stretchLastSection()))


def _give_widths(head: QHeaderView, widths: Iterable[str]) -> None:
    """Set widths that `_widths` gave; what is no width, or of a column that is not there any more, is passed over."""
    for column, width in enumerate(widths):
        if column < head.count() and width.isdecimal() and len(width) <= WIDEST:
            head.resizeSection(column, int(width))
