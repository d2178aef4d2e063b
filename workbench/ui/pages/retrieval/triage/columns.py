"""The columns of Label triage: if three do not fit side by side, the third is below the second."""

from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QWidget

from workbench.ui.style.theme import Theme
from workbench.ui.widgets.boxes import in_column, in_row
from workbench.ui.widgets.scrolled import Scrolled

LIST_PX, CENTRE_PX, SIDE_PX = 300, 390, 190  # at 100% text; the centre has at least its value
MARGIN, SPACING = 16, 12  # px


class TriageColumns(QWidget):
    """Lays out three widgets, which are made in their places: what is moved later is styled again, with all in it.

    Attributes:
        listed: the place of the suspects, which has no layout yet.
        centre: the place of the current suspect, for `show_parts`.
        beside: the place of the summary of the answers so far, for `show_parts`.
    """

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme, self.listed, self.centre, self.beside = theme, QWidget(self), QWidget(), QWidget()
        self._column = in_column(on=self.centre, spacing=12)
        self.side = Scrolled(self.beside)
        middle = Scrolled(self.centre)
        in_row(self.listed, (middle, 1), self.side, on=self, margins=(MARGIN, 8, MARGIN, 12), spacing=SPACING)
        self._stacked = False

    def show_parts(self, suspect: QWidget, summary: QWidget) -> None:
        """Show the current suspect, whose parent is `centre`, and the summary, whose parent is `beside`."""
        self._column.insertWidget(0, suspect, 1)
        in_column(summary, on=self.beside)

    def fit(self) -> None:
        """Arrange the columns for the text size and the width of the window."""
        around = 2 * (MARGIN + SPACING)
        stacked = self.width() < self._theme.px(LIST_PX + CENTRE_PX + SIDE_PX) + around
        left = self.width() - around - self._theme.px(CENTRE_PX)  # px that the centre does not need for its words
        narrow = min(self._theme.px(LIST_PX), max(left, self.listed.minimumSizeHint().width()))
        self.listed.setFixedWidth(narrow if stacked else self._theme.side(LIST_PX))
        needed = self.beside.minimumSizeHint().width() + self.side.verticalScrollBar().sizeHint().width()
        self.side.setFixedWidth(max(self._theme.side(SIDE_PX), needed))
        if stacked == self._stacked:
            return
        self._stacked = stacked
        if stacked:
            self._column.addWidget(self.side.takeWidget())
            self.beside.show()
        else:
            self._column.removeWidget(self.beside)
            self.side.setWidget(self.beside)
        self.side.setVisible(not stacked)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.fit()
