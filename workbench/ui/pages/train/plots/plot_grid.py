"""Plots of one run side by side: one crosshair for all, the best epoch in each, and one of them at full size."""

from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QGridLayout, QWidget

from workbench.ui.plots.curve_plot import CurvePlot

COLUMNS = 2


@dataclass(frozen=True, slots=True)
class Cell:
    """The place of a plot, or of a table beside the plots, in the grid."""

    row: int
    column: int
    columns: int
    stretch: int = 1  # of its row; 0: as high as it asks for


class PlotGrid(QObject):
    """Lays plots into a grid. A double-click fills the grid with one of them, Esc shows all again."""

    def __init__(self, plots: Sequence[CurvePlot], grid: QGridLayout, owner: QWidget) -> None:
        super().__init__(owner)
        self._plots: list[CurvePlot] = []
        self._shown: dict[QWidget, Cell] = {}  # those that are laid out
        self._grid = grid
        self._best: tuple[int | None, int | None] = (None, None)  # epoch, step
        grid.setSpacing(8)
        for plot in plots:
            self.add(plot)
        self._back = QShortcut(QKeySequence(Qt.Key.Key_Escape), owner, self.show_all)
        self._back.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        self._back.setEnabled(False)
        self.lay_out(list(plots))

    def add(self, plot: CurvePlot) -> None:
        """One more plot; `lay_out` gives it a place."""
        self._plots.append(plot)
        self._mark_best(plot)
        plot.canvas.pointed.connect(partial(self._point, plot))
        plot.full_size_asked.connect(partial(self.fill, plot, plot.canvas))

    def remove(self, plot: CurvePlot) -> None:
        """Forget a plot that is not laid out."""
        self._plots.remove(plot)

    def lay_out(self, shown: Sequence[CurvePlot], columns: int = COLUMNS, wide: Container[CurvePlot] = ()) -> None:
        """Show only these plots, in this many columns; a plot that fills the grid keeps filling it.

        Plots of `wide` take two columns.
        """
        self.place(dict(_cells(shown, columns, wide)))

    def place(self, cells: Mapping[QWidget, Cell]) -> None:
        """Show only these plots and tables, each in its cell."""
        if cells == self._shown:
            return
        before, self._shown = self._shown, dict(cells)
        self._arrange(self._shown, {*self._plots, *before})
        self._back.setEnabled(False)

    def show_all(self) -> None:
        """Show every plot again."""
        self._back.setEnabled(False)
        self._arrange(self._shown, ())

    def fill(self, wanted: QWidget, focused: QWidget) -> None:
        """Show one plot or table alone, or all again if one is shown alone; the part `focused` of it gets the focus."""
        if self._back.isEnabled():
            self.show_all()
            return
        self._arrange({wanted: Cell(0, 0, 1)}, self._shown)
        focused.setFocus()
        self._back.setEnabled(True)

    def show_best(self, epoch: int | None, step: int | None) -> None:
        """Mark the best epoch in every plot; None removes the mark."""
        self._best = epoch, step
        for plot in self._plots:
            self._mark_best(plot)

    def _mark_best(self, plot: CurvePlot) -> None:
        epoch, step = self._best
        plot.show_best(epoch if plot.counts == "epoch" else step)

    def _point(self, pointed: CurvePlot, step: float | None) -> None:
        for plot in self._plots:
            if plot is not pointed and plot.x_title == pointed.x_title:
                plot.show_values(step)

    def _arrange(self, cells: Mapping[QWidget, Cell], others: Iterable[QWidget]) -> None:
        """Give these their cells, and take the others out: a hidden one that spans columns would keep their room."""
        for widget in {*others, *cells}:
            self._grid.removeWidget(widget)
            if widget not in cells:
                widget.hide()
        for widget, cell in cells.items():
            self._grid.addWidget(widget, cell.row, cell.column, 1, cell.columns)
            if widget.parentWidget() is not None:  # without one it would be a window of its own
                widget.show()
        self._stretch(cells.values())

    def _stretch(self, cells: Collection[Cell]) -> None:
        """Give the rows of these cells their room and the columns the same, and no other line any."""
        rows = {cell.row: cell.stretch for cell in cells}
        columns = {column for cell in cells for column in range(cell.column, cell.column + cell.columns)}
        for line in range(max(self._grid.columnCount(), self._grid.rowCount())):
            self._grid.setRowStretch(line, rows.get(line, 0))
            self._grid.setColumnStretch(line, int(line in columns))


def _cells(shown: Iterable[CurvePlot], most: int, wide: Container[CurvePlot]) -> Iterator[tuple[CurvePlot, Cell]]:
    """Each plot with its place: from left to right, and in the next row where it has no room."""
    row = column = 0
    for plot in shown:
        columns = 2 if plot in wide else 1
        if column and column + columns > most:
            row, column = row + 1, 0
        yield plot, Cell(row, column, columns)
        column += columns
