"""All groups against the baseline, and below one of them: its verdict, an interval for each seed and over all."""

from collections.abc import Mapping, Sequence
from math import isfinite

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QSplitter, QWidget

from workbench.comparing.comparison_text import NO_VALUE, limits, number, over_seeds, seed_title
from workbench.comparing.difference.baseline import BaselineRow
from workbench.comparing.difference.forest import Forest, corrected_tests, forest_of, verdict_among
from workbench.comparing.grouping.groups import unlike_parts
from workbench.comparing.measures import is_share
from workbench.comparing.overview import Overview
from workbench.comparing.queries.pairing import Comparison
from workbench.comparing.statistics.intervals import Interval
from workbench.metric_names import metric_name
from workbench.ui.pages.compare.difference.forest import ForestPanel
from workbench.ui.pages.compare.difference.interval_plot import IntervalPlot
from workbench.ui.pages.compare.model.compare_model import CompareModel
from workbench.ui.pages.compare.style.group_styles import GroupStyle
from workbench.ui.pages.compare.style.word_table import WordTable, fit_columns, table_view
from workbench.ui.widgets.boxes import in_column, in_row
from workbench.ui.widgets.buttons import icon_button
from workbench.ui.widgets.fields.captions import caption
from workbench.ui.widgets.fields.elided_box import ElidedBox
from workbench.ui.widgets.labels import ElidedLabel, label, plain_tip
from workbench.ui.widgets.scrolled import Scrolled
from workbench.ui.widgets.tables.table_actions import TableActions

PLOT_PX, INTERVAL_PX = 90, 34  # px of the plot without its intervals, and for each
RESULTS_PX = 260  # minimum height of plot and table of a pair; with less space the tab scrolls


