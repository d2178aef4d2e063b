"""The menu of a curve plot."""

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QMenu, QWidgetAction

from workbench.ui.plots.smoothing_slider import SmoothingSlider

if TYPE_CHECKING:
    from workbench.ui.plots.curve_plot import CurvePlot


class PlotMenu(QMenu):
    """Commands for the scale and smoothing of `plot`, and to copy, save or tabulate it."""

    def __init__(self, plot: "CurvePlot") -> None:
        super().__init__(plot)
        self.log = self.addAction("Log scale")
        self.log.setIconText("Log")
        self.log.setCheckable(True)
        self.log.toggled.connect(plot.set_log)
        self.smoother = SmoothingSlider(plot.smoothing)
        self.smoother.chosen.connect(plot.set_smoothing)
        holder = QWidgetAction(self)
        holder.setDefaultWidget(self.smoother)
        self.addAction(holder)
        self.addAction("Show all", plot.canvas.fit)
        self.addSeparator()
        plot.add_commands(self)
        self.addAction("View as table", plot.show_table)
