"""The columns of Label triage: if three do not fit side by side, the third is below the second."""

from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QWidget

from workbench.ui.style.theme import Theme
from workbench.ui.widgets.boxes import in_column, in_row
from workbench.ui.widgets.scrolled import Scrolled

LIST_PX, CENTRE_PX, SIDE_PX = 300, 390, 190  # at 100% text; the centre has at least its value
MARGIN, SPACING = 16, 12  # px


class TriageColumns(QWidget):
    """Lays out three widgets.

    Args:
        listed: the suspects.
        centre: the current suspect.
        beside: the summary of the answers so far.
    """

    def __init__(
        self, theme: Theme, listed: QWidget, centre: QWidget, beside: QWidget, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._theme, self._listed, self._beside = theme, listed, beside
        middle = QWidget()
        self._column = in_column((centre, 1), on=middle, spacing=12)
        self.side = Scrolled(beside)
        in_row(listed, (Scrolled(middle), 1), self.side, on=self, margins=(MARGIN, 8, MARGIN, 12), spacing=SPACING)
        self._stacked = False

    def fit(self) -> None:
        """Arrange the columns for the text size and the width of the window."""
        around = 2 * (MARGIN + SPACING)
        stacked = self.width() < self._theme.px(LIST_PX + CENTRE_PX + SIDE_PX) + around
        self._listed.setFixedWidth(self._theme.px(LIST_PX) if stacked else self._theme.side(LIST_PX))
        needed = self._beside.minimumSizeHint().width() + self.side.verticalScrollBar().sizeHint().width()
        self.side.setFixedWidth(max(self._theme.side(SIDE_PX), needed))
        if stacked == self._stacked:
            return
        self._stacked = stacked
        if stacked:
            self._column.addWidget(self.side.takeWidget())
            self._beside.show()
        else:
            self._column.removeWidget(self._beside)
            self.side.setWidget(self._beside)
        self.side.setVisible(not stacked)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.fit()
