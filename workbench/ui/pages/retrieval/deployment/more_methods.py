"""One more method of search, measured beside the stores: which one, with how many neighbours, and what it takes."""

from typing import Any

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QComboBox, QSpinBox, QWidget

from workbench.results.search_methods import WAYS, Way, cost_words, rates_of, title_of
from workbench.ui.style.icons import icon
from workbench.ui.widgets.boxes import in_column, in_row
from workbench.ui.widgets.buttons import button
from workbench.ui.widgets.fields.captions import caption
from workbench.ui.widgets.fields.number_box import number_box
from workbench.ui.widgets.flow import in_lines
from workbench.ui.widgets.labels import label

MEASURE, CANCEL = "Measure it, too", "Cancel"
THERE = "{title} is in the table."
COUNTED = "Neighbours of which a mean is made, or images that are re-ranked"
WORKING = "{title} is being measured; Activity shows the progress. The table stays as it is until then."
COSINES = "Its weights are powers of cosines, and this evaluation compares by L2."


class MoreMethods(QWidget):
    """Below the table of stores."""

    asked = Signal(str)  # the name of a method
    cancelled = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._measured: dict[str, Any] | None = None
        self._working = ""  # the method that is being measured
        self.ways = QComboBox()
        self.ways.setToolTip("How the float32 embeddings are searched")
        for way in WAYS:
            self.ways.addItem(way.choice, way)
            self.ways.setItemData(self.ways.count() - 1, way.tip, Qt.ItemDataRole.ToolTipRole)
        self.neighbours = number_box(QSpinBox())
        self.neighbours.setToolTip(COUNTED)
        self.neighbours.setAccessibleName(COUNTED)
        self.measure = button(MEASURE, "plus")
        self.said = label("", "caption", wrap=True)
        named = QWidget()
        in_row(caption("Search method", self.ways), self.ways, on=named, spacing=8)
        in_column(in_lines(named, self.neighbours, self.measure), self.said, on=self, spacing=4)
        self._take_way()
        self.ways.currentIndexChanged.connect(self._take_way)
        self.neighbours.valueChanged.connect(self._draw)
        self.measure.clicked.connect(self._press)

    @property
    def name(self) -> str:
        """The name of the method that is set."""
        way = self._way
        return way.name + (str(self.neighbours.value()) if way.size else "")

    @property
    def _way(self) -> Way:
        return WAYS[self.ways.currentIndex()]

    def show_measured(self, measured: dict[str, Any], working: str) -> None:
        """Take another measurement, as deploying.request.deployment gives it, and the method that is being measured."""
        self._measured, self._working = measured, working
        self._draw()

    def _take_way(self) -> None:
        """Offer the numbers of the chosen method, the usual one at first."""
        way = self._way
        if way.size:
            with QSignalBlocker(self.neighbours):
                self.neighbours.setRange(way.least, way.most)
                self.neighbours.setValue(way.size)
                self.neighbours.setSuffix(f" {way.unit}")
        self._draw()

    def _draw(self) -> None:
        measured = self._measured
        self.neighbours.setVisible(bool(self._way.size))
        if measured is None:
            return
        self.measure.setText(CANCEL if self._working else MEASURE)
        self.measure.setIcon(icon("x" if self._working else "plus"))
        refused = COSINES if self._way.by_cosine and measured["distance"] == "l2" else ""
        there = any(store["name"] == self.name and not store["refused"] for store in measured["stores"])
        self.measure.setEnabled(bool(self._working) or not (there or refused))
        for part in (self.ways, self.neighbours):
            part.setEnabled(not self._working)
        if self._working:
            self.said.setText(WORKING.format(title=title_of(self._working)))
        elif there:
            self.said.setText(THERE.format(title=title_of(self.name)))
        else:
            sizes = (measured["gallery"], measured["queries_there"])
            self.said.setText(refused or cost_words(self.name, *sizes, rates_of(measured)))

    def _press(self) -> None:
        if self._working:
            self.cancelled.emit()
        else:
            self.asked.emit(self.name)
