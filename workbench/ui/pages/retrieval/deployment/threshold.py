"""The threshold of similarity from which two images count as the same: its rates, and what it does to each class."""

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QEvent, Qt
from PySide6.QtWidgets import QDoubleSpinBox, QHeaderView, QTableView, QWidget

from workbench.numerals import minus, percentage
from workbench.ui.models.sorted_rows import SortedRows
from workbench.ui.pages.retrieval.deployment.plots import PairsPlot
from workbench.ui.style import theme
from workbench.ui.widgets.boxes import in_column
from workbench.ui.widgets.buttons import button
from workbench.ui.widgets.card import Fact
from workbench.ui.widgets.fields.captions import caption
from workbench.ui.widgets.fields.number_box import number_box
from workbench.ui.widgets.flow import in_lines
from workbench.ui.widgets.labels import label
from workbench.ui.widgets.tables.row_table import head_width, select_rows, set_row_height

ROW_PX = 24  # at 100% text
RATE_PERCENT = 0.1  # false accepts, at first
CLASS_ROWS = 6  # in sight, with the head
PAIRS_PX, RATE_PX = 104, 112  # least height of the histograms, width of the box of the share
FACTS = ("Threshold", "False accepts", "True accepts", "Equal error")
CLASS_TITLES = ("Class", "False %", "True %", "Threshold")


class ThresholdSide(QWidget):
    """Beside the stores: the wanted share of false accepts, and the threshold that keeps it."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._measured_rate: float | None = None  # percent
        self._is_older = False
        self.rate = number_box(QDoubleSpinBox())
        self.rate.setDecimals(3)
        self.rate.setRange(0.001, 50)
        self.rate.setValue(RATE_PERCENT)
        self.rate.setSuffix("%")
        self.rate.setToolTip("Share of pairs from different classes that may count as the same")
        self.again = button("Measure again", "arrow-clockwise")
        self.again.setEnabled(False)
        self.again.setToolTip("With the chosen share of false accepts")
        self.pairs = PairsPlot()
        self.facts = {name: Fact(name) for name in FACTS}
        self.classes = SortedRows(CLASS_TITLES, tuple, written_class, self)
        self.class_table = QTableView()
        self.class_table.setModel(self.classes)
        select_rows(self.class_table, "Threshold by class")
        self.class_table.setObjectName("deploy-classes")
        set_row_height(self.class_table, ROW_PX)
        self.class_table.setSortingEnabled(True)
        head = self.class_table.horizontalHeader()
        head.setTextElideMode(Qt.TextElideMode.ElideNone)  # Qt elides as if the arrow stood beside the title
        head.setSortIndicator(1, Qt.SortOrder.DescendingOrder)
        head.setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
        for column in range(1, len(CLASS_TITLES)):  # the names get what the numbers leave
            head.setSectionResizeMode(column, QHeaderView.ResizeMode.Fixed)
        self.warning = label("", "warning", wrap=True)
        self.pairs.picture.need_height(PAIRS_PX)
        asked, facts = in_lines(self.rate, self.again), in_lines(*self.facts.values())
        in_column(
            caption("False accepts at most", self.rate), asked, (self.pairs, 3), facts, (self.class_table, 3),
            self.warning, on=self, spacing=6,
        )  # fmt: skip
        self.rate.valueChanged.connect(self._offer_again)
        self._fit_heads()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in theme.DRESSES and hasattr(self, "warning"):
            self._fit_heads()

    def _fit_heads(self) -> None:
        """Give the columns the width of their titles and numbers, and the box of the share that of its numbers."""
        head = self.class_table.horizontalHeader()
        for column in range(1, len(CLASS_TITLES)):
            head.resizeSection(column, max(head_width(head, column), self.class_table.sizeHintForColumn(column)))
        self.rate.setMaximumWidth(theme.text_px(RATE_PX))
        self.class_table.setMinimumHeight(CLASS_ROWS * theme.text_px(ROW_PX))

    def show_threshold(
        self, measured: dict[str, Any], class_name: Callable[[int], str], is_older: bool = False
    ) -> None:
        """Show the "limit" of a measurement, as deploying.request.deployment gives it.

        Args:
            is_older: whether an earlier version measured it, so that measuring again adds something at the same share.
        """
        self._is_older = is_older
        self._measured_rate = 100 * measured["wanted"]
        self.rate.setValue(self._measured_rate)
        self.pairs.show_threshold(measured)
        low, high = measured["similarity_range"]
        for name, text, tip in (
            ("Threshold", minus(f"{measured['similarity']:.3f}"), minus(f"95% interval {low:.4f} to {high:.4f}")),
            ("False accepts", f"{100 * measured['false_accepts']:.3g}%", f"of {measured['other_pairs']:,} pairs"),
            (
                "True accepts", percentage(measured["accepts"]),
                "95% interval {} to {}".format(*map(percentage, measured["accepts_range"])),
            ),
            ("Equal error", percentage(measured["equal_error"]), "where both errors have equal rates"),
        ):  # fmt: skip
            self.facts[name].set_value(text)
            self.facts[name].setToolTip(tip)
        rows = [
            (class_name(one["label"]), 100 * one["false_accepts"], 100 * (one["accepts"] or 0), one["own_limit"])
            for one in measured["classes"]
        ]
        self.classes.show(rows)
        self._fit_heads()
        over = [name for name, false_accepts, *_ in rows if false_accepts > self._measured_rate]
        named = ", ".join(over[:5]) + (f" and {len(over) - 5} more" if len(over) > 5 else "")
        self.warning.setText(f"{len(over)} of {len(rows)} classes exceed the share: {named}." if over else "")
        self._offer_again()

    def _offer_again(self) -> None:
        """Offer to measure where another share is wanted than was measured, or more is measured than was then."""
        known = self._measured_rate is not None and abs(self._measured_rate - self.rate.value()) < 1e-9
        self.again.setEnabled(self._is_older or not known)


def written_class(column: int, value: Any) -> str:
    """A value as the table of classes shows it."""
    return value if isinstance(value, str) else f"{value:.3f}" if column == 3 else f"{value:.2f}"
