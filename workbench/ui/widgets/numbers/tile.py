"""A card of one number."""

from math import ceil

import numpy as np
from PySide6.QtCore import QEvent, QSize
from PySide6.QtGui import QFontMetricsF, QResizeEvent
from PySide6.QtWidgets import QFrame, QSizePolicy, QWidget

from workbench.numerals import minus
from workbench.ui.style import theme
from workbench.ui.style.words import NO_VALUE
from workbench.ui.widgets.labels import ElidedLabel
from workbench.ui.widgets.numbers.spark import SPARK, Spark

LEFT, RIGHT, TOP, GAP = 12, 8, 6, 4  # px around the parts of a tile, and between them
STEP = 24  # px by which the least width grows


class Tile(QFrame):
    """A caption, a number with its unit, a line that explains it, and its curve.

    The parts are placed by hand: with a layout, each new number would have Qt lay out the whole window again.
    """

    def __init__(self, caption: str, colour: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("card", "true")
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
        self.caption = ElidedLabel(caption, "caption", parent=self)
        self.number, self.unit = ElidedLabel("", "title", parent=self), ElidedLabel("", "muted", parent=self)
        self.below = ElidedLabel("", "caption", parent=self)
        self.spark = Spark(colour, self) if colour else None
        self._needed = QSize()  # the least size that the layout around it knows
        self._fitted: object = None  # the number, its room and the look that its size was chosen for

    def show_number(self, number: str, unit: str = "", below: str = "") -> None:
        """Show a number in words; an empty one is a dash."""
        before = self.accessibleName()
        self.number.setText(minus(number) or NO_VALUE)
        self.unit.setText(unit if number else "")
        self.below.setText(minus(below))
        space = "" if unit == "%" else " "
        words = f"{self.caption.text()}: {self.number.text()}{space}{self.unit.text()}".rstrip()
        words = f"{words}, {below}" if below else words
        if words != before:
            self.setAccessibleName(words)
            self._place()

    def show_curve(self, values: np.ndarray) -> None:
        """Draw how the number went; [n]."""
        if self.spark is not None:
            self.spark.show_values(values)

    def sizeHint(self) -> QSize:
        return self.minimumSizeHint()

    def minimumSizeHint(self) -> QSize:
        """Room for the number and its unit, without the curve; in steps, so that few numbers change it."""
        frame = self.contentsMargins()
        wide = LEFT + RIGHT + GAP + _wide(self.unit) + _wide(self.number)
        high = 2 * TOP + self.caption.sizeHint().height() + self._high() + self.below.sizeHint().height()
        return QSize(
            -(-(wide + frame.left() + frame.right()) // STEP) * STEP,
            high + frame.top() + frame.bottom(),
        )

    def event(self, event: QEvent) -> bool:
        """Place the parts again when one asks for another size: the text size may have changed."""
        if event.type() == QEvent.Type.LayoutRequest:
            self._place()
        return super().event(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place()

    def _high(self) -> int:
        """Px of the line of the number."""
        parts = [self.number.sizeHint().height(), self.unit.sizeHint().height()]
        return max([*parts, SPARK[1]] if self.spark is not None else parts)

    def _place(self) -> None:
        """Lay out the parts."""
        for part in (self.caption, self.number, self.unit, self.below):
            part.ensurePolished()
        inside = self.contentsRect().adjusted(LEFT, TOP, -RIGHT, -TOP)
        self._fit(inside.width() - GAP - _wide(self.unit))
        top, high = self.caption.sizeHint().height(), self._high()
        spare = max(0, inside.height() - top - high - self.below.sizeHint().height())  # others in the row are higher
        self.caption.setGeometry(inside.x(), inside.y(), inside.width(), top)
        at, middle = inside.x(), inside.y() + top + spare // 2
        for part in (self.number, self.unit):
            width = max(0, min(_wide(part), inside.right() + 1 - at))
            part.setGeometry(at, middle, width, high)
            at += width + GAP
        if self.spark is not None:
            self.spark.move(inside.right() + 1 - SPARK[0], middle + (high - SPARK[1]) // 2)
        self.below.setGeometry(
            inside.x(), middle + high + spare - spare // 2, inside.width(), self.below.sizeHint().height()
        )
        if (needed := self.minimumSizeHint()) != self._needed:
            self._needed = needed
            self.updateGeometry()

    def _fit(self, room: int) -> None:
        """First hide the curve, then make the number as small as other text; below that it is shortened with an …."""
        fitted = (self.number.text(), room, theme.look())
        if fitted == self._fitted:  # else a number made small would ask for another layout without end
            return
        self._fitted = fitted
        if self.number.property("role") != "title":
            self._show_number_as("title")
        if self.spark is not None:
            self.spark.setVisible(_wide(self.number) + GAP + SPARK[0] <= room)
        if _wide(self.number) > room:
            self._show_number_as("strong")

    def _show_number_as(self, role: str) -> None:
        self.number.setProperty("role", role)
        self.number.style().polish(self.number)


def _wide(part: ElidedLabel) -> int:
    """Px of the whole text; rounded up, or it would be shortened."""
    return ceil(QFontMetricsF(part.font()).horizontalAdvance(part.text()))
