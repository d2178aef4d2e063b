"""All groups against the baseline, first on the Difference tab: the forest plot and what it says in words."""

from collections.abc import Mapping

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QWidget

from workbench.comparing.forest import Forest, claims, remarks
from workbench.ui.pages.compare.forest_plot import ROW_PX, ForestPlot
from workbench.ui.pages.compare.group_styles import GroupStyle
from workbench.ui.widgets.boxes import in_column, in_row
from workbench.ui.widgets.labels import label
from workbench.ui.widgets.scrolled import Scrolled

WORDS_PX = 200  # width of the words
LEAST_PX, MOST_PX = 190, 360  # height: room for the words; beyond the greatest the rows scroll


class ForestPanel(QWidget):
    """The plot as high as its rows need, up to `MOST_PX`; `plot.chosen` emits the title of a chosen row."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.plot = ForestPlot()
        self.claims = label("", wrap=True)
        self.remarks = label("", "muted", wrap=True)
        said = QWidget()
        in_column(self.claims, self.remarks, 1, on=said, spacing=8)
        self._words = QFrame()
        self._words.setProperty("card", "true")
        self._words.setFixedWidth(WORDS_PX)
        in_column(label("In words", "strong"), (Scrolled(said), 1), on=self._words, margins=(12, 8, 4, 8), spacing=4)
        for said_label in (self.claims, self.remarks):
            said_label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._rows = Scrolled(self.plot)
        in_row((self._rows, 1), self._words, on=self, spacing=8)
        self.plot.chosen.connect(self._reveal)
        self.hide()

    def show_forest(self, forest: Forest, styles: Mapping[str, GroupStyle]) -> None:
        """Show other differences; hidden without a group beside the baseline. `styles` are by the group's title."""
        self.setVisible(bool(forest.rows))
        if not forest.rows:
            return
        self.plot.show_forest(forest, styles)
        self.claims.setText(" ".join(claims(forest)))
        self.claims.setVisible(bool(self.claims.text()))
        self.remarks.setText(" ".join(remarks(forest)))
        self.setFixedHeight(max(LEAST_PX, min(MOST_PX, self.plot.minimumSizeHint().height() + 2)))

    def _reveal(self) -> None:
        """Scroll to the row that a key has chosen."""
        self._rows.ensureVisible(0, self.plot.marked_y(), 0, ROW_PX)
