"""One curve in the legend of a plot: its swatch, its name and whether it is shown."""

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QColor, QIcon, QPainter, QPixmap
from PySide6.QtWidgets import QToolButton

from workbench.ui.plots.items import Series
from workbench.ui.style import theme
from workbench.ui.widgets.labels import plain_tip

SWATCH = QSize(14, 10)  # px
SPARE = 8  # px of Qt's hint that no part of the button needs


class LegendButton(QToolButton):
    """Checked while its curve is shown. The name of a hidden curve is struck out: a paler colour is easily missed."""

    def __init__(self, series: Series) -> None:
        super().__init__()
        self.setProperty("legend", "true")
        self.setCheckable(True)
        self.setChecked(True)
        self.setAutoRaise(True)
        self.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.setIconSize(SWATCH)
        whole = series.title if series.short else "this curve"  # what is shortened is read in full here
        self.setToolTip(plain_tip(f"Show or hide {whole}"))
        self.say(series.title)
        self.setAccessibleName(f"Show {series.title}")
        self.toggled.connect(self._strike)

    def say(self, words: str) -> None:
        """Show another text; the same text causes no new layout. Qt would take a "&" for the mark of a shortcut."""
        if self.text() != (shown := words.replace("&", "&&")):
            self.setText(shown)

    def sizeHint(self) -> QSize:
        return super().sizeHint() - QSize(SPARE, 0)

    def _strike(self, on: bool) -> None:
        font = self.font()
        font.setStrikeOut(not on)
        self.setFont(font)


def swatch(series: Series) -> QIcon:
    """A short stroke in the curve's colour and style, or its outline for a hidden curve."""
    icon = QIcon()
    for state, alpha in ((QIcon.State.On, 255), (QIcon.State.Off, 70)):
        pixmap = QPixmap(SWATCH)
        pixmap.fill(Qt.GlobalColor.transparent)
        painter = QPainter(pixmap)
        colour = QColor(theme.drawn(series.colour))
        colour.setAlpha(alpha)
        painter.fillRect(0, 4, 5 if series.dashed else 14, 3, colour)
        if series.dashed:
            painter.fillRect(9, 4, 5, 3, colour)
        painter.end()
        icon.addPixmap(pixmap, QIcon.Mode.Normal, state)
    return icon
