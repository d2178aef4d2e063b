"""Plots of one run side by side: one crosshair for all, the best epoch in each, and one of them at full size."""

from collections.abc import Container, Iterable, Iterator, Sequence
from functools import partial

import numpy as np
from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QGridLayout, QWidget

from workbench.ui.widgets.plot import CurvePlot

COLUMNS = 2


class PlotGrid(QObject):
    """Lays plots into a grid of two columns. A double-click fills the grid with one of them, Esc shows all again."""

    def __init__(self, plots: Sequence[CurvePlot], grid: QGridLayout, owner: QWidget) -> None:
        super().__init__(owner)
        self._plots, self._grid = list(plots), grid
        grid.setSpacing(8)
        for index, plot in enumerate(plots):
            grid.addWidget(plot, index // COLUMNS, index % COLUMNS)
            plot.canvas.pointed.connect(partial(self._point, plot))
            plot.full_size_asked.connect(partial(self._toggle, plot))
        self._stretch()
        self._back = QShortcut(QKeySequence(Qt.Key.Key_Escape), owner, self.show_all)
        self._back.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        self._back.setEnabled(False)

    def show_all(self) -> None:
        """Show every plot again."""
        self._back.setEnabled(False)
        for plot in self._plots:
            plot.setVisible(True)
        self._stretch()

    def show_best(self, epoch: int | None, step: int | None) -> None:
        """Mark the best epoch in every plot; None removes the mark."""
        for plot in self._plots:
            plot.show_best(epoch if plot.x_title == "epoch" else step)

    def _point(self, pointed: CurvePlot, step: float | None) -> None:
        for plot in self._plots:
            if plot is not pointed and plot.x_title == pointed.x_title:
                plot.show_values(step)

    def _stretch(self, alone: int | None = None) -> None:
        """Give all lines the same room, or all of it to those of one plot: empty lines that stretch take room, too."""
        for line in range(COLUMNS):
            self._grid.setRowStretch(line, int(alone is None or line == alone // COLUMNS))
            self._grid.setColumnStretch(line, int(alone is None or line == alone % COLUMNS))

    def _toggle(self, wanted: CurvePlot) -> None:
        if self._back.isEnabled():
            self.show_all()
            return
        for plot in self._plots:
            plot.setVisible(plot is wanted)
        self._stretch(self._plots.index(wanted))
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
