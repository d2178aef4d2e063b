"""Plots of one run side by side: one crosshair for all, the best epoch in each, and one of them at full size."""

from collections.abc import Container, Iterable, Iterator, Sequence
from functools import partial

import numpy as np
from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QGridLayout, QWidget

from workbench.ui.plots.curve_plot import CurvePlot

COLUMNS = 2


class PlotGrid(QObject):
    """Lays plots into a grid of two columns. A double-click fills the grid with one of them, Esc shows all again."""

    def __init__(self, plots: Sequence[CurvePlot], grid: QGridLayout, owner: QWidget) -> None:
        super().__init__(owner)
        self._plots: list[CurvePlot] = []
        self._shown: list[CurvePlot] = []  # those that are laid out
        self._grid, self._columns = grid, 0
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
        plot.canvas.pointed.connect(partial(self._point, plot))
        plot.full_size_asked.connect(partial(self._toggle, plot))

    def lay_out(self, shown: Sequence[CurvePlot], columns: int = COLUMNS) -> None:
        """Show only these plots, in this many columns; a plot that fills the grid keeps filling it."""
        if (list(shown), columns) == (self._shown, self._columns):
            return
        self._shown, self._columns = list(shown), columns
        for plot in self._plots:
            self._grid.removeWidget(plot)
            if plot not in self._shown:
                plot.hide()
        for index, plot in enumerate(self._shown):
            self._grid.addWidget(plot, index // columns, index % columns)
            if plot.parentWidget() is not None:  # without one it would be a window of its own
                plot.show()
        self._stretch()
        self._back.setEnabled(False)

    def show_all(self) -> None:
        """Show every plot again."""
        self._back.setEnabled(False)
        for plot in self._shown:
            plot.setVisible(True)
        self._stretch()

    def show_best(self, epoch: int | None, step: int | None) -> None:
        """Mark the best epoch in every plot; None removes the mark."""
        for plot in self._plots:
            plot.show_best(epoch if plot.counts == "epoch" else step)

    def _point(self, pointed: CurvePlot, step: float | None) -> None:
        for plot in self._plots:
            if plot is not pointed and plot.x_title == pointed.x_title:
                plot.show_values(step)

    def _stretch(self, alone: int | None = None) -> None:
        """Give all lines the same room, or all of it to those of one plot: empty lines that stretch take room, too."""
        columns, count = self._columns, len(self._shown)
        for line in range(max(columns, self._grid.columnCount(), self._grid.rowCount())):
            in_row = line * columns < count if alone is None else line == alone // columns
            in_column = line < columns if alone is None else line == alone % columns
            self._grid.setRowStretch(line, int(in_row))
            self._grid.setColumnStretch(line, int(in_column))

    def _toggle(self, wanted: CurvePlot) -> None:
        if self._back.isEnabled():
            self.show_all()
            return
        for plot in self._shown:
            plot.setVisible(plot is wanted)
        self._stretch(self._shown.index(wanted))
        wanted.canvas.setFocus()
        self._back.setEnabled(True)


def by_name(
    points: Iterable[tuple[str, int, float]], names: Container[str]
) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """The points (name, step, value) of these names: each name with its steps and values, both [n], in their order."""
    gathered: dict[str, tuple[list[int], list[float]]] = {}
    for name, step, value in points:
        if name in names:
            steps, values = gathered.setdefault(name, ([], []))
            steps.append(step)
            values.append(value)
    for name, (steps, values) in gathered.items():
        yield name, np.asarray(steps), np.asarray(values, np.float64)
