"""The limit of similarity at which two images count as the same: its rates, and what it does to each class."""

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDoubleSpinBox, QGridLayout, QHeaderView, QTableView, QWidget

from workbench.ui.models.sorted_rows import SortedRows
from workbench.ui.pages.retrieval.deploy_plots import PairsPlot
from workbench.ui.widgets.boxes import in_column
from workbench.ui.widgets.buttons import button
from workbench.ui.widgets.captions import caption
from workbench.ui.widgets.card import Fact
from workbench.ui.widgets.labels import label
from workbench.ui.widgets.row_table import select_rows

ROW_PX = 24  # at 100% text
RATE_PERCENT = 0.1  # false accepts, at first
CLASS_ROWS = 5  # in sight, with the head
CLASS_TITLES = ("Class", "False %", "True %", "Own limit")


class LimitSide(QWidget):
    """Beside the stores: the wanted share of false accepts, and the limit that keeps it."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._measured_rate: float | None = None  # percent
        self.rate = QDoubleSpinBox()
        self.rate.setDecimals(3)
        self.rate.setRange(0.001, 50)
        self.rate.setValue(RATE_PERCENT)
        self.rate.setSuffix(" %")
        self.rate.setToolTip("Share of the pairs of two classes that may count as the same")
        self.again = button("Measure again", "arrow-clockwise")
        self.again.setEnabled(False)
        self.again.setToolTip("With the chosen share of false accepts")
        self.pairs = PairsPlot()
        self.facts = {name: Fact(name) for name in ("Limit", "False accepts", "True accepts", "Equal error")}
        facts = QGridLayout()
        for at, fact in enumerate(self.facts.values()):
            facts.addWidget(fact, at // 2, at % 2)
        self.classes = SortedRows(CLASS_TITLES, tuple, written_class, self)
        self.class_table = QTableView()
        self.class_table.setModel(self.classes)
        select_rows(self.class_table, "Limit by class")
        self.class_table.verticalHeader().setDefaultSectionSize(ROW_PX)
        self.class_table.setMinimumHeight(CLASS_ROWS * ROW_PX)
        self.class_table.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
        self.class_table.setSortingEnabled(True)
        self.class_table.horizontalHeader().setSortIndicator(1, Qt.SortOrder.DescendingOrder)
        self.warning = label("", "warning", wrap=True)
        asked = in_column(caption("False accepts at most", self.rate), self.rate, spacing=4)
        in_column(asked, self.again, (self.pairs, 3), facts, (self.class_table, 3), self.warning, on=self, spacing=8)
        self.rate.valueChanged.connect(self._offer_again)

    def show_limit(self, limit: dict[str, Any], class_name: Callable[[int], str]) -> None:
        """Show the limit of a measurement, as deploying.request.deployment gives it."""
        self._measured_rate = 100 * limit["wanted"]
        self.rate.setValue(self._measured_rate)
        self.pairs.show_limit(limit)
        low, high = limit["similarity_range"]
        for name, text, tip in (
            ("Limit", f"{limit['similarity']:.3f}", f"95% interval {low:.4f} to {high:.4f}"),
            ("False accepts", f"{100 * limit['false_accepts']:.3g} %", f"of {limit['other_pairs']:,} pairs"),
            (
                "True accepts", f"{100 * limit['accepts']:.1f} %",
                "95% interval {:.1f} to {:.1f} %".format(*(100 * end for end in limit["accepts_range"])),
            ),
            ("Equal error", f"{100 * limit['equal_error']:.1f} %", "where false accepts and rejects are equal shares"),
        ):  # fmt: skip
            self.facts[name].set_value(text)
            self.facts[name].setToolTip(tip)
        rows = [
            (class_name(one["label"]), 100 * one["false_accepts"], 100 * (one["accepts"] or 0), one["own_limit"])
            for one in limit["classes"]
        ]
        self.classes.show(rows)
        over = [name for name, false_accepts, *_ in rows if false_accepts > self._measured_rate]
        named = ", ".join(over[:5]) + (f" and {len(over) - 5} more" if len(over) > 5 else "")
        self.warning.setText(f"{len(over)} of {len(rows)} classes exceed the share: {named}." if over else "")
        self._offer_again()

    def _offer_again(self) -> None:
        """Offer to measure where another share is wanted than was measured."""
        known = self._measured_rate is not None and abs(self._measured_rate - self.rate.value()) < 1e-9
        self.again.setEnabled(not known)


def written_class(column: int, value: Any) -> str:
    """A value as the table of classes shows it."""
    return value if isinstance(value, str) else f"{value:.3f}" if column == 3 else f"{value:.2f}"
