"""A plot without zoom, with a title and a button that copies its picture."""

from typing import Any

import pyqtgraph as pg
from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFrame, QHBoxLayout, QWidget

from workbench.ui.plots.items import dress_axes, number_axes
from workbench.ui.plots.one_by_one import OneByOne
from workbench.ui.style import theme
from workbench.ui.widgets.boxes import in_column
from workbench.ui.widgets.buttons import icon_button
from workbench.ui.widgets.labels import ElidedLabel

LEAST = (220, 150)  # px, minimum width and height; the height is that at 100% text


class Surface(OneByOne, pg.PlotWidget):
    """A plot that is painted in its own turn of the event loop and requests no more height than it needs."""

    def sizeHint(self) -> QSize:
        return QSize(super().sizeHint().width(), 0)


class StillPlot(QFrame):
    """Title, picture and a description for screen readers; a double-click shows everything."""

    def __init__(self, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("card", "true")
        self.plot = Surface(axisItems=number_axes(), enableMenu=False)
        self.plot.hideButtons()
        self.plot.showGrid(x=True, y=True)
        self.plot.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.title = ElidedLabel("", "strong")
        self._copy = icon_button("copy", "Copy the picture")
        self._copy.clicked.connect(self._copy_picture)
        head = QHBoxLayout()
        head.addWidget(self.title, 1)
        head.addWidget(self._copy)
        in_column(head, (self.plot, 1), on=self, margins=(8, 4, 8, 4))
        self.retitle(title)
        self._apply_theme()

    def retitle(self, title: str) -> None:
        """Show another title, also to a screen reader."""
        self.title.setText(title)
        self.plot.setAccessibleName(title)
        self._copy.setAccessibleName(f"Copy the picture of {title}")

    def draw(self) -> None:
        """Add the items to the plot; called again when the theme changes."""

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in theme.DRESSES and hasattr(self, "_copy") and theme.look() != self._dressed:
            self._apply_theme()

    def mouseDoubleClickEvent(self, _event: Any) -> None:
        self.plot.enableAutoRange()

    def _copy_picture(self) -> None:
        QGuiApplication.clipboard().setPixmap(self.grab())

    def _apply_theme(self) -> None:
        self._dressed, shown = theme.look(), theme.current()
        self.setMinimumSize(LEAST[0], theme.text_px(LEAST[1]))
        self.plot.setBackground(shown.plot_background)
        dress_axes(self.plot.getPlotItem(), self.font(), shown)
        for side in ("left", "bottom"):
            self.plot.getAxis(side).setGrid(shown.plot_grid_alpha)
        self.draw()
