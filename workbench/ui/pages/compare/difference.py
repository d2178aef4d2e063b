"""Two groups against each other: choose them, read the verdict, see an interval for each seed and over all."""

from collections.abc import Sequence
from math import isfinite

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QLabel, QSplitter, QVBoxLayout, QWidget

from workbench.comparing.groups import Group
from workbench.comparing.intervals import Interval
from workbench.comparing.measures import is_share
from workbench.comparing.pairing import Comparison
from workbench.comparing.comparison_text import NO_VALUE, limits, number, over_seeds
from workbench.ui.pages.compare.plots import IntervalPlot
from workbench.ui.pages.compare.tables import WordTable, fit_columns, table_view
from workbench.ui.widgets.buttons import icon_button
from workbench.ui.widgets.labels import label


class DifferencePanel(QWidget):
    """The Difference tab. `chosen` says that another pair of groups is wanted."""

    chosen = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._groups: list[Group] = []
        self._build()
        self.first.activated.connect(self.chosen)
        self.second.activated.connect(self.chosen)
        self.swap.clicked.connect(self._swap)

    def _build(self) -> None:
        self.first, self.second = QComboBox(), QComboBox()
        for box, word in ((self.first, "First"), (self.second, "Second")):
            box.setAccessibleName(f"{word} group")
            box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.swap = icon_button("arrows-left-right", "Swap the two groups")
        self.verdict = label("", "strong", wrap=True)
        self.notes = label("", "muted", wrap=True)
        self.plot = IntervalPlot()
        self.model = WordTable()
        self.table = table_view(self.model, "Difference for each seed and over all")
        head = QHBoxLayout()
        for widget, stretch in (
            (_tied("First", self.first), 0), (self.first, 1), (self.swap, 0), (_tied("Second", self.second), 0),
            (self.second, 1),
        ):  # fmt: skip
            head.addWidget(widget, stretch)
        self.results = QSplitter(Qt.Orientation.Vertical)
        self.results.setHandleWidth(8)
        self.results.addWidget(self.plot)
        self.results.addWidget(self.table)
        self.results.setStretchFactor(0, 3)
        self.results.setStretchFactor(1, 2)
        column = QVBoxLayout(self)
        column.setContentsMargins(8, 8, 8, 8)
        column.setSpacing(8)
        column.addLayout(head)
        column.addWidget(self.verdict)
        column.addWidget(self.results, 1)
        column.addWidget(self.notes)
        column.addStretch(0)

    def show_groups(self, groups: Sequence[Group]) -> None:
        """What can be chosen; the pair stays where both groups are still there, else it is the first two."""
        before = [box.currentText() for box in (self.first, self.second)]
        self._groups = list(groups)
        titles = [group.title for group in groups]
        keep = all(each in titles for each in before) and before[0] != before[1]
        for place, box in enumerate((self.first, self.second)):
            box.clear()
            box.addItems(titles)
            for row, title in enumerate(titles):
                box.setItemData(row, title, Qt.ItemDataRole.AccessibleTextRole)
            box.setCurrentIndex(titles.index(before[place]) if keep else min(place, len(titles) - 1))
            box.setEnabled(len(titles) > 1)
        self.swap.setEnabled(len(titles) > 1)

    def pair(self) -> tuple[Group, Group] | None:
        """The two groups, where they are two."""
        first, second = self.first.currentIndex(), self.second.currentIndex()
        if first == second or min(first, second) < 0:
            return None
        return self._groups[first], self._groups[second]

    def say(self, text: str) -> None:
        """A sentence in place of a result."""
        self.verdict.setText(text)
        self.notes.setText("")
        self.results.hide()

    def show_comparison(self, found: Comparison) -> None:
        self.verdict.setText(found.verdict)
        self.notes.setText(" ".join(found.notes))
        self.results.show()
        unit = 100 if is_share(found.metric) else 1
        rows = [(_seed(each.seed, each.fold), _scaled(each.over_queries, unit)) for each in found.seeds]
        rows.append((f"all seeds, n = {found.over_seeds.n}", _scaled(found.over_seeds, unit)))
        percent = ", percentage points" if unit == 100 else ""
        title = f"{found.metric}: second minus first{percent}, with 95% intervals"
        self.plot.show_rows([row for row in rows if isfinite(row[1].mean)], title)
        self._fill(found)

    def _fill(self, found: Comparison) -> None:
        metric, unit = found.metric, " %" if is_share(found.metric) else ""
        head = ["Seed (runs)", f"First{unit}", f"Second{unit}", "Difference", "95% interval", "n"]
        rows = [
            [
                f"{_seed(each.seed, each.fold)} ({each.first_run}, {each.second_run})",
                number(each.first, metric),
                number(each.second, metric),
                number(each.over_queries.mean, metric, signed=True),
                limits(each.over_queries, metric, signed=True),
                f"{each.over_queries.n:,} queries" if each.over_queries.n else NO_VALUE,
            ]
            for each in found.seeds
        ]
        total = found.over_seeds
        middle, spread = number(total.mean, metric, signed=True), over_seeds(total, metric, signed=True)
        seeds = f"{total.n} {'seed' if total.n == 1 else 'seeds'}"
        self.model.show(head, [["all seeds", "", "", middle, spread, seeds], *rows])
        fit_columns(self.table)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        fit_columns(self.table)

    def _swap(self) -> None:
        first, second = self.first.currentIndex(), self.second.currentIndex()
        self.first.setCurrentIndex(second)
        self.second.setCurrentIndex(first)
        self.chosen.emit()


def _seed(seed: int, fold: int) -> str:
    return f"seed {seed}, fold {fold}" if fold else f"seed {seed}"


def _scaled(each: Interval, unit: int) -> Interval:
    return Interval(unit * each.mean, unit * each.low, unit * each.high, each.n)


def _tied(text: str, box: QComboBox) -> QLabel:
    made = label(text, "caption")
    made.setBuddy(box)
    return made
