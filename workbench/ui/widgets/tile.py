"""A card of one number."""

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout, QWidget

from workbench.numerals import minus
from workbench.ui.widgets.labels import ElidedLabel, label
from workbench.ui.widgets.spark import SPARK, Spark
from workbench.ui.words import NO_VALUE

SIDES, GAP = (12, 8), 4  # px of a tile left and right, and between its parts


class Tile(QFrame):
    """A caption, a number with its unit, a line that explains it, and its curve."""

    def __init__(self, caption: str, colour: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("card", "true")
        self.caption, self.number, self.unit = ElidedLabel(caption, "caption"), label("", "title"), label("", "muted")
        self.below = ElidedLabel("", "caption")
        self.spark = Spark(colour) if colour else None
        middle = QHBoxLayout()
        middle.setSpacing(GAP)
        middle.addWidget(self.number)
        middle.addWidget(self.unit, 1, Qt.AlignmentFlag.AlignVCenter)
        if self.spark is not None:
            middle.addWidget(self.spark)
        column = QVBoxLayout(self)
        column.setContentsMargins(SIDES[0], 6, SIDES[1], 6)
        column.setSpacing(0)
        column.addWidget(self.caption)
        column.addLayout(middle)
        column.addWidget(self.below)

    def show_number(self, number: str, unit: str = "", below: str = "") -> None:
        """Show a number in words; an empty one is a dash."""
        self.number.setText(minus(number) or NO_VALUE)
        self.unit.setText(unit if number else "")
        self.below.setText(minus(below))
        space = "" if unit == "%" else " "
        words = f"{self.caption.text()}: {self.number.text()}{space}{self.unit.text()}".rstrip()
        self.setAccessibleName(f"{words}, {below}" if below else words)

        self._fit()

    def show_curve(self, values: np.ndarray) -> None:
        """Draw how the number went; [n]."""
        if self.spark is not None:
            self.spark.show_values(values)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """Never cut the number: first hide the curve, then make the number as small as other text."""
        margins = self.contentsMargins().left() + self.contentsMargins().right() + sum(SIDES)
        room = self.width() - margins - GAP - self.unit.sizeHint().width()
        self.number.setProperty("role", "title")
        self.number.style().polish(self.number)
        wide = self.number.fontMetrics().horizontalAdvance(self.number.text())
        if self.spark is not None:
            self.spark.setVisible(wide + GAP + SPARK[0] <= room)
        if wide > room:
            self.number.setProperty("role", "strong")
            self.number.style().polish(self.number)
