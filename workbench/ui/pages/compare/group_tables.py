"""The Metrics tab: a row for each group with its numbers, and below the settings in which the groups differ."""

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QSplitter, QVBoxLayout, QWidget

from workbench.comparing.overview import Overview
from workbench.comparing.settings import written
from workbench.comparing.comparison_text import cost, metric_title, number, over_seeds
from workbench.ui.pages.compare.looks import Look, swatch
from workbench.ui.pages.compare.tables import WordTable, fit_columns, table_view
from workbench.ui.widgets.labels import label

MOST_COLUMNS = 6  # groups side by side in the table of settings; more stand below each other


class GroupTables(QSplitter):
    """Two tables, one below the other."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(Qt.Orientation.Vertical, parent)
        self.numbers, self.settings = WordTable(), WordTable()
        self.numbers_view = table_view(self.numbers, "Metrics of each group")
        self.settings_view = table_view(self.settings, "Settings that differ")
        self.title = label("", "section")
        below = QWidget()
        column = QVBoxLayout(below)
        column.setContentsMargins(8, 8, 0, 0)
        column.addWidget(self.title)
        column.addWidget(self.settings_view, 1)
        column.addStretch(0)
        self.setHandleWidth(8)
        self.addWidget(self.numbers_view)
        self.addWidget(below)
        self.setChildrenCollapsible(False)
        self.setSizes([300, 300])

    def show_overview(self, found: Overview, shown_as: Sequence[Look]) -> None:
        """Other groups with their looks, in the same order."""
        icons = [swatch(look) for look in shown_as]
        metric = found.metric
        head = ["Group", metric_title(metric), "Std. dev.", "95% interval", "Seeds", "Time s", "MB"]
        rows = [
            [
                each.group.title,
                number(each.interval.mean, metric),
                number(each.spread, metric),
                over_seeds(each.interval, metric),
                str(each.interval.n),
                *cost(each),
            ]
            for each in found.summaries
        ]
        self.numbers.show(head, rows, icons)
        fit_columns(self.numbers_view)
        titles, differences = [group.title for group in found.groups], found.differences
        self.title.setText("Settings that differ" if differences else "The settings are the same but for seed and fold")
        self.settings_view.setVisible(bool(differences))
        if len(titles) <= MOST_COLUMNS:
            cells = [[row.field, *map(written, row.values)] for row in differences]
            self.settings.show(["Setting", *titles], cells)
        else:
            cells = [
                [title, *(written(row.values[place]) for row in differences)] for place, title in enumerate(titles)
            ]
            self.settings.show(["Group", *(row.field for row in differences)], cells, icons)
        fit_columns(self.settings_view)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        fit_columns(self.numbers_view)
        fit_columns(self.settings_view)
