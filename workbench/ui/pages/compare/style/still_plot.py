"""A plot without zoom, with a title and a menu that copies and saves it."""

from typing import Any

import pyqtgraph as pg
from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtWidgets import QHBoxLayout, QWidget

from workbench.ui.plots.file_head import RenderedPlot
from workbench.ui.plots.items import dress_axes, number_axes
from workbench.ui.plots.one_by_one import OneByOne
from workbench.ui.style import theme
from workbench.ui.style.theme import Tokens
from workbench.ui.widgets.boxes import in_column
from workbench.ui.widgets.labels import ElidedLabel

LEAST = (220, 150)  # px, minimum width and height; the height is that at 100% text


class Surface(OneByOne, pg.PlotWidget):
    """A plot that is painted in its own turn of the event loop and requests no more height than it needs."""

    def sizeHint(self) -> QSize:
        return QSize(super().sizeHint().width(), 0)


class StillPlot(RenderedPlot):
    """Title, picture and a description for screen readers; a double-click shows everything.

    `look` has the colours to draw with: those of the window, or in a file those of the light theme.
    """

    def __init__(self, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("card", "true")
        self.plot = Surface(axisItems=number_axes(), enableMenu=False)
        self.plot.hideButtons()
        self.plot.showGrid(x=True, y=True)
        self.plot.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.heading = ElidedLabel("", "strong")
        self._more = self.menu_button()
        head = QHBoxLayout()
        head.addWidget(self.heading, 1)
        head.addWidget(self._more)
        in_column(head, (self.plot, 1), on=self, margins=(8, 4, 8, 4))
        self.retitle(title)
        self._apply_theme()

    def retitle(self, title: str) -> None:
        """Show another title, also to a screen reader."""
        self.title = title
        self.heading.setText(title)
        self.plot.setAccessibleName(title)
        self._more.setAccessibleName(f"Menu of {title}")

    def draw(self) -> None:
        """Add the items to the plot, in the colours of `look`; called again when the theme changes."""

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in theme.DRESSES and hasattr(self, "_more") and theme.look() != self._dressed:
            self._apply_theme()

    def mouseDoubleClickEvent(self, _event: Any) -> None:
        self.show_all()

    def show_all(self) -> None:
        """Show everything that is drawn."""
        self.plot.enableAutoRange()

    def surface(self) -> Surface:
        """What is painted."""
        return self.plot

    def _apply_theme(self) -> None:
        self._dressed = theme.look()
        self.setMinimumSize(LEAST[0], theme.text_px(LEAST[1]))
        self.dress(theme.current())

    def dress(self, look: Tokens) -> None:
        """Draw everything in the colours of a theme."""
        self.look = look
        self.plot.setBackground(look.plot_background)
        dress_axes(self.plot.getPlotItem(), self.font(), look)
        for side in ("left", "bottom"):
            self.plot.getAxis(side).setGrid(look.plot_grid_alpha)
        self.draw()
