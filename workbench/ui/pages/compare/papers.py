"""The Papers tab: a paper's rows, the groups measured here below them, and the differences between the two."""

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QHBoxLayout, QWidget

from workbench.comparing.comparison_text import NO_VALUE, at_title, points
from workbench.comparing.overview import Overview
from workbench.comparing.published.papers import GroupsBeside
from workbench.comparing.published.published_tables import RECOGNISED
from workbench.entries import catalog as catalogs
from workbench.metric_names import metric_name
from workbench.ui.pages.compare.style.group_styles import GroupStyle, swatch
from workbench.ui.pages.compare.style.word_table import WordTable, fit_columns, table_view
from workbench.ui.widgets.boxes import in_column
from workbench.ui.widgets.capped_text import CappedText
from workbench.ui.widgets.fields.elided_box import ElidedBox
from workbench.ui.widgets.labels import label
from workbench.ui.widgets.tables.table_actions import TableActions
from workbench.workspace.run_names import short_names

NOTES_LINES = 6  # below the table; beyond them they scroll
NONE = (
    "No paper's table has the data set, the protocol and a metric of these runs. "
    "Linear probes are measured only at the last epoch: choose it under Epoch."
)


class PapersPanel(QWidget):
    """One table at a time; a box chooses among those that match the ticked runs."""

    wished = Signal(object)  # Wish, for Session.fulfil

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.tables: tuple[GroupsBeside, ...] = ()
        self._icons: dict[str, QIcon] = {}  # by the group's title
        self._where = ""
        self.box = ElidedBox()
        self.box.setAccessibleName("Table of a paper")
        self.box.currentIndexChanged.connect(self._show)
        self.model = WordTable()
        self.view = table_view(self.model, "A paper's rows, and the groups measured here")
        TableActions(self.wished.emit, self.view, "papers.csv")
        self.hint = label(NONE, "muted", wrap=True)
        self.notes = CappedText("muted", NOTES_LINES)
        self.notes.said.setAccessibleName("What differs from the paper")
        head = QHBoxLayout()
        head.addWidget(self.box, 1)
        in_column(self.hint, head, (self.view, 1), self.notes, 0, on=self, margins=8)

    def show_overview(self, overview: Overview, shown_as: Sequence[GroupStyle]) -> None:
        """Show other groups with their styles, in the same order."""
        self._icons = {group.title: swatch(style) for group, style in zip(overview.groups, shown_as, strict=True)}
        self._where = at_title(overview.at)
        self.tables = overview.papers
        before = self.box.currentText()
        self.box.blockSignals(True)
        self.box.clear()
        self.box.addItems([_title(beside) for beside in self.tables])
        self.box.setCurrentIndex(max(0, self.box.findText(before)) if self.tables else -1)
        self.box.blockSignals(False)
        self.hint.setVisible(not self.tables)
        for widget in (self.box, self.view, self.notes):
            widget.setVisible(bool(self.tables))
        self._show()

    def _show(self) -> None:
        if not 0 <= self.box.currentIndex() < len(self.tables):
            self.model.show([], [])
            return
        shown = self.tables[self.box.currentIndex()]
        table = shown.table
        head = ["Method", "Backbone", "d", *(f"{metric_name(name)} %" for name in table.metrics)]
        papers = [
            [row.method, row.backbone or NO_VALUE, str(row.dim or NO_VALUE), *map(points, row.values)]
            for row in table.rows
        ]
        ours = [
            [f"{row.group.title} (here, n = {row.seeds})", short_names(catalogs.last(), row.group.runs[0])[1],
             str(row.group.settings.get("embedding.dim") or NO_VALUE), *map(points, row.values)]
            for row in shown.rows
        ]  # fmt: skip
        together = [
            [f"{row.title} (here, n = {row.n})", row.backbone, str(row.dim or NO_VALUE), *map(points, row.values)]
            for row in shown.experiments
        ]
        groups = [*(row.group for row in shown.rows), *shown.experiment_groups]
        icons = [QIcon()] * len(papers) + [self._icons[group.title] for group in groups]
        self.model.show(head, papers + ours + together, icons)
        fit_columns(self.view)
        self.view.scrollToBottom()
        source = f"{table.paper}, {table.source}. Ours: {self._where}, mean over n seeds."
        self.notes.set_text("\n".join([source, RECOGNISED, *shown.differences]))


def _title(beside: GroupsBeside) -> str:
    note = f", {beside.table.note}" if beside.table.note else ""
    return f"{beside.table.dataset}: {beside.table.title}{note} ({beside.table.paper}, {beside.table.source})"
