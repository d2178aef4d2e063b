"""The plots, the table of stores and one more method below each other; in a low window the table first."""

from PySide6.QtWidgets import QTableView, QWidget

from workbench.ui.pages.retrieval.deployment.more_methods import MoreMethods
from workbench.ui.pages.retrieval.deployment.plots import TradePlot
from workbench.ui.widgets.boxes import in_column, in_row
from workbench.ui.widgets.scrolled import ScrolledDown

IN_SIGHT = 5  # rows of the table, at least
PLOTS, TABLE = 3, 2  # stretches


class StoresColumn(ScrolledDown):
    """Where not all of it has room, the table with IN_SIGHT rows is at the top, and the plots are scrolled to."""

    def __init__(
        self, plots: tuple[TradePlot, TradePlot], table: QTableView, more: MoreMethods, parent: QWidget | None = None
    ) -> None:
        content = QWidget()
        self._plots, self._table = QWidget(content), table
        super().__init__(content, parent)  # before it is filled: else all in it would be styled again
        self._column = in_column((self._plots, PLOTS), (table, TABLE), more, on=content, spacing=8)
        in_row(*((plot, 1) for plot in plots), on=self._plots, spacing=12)

    @property
    def begins_with_table(self) -> bool:
        """Whether the table is at the top."""
        return self._column.indexOf(self._table) == 0

    def fit_rows(self) -> None:
        """Give the table the height of its head and rows at the present text size."""
        table = self._table
        rows = IN_SIGHT * table.verticalHeader().defaultSectionSize()
        edges = 2 * table.frameWidth() + table.horizontalScrollBar().sizeHint().height()
        table.setMinimumHeight(table.horizontalHeader().sizeHint().height() + rows + edges)

    def _fit(self) -> None:
        super()._fit()
        is_low = self._content.height() > self.viewport().height()
        if is_low != self.begins_with_table:
            self._column.removeWidget(self._plots)
            self._column.insertWidget(self._column.count() if is_low else 0, self._plots, PLOTS)
            self.verticalScrollBar().setValue(0)
