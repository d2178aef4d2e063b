"""Two thin lines through the origin, for maps whose coordinates are those of the embeddings."""

import pyqtgraph as pg
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor

from workbench.ui.style import theme


class Origin:
    """The two lines, drawn below the points of a view box."""

    def __init__(self, box: pg.ViewBox) -> None:
        self.lines = [pg.InfiniteLine(0.0, angle) for angle in (0, 90)]
        for line in self.lines:
            line.setZValue(-10)
            line.hide()
            box.addItem(line, ignoreBounds=True)

    def show(self, shown: bool, tokens: theme.Tokens) -> None:
        """Show or hide the lines, in the colour of a plot's axes."""
        for line in self.lines:
            line.setPen(pg.mkPen(QColor(tokens.plot_axis), width=1, style=Qt.PenStyle.DashLine))
            line.setVisible(shown)
