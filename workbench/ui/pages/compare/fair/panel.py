"""The Fair ranking tab: the table of `workbench benchmark fair`, with rank intervals and what they mean."""

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QStackedWidget, QWidget

from workbench.fair.table import HEAD, MEANING, Comparison, conditions, rows_of, title_of, verdicts
from workbench.ui.pages.compare.fair.rank_lines import RankLines
from workbench.ui.pages.compare.style.word_table import WordTable, fit_columns, table_view
from workbench.ui.widgets.boxes import in_column, in_row
from workbench.ui.widgets.capped_text import CappedText
from workbench.ui.widgets.fields.segments import Segments
from workbench.ui.widgets.labels import label
from workbench.ui.widgets.scrolled import Scrolled
from workbench.ui.widgets.tables.table_actions import TableActions

NOTES_LINES = 8


class FairPanel(QWidget):
    """One comparison at a time, as a table or as a diagram; a box selects one if the workspace has several."""

    wished = Signal(object)  # Wish, for Session.fulfil

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.comparisons: Sequence[Comparison] = ()
        self.box = QComboBox()
        self.box.setAccessibleName("Fair comparison")
        self.box.currentIndexChanged.connect(self._show)
        self.conditions = label("", "muted", wrap=True)
        self.model = WordTable()
        self.view = table_view(self.model, "Ranking of methods tuned with the same budget")
        TableActions(self.wished.emit, self.view, "fair-ranking.csv")
        self.ranks = RankLines()
        self.ranks.wished.connect(self.wished)
        self.views = QStackedWidget()
        self.shown_as = Segments("Show the ranking as", (("table", "Table"), ("picture", "Picture")))
        self.shown_as.set_value("table")
        self.shown_as.chosen.connect(lambda shown: self.views.setCurrentIndex(int(shown == "picture")))
        self.notes = CappedText("muted", NOTES_LINES)
        self.notes.said.setAccessibleName("What the ranks mean")
        head = in_row((self.conditions, 1), self.shown_as, spacing=8)
        in_column(self.box, head, (self.views, 1), self.notes, on=self, margins=8)
        self.views.addWidget(self.view)
        self.views.addWidget(Scrolled(self.ranks))

    def show_comparisons(self, comparisons: Sequence[Comparison]) -> None:
        """Show these, the newest first."""
        self.comparisons = comparisons
        before = self.box.currentText()
        self.box.blockSignals(True)
        self.box.clear()
        self.box.addItems([title_of(comparison) for comparison in comparisons])
        self.box.setCurrentIndex(max(0, self.box.findText(before)) if comparisons else -1)
        self.box.blockSignals(False)
        self.box.setVisible(len(comparisons) > 1)
        self._show()

    def _show(self) -> None:
        if not 0 <= self.box.currentIndex() < len(self.comparisons):
            self.model.show([], [])
            return
        comparison = self.comparisons[self.box.currentIndex()]
        self.conditions.setText(conditions(comparison))
        self.model.show(HEAD, rows_of(comparison))
        self.ranks.show_comparison(comparison)
        fit_columns(self.view)
        self.notes.set_text("\n".join([MEANING, *verdicts(comparison)]))