class DifferencePanel(QWidget):
    """The Difference tab. `chosen` is emitted when the model has another pair of groups."""

    chosen = Signal()
    wished = Signal(object)  # Wish, for Session.fulfil

    def __init__(self, model: CompareModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self._build()
        self.other.activated.connect(self._choose_other)
        self.swap.clicked.connect(self._swap)
        self.forest.plot.chosen.connect(self.choose)
        for plot in (self.forest.plot, self.plot):
            plot.wished.connect(self.wished)

    def _build(self) -> None:
        self.forest = ForestPanel()
        self.baseline = ElidedLabel("", "strong", Qt.TextElideMode.ElideMiddle)
        self.other = ElidedBox()
        self.other.setAccessibleName("Group that is compared with the baseline")
        self.swap = icon_button("arrows-left-right", "Swap the two groups")
        self.verdict = label("", "strong", wrap=True)
        self.notes = label("", "muted", wrap=True)
        self.plot = IntervalPlot()
        self.model = WordTable()
        self.table = table_view(self.model, "Difference for each seed and over all")
        TableActions(self.wished.emit, self.table, "difference.csv")
        against = caption("Compared with", self.other)
        head = in_row(label("Baseline", "caption"), (self.baseline, 1), self.swap, against, (self.other, 1))
        self.results = QSplitter(Qt.Orientation.Vertical)
        self.results.setObjectName("compare-difference")
        self.results.setHandleWidth(8)
        self.results.setMinimumHeight(RESULTS_PX)
        whole = QWidget()
        in_column((Scrolled(whole), 1), on=self)
        parts = (self.forest, head, self.verdict, (self.results, 1), self.notes, 0)
        in_column(*parts, on=whole, margins=8, spacing=8)
        self.results.addWidget(self.plot)
        self.results.addWidget(self.table)
        self.results.setStretchFactor(1, 1)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.forest.fit()

    def show_rows(self, rows: Sequence[BaselineRow], styles: Mapping[str, GroupStyle]) -> None:
        """Show every group against the baseline, which comes first; `styles` are by the group's title."""
        if rows:
            self.forest.show_forest(forest_of(rows), styles)

    def show_groups(self) -> None:
        """Show the groups of the model, its baseline and the group that is compared with it."""
        overview, baseline, other = self._model.overview, self._model.baseline, self._model.other
        titles = [group.title for group in overview.groups] if overview is not None else []
        short = dict(zip(titles, unlike_parts(titles), strict=True))
        self.baseline.setText(short[baseline.title] if baseline is not None else "")
        self.other.clear()
        for title, words in short.items():
            self.other.addItem(words, title)
            self.other.setItemData(self.other.count() - 1, title, Qt.ItemDataRole.AccessibleTextRole)
            self.other.setItemData(self.other.count() - 1, plain_tip(title), Qt.ItemDataRole.ToolTipRole)
        self.other.setCurrentIndex(titles.index(other.title) if other is not None else -1)
        self.other.setToolTip(plain_tip(other.title) if other is not None else "")
        self.forest.plot.mark(other.title if other is not None else "")
        for widget in (self.other, self.swap):
            widget.setEnabled(len(titles) > 1)

    def say(self, text: str) -> None:
        """Show a sentence in place of a result."""
        self.verdict.setText(text)
        self.notes.setText("")
        self.results.hide()

    def show_comparison(self, comparison: Comparison) -> None:
        """Show the verdict on two groups, with an interval for each seed and over all."""
        overview, verdict = self._model.overview, comparison.verdict
        if overview is not None:
            verdict = verdict_among(self._tests(overview, comparison), comparison)
        self.verdict.setText(verdict)
        self.notes.setText(" ".join(comparison.notes))
        self.results.show()
        unit = 100 if is_share(comparison.metric) else 1
        rows = [(seed_title(seed.seed, seed.fold), _scaled(seed.over_queries, unit)) for seed in comparison.seeds]
        rows.append((f"all seeds, n = {comparison.over_seeds.n}", _scaled(comparison.over_seeds, unit)))
        percent = ", percentage points" if unit == 100 else ""
        title = f"{metric_name(comparison.metric)}: other minus baseline{percent}, with 95% intervals"
        self.plot.show_rows([row for row in rows if isfinite(row[1].mean)], title)
        wanted = PLOT_PX + INTERVAL_PX * len(rows)
        self.results.setSizes([wanted, max(wanted // 2, self.results.height() - wanted)])
        self._fill(comparison)

    def _tests(self, overview: Overview, comparison: Comparison) -> Forest:
        """As `corrected_tests`, of the rows that the table has: of hundreds of groups they are not computed twice."""
        if self._model.baseline is not comparison.first or not self._model.has_rows:
            return corrected_tests(overview, comparison.first, comparison.metric)
        metric = comparison.metric
        return forest_of(
            [
                BaselineRow(row.group, tuple(cell for cell in row.cells if cell.metric == metric))
                for row in self._model.rows
            ]
        )

    def _fill(self, comparison: Comparison) -> None:
        metric, unit = comparison.metric, " %" if is_share(comparison.metric) else ""
        difference = "Difference, points" if unit else "Difference"
        head = ["Seed (runs)", f"Baseline{unit}", f"Other{unit}", difference, "95% interval", "n"]
        rows = [
            [
                f"{seed_title(seed.seed, seed.fold)} ({seed.first_run}, {seed.second_run})",
                number(seed.first, metric),
                number(seed.second, metric),
                number(seed.over_queries.mean, metric, signed=True),
                limits(seed.over_queries, metric, signed=True),
                f"{seed.over_queries.n:,} queries" if seed.over_queries.n else NO_VALUE,
            ]
            for seed in comparison.seeds
        ]
        total = comparison.over_seeds
        middle, spread = number(total.mean, metric, signed=True), over_seeds(total, metric, signed=True)
        seeds = f"{total.n} {'seed' if total.n == 1 else 'seeds'}"
        self.model.show(head, [["all seeds", "", "", middle, spread, seeds], *rows])
        fit_columns(self.table)

    def _choose_other(self) -> None:
        self.choose(self.other.currentData())

    def choose(self, title: str) -> None:
        """Compare another group with the baseline."""
        self._model.choose_other(title)
        self.chosen.emit()

    def _swap(self) -> None:
        self._model.swap()
        self.chosen.emit()


def _scaled(interval: Interval, unit: int) -> Interval:
    return Interval(unit * interval.mean, unit * interval.low, unit * interval.high, interval.n)
