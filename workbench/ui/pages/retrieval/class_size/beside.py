"""The plot of the classes with the table of their groups beside it, or below it where that needs the width."""

from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QTableView, QWidget

from workbench.ui.pages.retrieval.class_size.plot import SizePlot
from workbench.ui.style import theme
from workbench.ui.widgets.boxes import UNLIMITED, in_row

GAP = 12  # px between the two
LEAST = 340  # px at 100% text that the plot has beside the table


class PlotAndTable(QWidget):
    """The table shows all of its columns and rows; the plot has the rest."""

    def __init__(self, plot: SizePlot, table: QTableView) -> None:
        super().__init__()
        self._plot, self._table = plot, table
        self._row = in_row((plot, 1), table, on=self, spacing=GAP)

    def fit(self) -> None:
        """Lay out again, after the columns have got their widths."""
        table, frame = self._table, 2 * self._table.frameWidth()
        needs = table.horizontalHeader().length() + frame
        below = self.width() < needs + GAP + theme.text_px(LEAST)
        way = QBoxLayout.Direction.TopToBottom if below else QBoxLayout.Direction.LeftToRight
        self._row.setDirection(way)
        if below:
            bar = table.horizontalScrollBar().sizeHint().height() if needs > self.width() else 0
            table.setMinimumWidth(0)
            table.setMaximumWidth(UNLIMITED)
            table.setFixedHeight(
                table.horizontalHeader().sizeHint().height() + table.verticalHeader().length() + frame + bar
            )
        else:
            table.setFixedWidth(needs)
            table.setMinimumHeight(0)
            table.setMaximumHeight(UNLIMITED)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.fit()
